"""New arrays."""

import math

import numpy as np

from parakeet.library import intrinsics
from parakeet.library.intrinsics import (
    asarray,
    astype,
    expand_dims,
    moveaxis,
    normalize_axes,
    promote_types,
    reshape,
    result_type,
    select,
    strong,
)
from parakeet.library.registry import overload
from parakeet.operators import imap

# No subclass of arrays comes here, so `subok` says nothing; neither does `like`.


@overload(np.array)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    """`ndmax` says how deep NumPy looks into lists of anything; here they hold numbers."""
    made = make_array(object, dtype, copy, order)
    axes = normalize_axes(None, ndmin)
    return made if made.ndim >= ndmin else expand_dims(made, axes[: ndmin - made.ndim])


def make_array(object, dtype, copy, order):
    if isinstance(object, tuple) or isinstance(object, list):
        made = asarray(object, dtype)
        return intrinsics.copy(made, order) if order == "F" else made
    if copy is None:
        return asarray(object, dtype, None if order == "K" else order)
    if not copy:
        kind = asarray(object).dtype
        if not isinstance(object, np.ndarray) or (dtype is not None and result_type(dtype) != kind):
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return asarray(object)
    if dtype is None:
        return intrinsics.copy(asarray(object), order)
    return astype(asarray(object), dtype, order)


@overload(np.asarray, np.asanyarray)
def asarray_(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if copy is None:
        return asarray(a, dtype, order)
    return array(a, dtype, copy=copy, order="K" if order is None else order)


@overload(np.ascontiguousarray)
def ascontiguousarray(a, dtype=None, *, like=None):
    """Of at least one axis."""
    x = asarray(a, dtype, "C")
    return reshape(x, 1) if x.ndim == 0 else x


@overload(np.asfortranarray)
def asfortranarray(a, dtype=None, *, like=None):
    """Of at least one axis."""
    x = asarray(a, dtype, "F")
    return reshape(x, 1) if x.ndim == 0 else x


@overload(np.copy)
def copy(a, order="K", subok=False):
    return intrinsics.copy(asarray(a), order)


@overload(method="copy")
def copy_method(x, order="C"):
    return intrinsics.copy(x, order)


@overload(method="astype")
def cast(x, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not copy and (dtype is None or x.dtype == dtype):
        return x
    if dtype is None:
        return astype(x, float, order)
    return astype(x, dtype, order)


@overload(np.empty)
def empty(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.empty(shape, dtype, order)


@overload(np.zeros)
def zeros(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.full(shape, 0, float if dtype is None else dtype, order)


@overload(np.ones)
def ones(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.full(shape, 1, float if dtype is None else dtype, order)


@overload(np.full)
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    return intrinsics.full(shape, fill_value, dtype, order)


@overload(np.empty_like)
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *,
               device=None):
    return intrinsics.empty_like(asarray(prototype), dtype, order, shape)


@overload(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *,
              device=None):
    return intrinsics.full_like(asarray(a), fill_value, dtype, order, shape)


@overload(np.zeros_like)
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return full_like(a, 0, dtype=dtype, order=order, shape=shape)


@overload(np.ones_like)
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return full_like(a, 1, dtype=dtype, order=order, shape=shape)


@overload(method="fill")
def fill(x, value):
    x[...] = value


def count_steps(start, stop, step):
    """How many values arange gives."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        if step == 0:
            raise ZeroDivisionError("division by zero")
        return max(-((start - stop) // step), 0)
    steps = (stop - start) / step
    if math.isnan(steps):
        raise ValueError("arange: cannot compute length")
    if abs(steps) >= 2.0**63:
        raise ValueError("Maximum allowed size exceeded")
    return max(int(math.ceil(steps)), 0)


@overload(np.arange)
def arange(start=None, stop=None, step=1, dtype=None, *, device=None, like=None):
    if start is None:
        if stop is None:
            raise TypeError("arange() requires stop to be specified.")
        return arange(0, stop, step, dtype)
    if stop is None:
        return arange(0, start, step, dtype)
    if dtype is None:
        dtype = promote_types(strong(start).dtype, strong(stop).dtype)
        dtype = promote_types(promote_types(dtype, strong(step).dtype), np.int64)
    count = count_steps(start, stop, step)
    first = astype(start, dtype)
    delta = astype(start + step, dtype) - first
    return imap(lambda i: first + astype(i, dtype) * delta, count)


@overload(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *,
             device=None):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    inner = result_type(start, stop, 1.0)
    steps = num - 1 if endpoint else num
    first = astype(start, inner)
    last = astype(stop, inner)
    step = (last - first) / max(steps, 1)

    def at(i):
        value = astype(i, inner) * step + first
        if endpoint:
            value = select((i == num - 1) & (num > 1), last, value)
        return value

    values = imap(at, num)
    if dtype is not None:
        kind = result_type(dtype).kind
        if kind == "i" or kind == "u":
            values = np.floor(values)
        values = asarray(values, dtype)
    values = moveaxis(values, 0, axis)
    if retstep:
        return values, step if steps > 0 else step * np.nan
    return values


@overload(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if asarray(base).ndim > 0:
        raise NotImplementedError("logspace of one base")
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    made = np.power(base, exponents)
    return made if dtype is None else astype(made, dtype)


@overload(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    inner = result_type(start, stop, float(num))
    first = astype(start, inner)
    last = astype(stop, inner)
    if np.any(first == 0) or np.any(last == 0):
        raise ValueError("Geometric sequence cannot include zero")
    if inner.kind == "c":
        raise NotImplementedError("geomspace of real numbers")
    # All of one sign: along the logarithms of what is left without it.
    sign = np.sign(first)
    ratio = np.log10(last / sign)
    exponents = linspace(np.log10(first / sign), ratio, num, endpoint, axis=0)
    made = np.power(astype(10, inner), exponents)
    if num > 0:
        made[0] = first / sign
        if num > 1 and endpoint:
            made[-1] = last / sign
    made = moveaxis(made * sign, 0, axis)
    return made if dtype is None else astype(made, dtype)


@overload(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None):
    return function(*tuple([np.indices(shape, dtype)[k] for k in normalize_axes(None, len(shape))]))


def blocks_joined(arrays, axis, rank):
    """A list of lists: this one along `axis`, those inside along the next."""
    if not isinstance(arrays, (tuple, list)):
        given = asarray(arrays)
        axes = normalize_axes(None, rank)
        return expand_dims(given, axes[: rank - given.ndim]) if given.ndim < rank else given
    inside = len(normalize_axes(None, axis)) + 1  # Known at compile time.
    return np.concatenate(tuple([blocks_joined(one, inside, rank) for one in arrays]), axis=axis)


# Depths and ranks as tuples of that length, which is known wherever they come from.


def levels_of(arrays):
    if isinstance(arrays, (tuple, list)):
        return (0,) + levels_of(arrays[0])
    return ()


def axes_of(arrays, least):
    """Of the array with the most axes inside."""
    if isinstance(arrays, (tuple, list)):
        for one in tuple(arrays):
            least = axes_of(one, least)
        return least
    axes = normalize_axes(None, asarray(arrays).ndim)
    return axes if len(axes) > len(least) else least


@overload(np.block)
def block(arrays):
    levels = levels_of(arrays)
    rank = len(axes_of(arrays, levels))
    return np.copy(blocks_joined(arrays, rank - len(levels), rank))


@overload(np.asarray_chkfinite)
def asarray_chkfinite(a, dtype=None, order=None):
    made = asarray(a, dtype, order)
    if not np.all(np.isfinite(made)):
        raise ValueError("array must not contain infs or NaNs")
    return made
