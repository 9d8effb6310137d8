"""Arrays in other shapes, together or with other elements: broadcast, resized, inserted into."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    broadcast_to,
    moveaxis,
    normalize_axes,
    reshape,
)
from parakeet.library.rearrangements import lies_turned
from parakeet.library.registry import overload


@overload(np.broadcast_arrays)
def broadcast_arrays(*args, subok=False):
    arrays = tuple([asarray(array) for array in args])
    shape = np.broadcast_shapes(*tuple([array.shape for array in arrays]))
    return tuple([broadcast_to(array, shape) for array in arrays])


@overload(np.rollaxis)
def rollaxis(a, axis, start=0):
    """The axis before the one that is at `start` now."""
    x = asarray(a)
    k = normalize_axes(axis, x.ndim)[0]
    to = normalize_axes(start, x.ndim + 1)[0] if start >= 0 else start + x.ndim
    return moveaxis(x, k, to - 1 if k < to else to)


@overload(np.atleast_3d)
def atleast_3d(*arys):
    if len(arys) != 1:
        return tuple([atleast_3d(array) for array in arys])
    x = asarray(arys[0])
    if x.ndim == 0:
        return reshape(x, (1, 1, 1))
    if x.ndim == 1:
        return x[None, :, None]
    return x[:, :, None] if x.ndim == 2 else x


@overload(np.resize)
def resize(a, new_shape):
    """The elements in turn, from the first one again where there are too few."""
    x = reshape(asarray(a), -1)
    sizes = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    count = 1
    for n in sizes:
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        count = count * n
    if x.shape[0] == 0:
        return np.zeros(sizes, x.dtype)
    n = x.shape[0]
    made = np.empty(count, x.dtype)
    for k in range(count // n):
        made[k * n : (k + 1) * n] = x
    rest = count % n
    made[count - rest :] = x[:rest]
    return reshape(made, sizes)


def joined_along(parts, axis):
    """Joined along an axis, which comes first in the parts."""
    return np.concatenate(tuple([moveaxis(part, 0, axis) for part in parts]), axis)


@overload(np.delete)
def delete(arr, obj, axis=None):
    x = reshape(asarray(arr), -1) if axis is None else asarray(arr)
    k = 0 if axis is None else axis
    if lies_turned(x):
        return delete(x.T, obj, -1 - normalize_axes(k, x.ndim)[0]).T
    rows = moveaxis(x, k, 0)
    if isinstance(obj, (bool, np.bool_)):
        raise ValueError("boolean array argument obj to delete must be one dimensional and match "
                         f"the axis length of {rows.shape[0]}")
    if isinstance(obj, int):
        n = rows.shape[0]
        if obj < -n or obj >= n:
            raise IndexError(f"index {obj} is out of bounds for axis {k} with size {n}")
        place = obj + n if obj < 0 else obj
        return joined_along((rows[:place], rows[place + 1 :]), k)
    kept = np.ones(rows.shape[0], bool)
    kept[obj] = False
    return np.take(x, np.flatnonzero(kept), axis=k)


@overload(np.insert)
def insert(arr, obj, values, axis=None):
    """Before places; the values broadcast to the slices there."""
    x = reshape(asarray(arr), -1) if axis is None else asarray(arr)
    (k,) = normalize_axes(0 if axis is None else axis, x.ndim)
    if lies_turned(x) and asarray(values).ndim == 0:
        return insert(x.T, obj, values, x.ndim - 1 - k).T
    if isinstance(obj, int) and not isinstance(obj, bool):
        return insert_at(x, obj, asarray(values), k)
    n = x.shape[k]
    places = np.arange(n)[obj] if isinstance(obj, slice) else asarray(obj)
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if places.dtype == bool:
        if places.ndim == 0:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        places = np.flatnonzero(places)
    if places.ndim == 0:
        return insert_at(x, places[()], asarray(values), k)
    if isinstance(obj, (tuple, list)) and len(obj) == 0:
        places = np.zeros(0, np.int64)
    if places.dtype.kind not in ("i", "u"):
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return insert_at_each(x, places, asarray(values), k)


def require_inside(place, n, axis):
    if place < -n or place > n:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {n}")


def insert_at(x, place, values, axis):
    rows = moveaxis(x, axis, 0)
    n = rows.shape[0]
    require_inside(place, n, axis)
    place = place + n if place < 0 else place
    given = astype(values, x.dtype)
    between = given[(None,) * (rows.ndim - given.ndim)] if given.ndim < rows.ndim else given
    if between.ndim > 1:
        between = broadcast_to(between, (between.shape[0],) + rows.shape[1:])
    return joined_along((rows[:place], between, rows[place:]), axis)


def insert_at_each(x, places, values, axis):
    """Places are of the array as it is; what goes before one place keeps its order."""
    n = x.shape[axis]
    given = astype(values, x.dtype)
    across = given.ndim - x.ndim + axis  # The axis of the values that goes along the places.
    if across >= 0 and places.shape[0] == 1:
        places = np.repeat(places, given.shape[across])
    count = places.shape[0]
    sizes = x.shape[:axis] + (count,) + x.shape[axis + 1 :]
    between = moveaxis(broadcast_to(given, sizes), axis, 0)
    places = np.copy(places)
    for i in range(count):
        require_inside(places[i], n, axis)
        if places[i] < 0:
            places[i] += n
    order = np.argsort(places)
    rows = moveaxis(x, axis, 0)
    made = np.empty((n + count,) + rows.shape[1:], x.dtype)
    begun = 0
    for i in range(count):
        place = places[order[i]]
        made[begun + i : place + i] = rows[begun:place]
        made[place + i] = between[order[i]]
        begun = place
    made[begun + count :] = rows[begun:]
    return moveaxis(made, 0, axis)
