"""Linear equations, inverses, determinants, Cholesky factors: LAPACK's, a matrix at a time."""

import numpy as np
from numpy.linalg import LinAlgError

from parakeet.library.intrinsics import (
    asarray,
    broadcast_to,
    copy,
    empty,
    library_call,
    reshape,
    result_type,
)
from parakeet.library.matrices import eye
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
from parakeet.operators import map


def at_least_1(n):
    """A leading dimension, which LAPACK wants to be positive."""
    return max(n, 1)


def floating(x):
    """As an array of a dtype that LAPACK has."""
    x = asarray(x)
    if x.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    kind = x.dtype.kind
    return asarray(x, np.float64 if kind == "b" or kind == "i" or kind == "u" else x.dtype)


def require_matrix(x):
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least "
                          "two-dimensional")


def require_square(x):
    require_matrix(x)
    if x.shape[-1] != x.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def stack_of(x):
    """The matrices of an array, along one axis."""
    return reshape(x, (count_of(x.shape[:-2]),) + x.shape[-2:])


def each_matrix(f, x):
    """`f`, which gives one array or number, of each matrix of a stack."""
    if x.ndim == 2:
        return f(x)
    made = map(f, stack_of(x))
    return reshape(made, x.shape[:-2] + made.shape[1:])


def each_pair(f, a, b):
    """`f` of the matrices of two stacks, whose leading axes broadcast."""
    if a.ndim == 2 and b.ndim == 2:
        return f(a, b)
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = broadcast_to(a, shape + a.shape[-2:])
    right = broadcast_to(b, shape + b.shape[-2:])
    made = map(f, stack_of(left), stack_of(right))
    return reshape(made, shape + made.shape[1:])


def solution(a, b):
    """x of a @ x = b, two matrices."""
    n, columns = b.shape
    factors = copy(a.T, "C")
    x = copy(b.T, "C")
    pivots = empty(n, np.int64)
    status = library_call("gesv", n, columns, factors, at_least_1(n), pivots, x, at_least_1(n))
    if status > 0:
        raise LinAlgError("Singular matrix")
    return copy(x.T, "C")


@overload(np.linalg.solve)
def solve(a, b):
    a = floating(a)
    b = floating(b)
    require_square(a)
    dtype = result_type(a.dtype, b.dtype)
    right = b[:, None] if b.ndim == 1 else b
    if right.ndim < 2 or right.shape[-2] != a.shape[-1]:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0, with "
                         "gufunc signature (m,m),(m,n)->(m,n)")
    x = each_pair(solution, asarray(a, dtype), asarray(right, dtype))
    return x[..., 0] if b.ndim == 1 else x


@overload(np.linalg.inv)
def inv(a):
    x = floating(a)
    require_square(x)
    return each_matrix(lambda matrix: solution(matrix, eye(matrix.shape[0], dtype=x.dtype)), x)


def sign_and_log(matrix):
    """Of the determinant: its sign or phase, and the logarithm of its magnitude."""
    n = matrix.shape[0]
    factors = copy(matrix.T, "C")
    pivots = empty(n, np.int64)
    status = library_call("getrf", n, n, factors, at_least_1(n), pivots)
    sign = np.ones(1, factors.dtype)
    log = np.zeros(1, factors.real.dtype)
    for k in range(n):
        element = factors[k, k]
        size = np.absolute(element)
        if size == 0 or status > 0:
            sign[0] = 0
            log[0] = -np.inf
        else:
            sign[0] = sign[0] * (element / size) * (1 if pivots[k] == k + 1 else -1)
            log[0] += np.log(size)
    return sign[0], log[0]


@overload(np.linalg.slogdet)
def slogdet(a):
    x = floating(a)
    require_square(x)
    if x.ndim == 2:
        return sign_and_log(x)
    signs, logs = map(sign_and_log, stack_of(x))
    return reshape(signs, x.shape[:-2]), reshape(logs, x.shape[:-2])


@overload(np.linalg.det)
def det(a):
    sign, log = slogdet(a)
    return sign * np.exp(log)


def lower_factor(matrix):
    factor = copy(matrix, "C")
    n = factor.shape[0]
    if library_call("potrf", "U", n, factor, at_least_1(n)) > 0:
        raise LinAlgError("Matrix is not positive definite")
    return np.tril(factor)


def upper_factor(matrix):
    factor = copy(matrix, "C")
    n = factor.shape[0]
    if library_call("potrf", "L", n, factor, at_least_1(n)) > 0:
        raise LinAlgError("Matrix is not positive definite")
    return np.triu(factor)


@overload(np.linalg.cholesky)
def cholesky(a, /, *, upper=False):
    """Rows are LAPACK's columns, so that the factor comes out in its place."""
    x = floating(a)
    require_square(x)
    return each_matrix(upper_factor if upper else lower_factor, x)
