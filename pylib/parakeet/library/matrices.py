"""Matrices with a structure: identities, diagonals and triangles."""

import numpy as np

from parakeet.library import intrinsics
from parakeet.library.intrinsics import asarray, astype, moveaxis, promote_types, reshape, select
from parakeet.library.place_numbers import require_index
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import imap


@overload(np.eye)
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    columns = N if M is None else M
    require_index(k)
    made = imap(lambda i, j: astype(j - i == k, dtype), (N, columns))
    return intrinsics.copy(made, order) if order == "F" else made


@overload(np.identity)
def identity(n, dtype=float, *, like=None):
    return eye(n, dtype=dtype)


@overload(np.tri)
def tri(N, M=None, k=0, dtype=float, *, like=None):
    columns = N if M is None else M
    return imap(lambda i, j: astype(j - i <= k, dtype), (N, columns))


def last_axes(x):
    """The shape of a matrix, or of each of a stack; a vector is every row of one."""
    if x.ndim == 0:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    return x.shape[x.ndim - 2 if x.ndim > 1 else 0], x.shape[-1]


@overload(np.tril)
def tril(m, k=0):
    x = asarray(m)
    lower = imap(lambda i, j: j - i <= k, last_axes(x))
    return select(lower, x, astype(0, x.dtype))


@overload(np.triu)
def triu(m, k=0):
    x = asarray(m)
    upper = imap(lambda i, j: j - i >= k, last_axes(x))
    return select(upper, x, astype(0, x.dtype))


def diagonal_length(n, m, k):
    return max(min(n, m - k) if k >= 0 else min(n + k, m), 0)


@overload(np.diagonal, method="diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """A copy, where NumPy gives a view that may not be stored to."""
    x = asarray(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    x = moveaxis(x, (axis1, axis2), (0, 1))
    above = max(offset, 0)
    below = max(-offset, 0)
    n = diagonal_length(x.shape[0], x.shape[1], offset)
    return moveaxis(imap(lambda i: x[i + below, i + above], n), 0, -1)


@overload(np.diag)
def diag(v, k=0):
    """A vector on the diagonal of a matrix of zeros, or the diagonal of a matrix, copied."""
    x = asarray(v)
    if x.ndim != 1 and x.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    if x.ndim == 2:
        return diagonal(x, k)
    above = max(k, 0)
    below = max(-k, 0)
    n = x.shape[0] + above + below
    made = np.zeros((n, n), x.dtype)
    for i in range(x.shape[0]):
        made[i + below, i + above] = x[i]
    return made


@overload(np.diagflat)
def diagflat(v, k=0):
    return diag(reshape(asarray(v), -1), k)


@overload(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    """Values are used again from the first one; `wrap` begins anew below a tall matrix."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    values = reshape(asarray(val), -1)
    if a.ndim > 2:
        for n in a.shape[1:]:
            if n != a.shape[0]:
                raise ValueError("All dimensions of input must be of equal length")
    columns = a.shape[1]
    count = a.shape[0] if wrap and a.ndim == 2 else min(a.shape[0], columns)
    turn = columns + 1  # A tall matrix leaves a row between two diagonals.
    if values.shape[0] == 0:
        raise ValueError("could not broadcast input array from shape (0,)")
    filled = 0
    for i in range(count):
        column = i % turn if a.ndim == 2 else i
        if column < columns:
            a[(i, column) if a.ndim == 2 else (i,) * a.ndim] = values[filled % values.shape[0]]
            filled += 1


@overload(np.vander)
def vander(x, N=None, increasing=False):
    given = asarray(x)
    if given.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = given.shape[0] if N is None else N
    dtype = promote_types(given.dtype, np.int64)
    made = np.empty((given.shape[0], columns), dtype)
    power = np.ones(given.shape[0], dtype)
    for k in range(columns):
        made[:, k if increasing else columns - 1 - k] = power
        power = power * given
    return made


@overload(np.trace, method="trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return give(np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype), out)


# Of stacks of matrices, whose axes are the last two.


@overload(getattr(np.linalg, "diagonal", None))
def stacked_diagonal(x, /, *, offset=0):
    return diagonal(x, offset, -2, -1)


@overload(getattr(np.linalg, "trace", None))
def stacked_trace(x, /, *, offset=0, dtype=None):
    return trace(x, offset, -2, -1, dtype)
