"""Rows and columns at places that arrays say, and columns that are reduced and reduced again."""

import numpy as np
import pytest
from agreement import EXACT, REDUCED, check_agreement, deep_copies

from parakeet import jit

JITTED = {}


def check(program, *arguments, tolerance=EXACT):
    jitted = JITTED.setdefault(program, jit(program))
    check_agreement(jitted, program, deep_copies(arguments), tolerance)


def rows(a, at):
    return a[at]


def columns(a, at):
    return a[:, at] * 2


def resized(a, at, to):
    return a[at][:, to]


def behind(a, at):
    return a[:, at + 1] - a[:, at]


def pairs(a, at, to):
    return a[at, to]


def means(a, at):
    return a[at].mean(axis=1)


def image(rng, shape, dtype):
    return (rng.random(shape) * 200).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
@pytest.mark.parametrize("shape", [(7, 9), (5, 40), (6, 9, 3), (6, 17, 4), (4, 5, 1)])
def test_rows_and_columns(shape, dtype):
    rng = np.random.default_rng(1)
    a = image(rng, shape, dtype)
    at = np.array([3, -1, 0, 2, 2, -4, 1, 3, 0])
    to = np.array([0, -5, 4, 2, -1])
    check(rows, a, at)
    check(columns, a, to)
    check(resized, a, at, to)
    check(behind, a, np.array([0, 3, 1, 2]))
    check(resized, a, at[:0], to)
    check(resized, a, at, to[:0])
    check(means, image(rng, (4, 6), np.float64), np.array([[1, -1], [0, 3]]), tolerance=REDUCED)
    if len(shape) == 3:
        check(pairs, a, at[:5], to)


@pytest.mark.parametrize("wrong", [4, -5, 100])
def test_places_outside_are_told_first(wrong):
    a = image(np.random.default_rng(2), (4, 5, 3), np.uint8)
    at = np.array([0, 1, wrong, 9])
    check(rows, a, at)
    check(resized, a, at, np.array([0, 77]))
    check(columns, a[:3], np.array([1, wrong + 1 if wrong > 0 else wrong - 1]))
    check(pairs, a, at, np.array([9, 0, 0, 0]))
    check(pairs, a, np.array([0, 1, 2, 3]), np.array([0, 1, 0, wrong + 1]))


def by_loops(a, at, table):
    r = np.zeros((len(at), a.shape[1]), a.dtype)
    for i in range(len(at)):
        for j in range(a.shape[1]):
            r[i, j] = a[table[at[i]], j]
    return r


def test_places_of_no_elements_are_not_looked_at():
    table = np.array([2, 0, 1])
    far = np.array([1, 1 << 50, 0])
    check(by_loops, np.ones((3, 0)), far, table)
    check(by_loops, np.arange(12.0).reshape(3, 4), far, table)
    check(by_loops, np.arange(12.0).reshape(3, 4), np.array([1, 2, 0, -1]), table)
    check(by_loops, np.arange(12.0).reshape(3, 4), np.array([1, 2, 0, -1]), table + 1)


def greatest_sum(a):
    return a.sum(axis=0).max()


def form(x, a, y):
    return x @ a @ y


def norm(x, a):
    return np.sqrt(((x @ a) ** 2).sum())


def far(a):
    return np.sqrt((a * a).sum(axis=0)).max()


def layers(a):
    return a.sum(axis=1).max(axis=1)


def spread(a):
    return a.var(axis=0).max(), a.min(axis=0).sum()


@pytest.mark.parametrize("shape", [(3, 50), (40, 3), (1, 7), (17, 33), (70, 65), (130, 20)])
def test_reduced_columns(shape):
    rng = np.random.default_rng(3)
    a = rng.random(shape)
    n, m = shape
    for given in (a, np.asfortranarray(a)):
        check(greatest_sum, given, tolerance=REDUCED)
        check(far, given, tolerance=REDUCED)
        check(spread, given, tolerance=REDUCED)
    check(form, rng.random(n), a, rng.random(m), tolerance=REDUCED)
    check(norm, rng.random(n), a, tolerance=REDUCED)
    check(layers, rng.random((4, *shape)), tolerance=REDUCED)


def test_reduced_columns_without_rows():
    check(greatest_sum, np.zeros((0, 4)), tolerance=REDUCED)
    check(greatest_sum, np.zeros((4, 0)), tolerance=REDUCED)
    check(far, np.zeros((0, 3)), tolerance=REDUCED)


def repeated(x, counts):
    return np.repeat(x, counts)


def repeated_rows(x, counts):
    return np.repeat(x, counts, axis=0)


@pytest.mark.parametrize("counts", [[1, 2, 3], [0, 0, 5], [4, 0, 0], [0, 0, 0], [0, 7, 0], [2]])
def test_repeated_by_counts(counts):
    x = np.array([1.5, -2.0, 3.25])
    for dtype in (np.int64, np.int32, np.uint8):
        check(repeated, x, np.array(counts, dtype))
    check(repeated_rows, np.arange(12.0).reshape(3, 4), np.array(counts))
    check(repeated, x[:0], np.array([], np.int64))
