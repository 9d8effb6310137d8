"""How far values lie from each other: variances, standard deviations, ranges."""

import numpy as np

from parakeet.library.intrinsics import asarray, expand_dims, normalize_axes
from parakeet.library.reductions import (
    count_where,
    finish,
    mask_of,
    max,
    mean_of,
    min,
    narrowed,
    require_shape,
    where_or,
    wide_type,
)
from parakeet.library.registry import overload
from parakeet.operators import reduce
from parakeet.primitives import add, sqrt, subtract


def squares_of(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def center_of(x, axis, mean, where):
    """What deviations are taken from, in a shape that broadcasts to x."""
    if mean is not None:
        return asarray(mean)
    center = mean_of(x, axis, where)
    return center if axis is None else expand_dims(center, normalize_axes(axis, x.ndim))


def freedom_of(x, axis, where, ddof):
    """By what the squares are divided; nothing below 0."""
    freedom = count_where(x, axis, where) - ddof
    if where is None or axis is None:
        return freedom if freedom > 0 else freedom * 0
    return np.maximum(freedom, 0)


def variance_of(x, dtype, axis, ddof, mean, where):
    """The variance in the dtype that it accumulates in. Of complex numbers only the mean is taken
    in the dtype that was asked for: the deviations keep their imaginary parts."""
    inner = wide_type(x.dtype) if dtype is None else dtype
    values = asarray(x, inner)
    center = center_of(values, axis, mean, where)
    squares = squares_of((x if x.dtype.kind == "c" else values) - center)
    if dtype is not None:
        squares = asarray(squares, dtype)
    total = reduce(add, where_or(squares, where, 0), axis=axis, init=0)
    freedom = freedom_of(x, axis, where, ddof)
    return total / (freedom if where is None else freedom.astype(total.real.dtype))


@overload(np.var, method="var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None,
        correction=None):
    x = asarray(a)
    given = ddof if correction is None else correction
    result = variance_of(x, dtype, axis, given, mean, mask_of(where))
    return finish(narrowed(result, dtype, x.dtype), axis, keepdims, x.ndim, out)


@overload(np.std, method="std")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None,
        correction=None):
    variance = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean,
                   correction=correction)
    require_shape(out, asarray(variance))
    return sqrt(variance, out=out)


@overload(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    x = asarray(a)
    high = max(x, axis, keepdims=keepdims)
    low = min(x, axis, keepdims=keepdims)
    require_shape(out, asarray(high))
    return subtract(high, low, out=out)
