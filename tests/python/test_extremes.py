"""Loops that keep the greatest or least of what they see, and where: ties, nan, signs of zeros."""

import numpy as np
import pytest
from agreement import check_agreement
from exact_outcomes import TARGETS, check
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parakeet import jit


def first_greatest(x, ok, low, high):
    best, at = low, -1
    for i in range(len(x)):
        if x[i] > best:
            best, at = x[i], i
    return best, at


def last_least(x, ok, low, high):
    best, at = high, -1
    for i in range(len(x)):
        if x[i] <= best:
            best, at = x[i], i
    return best, at


def greatest_backwards(x, ok, low, high):
    best, at = low, -1
    for i in range(len(x) - 1, -1, -1):
        if x[i] > best:
            best, at = x[i], i
    return best, at


def least_of_every_third(x, ok, low, high):
    best, at = high, -1
    for i in range(1, len(x), 3):
        if best > x[i]:
            best, at = x[i], i
    return best, at


def value_alone(x, ok, low, high):
    best = x[0]
    for i in range(1, len(x)):
        if x[i] < best:
            best = x[i]
    return best


def of_those_allowed(x, ok, low, high):
    best, at = high, -1
    for i in range(len(x)):
        if ok[i] and x[i] < best:
            best, at = x[i], i
    return best, at


def of_both(x, ok, low, high):
    best, at = high, -1
    for i in range(len(x)):
        if ok[i] & (x[i] < best):
            best, at = x[i], i
    for i in range(len(x)):
        if (x[i] < best) & (not ok[i]):
            best, at = x[i], i
    return best, at


def of_neighbours(x, ok, low, high):
    """What is read behind the first condition is there only where that holds."""
    best, at = low, -1
    for i in range(len(x)):
        if i + 1 < len(x) and ok[i] and x[i + 1] - x[i] > best:
            best, at = x[i + 1] - x[i], i
    return best, at


def with_followers(x, ok, low, high):
    best, at, seen, square, total = low, 5, 0, x[0] * 0, x[0] * 0
    for i in range(len(x)):
        total += x[i]
        if x[i] > best:
            best, at, seen, square = x[i], i + 7, i, x[i] * x[i]
    return best, at, seen, square, total


def in_windows(x, ok, low, high):
    best = np.empty(max(len(x) - 2, 0), x.dtype)
    at = np.empty(len(best), np.int64)
    for i in range(len(best)):
        most, k = x[i], 0
        for j in range(1, 3):
            if x[i + j] > most:
                most, k = x[i + j], j
        best[i], at[i] = most, k
    return best, at


def along_columns(x, ok, low, high):
    y = x[:len(x) // 3 * 3].reshape(3, -1)
    best = np.empty(y.shape[1], x.dtype)
    at = np.empty(y.shape[1], np.int64)
    for j in range(y.shape[1]):
        least, k = high, -1
        for i in range(3):
            if y[i, j] < least:
                least, k = y[i, j], i
        best[j], at[j] = least, k
    return best, at


FUNCTIONS = [first_greatest, last_least, greatest_backwards, least_of_every_third, value_alone,
             of_those_allowed, of_both, of_neighbours, with_followers,
             in_windows, along_columns]  # fmt: skip
ENDS = np.float64(-np.inf), np.float64(np.inf)
VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_extremes_of_floats(function):
    jitted = jit(function)

    @settings(max_examples=25)
    @given(st.integers(1, 70).flatmap(lambda n: st.tuples(
        arrays(np.float64, n, elements=VALUES), arrays(np.bool_, n))))
    def check(arguments):
        x, ok = arguments
        # A sum of infinities and nans is another test's.
        if function is with_followers:
            x = np.nan_to_num(x, posinf=3.0, neginf=-3.0)
        if function is of_neighbours:
            x = np.where(np.isfinite(x), x, 7.0)
        check_agreement(jitted, function, lambda: (x, ok, *ENDS))

    check()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_extremes_of_integers(function):
    rng = np.random.default_rng(3)
    ends = np.int64(np.iinfo(np.int64).min), np.int64(np.iinfo(np.int64).max)
    for n in (1, 2, 33, 100):
        x = rng.choice([ends[0], ends[0] + 1, -1, 0, 7, ends[1]], n)
        if function is with_followers or function is of_neighbours:
            x = rng.integers(-3, 4, n)
        ok = rng.random(n) < 0.5
        check_agreement(jit(function), function, lambda x=x, ok=ok: (x, ok, *ends))


def test_extremes_in_blocks():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 5, 100_000).astype(np.float64)
    x[rng.integers(0, len(x), 1000)] = np.nan
    ok = rng.random(len(x)) < 0.01
    none = np.full(len(x), -np.inf)
    for function in (first_greatest, last_least, greatest_backwards, of_those_allowed):
        check_agreement(jit(function), function, lambda: (x, ok, *ENDS))
        check_agreement(jit(function), function, lambda: (none, ok, *ENDS))


