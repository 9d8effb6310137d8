"""Where values stand among sorted ones: searches, bins, interpolation."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, promote_types, strong
from parakeet.library.registry import overload
from parakeet.library.sorting import order_of_row
from parakeet.operators import map


def halvings(n):
    """How often n elements are halved until none is left, and the longest of these steps."""
    count = 0
    longest = 0
    while n >= max(longest + longest, 1):
        longest = max(longest + longest, 1)
        count += 1
    return count, longest


def is_less(a, b):
    """A nan is above all."""
    return (a < b) | ((b != b) & (a == a))


def first_not_less(a, value, steps):
    """The first place in `a`, sorted and not empty, where `value` could stand.

    All values take the same steps, each as long as a power of two and taken or not, so that many
    are searched for at once. `steps` are the halvings of a's elements.
    """
    n = a.shape[0]
    count, longest = steps
    place = 0
    for k in range(count):
        further = place + int(np.right_shift(longest, k))
        element = a[max(min(further - 1, n - 1), 0)]
        place = further if (further <= n) & is_less(element, value) else place
    return place


def first_greater(a, value, steps):
    n = a.shape[0]
    count, longest = steps
    place = 0
    for k in range(count):
        further = place + int(np.right_shift(longest, k))
        element = a[max(min(further - 1, n - 1), 0)]
        place = further if (further <= n) & ~is_less(value, element) else place
    return place


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
    if x.shape[0] < 1:
        return strong(map(lambda value: 0, values, axis=None))
    steps = halvings(x.shape[0])
    if side == "left":
        return strong(map(lambda value: first_not_less(x, value, steps), values, axis=None))
    return strong(map(lambda value: first_greater(x, value, steps), values, axis=None))


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


def between(x, xp, fp, j, after):
    """On the line from the point j to the one after."""
    slope = (fp[after] - fp[j]) / (xp[after] - xp[j])
    y = slope * (x - xp[j]) + fp[j]
    if y != y:
        y = slope * (x - xp[after]) + fp[after]
        if y != y and fp[j] == fp[after]:
            y = fp[j]
    return y


def interpolated(x, xp, fp, left, right, steps):
    n = xp.shape[0]
    if x != x:
        return astype(x, fp.dtype)
    j = first_greater(xp, x, steps) - 1
    if j < 0:
        return left
    if j >= n - 1:
        return right if x > xp[n - 1] else fp[n - 1]
    after = max(min(j + 1, n - 1), 0)  # No more than j + 1, which is in range.
    return fp[j] if xp[j] == x else between(x, xp, fp, j, after)


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
    if points.shape[0] < 1:
        raise ValueError("array of sample points is empty")
    if points.shape[0] != values.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        return periodic(astype(strong(x), np.float64), points, values, period)
    below = values[0] if left is None else astype(left, values.dtype)
    above = values[-1] if right is None else astype(right, values.dtype)
    places = astype(strong(x), np.float64)
    steps = halvings(points.shape[0])
    return strong(map(lambda place: interpolated(place, points, values, below, above, steps),
                      places, axis=None))
