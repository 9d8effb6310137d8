"""Loops over matrices whose rows lie in one line, and over blocks of rows and columns."""

import numpy as np
import pytest
from exact_outcomes import check
from tested_targets import TARGETS

from parakeet import jit


@jit
def turned(a, out, n, m):
    for i in range(n):
        for j in range(m):
            out[j * n + i] = a[i * m + j]


@jit
def symmetric(a, out, n, m):
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(m):
                s += a[i * m + k] * a[j * m + k]
            out[i * n + j] = s
            out[j * n + i] = s


@jit
def neighbours(a, out, n, m):
    """Around the edges."""
    for i in range(n):
        for j in range(m):
            s = 0.0
            for d in range(-1, 2):
                for e in range(-1, 2):
                    s += a[((i + d) % n) * m + (j + e) % m]
            out[i * m + j] = s


@jit
def overlapping(a, out, n, m):
    """Rows of `out` reach into the next: the later one stays."""
    for i in range(n):
        for j in range(m + 1):
            out[i * m + j] = a[i] - j


@jit
def overlapping_columns(a, out, n, m):
    for i in range(n + 1):
        for j in range(m):
            out[j * n + i] = a[j] - i


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "function", [turned, symmetric, neighbours, overlapping, overlapping_columns],
    ids=lambda function: function.__name__)
def test_rows_in_one_line(function, target):
    rng = np.random.default_rng(3)
    for n, m in [(4, 7), (1, 1), (3, 1), (0, 4)] + [(40, 33)] * (target != "interpreter"):
        a = rng.integers(-9, 9, (n + 1) * (m + 1)).astype(np.float64)
        out = np.zeros(max(n, m) * (max(n, m) + 1) + 1)
        right = out.copy()
        function.__wrapped__(a, right, n, m)
        function(a, out, n, m, target=target)
        np.testing.assert_array_equal(out, right)


@jit
def by_rows(a, b, c, n, k, m):
    for i in range(n):
        for p in range(k):
            x = a[i * k + p]
            for j in range(m):
                c[i * m + j] += x * b[p * m + j]


@jit
def by_depth(a, b, c, n, k, m):
    for p in range(k):
        for i in range(n):
            for j in range(m):
                c[i * m + j] += a[i * k + p] * b[p * m + j]


@jit
def least_by_rows(a, b, c, n, k, m):
    for i in range(n):
        for p in range(k):
            for j in range(m):
                c[i * m + j] = min(c[i * m + j], a[i * k + p] + b[p * m + j])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", [by_rows, by_depth, least_by_rows],
                         ids=lambda function: function.__name__)
def test_products_of_lines_whose_loops_stand_in_any_order(function, target):
    rng = np.random.default_rng(8)
    sizes = [(3, 2, 4), (2, 0, 3), (0, 2, 2), (1, 3, 0), (9, 9, 9)]
    for n, k, m in sizes + [(40, 33, 50)] * (target != "interpreter"):
        a, b, c = (rng.integers(-9, 9, size).astype(np.float64) for size in (n * k, k * m, n * m))
        right = c.copy()
        function.__wrapped__(a, b, right, n, k, m)
        function(a, b, c, n, k, m, target=target)
        np.testing.assert_array_equal(c, right)
    # Where no product is made, nothing is asked of arrays that are too short.
    none = np.zeros(0)
    function(none, none, none, 5, 0, 5, target=target)


@jit
def product_by_blocks(a, b, c, n):
    size = 8
    for ii in range(0, n, size):
        for jj in range(0, n, size):
            for kk in range(0, n, size):
                for i in range(ii, min(ii + size, n)):
                    for j in range(jj, min(jj + size, n)):
                        s = c[i, j]
                        for k in range(kk, min(kk + size, n)):
                            s += a[i, k] * b[k, j]
                        c[i, j] = s


@jit
def blocks_from_the_end(x, n):
    """A block begins where the one before it ends, and the last goes no farther than the first."""
    for i in range(0, n, 4):
        for _ in range(3):
            for j in range(max(i - 2, 0), min(i + 2, n)):
                x[j] = x[j] * 2.0 + i


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_of_rows_and_columns(target):
    rng = np.random.default_rng(5)
    for n in (0, 5, 8, 19):
        a, b, c = (rng.integers(-4, 5, (n + 1, n + 2)).astype(np.float64) for _ in range(3))
        right = c.copy()
        product_by_blocks.__wrapped__(a, b, right, n)
        product_by_blocks(a, b, c, n, target=target)
        np.testing.assert_array_equal(c, right)
        x = a[:, 0].copy()
        right = x.copy()
        blocks_from_the_end.__wrapped__(right, n)
        blocks_from_the_end(x, n, target=target)
        np.testing.assert_array_equal(x, right)
    with pytest.raises(IndexError, match="out of bounds"):
        product_by_blocks(a, b, c[:7], n, target=target)


def test_rows_in_one_line_and_blocks_are_parallel():
    a = np.zeros(1000)
    for function in (by_rows, by_depth, least_by_rows):
        assert "contraction: " in function.explain(a, a, a.copy(), 9, 9, 9, target="serial")
    for function in (turned, symmetric, neighbours):
        text = function.explain(a, a.copy(), 20, 20, target="parallel")
        assert "may be touched at one place" not in text, text
    for function in (overlapping, overlapping_columns):
        text = function.explain(a, a.copy(), 20, 20, target="parallel")
        assert "may be touched at one place" in text, text
    square = np.zeros((20, 20))
    text = product_by_blocks.explain(square, square, square.copy(), 20, target="parallel")
    assert "1 parallel region" in text and "no checks left" in text, text


def less_the_ends_of_one_row(m):
    """Elements of a line, and others of the same array."""
    return m - np.where(m[:, 0] > 0.0, m[:, 0], m[:, -1]), m * m[0, -1] + m[:, 1]


def shorter_and_shorter(x, y, n):
    """What a loop carries is a part of what it carried before."""
    total = y[:] * 1.0
    for i in range(1, min(len(x), len(y)) - 1):
        x = x[slice(None, n)]
        total[int(abs(total[i])) % len(total)] += (y[-1 - i] + x[i - 1] + x[i - 1]) * 0.25
    return total


def test_one_row_and_its_ends():
    for row in ([0.5, 2.25], [-1.0, 3.0, 4.0], np.arange(600.0) - 5):
        check(less_the_ends_of_one_row, np.array([row]))


def test_arrays_that_are_carried_beside_what_is_read_ahead():
    for n in (3, 40, -1):
        check(shorter_and_shorter, np.arange(30.0), np.arange(30.0) - 4, n)
