"""Indexes of parts of arrays, and what is found and stored with them."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    normalize_axes,
    on_device,
    reshape,
)
from parakeet.library.place_numbers import as_coordinates
from parakeet.library.rearrangements import placed
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of


@overload(np.diag_indices)
def diag_indices(n, ndim=2):
    return (np.arange(n),) * ndim


def require_square(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for n in arr.shape[1:]:
        if n != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")


@overload(np.diag_indices_from)
def diag_indices_from(arr):
    require_square(arr)
    return diag_indices(arr.shape[0], arr.ndim)


def triangle_indices(n, k, m, is_lower):
    """The places of a triangle, row by row: there is no mask of them to look through."""
    rows, columns = max(n, 0), max(n if m is None else m, 0)
    # No farther from the corner than counts: no sum with it wraps around.
    diagonal = min(max(int(k), -rows - 1), columns + 1)
    count = 0
    for i in range(rows):
        met = min(max(i + diagonal, 0), columns)
        count += met if is_lower else columns - met
    row_of = np.empty(count, np.int64)
    column_of = np.empty(count, np.int64)
    place = 0
    for i in range(rows):
        met = min(max(i + diagonal, 0), columns)
        for j in range(0 if is_lower else met, met if is_lower else columns):
            row_of[place] = i
            column_of[place] = j
            place += 1
    return row_of, column_of


def goes_by_rows(k):
    return not on_device() and asarray(k).dtype.kind == "i"


@overload(np.tril_indices)
def tril_indices(n, k=0, m=None):
    if not goes_by_rows(k):
        return np.nonzero(np.tri(n, m, k, dtype=bool))
    return triangle_indices(n, min(int(k), 2**62) + 1, m, True)


@overload(np.triu_indices)
def triu_indices(n, k=0, m=None):
    if not goes_by_rows(k):
        return np.nonzero(~np.tri(n, m, k - 1, dtype=bool))
    return triangle_indices(n, k, m, False)


def require_matrix(arr):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")


@overload(np.tril_indices_from)
def tril_indices_from(arr, k=0):
    require_matrix(arr)
    return tril_indices(arr.shape[0], k, arr.shape[1])


@overload(np.triu_indices_from)
def triu_indices_from(arr, k=0):
    require_matrix(arr)
    return triu_indices(arr.shape[0], k, arr.shape[1])


@overload(np.mask_indices)
def mask_indices(n, mask_func, k=0):
    return np.nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


@overload(np.ix_)
def ix_(*args):
    count = len(args)
    made = ()
    for k, one in enumerate(args):
        places = asarray(one)
        if places.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if places.dtype == bool:
            places = np.flatnonzero(places)
        made = made + (places[(None,) * k + (slice(None),) + (None,) * (count - k - 1)],)
    return made


def as_shape(shape):
    return shape if isinstance(shape, (tuple, list)) else (shape,)


@overload(np.ndenumerate)
def ndenumerate(arr):
    x = asarray(arr)
    return zip(np.ndindex(x.shape), reshape(x, -1), strict=True)


@overload(np.unravel_index)
def unravel_index(indices, shape, order="C"):
    sizes = as_shape(shape)
    count = count_of(sizes)
    rest = as_coordinates(indices)
    beyond = (rest < 0) | (rest >= count)
    if np.any(beyond):
        first = reshape(asarray(rest), -1)[np.argmax(beyond)]
        raise ValueError(f"index {first} is out of bounds for array with size {count}")
    made = ()
    for n in sizes if order == "F" else reversed(tuple(sizes)):
        made = made + (rest % n,) if order == "F" else (rest % n,) + made
        rest = rest // n
    return made


@overload(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    sizes = as_shape(dims)
    if len(multi_index) != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    total = np.int64(0)
    step = 1
    axes = normalize_axes(None, len(sizes))
    for k in axes if order == "F" else reversed(axes):
        index = as_coordinates(multi_index[k])
        rule = mode[k] if isinstance(mode, tuple) else mode
        if rule == "raise":
            if np.any((index < 0) | (index >= sizes[k])):
                raise ValueError("invalid entry in coordinates array")
        else:
            index = placed(index, sizes[k], rule)
        total = total + index * step
        step = step * sizes[k]
    return total


def others_of(x, axis):
    """An index for each axis but one: where an element stands."""
    made = ()
    for k, n in enumerate(x.shape):
        if k != axis:
            made = made + (np.arange(n)[(slice(None),) + (None,) * (x.ndim - 1 - k)],)
    return made


def full_index(arr, indices, axis):
    """The index that pairs `indices` with the places that they stand at."""
    if indices.dtype.kind != "i" and indices.dtype.kind != "u":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    others = others_of(arr, axis)
    return others[:axis] + (indices,) + others[axis:]


@overload(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    x = asarray(arr)
    places = asarray(indices)
    if axis is None:
        if places.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return reshape(x, -1)[full_index(reshape(x, -1), places, 0)]
    k = normalize_axes(axis, x.ndim)[0]
    return x[full_index(x, places, k)]


@overload(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    places = asarray(indices)
    if axis is None:
        if places.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        np.put(arr, places, values)
    else:
        k = normalize_axes(axis, arr.ndim)[0]
        arr[full_index(arr, places, k)] = values
