"""Differences between neighbours, and what is made of them."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    broadcast_to,
    can_cast,
    moveaxis,
    normalize_axes,
    reshape,
    result_type,
    select,
)
from parakeet.library.registry import overload
from parakeet.primitives import absolute, not_equal, remainder


def differences(x, n):
    """Along the last axis."""
    normalize_axes((), n)  # Asks for an n that is known at compile time, since this calls itself.
    after = x[..., 1:]
    before = x[..., :-1]
    step = not_equal(after, before) if x.dtype == bool else after - before
    return step if n == 1 else differences(step, n - 1)


def bordering(border, x, axis):
    """What is put before or after x: a number stands for one slice."""
    given = asarray(border)
    if given.ndim > 0:
        return given
    k = normalize_axes(axis, x.ndim)[0]
    return broadcast_to(given, x.shape[:k] + (1,) + x.shape[k + 1 :])


@overload(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a
    x = asarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is not None:
        x = np.concatenate((bordering(prepend, x, axis), x), axis)
    if append is not None:
        x = np.concatenate((x, bordering(append, x, axis)), axis)
    return moveaxis(differences(moveaxis(x, axis, -1), n), -1, axis)


def end_of(given, dtype, name):
    if not can_cast(asarray(given).dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the "
                        "`same_kind` rule.")
    return astype(reshape(asarray(given), -1), dtype)


@overload(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    x = reshape(asarray(ary), -1)
    steps = x[1:] - x[:-1]
    if to_begin is not None:
        steps = np.concatenate((end_of(to_begin, x.dtype, "to_begin"), steps))
    if to_end is not None:
        steps = np.concatenate((steps, end_of(to_end, x.dtype, "to_end")))
    return steps


@overload(getattr(np, "trapezoid", None) or np.trapz)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    heights = moveaxis(asarray(y), axis, -1)
    if x is None:
        steps = dx
    else:
        places = asarray(x)
        steps = np.diff(places if places.ndim == 1 else moveaxis(places, axis, -1))
    return np.sum(steps * (heights[..., 1:] + heights[..., :-1]) / 2.0, axis=-1)


def slopes_of_even(x, h, edge_order):
    """Along the first axis, whose places lie h apart."""
    made = np.empty_like(x)
    made[1:-1] = (x[2:] - x[:-2]) / (2.0 * h)
    if edge_order == 1:
        made[0] = (x[1] - x[0]) / h
        made[-1] = (x[-1] - x[-2]) / h
    else:
        made[0] = (-1.5 / h) * x[0] + (2.0 / h) * x[1] + (-0.5 / h) * x[2]
        made[-1] = (0.5 / h) * x[-3] + (-2.0 / h) * x[-2] + (1.5 / h) * x[-1]
    return made


def slopes_of_uneven(x, steps, edge_order):
    """Along the first axis, whose places lie `steps` apart."""
    made = np.empty_like(x)
    column = (slice(None),) + (None,) * (x.ndim - 1)
    h = steps[:-1][column]
    g = steps[1:][column]
    made[1:-1] = (-g / (h * (h + g)) * x[:-2] + (g - h) / (h * g) * x[1:-1]
                  + h / (g * (h + g)) * x[2:])
    if edge_order == 1:
        made[0] = (x[1] - x[0]) / steps[0]
        made[-1] = (x[-1] - x[-2]) / steps[-1]
        return made
    h = steps[0]
    g = steps[1]
    made[0] = (-(2.0 * h + g) / (h * (h + g)) * x[0] + (h + g) / (h * g) * x[1]
               - h / (g * (h + g)) * x[2])
    h = steps[-2]
    g = steps[-1]
    made[-1] = (g / (h * (h + g)) * x[-3] - (g + h) / (h * g) * x[-2]
                + (2.0 * g + h) / (g * (h + g)) * x[-1])
    return made


def slopes_along(x, spacing, axis, edge_order):
    rows = moveaxis(x, axis, 0)
    n = rows.shape[0]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least "
                         "(edge_order + 1) elements are required.")
    if asarray(spacing).ndim == 0:
        return moveaxis(slopes_of_even(rows, spacing, edge_order), 0, axis)
    places = asarray(spacing)
    if places.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if places.shape[0] != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = np.diff(astype(places, result_type(places.dtype, 1.0)))
    return moveaxis(slopes_of_uneven(rows, steps, edge_order), 0, axis)


@overload(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    x = asarray(f)
    if x.dtype == bool:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the "
                        "bitwise_xor, the `^` operator, or the logical_xor function instead.")
    if x.dtype.kind != "f" and x.dtype.kind != "c":
        x = asarray(x, np.float64)
    axes = normalize_axes(axis, x.ndim)
    count = len(varargs)
    if count > 1 and count != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if count == 1 and asarray(varargs[0]).ndim > 0 and len(axes) > 1:
        raise TypeError("invalid number of arguments")
    spacings = (1.0,) * len(axes) if count == 0 else varargs
    if len(spacings) < len(axes):
        spacings = spacings * len(axes)
    slopes = tuple([slopes_along(x, spacings[i], axes[i], edge_order)
                    for i in normalize_axes(None, len(axes))])
    return slopes[0] if len(slopes) == 1 else slopes


@overload(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Jumps of more than half a period are taken for turns that went unnoticed."""
    x = asarray(p)
    kind = result_type(x, period)
    rows = moveaxis(astype(x, kind), axis, 0)
    step = np.diff(moveaxis(x, axis, 0), axis=0)  # In the dtype of x, whose differences may wrap.
    least = period / 2 if discont is None else discont
    if kind.kind == "i" or kind.kind == "u":
        half, odd = divmod(period, 2)
        at_the_edge = odd == 0
    else:
        half = period / 2
        at_the_edge = True
    inside = remainder(step + half, period) - half
    if at_the_edge:
        inside = select((inside == -half) & (step > 0), astype(half, inside.dtype), inside)
    turns = select(absolute(step) < least, astype(0, step.dtype), inside - step)
    made = np.copy(rows)
    made[1:] = rows[1:] + np.cumsum(turns, axis=0)
    return moveaxis(made, 0, axis)

