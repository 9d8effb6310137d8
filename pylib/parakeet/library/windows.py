"""The windows of an array, and f on them: sliding_window_view, pmap1, pmap2 and pmap2_trim."""

import numpy as np

from parakeet.library.intrinsics import asarray, normalize_axes
from parakeet.library.registry import overload
from parakeet.operators import imap


@overload(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Made where it is read, or, where it is a result, a new array instead of a view."""
    x = asarray(x)
    if writeable:
        raise NotImplementedError("windows that are stored to: writeable=True; use a loop")
    widths = tuple(window_shape) if is_sequence(window_shape) else (window_shape,)
    axes = axes_of_windows(x, widths, axis)
    shape = x.shape
    for k in range(len(axes)):
        if widths[k] < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        # Before the difference, which then cannot wrap around: windows are in range.
        if widths[k] > shape[axes[k]]:
            raise ValueError("window shape cannot be larger than input array shape")
        shape = replaced(shape, axes[k], shape[axes[k]] - widths[k] + 1)

    def element(*index):
        place = index[: x.ndim]
        for k in range(len(axes)):
            place = replaced(place, axes[k], place[axes[k]] + index[x.ndim + k])
        return x[place]

    return imap(element, shape + widths)


def axes_of_windows(x, widths, axis):
    """Those along which windows go; one may stand there twice."""
    if axis is None and len(widths) != x.ndim:
        raise ValueError("Since axis is `None`, must provide window_shape for all dimensions of "
                         f"`x`; got {len(widths)} window_shape elements and `x.ndim` is {x.ndim}.")
    axes = ()
    for each in axis if is_sequence(axis) else (axis,):
        axes = axes + normalize_axes(each, x.ndim)
    if len(axes) != len(widths):
        raise ValueError(f"Must provide matching length window_shape and axis; got {len(widths)} "
                         f"window_shape elements and {len(axes)} axes elements.")
    return axes


def replaced(values, place, value):
    return values[:place] + (value,) + values[place + 1 :]


def is_sequence(value):
    return isinstance(value, tuple) or isinstance(value, list)


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
    return (number[0], number[1]) if is_sequence(number) else (number, number)


def count_windows(size, width, step):
    return max((size - width) // step + 1, 0)
