"""Loops that ask for the greatest only where a value is not the least so far: reductions where the
two begin in order, and to the bit what plain Python gives, nan, zeros of either sign and values
that begin the other way round among them."""

import itertools

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def least_and_greatest(x):
    out = np.zeros(2, x.dtype)
    lo = hi = x[0]
    for v in x:
        if v < lo:
            lo = v
        elif v > hi:
            hi = v
    out[0] = lo
    out[1] = hi
    return out


def greatest_first_with_places(x):
    out = np.zeros(4)
    lo = hi = x[0]
    low = high = 0
    for i in range(1, len(x)):
        if x[i] >= hi:
            hi = x[i]
            high = i
        elif lo > x[i]:
            lo = x[i]
            low = i
    out[0], out[1], out[2], out[3] = lo, low, hi, high
    return out


def from_zero(x):
    out = np.zeros(2)
    lo = 0.0
    hi = 0.0
    for v in x:
        if v < lo:
            lo = v
        elif v > hi:
            hi = v
    out[0], out[1] = lo, hi
    return out


def both_take_equals(x):
    out = np.zeros(2, x.dtype)
    lo = hi = x[0]
    for v in x:
        if v <= lo:
            lo = v
        elif v >= hi:
            hi = v
    out[0], out[1] = lo, hi
    return out


def from_infinities(x):
    out = np.zeros(2)
    lo = np.inf
    hi = -np.inf
    for v in x:
        if v < lo:
            lo = v
        elif v > hi:
            hi = v
    out[0], out[1] = lo, hi
    return out


def least_that_grows(x):
    out = np.zeros(2)
    lo = hi = x[0]
    for v in x:
        if v < lo:
            lo = v
        elif v > hi:
            hi = v
        lo = lo + 0.25
    out[0], out[1] = lo, hi
    return out


def of_all_rows(x):
    a = x[: len(x) // 5 * 5].reshape(-1, 5)
    out = np.zeros(2, x.dtype)
    lo = hi = a[0, 0]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] < lo:
                lo = a[i, j]
            elif a[i, j] > hi:
                hi = a[i, j]
    out[0], out[1] = lo, hi
    return out


TOGETHER = [least_and_greatest, greatest_first_with_places, from_zero, of_all_rows]
IN_ORDER = [both_take_equals, from_infinities, least_that_grows]
EDGES = [np.nan, -0.0, 0.0, 1.0, -1.0, np.inf, -np.inf]


@pytest.mark.parametrize("f", TOGETHER + IN_ORDER, ids=lambda f: f.__name__)
def test_edges(f):
    for values in itertools.product(EDGES, repeat=3):
        check(f, np.array(values + values[:2] if f is of_all_rows else values))
    for n in (0, 1, 2):
        check(f, np.array(EDGES[:n]))


@pytest.mark.parametrize("f", TOGETHER + IN_ORDER, ids=lambda f: f.__name__)
def test_lengths(f):
    rng = np.random.default_rng(0)
    for n in (7, 64, 100, 20001):
        x = rng.integers(-50, 50, n)
        check(f, x.astype(float))
        check(f, np.where(x == 7, np.nan, x * -0.0 if n == 64 else x))
    check(f, rng.integers(-50, 50, 300))
    check(f, rng.random(300, dtype=np.float32))


@pytest.mark.parametrize("f", TOGETHER, ids=lambda f: f.__name__)
def test_in_any_order(f):
    assert "carried from one iteration" not in str(jit(f).explain(np.ones(9), target="parallel"))


@pytest.mark.parametrize("f", IN_ORDER, ids=lambda f: f.__name__)
def test_stays_in_order(f):
    assert "carried from one iteration" in str(jit(f).explain(np.ones(9), target="parallel"))
