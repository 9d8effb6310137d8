"""QR, eigenvalues and singular values: LAPACK's, a matrix at a time."""

import numpy as np
from numpy.linalg import LinAlgError

from parakeet.library.intrinsics import asarray, copy, empty, library_call, reshape
from parakeet.library.linear_equations import (
    at_least_1,
    each_matrix,
    floating,
    require_matrix,
    require_square,
    stack_of,
)
from parakeet.library.registry import overload
from parakeet.operators import map


def room(dtype, size):
    """Memory for LAPACK to work in; `size` is what it answered when asked."""
    return empty(at_least_1(int(size[0].real)), dtype)


# --- QR. ---


def reflectors(matrix):
    """R and the reflectors of Q in LAPACK's form, a column a row, and their factors."""
    m, n = matrix.shape
    made = copy(matrix.T, "C")
    tau = empty(min(m, n), made.dtype)
    size = empty(1, made.dtype)
    library_call("geqrf", m, n, made, at_least_1(m), tau, size, -1)
    work = room(made.dtype, size)
    library_call("geqrf", m, n, made, at_least_1(m), tau, work, work.shape[0])
    return made, tau


def columns_of_q(made, tau, columns):
    """The first columns of Q, a column a row."""
    m = made.shape[1]
    k = tau.shape[0]
    q = np.zeros((columns, m), made.dtype)
    kept = min(columns, made.shape[0])
    q[:kept] = made[:kept]
    routine = "ungqr" if made.dtype.kind == "c" else "orgqr"
    size = empty(1, made.dtype)
    library_call(routine, m, columns, k, q, at_least_1(m), tau, size, -1)
    work = room(made.dtype, size)
    library_call(routine, m, columns, k, q, at_least_1(m), tau, work, work.shape[0])
    return q


def reduced_qr(matrix):
    made, tau = reflectors(matrix)
    k = tau.shape[0]
    return copy(columns_of_q(made, tau, k).T, "C"), np.triu(made.T[:k])


def complete_qr(matrix):
    made, tau = reflectors(matrix)
    return copy(columns_of_q(made, tau, made.shape[1]).T, "C"), np.triu(made.T)


def only_r(matrix):
    made, tau = reflectors(matrix)
    return np.triu(made.T[: tau.shape[0]])


@overload(np.linalg.qr)
def qr(a, mode="reduced"):
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    x = floating(a)
    require_matrix(x)
    if mode == "raw":
        if x.ndim > 2:
            raise NotImplementedError("raw QR of a stack of matrices")
        return reflectors(x)
    if mode == "r":
        return each_matrix(only_r, x)
    factor = reduced_qr if mode == "reduced" else complete_qr
    if x.ndim == 2:
        return factor(x)
    q, r = map(factor, stack_of(x))
    return reshape(q, x.shape[:-2] + q.shape[1:]), reshape(r, x.shape[:-2] + r.shape[1:])


# --- Eigenvalues of Hermitian matrices. ---


FEW_ROWS = 32


def eigen(matrix, job, triangle):
    """Eigenvalues in ascending order, and eigenvectors, a vector a row, where `job` is "V"."""
    n = matrix.shape[0]
    vectors = copy(matrix.T, "C")
    values = empty(n, vectors.real.dtype)
    size = empty(1, vectors.dtype)
    whole = empty(1, np.int64)
    lead = at_least_1(n)
    if vectors.dtype.kind == "c":
        real = empty(1, values.dtype)
        library_call(
            "heevd", job, triangle, n, vectors, lead, values, size, -1, real, -1, whole, -1
        )
        work = room(vectors.dtype, size)
        reals = room(values.dtype, real)
        wholes = empty(at_least_1(whole[0]), np.int64)
        status = library_call("heevd", job, triangle, n, vectors, lead, values, work, work.shape[0],
                              reals, reals.shape[0], wholes, wholes.shape[0])
    else:
        # LAPACK works without blocks of few rows: it asks for no more than the least then.
        if n <= FEW_ROWS:
            size[0] = 1 + 6 * n + 2 * n * n if job == "V" else 1 + 2 * n
            whole[0] = 3 + 5 * n
        else:
            library_call("syevd", job, triangle, n, vectors, lead, values, size, -1, whole, -1)
        work = room(vectors.dtype, size)
        wholes = empty(at_least_1(whole[0]), np.int64)
        status = library_call("syevd", job, triangle, n, vectors, lead, values, work, work.shape[0],
                              wholes, wholes.shape[0])
    if status > 0:
        raise LinAlgError("Eigenvalues did not converge")
    return values, vectors


