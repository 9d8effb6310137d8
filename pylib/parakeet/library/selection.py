"""What sorting would put at some places, and arrays partitioned there.

The runtime selects among real numbers on the host; others are sorted: a sorted row has every place.
On a device, of a long row only what lies near the place is.
"""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    library_call,
    normalize_axes,
    on_device,
    reshape,
    select,
)
from parakeet.library.one_axis import require_axis, require_strict_axis
from parakeet.library.registry import overload
from parakeet.library.searching import is_less
from parakeet.library.sorting import along_rows, argsort, sort, sorted_row
from parakeet.primitives import isnan


def is_selected(x):
    """Whether places are found without sorting."""
    if on_device() or x.dtype == np.float16:
        return False
    return x.dtype.kind in ("b", "i", "u", "f")


def may_be_nan(x):
    return x.dtype.kind in ("f", "c")


def count_of_nans(row):
    return int(np.count_nonzero(isnan(row))) if may_be_nan(row) else 0


def values_at(row, places):
    """Of a row that `is_selected`: what stands at an array of places once it is sorted, nan behind
    the rest, and how many are nan."""
    values = np.empty(places.shape[0], row.dtype)
    nans = library_call("select", row, places, values)
    if nans < 0:
        raise MemoryError("no memory to select")
    return values, nans


def partitioned_row(row, places):
    made = np.empty(row.shape[0], row.dtype)
    if library_call("partition", row, places, made) != 0:
        raise MemoryError("no memory to partition")
    return made


# On a device, what surely holds a place's element lies between two of so many samples, this far
# from where the place is among them: five times what their ranks scatter by.
SAMPLES = 4096
MARGIN = 160
LEAST_BRACKETED = 1 << 20


def between_samples(row, k):
    """Partitioned at place k: what is between two samples is sorted, with all else around it."""
    n = row.shape[0]
    samples = sorted_row(row[:: n // SAMPLES][:SAMPLES])
    near = k * SAMPLES // n
    low = samples[np.maximum(near - MARGIN, 0)]
    high = samples[np.minimum(near + MARGIN, SAMPLES - 1)]
    lower, higher = 0, 0
    for x in row:
        lower += is_less(x, low)
        higher += is_less(high, x)
    has_low = (near >= MARGIN) & (lower <= k)
    has_high = (near + MARGIN < SAMPLES) & (k < n - higher)
    before = row[has_low & is_less(row, low)]
    behind = row[has_high & is_less(high, row)]
    middle = row[~(has_low & is_less(row, low)) & ~(has_high & is_less(high, row))]
    return np.concatenate((before, sorted_row(middle), behind))


def partitioned_on_device(row, k):
    place = k + row.shape[0] if k < 0 else k
    if row.shape[0] < LEAST_BRACKETED:
        return sorted_row(row)
    return between_samples(row, place)


def partitioned_order(row, places):
    made = np.empty(row.shape[0], np.int64)
    if library_call("argpartition", row, places, made) != 0:
        raise MemoryError("no memory to partition")
    return made


def places_of(kth, x, axis):
    """Those asked for, counted from 0."""
    n = x.shape[axis]
    asked = np.atleast_1d(asarray(kth))
    if asked.dtype == bool:
        raise ValueError("Booleans unacceptable as partition index")
    if asked.dtype.kind not in ("i", "u"):
        raise TypeError("Partition index must be integer")
    if x.size > 0:
        for k in asked:
            if k < -n or k >= n:
                raise ValueError(f"kth(={k}) out of bounds ({n})")
    return asarray(select(asked < 0, asked + n, asked), np.int64)


@overload(np.partition)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    require_axis(axis)
    x = asarray(a)
    if axis is None:
        return partition(reshape(x, -1), kth)
    (axis,) = normalize_axes(axis, x.ndim)
    places = places_of(kth, x, axis)
    is_real = x.dtype.kind in ("i", "u", "f")
    if on_device() and is_real and order is None and x.ndim == 1 and np.ndim(kth) == 0:
        return partitioned_on_device(x, kth)
    if order is not None or not is_selected(x):
        return sort(x, axis, order=order)
    return along_rows(lambda row: partitioned_row(row, places), x, axis)


@overload(method="partition")
def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    a[...] = partition(a, kth, axis, kind, order)


@overload(np.argpartition, method="argpartition")
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    require_strict_axis(axis)
    x = asarray(a)
    if axis is None:
        return argpartition(reshape(x, -1), kth)
    if x.ndim == 0:
        return argsort(x, axis, order=order)
    (axis,) = normalize_axes(axis, x.ndim)
    places = places_of(kth, x, axis)
    if order is not None or not is_selected(x):
        return argsort(x, axis, order=order)
    return along_rows(lambda row: partitioned_order(row, places), x, axis)
