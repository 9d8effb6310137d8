"""Products of vectors and matrices."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    ascribe,
    astype,
    broadcast_to,
    can_cast,
    reshape,
    result_type,
    strong,
)
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
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
        return give(np.tensordot(a, b, (-1, 0 if b.ndim == 1 else -2)), out)
    require_aligned(a, b)
    return give(product(a, b), out)


def require_axes(a, b):
    """A vector or more of each, in the words of NumPy's function."""
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
    n = a.shape[-1]
    m = b.shape[0 if b.ndim == 1 else -2]
    if n != m:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {m} is different from {n})"
        )


def in_loop(x, dtype, casting):
    """An operand in the dtype that was asked for."""
    given = strong(x)
    if dtype is None:
        return given
    if not can_cast(given.dtype, dtype, casting):
        raise TypeError(f"Cannot cast ufunc 'matmul' input according to the rule '{casting}'")
    return astype(given, dtype)


@overload(np.matmul)
def matmul(a, b, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    a = in_loop(a, dtype, casting)
    b = in_loop(b, dtype, casting)
    require_axes(a, b)
    made = product(a, b) if a.ndim < 3 and b.ndim < 3 else stacked_product(a, b)
    if out is not None:
        if not can_cast(strong(made).dtype, out.dtype, casting):
            raise TypeError(f"Cannot cast ufunc 'matmul' output according to the rule '{casting}'")
        return give(made, out)
    return made if order == "K" else np.array(made, order=order)[()]


@overload(getattr(np.linalg, "matmul", None))
def matmul_of(x1, x2, /):
    return matmul(x1, x2)


def stacked_product(a, b):
    """a @ b where one is a stack of matrices; their leading axes broadcast."""
    if a.ndim == 1:
        return stacked_product(a[None], b)[..., 0, :]
    if b.ndim == 1:
        return stacked_product(a, b[:, None])[..., 0]
    inner = a.shape[-1]
    if b.ndim == 2:
        # Rows of all the matrices by one: a product of matrices has use for its columns again.
        rows = reshape(a, (count_of(a.shape[:-1]), inner))
        return reshape(product(rows, b), a.shape[:-1] + (b.shape[1],))
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    count = count_of(shape)
    rows = a.shape[-2]
    columns = b.shape[-1]
    left = reshape(broadcast_to(a, shape + (rows, inner)), (count, rows, inner))
    right = broadcast_to(ascribe(b, b.shape[:-2] + (inner, columns)), shape + (inner, columns))
    right = reshape(right, (count, inner, columns))
    return reshape(map(product, left, right), shape + (rows, columns))


@overload(np.outer, getattr(np.linalg, "outer", None))
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
    if a.ndim > 2 or b.ndim > 2:
        return np.tensordot(a, b, (-1, -1))
    return dot(a, b.T)
