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
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    made = make_array(object, dtype, copy, order)
    axes = normalize_axes(None, ndmin)
    return made if made.ndim >= ndmin else expand_dims(made, axes[: ndmin - made.ndim])


def make_array(object, dtype, copy, order):
    if isinstance(object, tuple) or isinstance(object, list):
        made = asarray(object, dtype)
        return intrinsics.copy(made, order) if order == "F" else made
    if not copy:
        return asarray(object, dtype)
    if dtype is None:
        return intrinsics.copy(asarray(object), order)
    return astype(asarray(object), dtype, order)


@overload(np.asarray, np.asanyarray)
def asarray_(a, dtype=None, order=None, *, copy=None, like=None):
    return array(a, dtype, copy=True, order=order) if copy else asarray(a, dtype, order)


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
    return astype(x, dtype, order)


@overload(np.empty)
def empty(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.empty(shape, dtype, order)


@overload(np.zeros)
def zeros(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.full(shape, 0, dtype, order)


@overload(np.ones)
def ones(shape, dtype=float, order="C", *, device=None, like=None):
    return intrinsics.full(shape, 1, dtype, order)


@overload(np.full)
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    return intrinsics.full(shape, fill_value, dtype, order)


@overload(np.empty_like)
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None):
    return intrinsics.empty_like(asarray(prototype), dtype, order, shape)


@overload(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    return intrinsics.full_like(asarray(a), fill_value, dtype, order, shape)


@overload(np.zeros_like)
def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    return full_like(a, 0, dtype=dtype, order=order, shape=shape)


@overload(np.ones_like)
def ones_like(a, dtype=None, order="K", subok=True, shape=None):
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
    return max(int(math.ceil((stop - start) / step)), 0)


@overload(np.arange)
def arange(start=None, stop=None, step=1, dtype=None, *, device=None, like=None):
    if start is None:
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
