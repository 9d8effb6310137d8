"""Where values stand among sorted ones: searches, bins, interpolation."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, promote_types, strong
from parakeet.library.registry import overload
from parakeet.library.sorting import order_of_row
from parakeet.operators import map


def first_not_less(a, value):
    """The first place in `a`, sorted, where `value` could stand. A nan is above all."""
    low = 0
    high = a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < value or ((value != value) & (a[middle] == a[middle])):
            low = middle + 1
        else:
            high = middle
    return low


def first_greater(a, value):
    low = 0
    high = a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if value < a[middle] or ((a[middle] != a[middle]) & (value == value)):
            high = middle
        else:
            low = middle + 1
    return low


@overload(np.searchsorted, method="searchsorted")
def searchsorted(a, v, side="left", sorter=None):
    if side != "left" and side != "right":
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    x = asarray(a)
    if x.ndim != 1:
        raise ValueError("object too deep for desired array")
    values = strong(v)
    dtype = promote_types(x.dtype, values.dtype)
    x = asarray(x, dtype)
    if sorter is not None:
        x = x[sorter]
    values = astype(values, dtype)
    if side == "left":
        return strong(map(lambda value: first_not_less(x, value), values, axis=None))
    return strong(map(lambda value: first_greater(x, value), values, axis=None))


@overload(np.digitize)
def digitize(x, bins, right=False):
    edges = asarray(bins)
    values = strong(x)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.ndim != 1:
        raise ValueError("object of too small depth for desired array")
    side = "left" if right else "right"
    if np.all(edges[1:] >= edges[:-1]):
        return searchsorted(edges, values, side)
    if np.any(edges[1:] > edges[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return edges.shape[0] - searchsorted(edges[::-1], values, side)


def between(x, xp, fp, j):
    """On the line from the point j to the next."""
    slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
    y = slope * (x - xp[j]) + fp[j]
    if y != y:
        y = slope * (x - xp[j + 1]) + fp[j + 1]
        if y != y and fp[j] == fp[j + 1]:
            y = fp[j]
    return y


def interpolated(x, xp, fp, left, right):
    n = xp.shape[0]
    if x != x:
        return astype(x, fp.dtype)
    j = first_greater(xp, x) - 1
    if j < 0:
        return left
    if j >= n - 1:
        return right if x > xp[n - 1] else fp[n - 1]
    return fp[j] if xp[j] == x else between(x, xp, fp, j)


def periodic(x, xp, fp, period):
    """With the points of one period before and after those given."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    length = np.absolute(period)
    points = xp % length
    order = order_of_row(points)
    points = points[order]
    values = fp[order]
    points = np.concatenate((points[-1:] - length, points, points[:1] + length))
    values = np.concatenate((values[-1:], values, values[:1]))
    return interp(x % length, points, values)


@overload(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    points = asarray(xp, np.float64)
    values = asarray(fp)
    values = asarray(values, np.complex128 if values.dtype.kind == "c" else np.float64)
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if points.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if points.shape[0] != values.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        return periodic(astype(strong(x), np.float64), points, values, period)
    below = values[0] if left is None else astype(left, values.dtype)
    above = values[-1] if right is None else astype(right, values.dtype)
    places = astype(strong(x), np.float64)
    return strong(
        map(lambda place: interpolated(place, points, values, below, above), places, axis=None)
    )
