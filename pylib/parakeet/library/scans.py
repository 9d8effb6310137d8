"""Prefix sums and their like."""

import numpy as np

from parakeet.library.intrinsics import asarray, moveaxis, reshape, sum_type
from parakeet.library.one_axis import along_one_axis
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import scan
from parakeet.primitives import add, multiply


def prefixes(f, x, axis, dtype, out):
    x = asarray(x)
    x = along_one_axis(asarray(x, sum_type(x.dtype) if dtype is None else dtype), axis)
    if axis is None:
        return give(scan(f, reshape(x, -1)), out)
    return give(scan(f, x, axis=axis), out)


@overload(np.cumsum, method="cumsum")
def cumsum(a, axis=None, dtype=None, out=None):
    return prefixes(add, a, axis, dtype, out)


@overload(np.cumprod, method="cumprod")
def cumprod(a, axis=None, dtype=None, out=None):
    return prefixes(multiply, a, axis, dtype, out)


def prefixes_of_all(f, x, axis, dtype, out, include_initial, first):
    """With what there is before the first element in front, where that is asked for."""
    values = asarray(x)
    if axis is None and values.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is "
                         "required.")
    made = prefixes(f, values, axis, dtype, None)
    if include_initial:
        rows = moveaxis(made, 0 if axis is None else axis, 0)
        start = np.full((1,) + rows.shape[1:], first, made.dtype)
        rows = np.concatenate((start, rows))
        made = moveaxis(rows, 0, 0 if axis is None else axis)
    return give(made, out)


@overload(getattr(np, "cumulative_sum", None))
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return prefixes_of_all(add, x, axis, dtype, out, include_initial, 0)


@overload(getattr(np, "cumulative_prod", None))
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return prefixes_of_all(multiply, x, axis, dtype, out, include_initial, 1)
