"""Arrays in another shape, and what their shape is."""

import numpy as np

from parakeet.library import intrinsics
from parakeet.library.intrinsics import asarray, memory_order, normalize_axes
from parakeet.library.registry import methods, overload


@overload(np.transpose, getattr(np, "permute_dims", np.transpose))
def transpose(a, axes=None):
    return intrinsics.transpose(a, axes)


def transpose_by(x, *axes):
    """The method: axes as one tuple or one by one."""
    if len(axes) == 0:
        return intrinsics.transpose(x)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple)):
        return intrinsics.transpose(x, axes[0])
    return intrinsics.transpose(x, axes)


@overload(np.reshape)
def reshape(a, shape, order="C", *, copy=None):
    made = reshaped(a, shape, order)
    return intrinsics.copy(made) if copy else made


def reshaped(a, shape, order):
    if order == "F" or (order == "A" or order == "K") and memory_order(a) == "F":
        sizes = shape[::-1] if isinstance(shape, tuple) or isinstance(shape, list) else shape
        return intrinsics.transpose(intrinsics.reshape(intrinsics.transpose(a), sizes))
    return intrinsics.reshape(asarray(a), shape)


def reshape_by(x, *shape, order="C", copy=None):
    """The method: sizes as one tuple or one by one."""
    if len(shape) == 1:
        return reshape(x, shape[0], order, copy=copy)
    return reshape(x, shape, order, copy=copy)


@overload(np.ravel, method="ravel")
def ravel(a, order="C"):
    return reshape(a, -1, order)


def flatten(x, order="C"):
    return intrinsics.copy(reshape(x, -1, order))


methods.update(transpose=transpose_by, flatten=flatten, reshape=reshape_by)


@overload(getattr(np, "matrix_transpose", None), getattr(np.linalg, "matrix_transpose", None))
def matrix_transpose(x):
    if asarray(x).ndim < 2:
        raise ValueError("Input array must be at least 2-dimensional")
    return intrinsics.moveaxis(asarray(x), -1, -2)


@overload(np.atleast_1d)
def atleast_1d(*arys):
    if len(arys) != 1:
        return tuple([atleast_1d(array) for array in arys])
    x = asarray(arys[0])
    return intrinsics.reshape(x, 1) if x.ndim == 0 else x


@overload(np.atleast_2d)
def atleast_2d(*arys):
    if len(arys) != 1:
        return tuple([atleast_2d(array) for array in arys])
    x = atleast_1d(arys[0])
    return x[None] if x.ndim == 1 else x


@overload(np.swapaxes, method="swapaxes")
def swapaxes(a, axis1, axis2):
    x = asarray(a)
    first = normalize_axes(axis1, x.ndim)[0]
    second = normalize_axes(axis2, x.ndim)[0]
    return x[...] if first == second else intrinsics.moveaxis(x, (first, second), (second, first))


@overload(method="view")
def view(x, dtype=None):
    if dtype is not None and dtype != x.dtype:
        raise NotImplementedError("the bytes of an array seen as another dtype: x.astype(dtype) "
                                  "converts its values")
    return x[...]


@overload(np.shape)
def shape(a):
    return asarray(a).shape


@overload(np.ndim)
def ndim(a):
    return asarray(a).ndim


@overload(np.size)
def size(a, axis=None):
    x = asarray(a)
    if axis is None:
        return x.size
    return x.shape[normalize_axes(axis, x.ndim)[0]]
