"""Arrays as sets of their elements."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    moveaxis,
    nonzero,
    normalize_axes,
    on_device,
    reshape,
)
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
from parakeet.library.sorting import order_by, order_of_row, sorted_row


def differ(a, b, equal_nan):
    """Where neighbours are two values. All nans are one where `equal_nan`."""
    if equal_nan and (a.dtype.kind == "f" or a.dtype.kind == "c"):
        return (a != b) & ((a == a) | (b == b))
    return a != b


def starts_of(values, equal_nan):
    """Where values differ from the one before."""
    starts = np.ones(values.shape[0], bool)
    starts[1:] = differ(values[1:], values[:-1], equal_nan)
    return starts


def runs_of(starts):
    """How long the runs are that begin there."""
    places = np.append(nonzero(starts)[0], starts.shape[0])
    return places[1:] - places[:-1]


def chosen(values, places, starts, shape, return_index, return_inverse, return_counts):
    """What is asked for of sorted values, of which `places` are the indexes in the array."""
    result = (values[starts],)
    if return_index:
        result = result + (places[starts],)
    if return_inverse:
        inverse = np.empty(places.shape[0], np.int64)
        inverse[places] = np.cumsum(starts) - 1
        result = result + (reshape(inverse, shape),)
    if return_counts:
        result = result + (runs_of(starts),)
    return result if len(result) > 1 else result[0]


@overload(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
           equal_nan=True, sorted=True):
    x = asarray(ar)
    if axis is not None:
        return unique_along(x, axis, return_index, return_inverse, return_counts)
    flat = reshape(x, -1)
    if return_index or return_inverse:
        places = order_of_row(flat)
        values = flat[places]
        starts = starts_of(values, equal_nan)
        return chosen(values, places, starts, x.shape, return_index, return_inverse, return_counts)
    values = sorted_row(flat)
    starts = starts_of(values, equal_nan)
    if return_counts:
        return values[starts], runs_of(starts)
    return values[starts]


@overload(getattr(np, "unique_counts", None))
def unique_counts(x):
    return unique(x, return_counts=True, equal_nan=False)


@overload(getattr(np, "unique_inverse", None))
def unique_inverse(x):
    return unique(x, return_inverse=True, equal_nan=False)


@overload(getattr(np, "unique_all", None))
def unique_all(x):
    return unique(x, True, True, True, equal_nan=False)


def unique_along(x, axis, return_index, return_inverse, return_counts):
    """Of the slices along an axis, in lexicographic order."""
    (axis,) = normalize_axes(axis, x.ndim)
    slices = moveaxis(x, axis, 0)
    rows = reshape(slices, (slices.shape[0], count_of(slices.shape[1:])))
    places = order_by(rows.T[::-1])
    ordered = rows[places]
    starts = np.ones(rows.shape[0], bool)
    starts[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    shape = (rows.shape[0],)
    found = moveaxis(slices[places][starts], 0, axis)
    if not (return_index or return_inverse or return_counts):
        return found
    rest = chosen(places, places, starts, shape, return_index, return_inverse, return_counts)
    return (found,) + rest[1:]


@overload(np.union1d)
def union1d(ar1, ar2):
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


def both(ar1, ar2, assume_unique):
    """The elements of the two, sorted; none twice from one."""
    a = np.ravel(ar1) if assume_unique else unique(ar1)
    b = np.ravel(ar2) if assume_unique else unique(ar2)
    return np.concatenate((a, b))


def common_places(ar1, ar2, assume_unique):
    """The elements of both, and where each has them first."""
    a, b = np.ravel(ar1), np.ravel(ar2)
    first, second = np.arange(a.shape[0]), np.arange(b.shape[0])
    if not assume_unique:
        a, first = unique(a, True)
        b, second = unique(b, True)
    values = np.concatenate((a, b))
    order = order_of_row(values)
    values = values[order]
    met = values[1:] == values[:-1]
    return values[:-1][met], first[order[:-1][met]], second[order[1:][met] - a.shape[0]]


@overload(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        return common_places(ar1, ar2, assume_unique)
    values = sorted_row(both(ar1, ar2, assume_unique))
    return values[:-1][values[1:] == values[:-1]]


@overload(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    values = sorted_row(both(ar1, ar2, assume_unique))
    if values.shape[0] == 0:
        return values
    changes = np.ones(values.shape[0] + 1, bool)
    changes[1:-1] = values[1:] != values[:-1]
    return values[changes[1:] & changes[:-1]]


def are_among(a, b):
    """Which elements of a are some of b, which is sorted."""
    after = np.searchsorted(b, a)
    found = np.zeros(a.shape[0], bool)
    for k in range(a.shape[0]):
        found[k] = after[k] < b.shape[0] and b[after[k]] == a[k]
    return found


def sorted_are_among(a, b):
    """Which elements of a are some of b, both sorted: one traversal of both."""
    found = np.zeros(a.shape[0], bool)
    place = 0
    for k in range(a.shape[0]):
        while place < b.shape[0] and b[place] < a[k]:
            place += 1
        found[k] = place < b.shape[0] and b[place] == a[k]
    return found


@overload(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    a = np.ravel(ar1) if assume_unique else unique(ar1)
    b = sorted_row(np.ravel(ar2))
    if assume_unique or on_device() or a.dtype.kind not in ("i", "u", "f"):
        return a[~are_among(a, b)]
    return a[~sorted_are_among(a, b)]
