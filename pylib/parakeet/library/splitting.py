"""Arrays in parts: tuples of views, where NumPy gives lists of them."""

import numpy as np

from parakeet.library.intrinsics import asarray, normalize_axes
from parakeet.library.registry import overload


def part(x, start, stop, axis):
    return x[(slice(None),) * axis + (slice(start, stop),)]


def parts_between(x, ends, axis):
    """Up to each of the ends, and from the last one on."""
    made = ()
    start = 0
    for stop in ends:
        made = made + (part(x, start, stop, axis),)
        start = stop
    return made + (part(x, start, None, axis),)


def axis_of(x, axis):
    if x.ndim == 0:
        raise TypeError("array_split of a number")
    return normalize_axes(axis, x.ndim)[0]


@overload(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    x = asarray(ary)
    k = axis_of(x, axis)
    if isinstance(indices_or_sections, (tuple, list)):
        return parts_between(x, indices_or_sections, k)
    if indices_or_sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    places = normalize_axes(None, indices_or_sections)  # Known at compile time.
    n = x.shape[k]
    count = len(places)
    ends = tuple([(i + 1) * (n // count) + min(i + 1, n % count) for i in places[:-1]])
    return parts_between(x, ends, k)


@overload(np.split)
def split(ary, indices_or_sections, axis=0):
    x = asarray(ary)
    if not isinstance(indices_or_sections, (tuple, list)):
        if x.shape[axis_of(x, axis)] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


@overload(np.hsplit)
def hsplit(ary, indices_or_sections):
    x = asarray(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@overload(np.vsplit)
def vsplit(ary, indices_or_sections):
    x = asarray(ary)
    if x.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


@overload(np.dsplit)
def dsplit(ary, indices_or_sections):
    x = asarray(ary)
    if x.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)
