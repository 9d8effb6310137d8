"""Arrays with a border."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, moveaxis
from parakeet.library.registry import overload
from parakeet.operators import imap


def pair_of(given, axis):
    """What one number, a pair for all axes or a pair for each says before and after an axis."""
    if not isinstance(given, (tuple, list)):
        return given, given
    if len(given) == 1:
        return pair_of(given[0], axis)
    if not isinstance(given[0], (tuple, list)):
        return given[0], given[1]
    row = given[axis]
    return (row[0], row[0]) if len(row) == 1 else (row[0], row[1])


def with_constants(x, before, after, values):
    """Along the first axis."""
    n = x.shape[0]
    made = np.empty((before + n + after,) + x.shape[1:], x.dtype)
    made[:before] = astype(values[0], x.dtype)
    made[before : before + n] = x
    made[before + n :] = astype(values[1], x.dtype)
    return made


def source_of(i, n, mode):
    """Where in an axis of n elements the element i places from its start comes from."""
    if mode == "edge":
        return min(max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        place = i % (2 * n)
        return min(place, 2 * n - 1 - place)
    place = i % max(2 * n - 2, 1)
    return min(place, 2 * n - 2 - place)


def with_elements(x, before, after, mode):
    """Along the first axis."""
    n = x.shape[0]
    if n == 0 and before + after > 0:
        raise ValueError("can't extend empty axis using modes other than 'constant' or 'empty'")
    return imap(lambda i: x[source_of(i - before, n, mode)], before + n + after)


def require_mode(mode):
    known = ("constant", "edge", "wrap", "symmetric", "reflect", "empty")
    if mode in known:
        return
    if mode in ("linear_ramp", "maximum", "mean", "median", "minimum"):
        raise NotImplementedError("pad in a mode that looks at more than one element")
    raise ValueError(f"mode '{mode}' is not supported")


@overload(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0):
    require_mode(mode)
    x = asarray(array)
    for axis in range(x.ndim):
        before, after = pair_of(pad_width, axis)
        if before < 0 or after < 0:
            raise ValueError("index can't contain negative values")
        rows = moveaxis(x, axis, 0)
        if mode == "constant" or mode == "empty":
            values = pair_of(constant_values, axis)
            rows = with_constants(rows, before, after, values)
        else:
            rows = with_elements(rows, before, after, mode)
        x = moveaxis(rows, 0, axis)
    return x
