"""Means and their like with weights, and reductions that leave out what is not a number."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, select, strong
from parakeet.library.reductions import combine
from parakeet.library.registry import overload
from parakeet.primitives import fmax, fmin, isnan


@overload(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """`weights` have the shape of `a`, or of its axis."""
    x = asarray(a)
    if weights is None:
        mean = np.mean(x, axis=axis, keepdims=keepdims)
        if returned:
            return mean, np.full_like(mean, x.size / np.size(mean))
        return mean
    w = weights_along(x, asarray(weights), axis)
    total = np.sum(w + np.zeros_like(x, dtype=w.dtype), axis=axis, keepdims=keepdims)
    mean = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    if returned:
        return mean, astype(total, strong(mean).dtype)
    return mean


def weights_along(x, w, axis):
    if w.ndim == x.ndim or axis is None:
        return w
    return np.moveaxis(w[(np.newaxis,) * (x.ndim - 1)], -1, axis)


def without_nan(a, otherwise):
    x = asarray(a)
    if x.dtype.kind != "f" and x.dtype.kind != "c":
        return x
    return select(isnan(x), astype(otherwise, x.dtype), x)


@overload(np.nansum)
def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    return np.sum(without_nan(a, 0), axis=axis, dtype=dtype, out=out, keepdims=keepdims)


@overload(np.nanprod)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False):
    return np.prod(without_nan(a, 1), axis=axis, dtype=dtype, out=out, keepdims=keepdims)


@overload(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    x = asarray(a)
    if x.dtype.kind != "f" and x.dtype.kind != "c":
        return np.mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    return np.mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=~isnan(x))


# fmin and fmax pass over a nan, so one is left only where there is nothing else.


@overload(np.nanmin)
def nanmin(a, axis=None, out=None, keepdims=False):
    return combine(fmin, asarray(a), axis, keepdims, out, None, None)


@overload(np.nanmax)
def nanmax(a, axis=None, out=None, keepdims=False):
    return combine(fmax, asarray(a), axis, keepdims, out, None, None)


@overload(getattr(np, "trapezoid", None) or np.trapz)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    heights = np.moveaxis(asarray(y), axis, -1)
    steps = dx if x is None else np.diff(asarray(x))
    return np.sum(steps * (heights[..., 1:] + heights[..., :-1]) / 2.0, axis=-1)
