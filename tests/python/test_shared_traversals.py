"""Siblings that share a traversal, extremes so far that are stored many at once, places of extremes
down columns, and functions of rows' sums, each to the bit what it is by itself."""

import numpy as np
import pytest
from exact_outcomes import check, outcome
from tested_targets import COMPILED

from parakeet import jit

RANDOM = np.random.default_rng(45)


def so_far(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x)


def drawdown(x):
    peak = np.maximum.accumulate(x)
    return ((peak - x) / peak).max()


def records(x):
    out = np.empty(len(x))
    best = x[0]
    for i in range(len(x)):
        best = max(best, x[i])
        out[i] = best - x[i]
    return out


def check_on_host(f, *arguments, expected):
    wanted = outcome(f, arguments, expected)
    for target in ["serial", "parallel"]:
        assert outcome(f, arguments, target) == wanted, target


def series(n):
    walk = np.cumsum(RANDOM.standard_normal(n)) + 100
    odd = walk.copy()
    odd[n // 2] = np.nan
    zeros = np.where(RANDOM.random(n) < 0.5, 0.0, -0.0) - (RANDOM.random(n) < 0.3)
    low = np.full(n, -np.inf)
    return [walk, odd, zeros, -zeros, np.arange(float(n)), -np.arange(float(n)), low]


@pytest.mark.parametrize("n", [1, 64, 65, 130, 3000])
def test_extremes_so_far(n):
    for x in series(n):
        check_on_host(so_far, x, expected="interpreter")
        check_on_host(records, x, expected="interpreter")
        check_on_host(so_far, x.astype(np.float32), expected="interpreter")
    check(so_far, RANDOM.integers(-50, 50, n).astype(np.int16))
    x = series(n)[0]
    expected = ((np.maximum.accumulate(x) - x) / np.maximum.accumulate(x)).max()
    for target in COMPILED:
        assert jit(drawdown)(x, target=target) == expected


def down_columns(x):
    return np.argmax(x, axis=0), np.max(x, axis=0), np.argmin(x, axis=0), np.min(x, axis=0)


@pytest.mark.sampled(2, "n", "m")
@pytest.mark.parametrize("n", [1, 9, 700])
@pytest.mark.parametrize("m", [1, 5, 40])
def test_places_down_columns(n, m):
    x = RANDOM.integers(-9, 9, (n, m)).astype(float)
    check(down_columns, x)
    check(down_columns, x.astype(np.int32))
    x[RANDOM.random((n, m)) < 0.02] = np.nan
    x[:, m // 2] = -np.inf
    places = np.argmax(x, axis=0), np.argmin(x, axis=0)
    for target in COMPILED:
        given = jit(down_columns)(x, target=target)
        assert (given[0] == places[0]).all() and (given[2] == places[1]).all()


def checked_between(x, table, k):
    place = np.argmax(x, axis=0)
    shift = table[k]
    return place, np.max(x, axis=0) + shift


def guarded(x, n):
    least = x.sum()
    if n > len(x):
        raise ValueError("too many")
    return least, x[:n].sum()


def test_checks_between_siblings():
    x = RANDOM.standard_normal((40, 30))
    check(checked_between, x, np.arange(3.0), 1)
    check(checked_between, x, np.arange(3.0), 5)
    check(guarded, np.arange(6.0), 4)
    check(guarded, np.arange(6.0), 9)


def fit(y, p):
    return 1 - ((y - p) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def logistic(x, w, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return p, x.T @ (p - y)


def of_rows(x):
    s = x.sum(axis=1)
    return np.log(np.exp(x).sum(axis=1)) + s, np.exp(-0.5 * ((x * x).sum(axis=1) - s))


def kernel(a, b):
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = np.exp(-0.5 * ((a[i] - b[j]) ** 2).sum())
    return (out,)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("n, m", [(0, 20), (7, 20), (40, 33)])
def test_functions_of_sums(target, n, m):
    x, w, y = RANDOM.standard_normal((n, m)), RANDOM.standard_normal(m), RANDOM.random(n)
    for f, arguments in [(logistic, (x, w, y)), (of_rows, (x,)), (kernel, (x, x[: n // 2]))]:
        expected, given = f(*arguments), jit(f)(*arguments, target=target)
        for e, g in zip(expected, given, strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("target", COMPILED)
def test_a_fit_goes_through_its_data_once(target):
    y, p = RANDOM.random(5000), RANDOM.random(5000)
    np.testing.assert_allclose(jit(fit)(y, p, target=target), fit(y, p), rtol=1e-12)
    report = jit(fit).explain(y, p, target="serial")
    assert "1 traversal," in str(report)
