"""Arrays whose elements stand in other places: reversed, rotated, repeated, joined."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    can_cast,
    copy,
    expand_dims,
    memory_order,
    moveaxis,
    normalize_axes,
    reshape,
    result_type,
    strong,
)
from parakeet.library.one_axis import along_one_axis, require_axis, require_strict_axis
from parakeet.library.place_numbers import as_places
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import imap


@overload(np.flip)
def flip(m, axis=None):
    x = asarray(m)
    for k in normalize_axes(axis, x.ndim):
        x = moveaxis(moveaxis(x, k, 0)[::-1], 0, k)
    return x


@overload(np.flipud)
def flipud(m):
    if asarray(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@overload(np.fliplr)
def fliplr(m):
    if asarray(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@overload(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    x = asarray(m)
    first, second = axes
    turns = k % 4
    if turns == 0:
        return x[...]
    if turns == 2:
        return flip(x, axes)
    if turns == 1:
        return np.swapaxes(flip(x, second), first, second)
    return flip(np.swapaxes(x, first, second), second)


def lies_turned(x):
    """Whether it lies in Fortran order, and turned in C order: one of several columns."""
    return memory_order(x) == "F" and memory_order(x.T) == "C"


def roll_first(x, shift):
    """Elements of the first axis move `shift` places on; those that fall off come in again."""
    n = x.shape[0]
    places = shift % max(n, 1)
    return imap(lambda i: x[(i - places) % n], n)


def roll_along(x, shift, axis):
    """In the order of memory that x has."""
    (k,) = normalize_axes(axis, x.ndim)
    if lies_turned(x):
        return roll_along(x.T, shift, x.ndim - 1 - k).T
    rolled = roll_first(moveaxis(x, k, 0), shift)
    return rolled if k == 0 else copy(moveaxis(rolled, 0, k), "C")


def whole(shift, axis):
    """What int() makes of it; of an array, a number for each of the axes, or for all together."""
    if isinstance(shift, (tuple, list)):
        return tuple([whole(one, None) for one in shift])
    if asarray(shift).ndim == 1:
        if isinstance(axis, (tuple, list)) and shift.shape[0] > 1:
            return tuple([whole(shift[k], None) for k in normalize_axes(None, len(axis))])
        return np.sum(astype(shift, np.int64))
    return int(shift) if strong(shift).dtype.kind == "f" else shift


@overload(np.roll)
def roll(a, shift, axis=None):
    x = asarray(a)
    shift = whole(shift, axis)
    if axis is None:
        if isinstance(shift, (tuple, list)):
            return reshape(roll_first(reshape(x, -1), sum(shift)), x.shape)
        return reshape(roll_first(reshape(x, -1), shift), x.shape)
    if isinstance(axis, (tuple, list)):
        for k, one in enumerate(axis):
            x = roll_along(x, shift[k] if isinstance(shift, (tuple, list)) else shift, one)
        return x
    if isinstance(shift, (tuple, list)):
        for one in shift:
            x = roll_along(x, one, axis)
        return x
    return roll_along(x, shift, axis)


def repeat_each(x, counts):
    """The element i of the first axis counts[i] times; one count stands for all."""
    n = x.shape[0]
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if counts.shape[0] != n and counts.shape[0] != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) "
                         f"({counts.shape[0]},)")
    if np.any(counts < 0):
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(np.broadcast_to(counts, (n,)) if counts.shape[0] == 1 else counts)
    total = ends[-1] if n > 0 else 0
    begun = np.zeros(total, np.int64)  # how many more elements have ended before each place
    for k in range(n):
        if ends[k] < total:
            begun[ends[k]] += 1
    sources = np.cumsum(begun)
    return imap(lambda i: x[sources[i]], total)


def repeat_along(x, repeats, axis):
    repeats = as_places(repeats, "safe")
    if asarray(repeats).ndim > 0:
        return moveaxis(repeat_each(moveaxis(x, axis, 0), asarray(repeats)), 0, axis)
    (axis,) = normalize_axes(axis, x.ndim)
    n = x.shape[axis]
    if n * repeats < 0:
        raise ValueError("negative dimensions are not allowed")
    count = max(repeats, 0)
    behind = x.shape[axis + 1 :]
    copies = np.empty(x.shape[: axis + 1] + (count,) + behind, x.dtype)
    copies[...] = expand_dims(x, axis + 1)
    return reshape(copies, x.shape[:axis] + (n * count,) + behind)


@overload(np.repeat, method="repeat")
def repeat(a, repeats, axis=None):
    require_strict_axis(axis)
    x = along_one_axis(asarray(a), axis)
    if axis is None:
        return repeat_along(reshape(x, -1), repeats, 0)
    return repeat_along(x, repeats, axis)


def by_turns(firsts, seconds):
    """One of the first, then one of the second, and so on."""
    if len(firsts) == 0:
        return ()
    return (firsts[0], seconds[0]) + by_turns(firsts[1:], seconds[1:])


@overload(np.tile)
def tile(A, reps):
    x = asarray(A)
    if not isinstance(reps, tuple) and not isinstance(reps, list):
        return tile(x, (reps,))
    x = with_rank(x, len(reps))
    counts = (1,) * (x.ndim - len(reps)) + tuple(reps)
    copies = np.empty(by_turns(counts, x.shape), x.dtype)
    copies[...] = x[(None, slice(None)) * x.ndim]
    return reshape(copies, tuple([counts[k] * x.shape[k] for k in range(x.ndim)]))


def joined_type(arrays):
    dtype = asarray(arrays[0]).dtype
    for array in arrays[1:]:
        dtype = result_type(dtype, asarray(array).dtype)
    return dtype


def total_length(arrays, axis):
    n = 0
    for array in arrays:
        n = n + array.shape[axis]
    return n


def require_alike(arrays, axis):
    first = arrays[0]
    for k in range(1, len(arrays)):
        if arrays[k].ndim != first.ndim:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match "
                f"exactly, but along dimension 0, the array at index 0 has {first.ndim} "
                f"dimension(s) and the array at index {k} has {arrays[k].ndim} dimension(s)"
            )
        for other in range(first.ndim):
            n = first.shape[other]
            m = arrays[k].shape[other]
            if other != axis and n != m:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {other}, the array at index 0 has size {n} and "
                    f"the array at index {k} has size {m}"
                )


def are_turned(arrays):
    """Whether all lie in Fortran order, which what is made of them then keeps."""
    for array in arrays:
        if not lies_turned(array):
            return False
    return True


def require_castable(arrays, dtype, casting):
    if not can_cast(joined_type(arrays), dtype, casting):
        raise TypeError(f"Cannot cast array data according to the rule '{casting}'")


def rows_joined(x, axis):
    """The rows of one array, joined."""
    if x.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if x.ndim == 1:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    k = normalize_axes(axis, x.ndim - 1)[0]
    shape = x.shape[1:]
    shape = shape[:k] + (x.shape[0] * shape[k],) + shape[k + 1 :]
    return reshape(moveaxis(x, 0, k), shape)


@overload(np.concatenate, getattr(np, "concat", None))
def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    require_strict_axis(axis)
    if isinstance(arrays, np.ndarray):
        joined = reshape(arrays, -1) if axis is None else rows_joined(arrays, axis)
        return give(np.array(joined, dtype, order="C"), out)
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if dtype is not None:
        require_castable(arrays, dtype, casting)
    kind = joined_type(arrays) if dtype is None else dtype
    if axis is None:
        parts = tuple([reshape(asarray(array), -1) for array in arrays])
        return concatenate(parts, 0, out, kind, "unsafe")
    parts = tuple([asarray(array) for array in arrays])
    if parts[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axes(axis, parts[0].ndim)[0]
    require_alike(parts, axis)
    if out is None and are_turned(parts):
        return concatenate(tuple([part.T for part in parts]), -1 - axis, None, kind, "unsafe").T
    shape = parts[0].shape
    shape = shape[:axis] + (total_length(parts, axis),) + shape[axis + 1 :]
    joined = np.empty(shape, kind)
    rows = moveaxis(joined, axis, 0)
    start = 0
    for part in parts:
        stop = start + part.shape[axis]
        rows[start:stop] = moveaxis(part, axis, 0)
        start = stop
    return give(joined, out)


@overload(np.stack)
def stack(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    if isinstance(arrays, np.ndarray):
        return give(np.array(moveaxis(arrays, 0, axis), dtype, order="C"), out)
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    require_axis(axis)
    parts = tuple([expand_dims(array, axis) for array in arrays])
    return concatenate(parts, normalize_axes(axis, parts[0].ndim)[0], out, dtype, casting)


def with_rank(array, rank):
    """The array with axes of length 1 in front."""
    x = asarray(array)
    axes = normalize_axes(None, rank)
    return x if x.ndim >= rank else expand_dims(x, axes[: rank - x.ndim])


@overload(np.vstack, getattr(np, "row_stack", None) if np.__version__ < "2" else None)
def vstack(tup, *, dtype=None, casting="same_kind"):
    if isinstance(tup, np.ndarray):
        rows = tup if tup.ndim > 2 else reshape(tup, (tup.shape[0], 1, -1))
        return concatenate(rows, 0, None, dtype, casting)
    return concatenate(tuple([with_rank(array, 2) for array in tup]), 0, None, dtype, casting)


@overload(np.hstack)
def hstack(tup, *, dtype=None, casting="same_kind"):
    if isinstance(tup, np.ndarray):
        rows = tup if tup.ndim > 1 else reshape(tup, (-1, 1))
        return concatenate(rows, 0 if rows.ndim == 2 else 1, None, dtype, casting)
    arrays = tuple([with_rank(array, 1) for array in tup])
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, None, dtype, casting)


@overload(np.dstack)
def dstack(tup):
    return concatenate(tuple([as_layers(array) for array in tup]), 2)


def as_layers(array):
    x = with_rank(array, 2)
    return x if x.ndim > 2 else expand_dims(x, 2)


def as_column(array):
    x = asarray(array)
    return x if x.ndim >= 2 else reshape(x, (-1, 1))


@overload(np.column_stack)
def column_stack(tup):
    return concatenate(tuple([as_column(array) for array in tup]), 1)


@overload(np.append)
def append(arr, values, axis=None):
    return concatenate((asarray(arr), asarray(values)), axis)


def placed(indices, n, mode):
    """Indices that are out of range brought into it, unless that is an error."""
    if mode == "wrap":
        return asarray(indices) % n
    if mode == "clip":
        return np.clip(asarray(indices), 0, n - 1)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    return indices


@overload(np.take, method="take")
def take(a, indices, axis=None, out=None, mode="raise"):
    require_strict_axis(axis)
    x = along_one_axis(asarray(a), axis)
    places = as_places(indices, "same_kind")
    if axis is None:
        return give(reshape(x, -1)[placed(places, x.size, mode)], out)
    k = normalize_axes(axis, x.ndim)[0]
    return give(x[(slice(None),) * k + (placed(places, x.shape[k], mode),)], out)
