"""Least squares: LAPACK's, by singular values."""

import numpy as np
from numpy.linalg import LinAlgError

from parakeet.library.decompositions import room
from parakeet.library.intrinsics import asarray, astype, copy, empty, library_call
from parakeet.library.linear_equations import at_least_1, floating
from parakeet.library.registry import overload


def least_squares(a, b, rcond):
    """x, the rank, the singular values, and what is left of b behind x."""
    m, n = a.shape
    columns = at_least_1(b.shape[1])
    least = min(m, n)
    most = m + n - least
    given = copy(a.T, "C")
    x = np.zeros((columns, at_least_1(most)), given.dtype)
    x[: b.shape[1], :m] = b.T
    values = empty(least, given.real.dtype)
    limit = np.full(1, rcond, values.dtype)
    rank = empty(1, np.int64)
    size = empty(1, given.dtype)
    whole = empty(1, np.int64)
    lead = at_least_1(m)
    lead_x = x.shape[1]
    if given.dtype.kind == "c":
        real = empty(1, values.dtype)
        library_call("gelsd_complex", m, n, columns, given, lead, x, lead_x, values, limit, rank,
                     size, -1, real, whole)
        work = room(given.dtype, size)
        reals = room(values.dtype, real)
        wholes = empty(at_least_1(whole[0]), np.int64)
        status = library_call("gelsd_complex", m, n, columns, given, lead, x, lead_x, values, limit,
                              rank, work, work.shape[0], reals, wholes)
    else:
        library_call("gelsd", m, n, columns, given, lead, x, lead_x, values, limit, rank, size, -1,
                     whole)
        work = room(given.dtype, size)
        wholes = empty(at_least_1(whole[0]), np.int64)
        status = library_call("gelsd", m, n, columns, given, lead, x, lead_x, values, limit, rank,
                              work, work.shape[0], wholes)
    if status > 0:
        raise LinAlgError("SVD did not converge in Linear Least Squares")
    return x, rank[0], values


@overload(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    a = floating(a)
    b = floating(b)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim != 1 and b.ndim != 2:
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be two-dimensional")
    dtype = np.result_type(a.dtype, b.dtype)
    m, n = a.shape
    if b.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    right = asarray(b[:, None] if b.ndim == 1 else b, dtype)
    if rcond is None:
        rcond = np.finfo(dtype).eps * (m if m > n else n)
    x, rank, values = least_squares(asarray(a, dtype), right, rcond)
    rest = x[:, n:m] if m > n else x[:, :0]
    rest = rest[: right.shape[1]]
    squares = np.sum(rest.real * rest.real + rest.imag * rest.imag, axis=1)
    is_known = rank == n and m > n
    residuals = squares[: squares.shape[0] if is_known else 0]
    answer = copy(x[: right.shape[1], :n].T, "C")
    rank = astype(rank, np.int32)
    return answer[:, 0] if b.ndim == 1 else answer, residuals, rank, values
