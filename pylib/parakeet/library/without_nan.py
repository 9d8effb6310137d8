"""Reductions and scans that leave out what is not a number."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, select, strong
from parakeet.library.reductions import combine, mask_of
from parakeet.library.registry import overload
from parakeet.primitives import fmax, fmin, isnan


def without_nan(a, otherwise):
    x = asarray(a)
    if x.dtype.kind != "f" and x.dtype.kind != "c":
        return x
    return select(isnan(x), astype(otherwise, x.dtype), x)


def is_number(x):
    """One that may be nan: of it any axis will do."""
    return x.ndim == 0 and (x.dtype.kind == "f" or x.dtype.kind == "c")


def numbers_of(x, where):
    """Where there is a number, of those that the mask chooses."""
    mask = mask_of(where)
    if x.dtype.kind != "f" and x.dtype.kind != "c":
        return mask
    return ~isnan(x) if mask is None else mask & ~isnan(x)


@overload(np.nansum)
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    x = without_nan(a, 0)
    return np.sum(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial,
                  where=where)


@overload(np.nanprod)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    x = without_nan(a, 1)
    return np.prod(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial,
                   where=where)


@overload(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(without_nan(a, 0), axis=axis, dtype=dtype, out=out)


@overload(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(without_nan(a, 1), axis=axis, dtype=dtype, out=out)


@overload(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    x = asarray(a)
    if is_number(x):
        axis = None
    return np.mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims,
                   where=numbers_of(x, where))


@overload(np.nanvar)
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None,
           correction=None):
    x = asarray(a)
    if is_number(x):
        axis = None
    return np.var(x, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims,
                  where=numbers_of(x, where), mean=mean, correction=correction)


@overload(np.nanstd)
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None,
           correction=None):
    x = asarray(a)
    if is_number(x):
        axis = None
    return np.std(x, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims,
                  where=numbers_of(x, where), mean=mean, correction=correction)


# fmin and fmax pass over a nan, so one is left only where there is nothing else.


@overload(np.nanmin)
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return combine(fmin, asarray(a), axis, keepdims, out, initial, where)


@overload(np.nanmax)
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return combine(fmax, asarray(a), axis, keepdims, out, initial, where)


def require_numbers(x, axis):
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        if np.any(np.all(isnan(x), axis=axis)):
            raise ValueError("All-NaN slice encountered")


@overload(np.nanargmin)
def nanargmin(a, axis=None, out=None, *, keepdims=False):
    x = asarray(a)
    require_numbers(x, axis)
    return np.argmin(without_nan(x, np.inf), axis=axis, out=out, keepdims=keepdims)


@overload(np.nanargmax)
def nanargmax(a, axis=None, out=None, *, keepdims=False):
    x = asarray(a)
    require_numbers(x, axis)
    return np.argmax(without_nan(x, -np.inf), axis=axis, out=out, keepdims=keepdims)


def real_numbers(x, nan, high, low):
    x = select(isnan(x), astype(nan, x.dtype), x)
    x = select(x == np.inf, astype(high, x.dtype), x)
    return select(x == -np.inf, astype(low, x.dtype), x)


@overload(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = strong(x)
    if given.dtype.kind != "f" and given.dtype.kind != "c":
        return np.array(given) if copy else given
    limits = np.finfo(given.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    if given.dtype.kind == "c":
        made = given + 0
        made.real = real_numbers(given.real, nan, high, low)
        made.imag = real_numbers(given.imag, nan, high, low)
    else:
        made = real_numbers(given, nan, high, low)
    if copy:
        return made
    given[...] = made
    return given
