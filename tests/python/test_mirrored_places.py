"""Loops in place over pairs of elements that iterations have to themselves: mirrored halves, turned
squares, halves of blocks, indexes that differ by one bit. They run in any order, and leave what
plain Python leaves; loops whose pairs meet do so too, in order."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def reversed_in_place(x):
    n = len(x)
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]


def both_ends(x):
    n = len(x)
    for i in range(n // 2):
        mean = 0.5 * (x[i] + x[n - 1 - i])
        x[i] = mean
        x[n - 1 - i] = -mean


def every_second_from_both_ends(x):
    n = len(x)
    for i in range(0, n // 2 - 1, 2):
        x[i], x[n - 2 - i] = x[n - 2 - i], x[i]
        x[i + 1], x[n - 1 - i] = x[n - 1 - i], x[i + 1]


def meeting_in_the_middle(x):
    n = len(x)
    for i in range(n // 2):
        if n - 3 - i >= 0:
            x[i], x[n - 3 - i] = x[n - 3 - i], 2.0 * x[i]


def all_the_way(x):
    n = len(x)
    for i in range(n):
        x[i] = 0.5 * x[n - 1 - i] + 1.0


def pairs_of_bits(x):
    n = len(x)
    h = 1
    while h < n:
        for i in range(n):
            k = i ^ h
            if k > i and k < n:
                if x[i] > x[k]:
                    x[i], x[k] = x[k], x[i]
                else:
                    x[i] -= 1.0
        h *= 2


def sums_and_differences(x):
    n = len(x)
    h = 1
    while h < n:
        for i in range(0, n, h * 2):
            for j in range(i, i + h):
                a = x[j]
                b = x[j + h]
                x[j] = a + b
                x[j + h] = a - b
        h *= 2


def blocks_that_overlap(x):
    n = len(x)
    h = 3
    for i in range(0, n - 2 * h, h):
        for j in range(i, i + h):
            x[j], x[j + h] = x[j + h], x[j]


def rows_mirrored(a):
    n = a.shape[0]
    for i in range(n // 2):
        kept = a[i].copy()
        a[i] = a[n - 1 - i]
        a[n - 1 - i] = kept


def square_turned(a):
    n = min(a.shape[0], a.shape[1])
    for i in range(n // 2):
        for j in range(i, n - 1 - i):
            kept = a[i, j]
            a[i, j] = a[n - 1 - j, i]
            a[n - 1 - j, i] = a[n - 1 - i, n - 1 - j]
            a[n - 1 - i, n - 1 - j] = a[j, n - 1 - i]
            a[j, n - 1 - i] = kept


ALONG = [reversed_in_place, both_ends, every_second_from_both_ends, pairs_of_bits]
ALONG += [sums_and_differences]
IN_ORDER = [meeting_in_the_middle, all_the_way, blocks_that_overlap]


@pytest.mark.parametrize("f", ALONG + IN_ORDER, ids=lambda f: f.__name__)
def test_vectors(f):
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 7, 8, 64, 65, 1000):
        check(f, rng.integers(-9, 9, n).astype(float))
    check(f, rng.random(20001))


@pytest.mark.parametrize("f", [rows_mirrored, square_turned], ids=lambda f: f.__name__)
def test_matrices(f):
    rng = np.random.default_rng(1)
    for shape in ((0, 0), (1, 1), (2, 2), (3, 3), (8, 8), (9, 9), (100, 100)):
        check(f, rng.random(shape))
    check(f, rng.random((20, 20))[:, ::-1])


@pytest.mark.parametrize("f", ALONG, ids=lambda f: f.__name__)
def test_iterations_in_any_order(f):
    report = jit(f).explain(np.zeros(64), target="parallel")
    assert report.parallel_regions == 1
    assert "touched at one place" not in str(report)


@pytest.mark.parametrize("f", IN_ORDER, ids=lambda f: f.__name__)
def test_iterations_in_order(f):
    assert "touched at one place" in str(jit(f).explain(np.zeros(64), target="parallel"))