def triangle_of(uplo):
    if uplo in ("L", "l"):
        return "L"
    if uplo in ("U", "u"):
        return "U"
    raise ValueError("UPLO argument must be 'L' or 'U'")


@overload(np.linalg.eigh)
def eigh(a, UPLO="L"):
    x = floating(a)
    require_square(x)
    triangle = triangle_of(UPLO)

    def values_and_vectors(matrix):
        values, vectors = eigen(matrix, "V", triangle)
        return values, copy(vectors.T, "C")

    if x.ndim == 2:
        return values_and_vectors(x)
    values, vectors = map(values_and_vectors, stack_of(x))
    return reshape(values, x.shape[:-1]), reshape(vectors, x.shape)


@overload(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L"):
    x = floating(a)
    require_square(x)
    triangle = triangle_of(UPLO)
    return each_matrix(lambda matrix: eigen(matrix, "N", triangle)[0], x)


# --- Singular values. ---


def singular(matrix, job, u_columns, v_rows):
    """Singular values, descending, and as many columns of U and rows of V, transposed."""
    m, n = matrix.shape
    least = min(m, n)
    given = copy(matrix.T, "C")
    values = empty(least, given.real.dtype)
    u = np.eye(u_columns, m, dtype=given.dtype)  # What is left of them where there is no value.
    v = np.eye(n, v_rows, dtype=given.dtype)
    size = empty(1, given.dtype)
    wholes = empty(at_least_1(8 * least), np.int64)
    lead = at_least_1(m)
    lead_v = at_least_1(v_rows)
    if given.dtype.kind == "c":
        most = m + n - least
        reals = empty(at_least_1(least * (5 * least + 7 + 2 * most + 2 * least)), values.dtype)
        library_call("gesdd_complex", job, m, n, given, lead, values, u, lead, v, lead_v, size, -1,
                     reals, wholes)
        work = room(given.dtype, size)
        status = library_call("gesdd_complex", job, m, n, given, lead, values, u, lead, v, lead_v,
                              work, work.shape[0], reals, wholes)
    else:
        library_call("gesdd", job, m, n, given, lead, values, u, lead, v, lead_v, size, -1, wholes)
        work = room(given.dtype, size)
        status = library_call("gesdd", job, m, n, given, lead, values, u, lead, v, lead_v, work,
                              work.shape[0], wholes)
    if status > 0:
        raise LinAlgError("SVD did not converge")
    return copy(u.T, "C"), values, copy(v.T, "C")


def full_svd(matrix):
    return singular(matrix, "A", matrix.shape[0], matrix.shape[1])


def reduced_svd(matrix):
    least = min(matrix.shape[0], matrix.shape[1])
    return singular(matrix, "S", least, least)


def only_values(matrix):
    return singular(matrix, "N", 0, 0)[1]


@overload(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    x = floating(a)
    require_matrix(x)
    if hermitian:
        raise NotImplementedError("svd of a Hermitian matrix: np.linalg.eigh gives its vectors")
    if not compute_uv:
        least = min(x.shape[-2], x.shape[-1])
        return reshape(each_matrix(only_values, x), x.shape[:-2] + (least,))
    decompose = full_svd if full_matrices else reduced_svd
    if x.ndim == 2:
        return decompose(x)
    u, values, v = map(decompose, stack_of(x))
    shape = x.shape[:-2]
    return (
        reshape(u, shape + u.shape[1:]),
        reshape(values, shape + values.shape[1:]),
        reshape(v, shape + v.shape[1:]),
    )


@overload(getattr(np.linalg, "svdvals", None))
def svdvals(x, /):
    return svd(x, compute_uv=False)


@overload(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    """By singular values above `rcond` times the largest."""
    x = floating(a)
    require_matrix(x)
    u, values, v = svd(np.conjugate(x), False, True, hermitian)
    limit = rcond if rcond is not None else rtol
    if limit is None:
        limit = 1e-15
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    kept = values > asarray(limit)[..., None] * largest
    inverses = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)
    return np.matmul(
        np.swapaxes(v, -1, -2), inverses[..., None] * np.swapaxes(u, -1, -2)
    )


@overload(np.linalg.matrix_rank)
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    x = floating(A)
    if x.ndim < 2:
        return int(np.any(x != 0))
    values = svd(x, True, False, hermitian)
    if tol is not None:
        limit = asarray(tol)[..., None]
    else:
        largest = np.max(values, axis=-1, keepdims=True, initial=0)
        size = x.shape[-1] if x.shape[-1] > x.shape[-2] else x.shape[-2]
        relative = size * np.finfo(values.dtype).eps if rtol is None else asarray(rtol)[..., None]
        limit = largest * relative
    return np.count_nonzero(values > limit, axis=-1)
