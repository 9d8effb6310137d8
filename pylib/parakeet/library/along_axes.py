"""Functions of slices, over all slices along an axis."""

import numpy as np

from parakeet.library.intrinsics import asarray, expand_dims, moveaxis, normalize_axes
from parakeet.library.registry import overload
from parakeet.operators import map


def over_slices(f, x, args):
    """f of the last axis, for each place of the others."""
    if x.ndim == 1:
        return f(x, *args)
    return map(lambda row: over_slices(f, row, args), x)


@overload(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args):
    x = asarray(arr)
    k = normalize_axes(axis, x.ndim)[0]
    made = asarray(over_slices(func1d, moveaxis(x, k, -1), args))
    extra = made.ndim - (x.ndim - 1)
    if extra == 0:
        return made
    last = normalize_axes(None, made.ndim)[x.ndim - 1 :]
    return moveaxis(made, last, tuple([k + i for i in normalize_axes(None, extra)]))


@overload(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    made = asarray(a)
    rank = made.ndim
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        k = normalize_axes(axis, rank)[0]
        result = func(made, k)
        made = expand_dims(result, k) if asarray(result).ndim < rank else asarray(result)
    return made
