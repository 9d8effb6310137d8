"""Matrices with a structure: identities, diagonals and triangles; grids."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import imap


@overload(np.eye)
def eye(N, M=None, k=0, dtype=float, order="C"):
    columns = N if M is None else M
    return imap(lambda i, j: astype(j - i == k, dtype), (N, columns))


@overload(np.identity)
def identity(n, dtype=float):
    return eye(n, dtype=dtype)


@overload(np.tri)
def tri(N, M=None, k=0, dtype=float):
    columns = N if M is None else M
    return imap(lambda i, j: astype(j - i <= k, dtype), (N, columns))


@overload(np.tril)
def tril(m, k=0):
    x = asarray(m)
    zero = astype(0, x.dtype)
    return imap(lambda i, j: x[i, j] if j - i <= k else zero, x.shape)


@overload(np.triu)
def triu(m, k=0):
    x = asarray(m)
    zero = astype(0, x.dtype)
    return imap(lambda i, j: x[i, j] if j - i >= k else zero, x.shape)


def diagonal_length(n, m, k):
    return max(min(n, m - k) if k >= 0 else min(n + k, m), 0)


@overload(np.diag)
def diag(v, k=0):
    """A vector on the diagonal of a matrix of zeros, or the diagonal of a matrix, copied."""
    x = asarray(v)
    above = max(k, 0)
    below = max(-k, 0)
    if x.ndim == 1:
        n = x.shape[0] + above + below
        made = np.zeros((n, n), x.dtype)
        for i in range(x.shape[0]):
            made[i + below, i + above] = x[i]
        return made
    return imap(lambda i: x[i + below, i + above], diagonal_length(x.shape[0], x.shape[1], k))


@overload(np.trace, method="trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    x = np.moveaxis(asarray(a), (axis1, axis2), (0, 1))
    above = max(offset, 0)
    below = max(-offset, 0)
    n = diagonal_length(x.shape[0], x.shape[1], offset)
    return give(np.sum(imap(lambda i: x[i + below, i + above], n), axis=0, dtype=dtype), out)


@overload(np.meshgrid)
def meshgrid(x, y, indexing="xy"):
    """Of two vectors."""
    a = asarray(x)
    b = asarray(y)
    if indexing == "ij":
        shape = (a.shape[0], b.shape[0])
        return imap(lambda i, j: a[i], shape), imap(lambda i, j: b[j], shape)
    shape = (b.shape[0], a.shape[0])
    return imap(lambda i, j: a[j], shape), imap(lambda i, j: b[i], shape)
