"""Where values stand among sorted ones: searches, bins, interpolation."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    element_at,
    on_device,
    promote_types,
    strong,
)
from parakeet.library.registry import overload
from parakeet.library.sorting import order_of_row
from parakeet.operators import map


def halvings(n):
    """How often n elements are halved until none is left, and the longest of these steps."""
    count = 0
    rest = n
    while rest > 0:
        rest >>= 1
        count += 1
    return count, np.right_shift(np.left_shift(1, count), 1)


def is_less(a, b):
    """A nan is above all."""
    return (a < b) | ((b != b) & (a == a))


def stands_before(element, value):
    return is_less(element, value)


def stands_before_or_with(element, value):
    return ~is_less(value, element)


def first_behind(goes_on, a, value, steps):
    """The first place in `a`, sorted and not empty, before which all elements go on to the value.

    All values take the same steps, each as long as a power of two and taken or not, so that many
    are searched for at once. The first step may end where the others end with the last element: no
    place is asked about that is not one of a's. `steps` are the halvings of a's elements.
    """
    count, longest = steps
    place = a.shape[0] - longest + 1 if goes_on(element_at(a, longest - 1), value) else 0
    step = longest
    for _ in range(1, count):
        step >>= 1
        further = place + step
        place = further if goes_on(element_at(a, further - 1), value) else place
    return place


def first_not_less(a, value, steps):
    if a.dtype.kind == "c":
        return first_behind(stands_before, a, value, steps)
    place = first_behind(lambda element, v: element < v, a, value, steps)
    if value != value:
        # No element is less than nan; those that are numbers stand before it.
        end = a.shape[0]
        while place < end:
            middle = (place + end) >> 1
            element = element_at(a, middle)
            if element == element:
                place = middle + 1
            else:
                end = middle
    return place


def first_greater(a, value, steps):
    if a.dtype.kind == "c":
        return first_behind(stands_before_or_with, a, value, steps)
    place = first_behind(lambda element, v: element <= v, a, value, steps)
    return place if value == value else a.shape[0]


def search_on(goes_on, a, value, steps, done, place):
    """From a place, where so many steps have been done."""
    n = a.shape[0]
    count, longest = steps
    for k in range(done, count):
        further = place + int(np.right_shift(longest, k))
        element = a[np.maximum(np.minimum(further - 1, n - 1), 0)]
        place = further if (further <= n) & goes_on(element, value) else place
    return place


# The first steps of all searches look at few elements, which lie far apart. Threads of a GPU find
# copies of them side by side, which its processors' own caches hold.
SAMPLED_STEPS = 12
STORED_AGAIN = 32
SAMPLES = (1 << SAMPLED_STEPS) + STORED_AGAIN
LEAST_SAMPLED = 1 << 16  # elements and values


def samples_of(a, steps):
    n = a.shape[0]
    stride = np.right_shift(steps[1], SAMPLED_STEPS - 1)
    samples = np.empty(SAMPLES, a.dtype)
    for k in range(SAMPLES - STORED_AGAIN):
        samples[k] = a[np.maximum(np.minimum((k + 1) * stride - 1, n - 1), 0)]
    # Nobody reads these; but what is stored to again is not made anew where it is read.
    for k in range(SAMPLES - STORED_AGAIN, SAMPLES):
        samples[k] = a[0]
    return samples


def first_behind_samples(goes_on, a, samples, value, steps):
    stride = np.right_shift(steps[1], SAMPLED_STEPS - 1)
    place = 0
    for k in range(SAMPLED_STEPS):
        further = place + np.right_shift(1 << (SAMPLED_STEPS - 1), k)
        element = samples[np.maximum(np.minimum(further - 1, SAMPLES - 1), 0)]
        place = further if (further * stride <= a.shape[0]) & goes_on(element, value) else place
    return search_on(goes_on, a, value, steps, SAMPLED_STEPS, place * stride)


def places_behind(search, goes_on, a, values):
    steps = halvings(a.shape[0])
    if on_device() and values.ndim == 1:
        if a.shape[0] >= LEAST_SAMPLED and values.shape[0] >= LEAST_SAMPLED:
            samples = samples_of(a, steps)
            return map(lambda v: first_behind_samples(goes_on, a, samples, v, steps), values)
    return map(lambda value: search(a, value, steps), values, axis=None)


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
    if side == "left":
        return strong(places_behind(first_not_less, stands_before, x, values))
    return strong(places_behind(first_greater, stands_before_or_with, x, values))


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


def on_line(x, start, end, first, second, slope):
    y = slope * (x - start) + first
    if y != y:
        y = slope * (x - end) + second
        if y != y and first == second:
            y = first
    return y


def interpolated(x, xp, fp, left, right, j):
    """On the line from the point j, the last one that is not behind x, to the one after."""
    last = xp.shape[0] - 1
    low = max(min(j, last - 1), 0)
    after = min(low + 1, last)
    start, end = element_at(xp, low), element_at(xp, after)
    first, second = element_at(fp, low), element_at(fp, after)
    if fp.dtype.kind == "c":
        by = 1 / (end - start)
        rise = complex((second.real - first.real) * by, (second.imag - first.imag) * by)
        y = complex(on_line(x, start, end, first.real, second.real, rise.real),
                    on_line(x, start, end, first.imag, second.imag, rise.imag))
    else:
        y = on_line(x, start, end, first, second, (second - first) / (end - start))
    y = first if start == x else y
    if j >= last:
        y = right if x > element_at(xp, last) else element_at(fp, last)
    y = left if j < 0 else y
    # NumPy holds nan against a single point as any other place.
    return y if x == x or last < 1 else astype(x, fp.dtype)


# So many places are gone through one after the other.
PLACES_IN_TURN = 4096


def interpolated_in_turn(places, xp, fp, left, right, steps):
    """Of places in ascending order: the point before each is mostly that before the last."""
    last = xp.shape[0] - 1
    n = places.shape[0]
    made = np.empty(n, fp.dtype)
    for begin in range(0, n, PLACES_IN_TURN):
        j = -1
        for i in range(begin, min(begin + PLACES_IN_TURN, n)):
            place = element_at(places, i)
            if j < last and element_at(xp, j + 1) <= place:
                j += 1
                if j < last and element_at(xp, j + 1) <= place:
                    j = first_greater(xp, place, steps) - 1
            made[i] = interpolated(place, xp, fp, left, right, j)
    return made


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
    for given in (x, xp):
        if strong(given).dtype.kind == "c":
            raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') "
                            "according to the rule 'safe'")
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
    if places.ndim == 1 and not on_device():
        if places.shape[0] > 1 and np.all(places[1:] >= places[:-1]):
            return interpolated_in_turn(places, points, values, below, above, steps)
    of = lambda x: interpolated(x, points, values, below, above,  # noqa: E731
                                first_greater(points, x, steps) - 1)
    return strong(map(of, places, axis=None))
