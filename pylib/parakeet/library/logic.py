"""Choices between elements."""

import numpy as np

from parakeet.library.intrinsics import asarray, nonzero, select, strong
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.primitives import maximum, minimum


@overload(np.where)
def where(condition, x=None, y=None):
    if x is None and y is None:
        return nonzero(condition)
    return asarray(select(condition, x, y))  # of numbers too


# Between two bounds NumPy keeps what equals one of them, which shows in the sign of a zero; a
# single bound is its maximum or minimum. A nan on either side comes through.


def at_least(x, low, is_alone):
    if is_alone and (x.dtype.kind == "f" or x.dtype.kind == "c"):
        return maximum(x, low)
    return select((x >= low) | (x != x), x, low)


def at_most(x, high, is_alone):
    if is_alone and (x.dtype.kind == "f" or x.dtype.kind == "c"):
        return minimum(x, high)
    return select((x <= high) | (x != x), x, high)


@overload(np.clip, method="clip")
def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):
    low = a_min if min is None else min
    high = a_max if max is None else max
    x = strong(a)
    if low is not None:
        x = at_least(x, low, high is None)
    if high is not None:
        x = at_most(x, high, low is None)
    return give(x, out)
