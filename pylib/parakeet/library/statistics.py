"""Means with weights, and how rows vary together."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, result_type, strong
from parakeet.library.registry import overload


@overload(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """`weights` have the shape of `a`, or of its axis."""
    x = asarray(a)
    if isinstance(axis, list):
        return average(a, tuple(axis), weights, returned, keepdims)
    if weights is None:
        mean = np.mean(x, axis=axis, keepdims=keepdims)
        if np.size(mean) == 0:
            raise ZeroDivisionError("division by zero")  # How many elements for each of none.
        if returned:
            count = astype(x.size / np.size(mean), strong(mean).dtype)
            return mean, count if strong(mean).ndim == 0 else np.full_like(mean, count)
        return mean
    w = weights_along(x, asarray(weights), axis)
    total = np.sum(w + np.zeros_like(x, dtype=w.dtype), axis=axis, keepdims=keepdims)
    if np.any(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    if returned:
        sums = astype(total, strong(mean).dtype)
        return mean, sums if strong(mean).ndim == 0 else np.array(np.broadcast_to(sums, mean.shape))
    return mean


def weights_along(x, w, axis):
    if w.ndim == x.ndim or axis is None:
        return w
    return np.moveaxis(w[(np.newaxis,) * (x.ndim - 1)], -1, axis)


def weights_of_columns(n, fweights, aweights):
    """How much each observation counts."""
    w = np.ones(n) if fweights is None else astype(asarray(fweights), np.float64)
    if w.shape[0] != n:
        raise RuntimeError("incompatible numbers of samples and fweights")
    if fweights is not None and np.any(w < 0):
        raise ValueError("fweights cannot be negative")
    if fweights is not None and np.sum(w) == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    if aweights is None:
        return w
    a = astype(asarray(aweights), np.float64)
    if a.shape[0] != n:
        raise RuntimeError("incompatible numbers of samples and aweights")
    if np.any(a < 0):
        raise ValueError("aweights cannot be negative")
    if np.sum(w * a) == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return w * a


def freedom_of_columns(w, ddof, aweights):
    """By what the products are divided."""
    total = np.sum(w)
    if ddof == 0:
        return total
    if aweights is None:
        return total - ddof
    return total - ddof * np.sum(w * astype(asarray(aweights), np.float64)) / total


def rows_of(m, rowvar, dtype):
    """One row a variable."""
    x = asarray(m)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    x = astype(x, dtype)
    if x.ndim < 2:
        return np.reshape(x, (1, -1))
    return x if rowvar else x.T


@overload(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *,
        dtype=None):
    if dtype is None:
        dtype = result_type(asarray(m).dtype, np.float64)
        if y is not None:
            dtype = result_type(dtype, asarray(y).dtype)
    x = rows_of(m, rowvar, dtype)
    if y is not None:
        x = np.concatenate((x, rows_of(y, rowvar, dtype)))
    taken = (0 if bias else 1) if ddof is None else ddof
    w = weights_of_columns(x.shape[1], fweights, aweights)
    freedom = freedom_of_columns(w, taken, aweights)
    # Without weights this is a product of a matrix by itself, of which half need be made.
    is_weighted = fweights is not None or aweights is not None
    x = x - (np.sum(x * w if is_weighted else x, axis=1) / np.sum(w))[:, None]
    turned = (x * w if is_weighted else x).T
    if x.dtype.kind == "c":
        turned = np.conjugate(turned)
    made = np.dot(x, turned) * (1 / np.maximum(freedom, 0.0))
    made = astype(made, dtype)
    if asarray(m).ndim < 2 and y is None:
        return np.reshape(made, ())
    return made


@overload(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(np.diag(c).real)
    c = c / spread[:, None] / spread[None, :]
    if c.dtype.kind == "c":
        return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)
    return np.clip(c, -1, 1)
