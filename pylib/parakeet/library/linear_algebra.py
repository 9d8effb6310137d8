"""Products of vectors and matrices."""

import numpy as np

from parakeet.library.intrinsics import asarray, ascribe, astype, reshape, result_type, strong
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import map, outer_map, reduce
from parakeet.primitives import add, multiply


def inner_product(x, y):
    """Of two vectors of one length, in the dtype of their products."""
    return reduce(add, x * y, init=astype(0, result_type(x, y)))


def product(a, b):
    """a @ b of vectors and matrices whose inner sizes have been checked."""
    inner = a.shape[-1]
    if b.ndim == 1:
        b = ascribe(b, (inner,))
    else:
        b = ascribe(b, (inner, b.shape[1]))
    if a.ndim == 1 and b.ndim == 1:
        return inner_product(a, b)
    if a.ndim == 1:
        return map(lambda column: inner_product(a, column), b.T)
    if b.ndim == 1:
        return map(lambda row: inner_product(row, b), a)
    return outer_map(inner_product, a, b.T)


def require_aligned(a, b):
    n = a.shape[-1]
    m = b.shape[0]
    if n == m:
        return
    if a.ndim == 1 and b.ndim == 1:
        raise ValueError(f"shapes ({n},) and ({m},) not aligned: {n} (dim 0) != {m} (dim 0)")
    if a.ndim == 1:
        p = b.shape[1]
        raise ValueError(f"shapes ({n},) and ({m},{p}) not aligned: {n} (dim 0) != {m} (dim 0)")
    r = a.shape[0]
    if b.ndim == 1:
        raise ValueError(f"shapes ({r},{n}) and ({m},) not aligned: {n} (dim 1) != {m} (dim 0)")
    p = b.shape[1]
    raise ValueError(f"shapes ({r},{n}) and ({m},{p}) not aligned: {n} (dim 1) != {m} (dim 0)")


@overload(np.dot, method="dot")
def dot(a, b, out=None):
    a = strong(a)
    b = strong(b)
    if a.ndim == 0 or b.ndim == 0:
        return give(a * b, out)
    if a.ndim > 2 or b.ndim > 2:
        raise NotImplementedError("dot of arrays of more than two axes")
    require_aligned(a, b)
    return give(product(a, b), out)


@overload(np.matmul)
def matmul(a, b, out=None):
    a = strong(a)
    b = strong(b)
    if a.ndim == 0:
        raise ValueError(
            "matmul: Input operand 0 does not have enough dimensions (has 0, gufunc core with "
            "signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    if b.ndim == 0:
        raise ValueError(
            "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core with "
            "signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    if a.ndim > 2 or b.ndim > 2:
        raise NotImplementedError("matmul of arrays of more than two axes")
    n = a.shape[-1]
    m = b.shape[0]
    if n != m:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {m} is different from {n})"
        )
    return give(product(a, b), out)


@overload(np.outer)
def outer(a, b, out=None):
    return give(outer_map(multiply, reshape(asarray(a), -1), reshape(asarray(b), -1)), out)


@overload(np.vdot)
def vdot(a, b):
    a = reshape(asarray(a), -1)
    b = reshape(asarray(b), -1)
    return dot(np.conjugate(a) if a.dtype.kind == "c" else a, b)


@overload(np.inner)
def inner(a, b):
    a = strong(a)
    b = strong(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return dot(a, b.T)
