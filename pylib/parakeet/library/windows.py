"""f on the windows of an array: pmap1, pmap2 and pmap2_trim."""

import numpy as np

from parakeet.operators import imap


def pmap1(f, x, w=3):
    """f(x[i - w // 2 : i - w // 2 + w]) for every i, the windows clipped at the borders.

    `x` is cut along its first axis; what f gives for each window is stacked, as by map.
    """
    n = x.shape[0]

    def at(i):
        start = i - w // 2
        return f(x[max(start, 0) : min(start + w, n)])

    return imap(at, n)


def pmap2(f, x, width=(3, 3)):
    """f of a window of `width` rows and columns around every place of a matrix, clipped at the
    borders.

    Python's `min`, `max`, `any` and `all`, which take no matrix, are NumPy's here.
    """
    n, m = x.shape[:2]
    rows, columns = both(width)
    of_window = of_matrices(f)

    def at(i, j):
        top = i - rows // 2
        left = j - columns // 2
        return of_window(x[max(top, 0) : min(top + rows, n), max(left, 0) : min(left + columns, m)])

    return imap(at, (n, m))


def pmap2_trim(f, x, width=(3, 3), step=(1, 1)):
    """f, as pmap2 takes it, of every window of `width` that lies inside a matrix; windows start
    `step` apart."""
    n, m = x.shape[:2]
    rows, columns = both(width)
    down, across = both(step)
    of_window = of_matrices(f)

    def at(i, j):
        top = i * down
        left = j * across
        return of_window(x[top : top + rows, left : left + columns])

    return imap(at, (count_windows(n, rows, down), count_windows(m, columns, across)))


def of_matrices(f):
    """f, or NumPy's function where f is Python's of the same name."""
    if f == min:
        return np.min
    if f == max:
        return np.max
    if f == any:
        return np.any
    return np.all if f == all else f


def both(number):
    """One number for rows and columns, or one for each."""
    if isinstance(number, tuple) or isinstance(number, list):
        return number[0], number[1]
    return number, number


def count_windows(size, width, step):
    return max((size - width) // step + 1, 0)
