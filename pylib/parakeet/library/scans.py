"""Prefix sums and their like."""

import numpy as np

from parakeet.library.intrinsics import asarray, moveaxis, normalize_axes, reshape, sum_type
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import scan
from parakeet.primitives import add, multiply, not_equal


def prefixes(f, x, axis, dtype, out):
    x = asarray(x)
    x = asarray(x, sum_type(x.dtype) if dtype is None else dtype)
    if axis is None:
        return give(scan(f, reshape(x, -1)), out)
    return give(scan(f, x, axis=axis), out)


@overload(np.cumsum, method="cumsum")
def cumsum(a, axis=None, dtype=None, out=None):
    return prefixes(add, a, axis, dtype, out)


@overload(np.cumprod, method="cumprod")
def cumprod(a, axis=None, dtype=None, out=None):
    return prefixes(multiply, a, axis, dtype, out)


def differences(x, n):
    """Along the last axis."""
    normalize_axes((), n)  # Asks for an n that is known at compile time, since this calls itself.
    after = x[..., 1:]
    before = x[..., :-1]
    step = not_equal(after, before) if x.dtype == bool else after - before
    return step if n == 1 else differences(step, n - 1)


@overload(np.diff)
def diff(a, n=1, axis=-1):
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return x
    return moveaxis(differences(moveaxis(x, axis, -1), n), -1, axis)
