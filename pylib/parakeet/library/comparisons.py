"""Whether arrays are equal, or nearly."""

import numpy as np

from parakeet.library.intrinsics import asarray, strong
from parakeet.library.registry import overload
from parakeet.primitives import absolute, isfinite


@overload(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a = strong(a)
    b = strong(b)
    near = absolute(a - b) <= atol + rtol * absolute(b)
    close = (a == b) | (isfinite(b) & near)
    if equal_nan:
        return close | ((a != a) & (b != b))
    return close


@overload(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def is_same_shape(x, y):
    for k in range(x.ndim):
        if x.shape[k] != y.shape[k]:
            return False
    return True


@overload(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    x = asarray(a1)
    y = asarray(a2)
    if x.ndim != y.ndim:
        return False
    if not is_same_shape(x, y):
        return False
    same = x == y
    if equal_nan:
        same = same | ((x != x) & (y != y))
    return bool(np.all(same))
