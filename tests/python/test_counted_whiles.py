"""Loops `while i < n` that go by even steps, and two indexes that approach one another: they run as
loops over a range do, and leave, raise and return what plain Python does."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def scaled(x, k):
    i = 0
    while i < len(x):
        x[i] = x[i] * 2.0 + 1.0
        i += 1
    return i


def summed_squares(x, k):
    n = len(x)
    i = 0
    out = np.zeros(n)
    while i < n:
        j = 0
        s = 0.0
        while j <= i:
            s += x[j] * x[i]
            j += 1
        out[i] = s + j
        i += 1
    return out, i


def turned_round(x, k):
    i = 0
    j = len(x) - 1
    while i < j:
        t = x[i]
        x[i] = x[j]
        x[j] = t
        i += 1
        j -= 1
    return i, j


def one_and_two_steps(x, k):
    i = k
    j = len(x)
    count = 0
    while j >= i:
        count += j - i
        i += 1
        j -= 2
    return i, j, count


def by_threes_from_behind(x, k):
    i = len(x) - 1
    s = 0
    while i > k:
        s += i * i
        x[i] = s
        i -= 3
    return i, s


def by_fours(x, k):
    i = k
    while i <= len(x) - 4:
        x[i] = i
        i += 4
    return i


def places(x, k):
    i = 0
    while i < 40:
        x[(i * 7) % (len(x) + k)] += 1.0
        i += 1
    return i


def two_checks(x, k):
    at = np.zeros(30, np.int64)
    i = 0
    while i < 30:
        at[i] = i if i != 17 else 99
        i += 1
    i = 0
    while i < 30:
        if k == 3:
            x[at[i]] = 1.0
        x[at[29 - i] + k] = 2.0
        i += 1
    return i


def checks_from_behind(x, k):
    at = np.arange(40)
    at[20 + k] = 99
    at[5] = -99
    i = 39
    while i >= 0:
        x[at[i]] = x[at[i]] + i
        i -= 1
    return i


def ends_early(x, k):
    i = 0
    while i < len(x) and x[i] < 0.9:
        x[i] = 0.0
        i += 1
    return i


COUNTED = [scaled, summed_squares, turned_round, one_and_two_steps, by_threes_from_behind, by_fours]
COUNTED += [places, two_checks, checks_from_behind]


@pytest.mark.parametrize("f", COUNTED + [ends_early], ids=lambda f: f.__name__)
def test_as_in_python(f):
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 4, 5, 30, 31, 100, 131):
        for k in (-2, 0, 1, 3, 7):
            check(f, rng.integers(0, 9, n).astype(float), k)


@pytest.mark.parametrize("f", COUNTED[:1] + COUNTED[2:3], ids=lambda f: f.__name__)
def test_long(f):
    check(f, np.random.default_rng(1).random(30001), 0)


@pytest.mark.parametrize("f", COUNTED[:3], ids=lambda f: f.__name__)
def test_not_in_order(f):
    assert "follows" not in str(jit(f).explain(np.ones(9), 0, target="parallel"))


def test_in_order():
    assert "follows" in str(jit(ends_early).explain(np.ones(9), 0, target="parallel"))


def grown_until_long(x):
    while len(x) < 7:
        x = np.append(x, 0.5)
    return x


def test_what_counts_the_elements_of_an_array_that_grows():
    for n in (0, 3, 9):
        check(grown_until_long, np.arange(float(n)))
