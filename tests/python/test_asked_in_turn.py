"""Loops that ask one thing after another before each step: runs of equal elements, places and
lengths behind them, errors of what is asked."""

import numpy as np
from exact_outcomes import check

from parakeet import jit


def runs(x):
    """The value and the length of each run: of floats, nan is equal to nothing."""
    values = np.empty(len(x), x.dtype)
    lengths = np.empty(len(x), np.int64)
    k = 0
    i = 0
    while i < len(x):
        j = i
        while j < len(x) and x[j] == x[i]:
            j += 1
        values[k] = x[i]
        lengths[k] = j - i
        k += 1
        i = max(j, i + 1)
    return values[:k], lengths[:k]


def moved_to_front(x, table):
    """Fails where the table has no such element."""
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        j = 0
        while j < len(table) and table[j] != x[i]:
            j += 1
        out[i] = j
        found = table[j]
        while j > 0:
            table[j] = table[j - 1]
            j -= 1
        table[0] = found
    return out


def first_pair(x, least, most):
    """Either side of an `or`, and what each has moved behind the loop."""
    i = 0
    j = len(x) - 1
    steps = 0
    while i < j and (x[i] + x[j] < least or x[i] + x[j] > most):
        if x[i] + x[j] < least:
            i += 1
        else:
            j -= 1
        steps += 1
    return i, j, steps, x[i] + x[j]


def behind_the_end(x, value):
    """Reads behind the end where the value is nowhere."""
    j = -1
    while j < 0 or (x[j] != value and j < 100):
        j += 1
    return j


def test_runs():
    rng = np.random.default_rng(1)
    for dtype in ("int64", "float64", "uint8"):
        x = np.repeat(rng.integers(0, 3, 25), rng.integers(1, 5, 25)).astype(dtype)
        for length in (0, 1, 2, len(x)):
            check(runs, x[:length])
    check(runs, np.array([np.nan, np.nan, 1.0, 1.0, -0.0, 0.0, np.nan]))


def test_what_moves_to_the_front():
    rng = np.random.default_rng(2)
    for dtype in ("uint8", "int64"):
        x = rng.integers(0, 70, 40).astype(dtype)
        check(moved_to_front, x, np.arange(70).astype(dtype))
        check(moved_to_front, x, np.arange(50).astype(dtype))


def test_pairs():
    x = np.sort(np.random.default_rng(3).integers(0, 99, 30))
    for least, most in ((50, 52), (500, 600), (-9, -5), (100, 100)):
        check(first_pair, x, least, most)
    check(behind_the_end, x, x[7])
    check(behind_the_end, x, -1)


def test_what_holds_the_first_time_is_not_asked(monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:search_in_lanes")
    compiled = jit(runs)
    compiled(np.zeros(4, np.int64), target="serial")
    # Whether there is a run, and another one; whether it goes on: not, before that, whether the
    # first of its elements is there.
    assert compiled.llvm().count("icmp slt") == 3
