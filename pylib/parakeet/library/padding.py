"""Arrays with a border."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    copy,
    memory_order,
    moveaxis,
    normalize_axes,
)
from parakeet.library.registry import overload
from parakeet.operators import imap
from parakeet.primitives import maximum, minimum


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


def require_widths(x, pad_width):
    for axis in range(x.ndim):
        before, after = pair_of(pad_width, axis)
        if asarray(before).dtype.kind not in ("i", "u") or asarray(after).dtype.kind not in (
                "i", "u"):
            raise TypeError("`pad_width` must be of integral type.")
        if before < 0 or after < 0:
            raise ValueError("index can't contain negative values")


def with_constants(x, pad_width, constants):
    """Along all axes; of the values at a corner the last axis's stays."""
    shape = ()
    inside = ()
    for axis in range(x.ndim):
        before, after = pair_of(pad_width, axis)
        shape = shape + (before + x.shape[axis] + after,)
        inside = inside + (slice(before, before + x.shape[axis]),)
    made = np.empty(shape, x.dtype, order=memory_order(x))
    made[inside] = x
    for axis in range(x.ndim):
        before, _ = pair_of(pad_width, axis)
        first, last = pair_of(constants, axis)
        rows = moveaxis(made, axis, 0)
        rows[:before] = astype(first, x.dtype)
        rows[before + x.shape[axis] :] = astype(last, x.dtype)
    return made


def source_of(i, n, mode):
    """Where in an axis of n elements the element i places from its start comes from."""
    if mode == "edge":
        return min(max(i, 0), n - 1)
    # All but a few are inside, where nothing is to be divided.
    place = i if i >= 0 and i < n else turned(i, n, mode)
    return minimum(maximum(place, 0), n - 1)


def turned(i, n, mode):
    """The same by the period with which elements come again."""
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
    require_elements(n, before + after)
    return imap(lambda i: x[source_of(i - before, n, mode)], before + n + after)


def require_elements(n, more):
    if n == 0 and more > 0:
        raise ValueError("can't extend empty axis using modes other than 'constant' or 'empty'")


def turned_widths(x, pad_width):
    """Pairs for each axis, the last one first."""
    widths = ()
    for axis in normalize_axes(None, x.ndim):
        widths = (pair_of(pad_width, axis),) + widths
    return widths


def with_places(x, pad_width, mode):
    """Along all axes at once, each element from where it comes from."""
    if memory_order(x) == "F" and memory_order(x.T) == "C":
        return with_places(np.transpose(x), turned_widths(x, pad_width), mode).T
    shape = ()
    for axis in range(x.ndim):
        before, after = pair_of(pad_width, axis)
        require_elements(x.shape[axis], before + after)
        shape = shape + (before + x.shape[axis] + after,)

    def element(*index):
        place = ()
        for axis in range(x.ndim):
            before, _ = pair_of(pad_width, axis)
            place = place + (source_of(index[axis] - before, x.shape[axis], mode),)
        return x[place]

    return imap(element, shape)


def with_odd_elements(x, before, after, mode):
    """Reflected in the value at the edge too. Along the first axis."""
    n = x.shape[0]
    if n <= 1:
        return with_elements(x, before, after, "edge")
    period = n if mode == "symmetric" else n - 1

    def element(i):
        place = i - before
        turn = place // period
        inside = place % period
        # Each turn adds what lies between the edges; every other one runs backwards.
        forth = x[inside] if turn % 2 == 0 else x[0] + x[n - 1] - x[n - 1 - inside]
        return astype(forth + turn * (x[n - 1] - x[0]), x.dtype)

    return imap(element, before + n + after)


def with_ramps(x, before, after, values):
    """Linear from a value at the outer end to the edge. Along the first axis."""
    require_elements(x.shape[0], before + after)
    first = astype(values[0], x.dtype)
    last = astype(values[1], x.dtype)
    start = np.linspace(np.full(x.shape[1:], first), x[0], before, endpoint=False, dtype=x.dtype)
    stop = np.linspace(np.full(x.shape[1:], last), x[-1], after, endpoint=False, dtype=x.dtype)
    return np.concatenate((start, x, stop[::-1]))


def statistic_of(x, mode):
    """Of the first axis."""
    if mode == "maximum":
        return np.max(x, axis=0)
    if mode == "minimum":
        return np.min(x, axis=0)
    mean = np.mean(x, axis=0) if mode == "mean" else np.median(x, axis=0)
    if x.dtype.kind == "i" or x.dtype.kind == "u":
        mean = np.rint(mean)
    return astype(mean, x.dtype)


def with_statistics(x, before, after, mode, lengths):
    """Those of so many elements at each end, all where `lengths` says nothing."""
    n = x.shape[0]
    require_elements(n, before + after)
    near = n if lengths[0] is None else min(lengths[0], n)
    far = n if lengths[1] is None else min(lengths[1], n)
    if near < 0 or far < 0:
        raise ValueError("index can't contain negative values")
    if (near == 0 or far == 0) and (mode == "maximum" or mode == "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    made = np.empty((before + n + after,) + x.shape[1:], x.dtype)
    made[:before] = statistic_of(x[:near], mode)
    made[before : before + n] = x
    made[before + n :] = statistic_of(x[n - far :], mode)
    return made


ONE_ELEMENT = ("edge", "wrap", "symmetric", "reflect")
STATISTICS = ("maximum", "minimum", "mean", "median")


def padded(rows, before, after, mode, ends, lengths):
    """Along the first axis."""
    if mode == "linear_ramp":
        return with_ramps(rows, before, after, ends)
    if mode in STATISTICS:
        return with_statistics(rows, before, after, mode, lengths)
    if mode not in ONE_ELEMENT:
        raise ValueError(f"mode '{mode}' is not supported")
    return with_odd_elements(rows, before, after, mode)


@overload(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0, end_values=0, stat_length=None,
        reflect_type="even"):
    x = asarray(array)
    require_widths(x, pad_width)
    if mode == "constant" or mode == "empty":
        return with_constants(x, pad_width, constant_values)
    is_odd = reflect_type == "odd" and (mode == "symmetric" or mode == "reflect")
    if x.ndim > 0 and mode in ONE_ELEMENT and not is_odd:
        return with_places(x, pad_width, mode)
    for axis in range(x.ndim):
        before, after = pair_of(pad_width, axis)
        rows = padded(moveaxis(x, axis, 0), before, after, mode, pair_of(end_values, axis),
                      pair_of(stat_length, axis))
        x = rows if axis == 0 else copy(moveaxis(rows, 0, axis), "C")
    return x
