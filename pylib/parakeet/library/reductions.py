"""Reductions along axes."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    broadcast_to,
    expand_dims,
    moveaxis,
    normalize_axes,
    reshape,
    result_type,
    select,
    strong,
    sum_type,
)
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import reduce
from parakeet.primitives import add, logical_and, logical_or, maximum, minimum, multiply, sqrt


def finish(result, axis, keepdims, rank, out):
    """The result of a reduction of an array of `rank`, in the shape and place asked for."""
    if keepdims:
        result = expand_dims(result, normalize_axes(axis, rank))
    return give(result, out)


def count_along(x, axis):
    """How many elements each result combines."""
    if axis is None:
        return x.size
    count = 1
    for k in normalize_axes(axis, x.ndim):
        count *= x.shape[k]
    return count


def where_or(x, where, otherwise):
    """`x`, with `otherwise` where the mask is false."""
    if where is None:
        return x
    return select(where, x, strong(otherwise).astype(x.dtype))


def combine(f, x, axis, keepdims, out, init, where):
    if where is not None and init is None:
        raise ValueError("reduction operation does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    if init is not None:
        init = astype(init, x.dtype)
        x = where_or(x, where, init)
    return finish(reduce(f, x, axis=axis, init=init), axis, keepdims, x.ndim, out)


@overload(np.sum, method="sum")
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    x = asarray(a)
    x = where_or(asarray(x, sum_type(x.dtype) if dtype is None else dtype), where, 0)
    total = reduce(add, x, axis=axis, init=astype(initial, x.dtype))
    return finish(total, axis, keepdims, x.ndim, out)


@overload(np.prod, method="prod")
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    x = asarray(a)
    x = where_or(asarray(x, sum_type(x.dtype) if dtype is None else dtype), where, 1)
    product = reduce(multiply, x, axis=axis, init=astype(initial, x.dtype))
    return finish(product, axis, keepdims, x.ndim, out)


@overload(np.min, np.amin, method="min")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return combine(minimum, asarray(a), axis, keepdims, out, initial, where)


@overload(np.max, np.amax, method="max")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return combine(maximum, asarray(a), axis, keepdims, out, initial, where)


@overload(np.all, method="all")
def all(a, axis=None, out=None, keepdims=False, where=None):
    x = where_or(asarray(a, bool), where, True)
    return finish(reduce(logical_and, x, axis=axis, init=True), axis, keepdims, x.ndim, out)


@overload(np.any, method="any")
def any(a, axis=None, out=None, keepdims=False, where=None):
    x = where_or(asarray(a, bool), where, False)
    return finish(reduce(logical_or, x, axis=axis, init=False), axis, keepdims, x.ndim, out)


def wide_type(dtype):
    """What means of a dtype accumulate in: float16 in float32, integers in float64."""
    if dtype == np.float16:
        return np.float32
    return result_type(dtype, 1.0)


def mean_of(x, axis, where):
    """The mean in the dtype that it accumulates in."""
    total = reduce(add, where_or(x, where, 0), axis=axis, init=0)
    if where is None:
        return total / count_along(x, axis)
    chosen = asarray(broadcast_to(where, x.shape), np.int64)
    return total / reduce(add, chosen, axis=axis, init=0).astype(total.real.dtype)


@overload(np.mean, method="mean")
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    x = asarray(a)
    if dtype is not None:
        result = mean_of(asarray(x, dtype), axis, where)
        return finish(result, axis, keepdims, x.ndim, out)
    result = mean_of(asarray(x, wide_type(x.dtype)), axis, where)
    if x.dtype == np.float16:
        result = result.astype(np.float16)
    return finish(result, axis, keepdims, x.ndim, out)


def squares_of(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def variance_of(x, axis, ddof):
    """The variance in the dtype that it accumulates in."""
    count = count_along(x, axis)
    center = reduce(add, x, axis=axis, init=0) / count
    if axis is not None:
        center = expand_dims(center, normalize_axes(axis, x.ndim))
    squares = squares_of(x - center)
    freedom = count - ddof
    return reduce(add, squares, axis=axis, init=0) / (freedom if freedom > 0 else 0)


@overload(np.var, method="var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    x = asarray(a)
    if dtype is not None:
        return finish(variance_of(asarray(x, dtype), axis, ddof), axis, keepdims, x.ndim, out)
    result = variance_of(asarray(x, wide_type(x.dtype)), axis, ddof)
    if x.dtype == np.float16:
        result = result.astype(np.float16)
    return finish(result, axis, keepdims, x.ndim, out)


@overload(np.std, method="std")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return give(sqrt(var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)), out)


@overload(np.count_nonzero)
def count_nonzero(a, axis=None, keepdims=False):
    return sum(asarray(a, bool), axis=axis, keepdims=keepdims)


# argmin and argmax look for the best element first and for its place then: two reductions that run
# in lanes, where one of pairs would not.


def first_place(x, best):
    """Along the last axis, where an element first is `best` or, of several, a nan."""
    found = x == best
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        found = found | (x != x)
    n = x.shape[-1]
    return reduce(minimum, select(found, np.arange(n), n), axis=-1)


def place_along(f, x, axis):
    """The place of what f, minimum or maximum, gives along an axis that has elements."""
    x = reshape(x, -1) if axis is None else moveaxis(x, axis, -1)
    best = reduce(f, x, axis=-1)
    return first_place(x, best if x.ndim == 1 else expand_dims(best, -1))


@overload(np.argmin, method="argmin")
def argmin(a, axis=None, out=None, keepdims=False):
    x = asarray(a)
    if count_along(x, axis) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    return finish(place_along(minimum, x, axis), axis, keepdims, x.ndim, out)


@overload(np.argmax, method="argmax")
def argmax(a, axis=None, out=None, keepdims=False):
    x = asarray(a)
    if count_along(x, axis) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    return finish(place_along(maximum, x, axis), axis, keepdims, x.ndim, out)


@overload(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    x = asarray(a)
    return give(max(x, axis, keepdims=keepdims) - min(x, axis, keepdims=keepdims), out)
