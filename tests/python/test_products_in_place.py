"""Loops that add products to what an array holds, least sums, and what else goes with them.

They are contractions, whose sums go to where the loop stores them. Numbers are small and whole.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

SIZES = [(0, 3, 2), (3, 4, 0), (2, 2, 2), (9, 25, 7), (40, 30, 50), (50, 70, 300)]


def add_products(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def add_by_steps(a, b, c):
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
    return c


def scaled(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 3 * c[i, j]
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = 2 * s
    return c.sum()


def to_another_row(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = c[i, j]
            for k in range(a.shape[1]):
                s -= a[i, k] * b[k, j]
            c[c.shape[0] - 1 - i, j] = s
    return c


def over_what_is_summed(a, b, c):
    """Each element of the result is read by those behind it."""
    for i in range(min(a.shape)):
        for j in range(min(a.shape)):
            s = a[i, j]
            for k in range(a.shape[1]):
                s += a[i, k] * 2
            a[i, j] = s % 1000
    return a


def least_in_place(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] = min(c[i, j], a[i, k] + b[k, j])
    return c


def least_by_hand(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                v = a[i, k] + b[k, j]
                if v < c[i, j]:
                    c[i, j] = v
    return c


def largest_made(a, b, c):
    made = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            best = -np.inf
            for k in range(a.shape[1]):
                v = a[i, k] - b[k, j]
                if v > best:
                    best = v
            made[i, j] = best
    return made


def largest_or_equal(a, b, c):
    made = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            best = -np.inf
            for k in range(a.shape[1]):
                if a[i, k] * b[k, j] >= best:
                    best = a[i, k] * b[k, j]
            made[i, j] = best
    return made


def place_of_least(a, b, c):
    made = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            best, place = np.inf, -1
            for k in range(a.shape[1]):
                v = a[i, k] + b[k, j]
                if v < best:
                    best, place = v, k
            made[i, j] = place
    return made


SUMS = [add_products, add_by_steps, scaled, to_another_row, over_what_is_summed]
EXTREMES = [least_in_place, least_by_hand, largest_made, largest_or_equal, place_of_least]


def arguments(rng, shape, dtype):
    rows, columns, depth = shape
    return [rng.integers(-9, 9, size).astype(dtype)
            for size in [(rows, depth), (depth, columns), (rows, columns)]]


def check(function, given):
    expected = [x.copy() for x in given]
    wanted = function(*expected)
    compiled = jit(function)
    for target in COMPILED:
        stored = [x.copy() for x in given]
        with np.errstate(all="ignore"):
            result = compiled(*stored, target=target)
        assert np.asarray(result).tobytes() == np.asarray(wanted).tobytes(), target
        for x, y in zip(stored, expected):
            assert x.tobytes() == y.tobytes(), target


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128])
@pytest.mark.parametrize("function", SUMS)
def test_products_are_added_to_what_is_there(function, dtype):
    if dtype == np.complex128 and function is over_what_is_summed:
        pytest.skip("skipped: % is not of complex numbers")
    rng = np.random.default_rng(1)
    for shape in SIZES:
        check(function, arguments(rng, shape, dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("function", EXTREMES)
def test_extremes_are_those_of_the_loop(function, dtype):
    rng = np.random.default_rng(2)
    for shape in SIZES:
        check(function, arguments(rng, shape, dtype))


@pytest.mark.parametrize("function", EXTREMES)
def test_what_is_not_a_number_and_zeros_of_either_sign(function):
    """A comparison with nan is false, and of equals the loop keeps the one that it met first."""
    rng = np.random.default_rng(3)
    for shape in SIZES:
        given = [rng.choice([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -2.0], x.shape)
                 for x in arguments(rng, shape, np.float64)]
        if function is least_in_place:  # NumPy's min differs from Python's.
            given = [np.where(np.isnan(x), 0.5, x) + 0.0 for x in given]
            given = [np.where(np.isinf(x), 8.0, x) for x in given]
        with np.errstate(all="ignore"):
            check(function, given)


def test_arguments_that_share_memory():
    rng = np.random.default_rng(4)
    for function in [add_products, least_by_hand]:
        x = rng.integers(-9, 9, (20, 20)).astype(np.float64)
        expected = x.copy()
        function(expected[:, ::-1], expected, expected)
        for target in COMPILED:
            y = x.copy()
            jit(function)(y[:, ::-1], y, y, target=target)
            np.testing.assert_array_equal(y, expected)
