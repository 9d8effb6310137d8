"""How far values lie from each other: variances, standard deviations, ranges."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    expand_dims,
    moveaxis,
    normalize_axes,
)
from parakeet.library.reductions import (
    count_where,
    finish,
    mask_of,
    max,
    mean_of,
    min,
    narrowed,
    passes_by,
    require_shape,
    where_or,
    wide_type,
)
from parakeet.library.registry import overload
from parakeet.operators import map, reduce
from parakeet.primitives import add, isfinite, sqrt, subtract


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


SAMPLES = 32


def shift_of(y):
    """A number near the mean along the last axis: the mean of some elements."""
    if y.ndim > 1:
        return map(shift_of, y)
    n = y.shape[0]
    first = y[0] if n > 0 else y.dtype.type(0)
    some = y[:: np.maximum(n // SAMPLES, 1)]
    near = first + reduce(add, some - first, init=0) / some.shape[0]
    return near if isfinite(near) else first * 0


def shifted_squares(y):
    """The sum of the squares of what is centred on the mean, along the last axis, which a GPU's
    threads go along side by side. As passes/shift_moments.cc: of differences from the mean of some
    elements, in one traversal; again where that is far from the mean."""
    moved = y - expand_dims(shift_of(y), -1)
    total = reduce(add, moved, axis=-1, init=0)
    squares = reduce(add, moved * moved, axis=-1, init=0)
    return centred(y, squares, total * total / y.shape[-1])


def centred(y, squares, excess):
    """Without what the squares have too much, along the last axis."""
    if y.ndim > 1:
        return map(centred, y, squares, excess)
    if excess > squares - excess:
        center = reduce(add, y, init=0) / y.shape[0]
        return reduce(add, squares_of(y - center), init=0)
    return squares - excess


def variance_of(x, dtype, axis, ddof, mean, where):
    """The variance in the dtype that it accumulates in. Of complex numbers only the mean is taken
    in the dtype that was asked for: the deviations keep their imaginary parts."""
    inner = wide_type(x.dtype) if dtype is None else dtype
    values = asarray(x, inner)
    is_plain = dtype is None and mean is None and where is None and values.dtype.kind == "f"
    if is_plain and passes_by(values, axis):
        return shifted_squares(moveaxis(values, axis, -1)) / freedom_of(x, axis, where, ddof)
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
