"""Matrices that loops find in lines, at places that they compute."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


@jit
def columns(a, out, n, m, first):
    for i in range(n):
        for j in range(m):
            out[0, j] += a[first + i * m + j]
    for j in range(m):
        best, at = a[first + j], 0
        for i in range(n):
            if a[first + i * m + j] > best:
                best, at = a[first + i * m + j], i
        out[1, j] = best + at
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += a[first + (n - 1 - i) * m + j] * i
        out[2, j] = total


@jit
def planes(a, out, n, m, k):
    for i in range(n):
        for j in range(m):
            for p in range(k):
                out[i * k + p] += a[(i * m + j) * k + p]
    for step in range(k):
        for i in range(n):
            for p in range(k):
                out[p] += a[step + i * k + p] * out[step]


@pytest.mark.parametrize("target", TARGETS)
def test_columns_of_a_line(target):
    random = np.random.default_rng(1)
    for n, m in ((300, 9), (3, 70), (1, 1), (0, 4), (600, 2)):
        a, out = random.integers(0, 99, n * m + m + 5).astype(float), np.ones((3, m))
        wanted = out.copy()
        columns.__wrapped__(a, wanted, n, m, 5)
        columns(a, out, n, m, 5, target=target)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_planes_of_a_line(target):
    random = np.random.default_rng(2)
    for n, m, k in ((3, 40, 20), (2, 1, 3), (1, 300, 9), (2, 0, 3), (0, 3, 3)):
        a = random.integers(0, 9, n * m * k + (n + 1) * k).astype(float)
        out = np.ones(n * k + m + k)
        wanted = out.copy()
        planes.__wrapped__(a, wanted, n, m, k)
        planes(a, out, n, m, k, target=target)
        np.testing.assert_allclose(out, wanted, rtol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_a_line_that_ends_early(target):
    a, out, wanted = np.arange(7.0), np.zeros((3, 3)), np.zeros((3, 3))
    for to, f in ((wanted, columns.__wrapped__), (out, columns)):
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
            f(a, to, 3, 3, 0, **({"target": target} if f is columns else {}))
    np.testing.assert_array_equal(out, wanted)


def test_rows_of_a_line_pass_by_whole():
    a, out = np.ones(2000), np.zeros((3, 20))
    columns(a, out, 100, 20, 0, target="parallel")
    # Threads share the runs of rows.
    assert "%totals" in columns.ir(stage="scheduled")
