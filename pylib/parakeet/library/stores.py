"""Stores into arrays by functions."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, can_cast, normalize_axes, reshape, select
from parakeet.library.place_numbers import as_places
from parakeet.library.rearrangements import placed
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of


@overload(np.put, method="put")
def put(a, ind, v, mode="raise"):
    """Values are used again from the first one; an index that stands twice keeps the last."""
    places = reshape(asarray(placed(as_places(ind, "safe"), a.size, mode)), -1)
    values = astype(reshape(asarray(v), -1), a.dtype)
    count = values.shape[0]
    if count == 0:
        return
    for k in range(places.shape[0]):
        n = a.size
        place = places[k]
        if place < -n or place >= n:
            raise IndexError(f"index {place} is out of bounds for axis 0 with size {n}")
        put_one(a, place % n, values[k % count])


def put_one(a, place, value):
    """At a place counted in C order."""
    if a.ndim == 0:
        a[()] = value
    elif a.ndim == 1:
        a[place] = value
    else:
        inner = count_of(a.shape[1:])
        put_one(a[place // inner], place % inner, value)


def repeated(values, places):
    """The values in turn, where `places` counts."""
    return values[places % values.shape[0]]


@overload(np.place)
def place(arr, mask, vals):
    values = astype(reshape(asarray(vals), -1), arr.dtype)
    chosen = reshape(asarray(mask, bool), -1)
    if chosen.shape[0] != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if values.shape[0] == 0:
        if np.any(chosen):
            raise ValueError("Cannot insert from an empty array!")
    else:
        turns = np.maximum(np.cumsum(chosen) - 1, 0)
        given = reshape(repeated(values, turns), arr.shape)
        arr[...] = select(reshape(chosen, arr.shape), given, arr)


@overload(np.putmask)
def putmask(a, /, mask, values):
    chosen = reshape(asarray(mask, bool), -1)
    given = reshape(astype(asarray(values), a.dtype), -1)
    if chosen.shape[0] != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if given.shape[0] > 0:
        turns = repeated(given, np.arange(a.size))
        a[...] = select(reshape(chosen, a.shape), reshape(turns, a.shape), a)


@overload(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    is_weak = isinstance(src, int) and not isinstance(src, bool) and dst.dtype.kind in ("i", "u")
    # A number of Python's takes on the dtype, where it fits.
    given = np.full((), src, dst.dtype) if is_weak else asarray(src)
    if not is_weak and not can_cast(src, dst.dtype, casting):
        what = "scalar" if given.ndim == 0 else "array data"
        raise TypeError(f"Cannot cast {what} from dtype('{given.dtype.name}') to "
                        f"dtype('{dst.dtype.name}') according to the rule '{casting}'")
    mask = asarray(where, bool)
    if dst.ndim == 0 or not isinstance(where, bool):
        require_fit(given, dst, "input array")
        require_fit(mask, dst, "where mask")
    if dst.ndim == 0:
        if reshape(mask, ()):
            dst[()] = reshape(given, ())
    elif isinstance(where, bool):
        if where:
            dst[...] = given
    else:
        dst[...] = select(mask, astype(given, dst.dtype), dst)


def require_fit(given, array, what):
    """What is stored, but no mask, may have axes of one element in front."""
    is_wide = what == "where mask" and given.ndim > array.ndim
    for k in normalize_axes(None, given.ndim):
        size = given.shape[given.ndim - 1 - k]
        if is_wide or size != 1 and (k >= array.ndim or size != array.shape[array.ndim - 1 - k]):
            raise ValueError(f"could not broadcast {what} from shape {given.shape} into shape "
                             f"{array.shape}")
