"""Products and norms of stacks of vectors and matrices."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, moveaxis, normalize_axes, reshape
from parakeet.library.norms import norm
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import reduce
from parakeet.primitives import add


def require_core(n, m):
    if n != m:
        raise ValueError(f"Input operand 1 has a mismatch in its core dimension 0 (size {m} is "
                         f"different from {n})")


@overload(getattr(np, "vecdot", None))
def vecdot(x1, x2, /, out=None, *, axis=-1, dtype=None):
    """Along one axis of both, the first conjugated; the others broadcast."""
    x = moveaxis(asarray(x1, dtype), axis, -1)
    y = moveaxis(asarray(x2, dtype), axis, -1)
    require_core(x.shape[-1], y.shape[-1])
    products = (np.conjugate(x) if x.dtype.kind == "c" else x) * y
    return give(reduce(add, products, axis=-1, init=astype(0, products.dtype)), out)


@overload(getattr(np.linalg, "vecdot", None))
def vecdot_of(x1, x2, /, *, axis=-1):
    return vecdot(x1, x2, axis=axis)


@overload(getattr(np, "matvec", None))
def matvec(x1, x2, /, out=None, *, dtype=None):
    x = asarray(x1, dtype)
    y = asarray(x2, dtype)
    require_core(x.shape[-1], y.shape[-1])
    return give(np.matmul(x, y[..., None])[..., 0], out)


@overload(getattr(np, "vecmat", None))
def vecmat(x1, x2, /, out=None, *, dtype=None):
    x = asarray(x1, dtype)
    y = asarray(x2, dtype)
    require_core(x.shape[-1], y.shape[-2])
    row = np.conjugate(x) if x.dtype.kind == "c" else x
    return give(np.matmul(row[..., None, :], y)[..., 0, :], out)


@overload(np.linalg.multi_dot)
def multi_dot(arrays, *, out=None):
    """From the left, but of three the cheaper pair first, as NumPy does."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 3:
        a = np.atleast_2d(arrays[0])
        b = asarray(arrays[1])
        c = asarray(arrays[2])
        m = c.shape[1] if c.ndim > 1 else 1
        from_left = a.shape[0] * b.shape[1] * (b.shape[0] + m)
        from_right = m * b.shape[0] * (b.shape[1] + a.shape[0])
        if from_left < from_right:
            return give(np.dot(np.dot(arrays[0], b), c), out)
        return give(np.dot(arrays[0], np.dot(b, c)), out)
    total = asarray(arrays[0])
    for array in arrays[1:]:
        total = np.dot(total, array)
    return give(total, out)


@overload(getattr(np.linalg, "matrix_norm", None))
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return norm(x, ord, (-2, -1), keepdims)


@overload(getattr(np.linalg, "vector_norm", None))
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Of all elements where no axis is named; of several axes as of one."""
    given = asarray(x)
    axes = normalize_axes(axis, given.ndim)
    rest = tuple([k for k in normalize_axes(None, given.ndim) if k not in axes])
    turned = np.transpose(given, rest + axes)
    shape = tuple([given.shape[k] for k in rest])
    made = norm(reshape(turned, shape + (-1,)), ord, -1)
    if not keepdims:
        return made
    return reshape(asarray(made), tuple([1 if k in axes else given.shape[k]
                                         for k in normalize_axes(None, given.ndim)]))
