"""Variances of columns, and what is made of them, in one traversal of a matrix.

Values stay as near to exact ones as NumPy's two traversals do, whatever columns are added to, on
every target; serial and parallel give the same bits.
"""

import numpy as np
import pytest
from agreement import REDUCED, check_agreement
from exact_outcomes import TARGETS

import parakeet
from parakeet import jit


def spread(a):
    return a.var(axis=0)


def of_samples(a):
    return a.mean(axis=0), a.std(axis=0, ddof=1)


def scores(a):
    return (a - a.mean(0)) / a.std(0)


def kept(a):
    m = a.mean(axis=0, keepdims=True)
    return ((a - m) ** 2).sum(axis=0), m


def in_place(a):
    a -= a.mean(axis=0)
    a /= a.std(axis=0)
    return a.var(axis=0)


def stored_between(a):
    m = a.mean(axis=0)
    a[:, 0] += 1.0
    return ((a - m) ** 2).sum(axis=0)


def outer_axes(a):
    b = a.reshape((-1, 2, a.shape[1]))
    return b.std(axis=(0, 1)), b.var(axis=0)


FUNCTIONS = {f.__name__: (f, parakeet.jit(f)) for f in (
    spread, of_samples, scores, kept, in_place, stored_between, outer_axes)}


def exactly(values):
    values = values if isinstance(values, tuple) else (values,)
    return [np.asarray(value) for value in values]


def matrix(rows, columns, dtype=np.float64):
    return np.random.default_rng(rows).standard_normal((rows, columns)).astype(dtype)


@pytest.mark.sampled(2, "name", "dtype", "shape")
@pytest.mark.parametrize("name, dtype", [*((name, np.float64) for name in FUNCTIONS),
                                         ("scores", np.float32)])
@pytest.mark.parametrize("shape", [(300, 7), (32, 40), (30, 3), (2, 5), (4096, 3)])
def test_moments_of_columns(name, dtype, shape):
    plain, jitted = FUNCTIONS[name]
    a = matrix(*shape, dtype) + np.arange(shape[1], dtype=dtype)
    wanted = exactly(plain(a.astype(np.float64)))
    bits = []
    for target in TARGETS:
        own = a.copy()
        given = exactly(jitted(own, target=target))
        for value, other in zip(given, wanted):
            assert value.dtype == dtype
            rtol = 2e-13 if dtype == np.float64 else 1e-4
            np.testing.assert_allclose(value, other, rtol=rtol, atol=rtol)
        bits.append([value.tobytes() for value in (*given, own)])
    assert bits[0] == bits[1]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("far", [0.0, 1e6, -1e9])
def test_columns_far_from_zero(target, far):
    a = matrix(999, 5) + far * np.array([1.0, 0.0, -1.0, 0.5, 1e-3])
    wanted = np.array([np.longdouble(column).var() for column in a.T.astype(np.longdouble)])
    np.testing.assert_allclose(FUNCTIONS["spread"][1](a, target=target), wanted.astype(float),
                               rtol=1e-13, atol=np.square(abs(far) * 2e-16))


# One column that is not near to what its samples say has all made as they are written.
@pytest.mark.sampled(2, "target", "value")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("value", [0.1, 0.0, -7e9, np.inf, np.nan, "spike", "steps"])
def test_columns_of_another_kind(target, value):
    a = matrix(777, 4)
    if value == "spike":
        a[:, 2] = 0.3
        a[5, 2] = 1e12
    elif value == "steps":
        a[:, 2] = np.where(np.arange(777) < 700, 1e9, -1e9)
    else:
        a[:, 2] = value
    with np.errstate(all="ignore"):
        wanted = spread(a)
    np.testing.assert_allclose(FUNCTIONS["spread"][1](a, target=target), wanted, rtol=1e-12,
                               atol=1e-8 if value == -7e9 else 1e-30)


def spread_of_sorted(x):
    return np.sort(x, axis=0).var(axis=1), np.sort(x, axis=0).std(axis=0)


@pytest.mark.parametrize("shape", [(300, 1), (75, 4), (1, 300)])
def test_moments_of_what_is_sorted_in_place(shape):
    x = np.random.default_rng(7).standard_normal(shape)
    check_agreement(jit(spread_of_sorted), spread_of_sorted, lambda: (x,), REDUCED)