def chosen_beside_zero(x):
    """What is chosen by its order to a zero, of either sign and on either side."""
    out = np.empty((8, len(x)), x.dtype)
    for i in range(len(x)):
        v = x[i]
        out[0, i] = v if v < 0.0 else 0.0
        out[1, i] = v if v > 0.0 else 0.0
        out[2, i] = v if v < -0.0 else -0.0
        out[3, i] = v if v > -0.0 else -0.0
        out[4, i] = 0.0 if 0.0 < v else v
        out[5, i] = 0.0 if 0.0 > v else v
        out[6, i] = -0.0 if not v >= -0.0 else v
        out[7, i] = max(min(v, 0.0), -0.0)
    return out


def least_from_zero(x):
    lo = hi = 0.0
    for v in x:
        if v < lo:
            lo = v
        if v > hi:
            hi = v
    return np.array([lo, hi])


def test_what_is_chosen_beside_zeros_keeps_its_sign():
    edges = [0.0, -0.0, np.nan, 1.0, -1.0, np.inf, -np.inf]
    compiled = jit(chosen_beside_zero)
    for dtype in (np.float64, np.float32):
        x = np.array(edges * 9, dtype)
        wanted = chosen_beside_zero(x)
        is_number = ~np.isnan(wanted)  # Of what is none, a GPU keeps no bits.
        for target in TARGETS:
            got = compiled(x, target=target)
            np.testing.assert_array_equal(got, wanted)
            np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(wanted)[is_number])
    for first in edges:
        check(least_from_zero, np.array([first, -0.0, 0.0]))


def test_min_and_max_of_a_gpu_are_not_asked_where_they_tell_zeros_apart():
    @jit
    def least(x):
        return np.where(x < 0.0, x, 0.0)

    @jit
    def greatest(x):
        return np.where(x > 0.0, x, 0.0)

    for dtype in (np.float64, np.float32):
        assert "min.f" not in least.ptx(np.ones(9, dtype))
        assert "max.f" in greatest.ptx(np.ones(9, dtype))  # which have the same bits


def least_of_rows(ends, x, best):
    for row in range(len(ends) - 1):
        least = best[row]
        for k in range(ends[row], ends[row + 1]):
            if x[k] < least:
                least = x[k]
        best[row] = least


@pytest.mark.parametrize("ends", [[0, 3, 3, 8], [5, 1, 8, 2], [-3, 2, 2**62, -(2**62)],
                                  [-(2**63), -(2**63), 0, 8], [2**63 - 1, -(2**63), 6]])
def test_least_of_rows_that_elements_bound(ends):
    x = np.array([2.0, 0.0, -0.0, np.nan, -0.0, 0.0, -np.inf, np.inf])
    for first in (1.0, 0.0, -0.0, np.nan, np.inf):
        check(least_of_rows, np.array(ends), x, np.full(len(ends), first))
        check(least_of_rows, np.array(ends), -x, np.full(len(ends), first))
