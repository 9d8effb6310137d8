"""The norms of vectors and matrices, and condition numbers."""

import numpy as np
from numpy.linalg import LinAlgError

from parakeet.library.decompositions import svd
from parakeet.library.intrinsics import (
    asarray,
    astype,
    expand_dims,
    moveaxis,
    normalize_axes,
    result_type,
    squeeze,
)
from parakeet.library.linear_equations import require_matrix
from parakeet.library.registry import overload
from parakeet.primitives import absolute, sqrt


def squares(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


@overload(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    """Of vectors: ord None, 2, 1, 0, inf, -inf and other numbers; of matrices: None, "fro", 1, -1,
    inf, -inf, and 2, -2 and "nuc", which are of singular values."""
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    a = asarray(x)
    a = astype(a, result_type(a.dtype, np.float64)) if a.dtype.kind in ("b", "i", "u") else a
    if axis is not None:
        normalize_axes(axis, a.ndim)
    if ord is None:
        return sqrt(np.sum(squares(a), axis=axis, keepdims=keepdims))
    axes = normalize_axes(axis, a.ndim)
    if len(axes) == 2:
        return matrix_norm(a, ord, axes, keepdims)
    if len(axes) != 1:
        raise ValueError("Improper number of dimensions to norm.")
    return vector_norm(a, ord, axes[0], keepdims)


def vector_norm(a, ord, axis, keepdims):
    if ord == "fro" or ord == "nuc":
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    sizes = absolute(a)
    if ord == np.inf:
        return np.max(sizes, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(sizes, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(astype(a != 0, sizes.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(sizes, axis=axis, keepdims=keepdims)
    if ord == 2:
        return sqrt(np.sum(squares(a), axis=axis, keepdims=keepdims))
    return np.sum(sizes**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def spectral_norm(a, ord, axes, keepdims):
    values = svd(moveaxis(a, axes, (-2, -1)), compute_uv=False)
    if ord == 2:
        result = np.max(values, axis=-1, initial=0)
    elif ord == -2:
        result = np.min(values, axis=-1)
    else:
        result = np.sum(values, axis=-1)
    return expand_dims(result, axes) if keepdims else result


def matrix_norm(a, ord, axes, keepdims):
    row, column = axes
    if ord == 2 or ord == -2 or ord == "nuc":
        return spectral_norm(a, ord, axes, keepdims)
    sizes = absolute(a)
    if ord == "fro":
        result = sqrt(np.sum(squares(a), axis=axes, keepdims=True))
    elif ord == 1:
        result = np.max(np.sum(sizes, axis=row, keepdims=True), axis=column, keepdims=True)
    elif ord == -1:
        result = np.min(np.sum(sizes, axis=row, keepdims=True), axis=column, keepdims=True)
    elif ord == np.inf:
        result = np.max(np.sum(sizes, axis=column, keepdims=True), axis=row, keepdims=True)
    elif ord == -np.inf:
        result = np.min(np.sum(sizes, axis=column, keepdims=True), axis=row, keepdims=True)
    else:
        raise ValueError("Invalid norm order for matrices.")
    if keepdims:
        return result
    return squeeze(result, axes)[()]


@overload(np.linalg.cond)
def cond(x, p=None):
    """The largest singular value over the least, or with p -2 the other way round."""
    a = asarray(x)
    require_matrix(a)
    if a.shape[-1] * a.shape[-2] == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is not None and p != 2 and p != -2:
        raise NotImplementedError("cond of a norm other than 2 and -2")
    values = svd(a, compute_uv=False)
    largest = values[..., 0]
    least = values[..., -1]
    ratio = least / largest if p == -2 else largest / least
    is_known = (ratio == ratio) | np.any(a != a, axis=(-2, -1))
    return np.where(is_known, ratio, astype(np.inf, values.dtype))[()]
