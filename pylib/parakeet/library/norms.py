"""The norms of vectors and matrices that need no decomposition."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, normalize_axes, result_type, squeeze
from parakeet.library.registry import overload
from parakeet.primitives import absolute, sqrt


def squares(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


@overload(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    """Of vectors: ord None, 2, 1, 0, inf, -inf and other numbers; of matrices: None, "fro", 1, -1,
    inf, -inf. The others are of singular values, which need LAPACK."""
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    a = asarray(x)
    a = astype(a, result_type(a.dtype, np.float64)) if a.dtype.kind in ("b", "i", "u") else a
    if ord is None:
        return sqrt(np.sum(squares(a), axis=axis, keepdims=keepdims))
    axes = normalize_axes(axis, a.ndim)
    if len(axes) == 2:
        return matrix_norm(a, ord, axes, keepdims)
    if len(axes) != 1:
        raise ValueError("Improper number of dimensions to norm.")
    return vector_norm(a, ord, axes[0], keepdims)


def vector_norm(a, ord, axis, keepdims):
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


def matrix_norm(a, ord, axes, keepdims):
    row, column = axes
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
