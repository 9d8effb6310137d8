"""Arrays whose elements stand in other places: reversed, rotated, repeated, joined."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    expand_dims,
    moveaxis,
    normalize_axes,
    reshape,
    result_type,
)
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
    return flip(m, 0)


@overload(np.fliplr)
def fliplr(m):
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


def roll_first(x, shift):
    """Elements of the first axis move `shift` places on; those that fall off come in again."""
    n = x.shape[0]
    return imap(lambda i: x[(i - shift) % n], n)


def roll_along(x, shift, axis):
    return moveaxis(roll_first(moveaxis(x, axis, 0), shift), 0, axis)


@overload(np.roll)
def roll(a, shift, axis=None):
    x = asarray(a)
    if axis is None:
        return reshape(roll_first(reshape(x, -1), shift), x.shape)
    if isinstance(axis, tuple):
        for k, one in enumerate(axis):
            x = roll_along(x, shift[k] if isinstance(shift, tuple) else shift, one)
        return x
    return roll_along(x, shift, axis)


@overload(np.repeat, method="repeat")
def repeat(a, repeats, axis=None):
    """`repeats` is one number: every element as often as every other."""
    x = asarray(a)
    if axis is None:
        x = reshape(x, -1)
        return imap(lambda i: x[i // repeats], x.shape[0] * repeats)
    moved = moveaxis(x, axis, 0)
    return moveaxis(imap(lambda i: moved[i // repeats], moved.shape[0] * repeats), 0, axis)


def tile_first(x, count):
    n = x.shape[0]
    return imap(lambda i: x[i % n], n * count)


@overload(np.tile)
def tile(A, reps):
    x = asarray(A)
    if not isinstance(reps, tuple) and not isinstance(reps, list):
        return tile(x, (reps,))
    rank = len(reps)
    x = with_rank(x, rank)
    for k, axis in enumerate(normalize_axes(None, x.ndim)[x.ndim - rank :]):
        x = moveaxis(tile_first(moveaxis(x, axis, 0), reps[k]), 0, axis)
    return x


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


@overload(np.concatenate)
def concatenate(arrays, axis=0, out=None, dtype=None):
    kind = joined_type(arrays) if dtype is None else dtype
    if axis is None:
        parts = tuple([reshape(asarray(array), -1) for array in arrays])
        return concatenate(parts, 0, out, kind)
    parts = tuple([asarray(array) for array in arrays])
    axis = normalize_axes(axis, parts[0].ndim)[0]
    require_alike(parts, axis)
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
def stack(arrays, axis=0, out=None, dtype=None):
    return concatenate(tuple([expand_dims(array, axis) for array in arrays]), axis, out, dtype)


def with_rank(array, rank):
    """The array with axes of length 1 in front."""
    x = asarray(array)
    axes = normalize_axes(None, rank)
    return x if x.ndim >= rank else expand_dims(x, axes[: rank - x.ndim])


@overload(np.vstack)
def vstack(tup, dtype=None):
    return concatenate(tuple([with_rank(array, 2) for array in tup]), 0, None, dtype)


@overload(np.hstack)
def hstack(tup, dtype=None):
    arrays = tuple([with_rank(array, 1) for array in tup])
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, None, dtype)


def as_column(array):
    x = asarray(array)
    return x if x.ndim >= 2 else reshape(x, (-1, 1))


@overload(np.column_stack)
def column_stack(tup):
    return concatenate(tuple([as_column(array) for array in tup]), 1)


@overload(np.take, method="take")
def take(a, indices, axis=None, out=None):
    x = asarray(a)
    if axis is None:
        return give(reshape(x, -1)[indices], out)
    return give(x[(slice(None),) * normalize_axes(axis, x.ndim)[0] + (indices,)], out)
