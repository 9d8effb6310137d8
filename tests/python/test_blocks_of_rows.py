"""Loops over blocks of rows: what each iteration goes through is its own.

They give what plain Python gives on every target, whatever length blocks have, and exceptions of
the first iteration that raises.
"""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def by_slices(x, b):
    out = np.zeros(x.shape)
    for i in range(0, x.shape[0], b):
        out[i : i + b] = x[i : i + b] * 2.0
    return out


def by_ends(x, b):
    out = np.zeros(x.shape)
    n = x.shape[0]
    for i in range(0, n, b):
        for k in range(i, min(i + b, n)):
            for j in range(x.shape[1]):
                out[k, j] = x[k, j] + 1.0
    return out


def by_number(x, b):
    out = np.zeros(x.shape)
    n = x.shape[0]
    for i in range((n + b - 1) // b):
        lo = i * b
        hi = min(lo + b, n)
        for k in range(lo, hi):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[k, j]
            for j in range(x.shape[1]):
                out[k, j] = x[k, j] - s
    return out


def that_overlap(x, b):
    """Each row but the first is made twice, of what the block before has left."""
    out = x.copy()
    n = x.shape[0]
    for i in range(0, n, b):
        for k in range(i, min(i + b + 1, n)):
            for j in range(x.shape[1]):
                out[k, j] = out[k, j] * 2.0 + i
    return out


def too_many(x, b):
    """One block too many, the rows of which are not there."""
    out = np.zeros(x.shape)
    for i in range(x.shape[0] // b + 1):
        for k in range(i * b, i * b + b):
            for j in range(x.shape[1]):
                out[k, j] = x[k, j]
    return out


def in_place(x, b):
    for i in range(0, x.shape[0], b):
        for k in range(i, i + b):
            for j in range(x.shape[1]):
                x[k, j] += 1.0
    return x[0, 0]


PROGRAMS = [by_slices, by_ends, by_number, that_overlap, too_many, in_place]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_blocks(f):
    """Longer ones than there are rows, and lengths that no block has."""
    given = [(12, 4), (13, 4), (3, 5), (0, 2), (7, 1), (5, -1), (5, -3), (5, 0), (4, 1 << 40)]
    for rows, b in given:
        if f in (too_many, in_place) and b > rows + 8:
            continue  # Plain Python would take as long.
        x = np.random.default_rng(rows).integers(-4, 5, (rows, 3)).astype(float)
        check(f, x, b)


@pytest.mark.parametrize("f", [by_slices, by_ends, by_number], ids=lambda f: f.__name__)
def test_blocks_are_shared_by_threads(f):
    account = str(jit(f, target="parallel").explain(np.ones((12, 3)), 4))
    assert "loop: parallel" in account
    assert "no checks left" in account


def halved(x):
    """Of blocks whose length a loop doubles."""
    n = x.shape[0]
    length = 2
    while length <= n:
        for i in range(0, n, length):
            for k in range(length // 2):
                a = x[i + k]
                x[i + k] = a + x[i + k + length // 2]
                x[i + k + length // 2] = a - x[i + k + length // 2]
        length *= 2
    return x


@pytest.mark.parametrize("n", [16, 1, 0, 12, 11])
def test_a_length_that_doubles(n):
    """Where rows are no power of two, the last block is not all there."""
    check(halved, np.arange(n) * 1.0)
