"""Choices between elements."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, can_cast, nonzero, select, strong
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.primitives import maximum, minimum


@overload(np.where)
def where(condition, x=None, y=None):
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
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
def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, where=True,
         casting="same_kind", order="K", dtype=None, subok=True):
    low = a_min if min is None else min
    high = a_max if max is None else max
    x = strong(a)
    if dtype is not None:
        if not can_cast(x.dtype, dtype, casting):
            raise TypeError(f"Cannot cast ufunc 'clip' input according to the rule '{casting}'")
        x = astype(x, dtype)
    is_new = low is None and high is None
    if low is not None:
        x = at_least(x, low, high is None)
    if high is not None:
        x = at_most(x, high, low is None)
    if out is None:
        if is_new and strong(x).ndim > 0:
            return np.array(x, order=order)
        return x if order == "K" or strong(x).ndim == 0 else np.array(x, order=order)
    if not can_cast(strong(x).dtype, out.dtype, casting):
        raise TypeError(f"Cannot cast ufunc 'clip' output according to the rule '{casting}'")
    return give(select(where, x, out), out)
