"""Polynomials as vectors of coefficients, the highest power first."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, result_type, strong
from parakeet.library.registry import overload
from parakeet.operators import map


def horner(p, x, dtype):
    total = astype(0, dtype)
    for i in range(p.shape[0]):
        total = astype(total * x + p[i], dtype)
    return total


@overload(np.polyval)
def polyval(p, x):
    if isinstance(p, (tuple, list)) and len(p) == 0:
        return np.zeros_like(x)
    coefficients = asarray(p)
    given = strong(x)
    dtype = result_type(given, coefficients) if given.ndim == 0 else result_type(given.dtype,
                                                                               coefficients.dtype)
    return strong(map(lambda value: horner(coefficients, value, dtype), given, axis=None))


def coefficients_of(a):
    return np.atleast_1d(a)


def longer(x, n):
    """x with zeros in front."""
    return np.concatenate((np.zeros(n - x.shape[0], x.dtype), x))


@overload(np.polyadd)
def polyadd(a1, a2):
    x = coefficients_of(a1)
    y = coefficients_of(a2)
    n = max(x.shape[0], y.shape[0])
    return longer(x, n) + longer(y, n)


@overload(np.polysub)
def polysub(a1, a2):
    x = coefficients_of(a1)
    y = coefficients_of(a2)
    n = max(x.shape[0], y.shape[0])
    return longer(x, n) - longer(y, n)


def without_zeros(x):
    """From the first coefficient that is not 0; all where there is none."""
    first = 0
    while first < x.shape[0] - 1 and x[first] == 0:
        first += 1
    return x[first:]


@overload(np.polymul)
def polymul(a1, a2):
    return np.convolve(without_zeros(coefficients_of(a1)), without_zeros(coefficients_of(a2)))


@overload(np.polyder)
def polyder(p, m=1):
    x = asarray(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    if m == 0:
        return x
    n = x.shape[0] - 1
    step = x[:-1] * np.arange(n, 0, -1)
    return polyder(step, m - 1)


@overload(np.polyint)
def polyint(p, m=1, k=None):
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    x = asarray(p)
    if m == 0:
        return x
    constant = 0 if k is None else (k[0] if isinstance(k, (tuple, list)) else k)
    rest = k if k is None or not isinstance(k, (tuple, list)) else k[1:]
    step = np.concatenate((x / np.arange(x.shape[0], 0, -1), np.atleast_1d(constant)))
    return polyint(step, m - 1, rest)


@overload(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least squares by powers of x, each column of these divided by its length."""
    if cov:
        raise NotImplementedError("covariances of np.polyfit")
    powers = int(deg) + 1
    points = asarray(x) + 0.0
    values = asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if points.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if points.size == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if points.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = points.shape[0] * np.finfo(points.dtype).eps
    rows = np.vander(points, powers)
    if w is not None:
        weights = asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != values.shape[0]:
            raise TypeError("expected w and y to have the same length")
        rows = rows * weights[:, None]
        values = values * (weights if values.ndim == 1 else weights[:, None])
    scale = np.sqrt((rows * rows).sum(axis=0))
    found, left, rank, singular = np.linalg.lstsq(rows / scale, values, rcond)
    made = (found.T / scale).T
    return (made, left, rank, singular, rcond) if full else made
