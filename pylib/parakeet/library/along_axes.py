"""Functions of slices, over all slices along an axis."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    expand_dims,
    item,
    moveaxis,
    normalize_axes,
    reshape,
)
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
    if 0 in moveaxis(x, k, -1).shape[:-1]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
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


@overload(np.vectorize)
def vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    """A function of arrays that calls another for each of their elements, as Python's numbers."""
    if excluded is not None or signature is not None:
        raise NotImplementedError("np.vectorize with excluded= or signature=")
    types = types_of(otypes)

    def of_elements(*args):
        return pyfunc(*tuple([item(x) for x in args]))

    def of_arrays(*args):
        arrays = np.broadcast_arrays(*args)
        shape = arrays[0].shape
        lines = tuple([reshape(x, -1) for x in arrays])
        if types is None and lines[0].size == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        made = map(of_elements, *lines)
        dtypes = types if types is not None else dtypes_of(pyfunc(*tuple([x[0] for x in lines])))
        if isinstance(made, tuple):
            return tuple([reshape(astype(x, dtypes[k]), shape) for k, x in enumerate(made)])
        return reshape(astype(made, dtypes[0]), shape)

    return of_arrays


def types_of(otypes):
    if otypes is None or isinstance(otypes, tuple):
        return otypes
    return tuple(otypes)


def dtypes_of(made):
    """Those of what the function makes of the first elements, which are NumPy's numbers."""
    if isinstance(made, tuple):
        return tuple([asarray(x).dtype for x in made])
    return (asarray(made).dtype,)
