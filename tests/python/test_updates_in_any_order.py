"""Loops that update all elements of an array, once an iteration, in any order of their writing.

Floats hold small whole numbers, so every order of summation gives the same bits.
"""

import itertools

import numpy as np
import pytest
from from_source import define
from tested_targets import COMPILED

from parakeet import jit

UPDATES = {
    "adds": "c[i, j] += a[i, k] * b[k, j]",
    "subtracts": "c[i, j] = c[i, j] - a[i, k] * b[k, j]",
    "least": "c[i, j] = min(c[i, j], a[i, k] + b[k, j])",
    "most": "c[i, j] = np.maximum(a[i, k] * b[k, j], c[i, j])",
    "if_less": "if a[i, k] + b[k, j] < c[i, j]: c[i, j] = a[i, k] + b[k, j]",
    "if_not_less": "if not (a[i, k] < c[i, j]): c[i, j] = a[i, k]",
    "adds_root": "c[i, j] += np.sqrt(np.abs(a[i, k])) * (b[k, j] > 0)",
}
EXTENTS = {"i": "a.shape[0]", "j": "b.shape[1]", "k": "a.shape[1]"}
# Rows, columns, iterations.
SIZES = [(0, 3, 2), (3, 4, 0), (5, 3, 4), (20, 33, 17), (70, 130, 40)]


def nest(order, update):
    lines = ["def f(a, b, c):"]
    for depth, index in enumerate(order, start=1):
        lines.append("    " * depth + f"for {index} in range({EXTENTS[index]}):")
    return define("\n".join([*lines, "    " * 4 + update, "    return c", ""]))


def numbers(rng, *shape):
    return rng.integers(-9, 10, shape).astype(np.float64)


@pytest.mark.sampled(4, "name", "order")
@pytest.mark.parametrize("order", ["".join(order) for order in itertools.permutations("ijk")])
@pytest.mark.parametrize("name", UPDATES)
def test_every_order_of_the_loops_gives_python_s_answer(name, order):
    rng = np.random.default_rng(len(name))
    function = nest(order, UPDATES[name])
    compiled = jit(function)
    for rows, columns, iterations in SIZES[:4]:
        a, b = numbers(rng, rows, iterations) ** 2, numbers(rng, iterations, columns)
        c = numbers(rng, rows + 1, columns + 2)  # larger than what is gone through
        expected = function(a, b, c.copy())
        for target in COMPILED:
            np.testing.assert_array_equal(compiled(a, b, c.copy(), target=target), expected)


@pytest.mark.parametrize("order", ["ikj", "kij", "kji"])
def test_nan_and_zeros_are_compared_as_in_the_loop(order):
    a = np.array([[np.nan, 1.0, -0.0, 0.0], [0.0, -0.0, np.nan, -np.inf], [-0.0, 0.0, 2.0, np.inf]])
    b = np.array([[0.0, np.nan, -0.0], [1.0, -1.0, 0.0], [-0.0, 0.0, np.nan], [np.inf, 0.0, -0.0]])
    c = np.array([[np.nan, 0.0, -0.0], [0.0, np.nan, np.inf], [-0.0, 0.0, -np.inf]])
    for name in ("least", "most", "if_less", "if_not_less"):
        function = nest(order, UPDATES[name])
        with np.errstate(all="ignore"):
            expected = function(a, b, c.copy())
        for target in COMPILED:
            made = jit(function)(a, b, c.copy(), target=target)
            np.testing.assert_array_equal(made, expected)
            if name != "most":  # np.maximum may give either zero
                known = ~np.isnan(expected)
                np.testing.assert_array_equal(np.signbit(made[known]), np.signbit(expected[known]))


def rows_by_rows(a, b, c):
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            c[i] = np.minimum(c[i], a[i, k] + b[k])
    return c


def outer_products(a, b, c):
    for k in range(a.shape[1]):
        c += np.outer(a[:, k], b[k])
    return c


def array_after_array(a, b, c):
    for k in range(a.shape[1]):
        c = np.minimum(c, a[:, k, None] + b[k])
    return c


def backwards(a, b, c):
    for k in range(a.shape[1] - 1, -1, -2):
        c = c + np.outer(a[:, k], b[k])
    return c


@pytest.mark.parametrize("function", [rows_by_rows, outer_products, array_after_array, backwards])
def test_updates_of_rows_and_of_whole_arrays(function):
    rng = np.random.default_rng(3)
    for rows, columns, iterations in SIZES:
        a, b = numbers(rng, rows, iterations), numbers(rng, iterations, columns)
        c = numbers(rng, rows, columns)
        expected = function(a, b, c.copy())
        for target in COMPILED:
            np.testing.assert_array_equal(jit(function)(a, b, c.copy(), target=target), expected)


def array_of_no_iteration(c, x, n):
    made = c
    for k in range(n):
        made = made + x[k]
    made[0] = 7.0
    return made


def test_an_array_that_no_iteration_makes_anew_is_the_argument():
    for target in COMPILED:
        for n in (0, 2):
            c, x = np.zeros(3), np.ones((2, 3))
            made = jit(array_of_no_iteration)(c, x, n, target=target)
            assert made[0] == 7.0
            assert c[0] == (7.0 if n == 0 else 0.0)


def weighted_by_what_is_dear(x, first, last, step):
    total = np.zeros_like(x)
    for k in range(first, last, step):
        weight = np.exp(-0.1 * k)
        if weight > 0.5:
            weight = 0.5
        total += weight * x
    return total


@pytest.mark.parametrize("span", [(0, 0, 1), (0, 7, 1), (3, 11, 2), (9, -2, -3), (5, 5, -1),
                                  (2**62, -(2**62) - 1, 1)])
def test_what_elements_share_is_computed_once_an_iteration(span):
    x = np.linspace(-3.0, 3.0, 70)
    expected = weighted_by_what_is_dear(x, *span)
    for target in COMPILED:
        made = jit(weighted_by_what_is_dear)(x, *span, target=target)
        np.testing.assert_allclose(made, expected, rtol=1e-14)


def largest_of_the_rest(frames):
    most = frames[0].copy()
    for t in range(1, frames.shape[0]):
        most = np.maximum(most, frames[t])
    return most


def test_rows_behind_the_first_are_read_in_order():
    frames = np.random.default_rng(5).standard_normal((300, 77))
    for target in COMPILED:
        made = jit(largest_of_the_rest)(frames, target=target)
        np.testing.assert_array_equal(made, frames.max(axis=0))
