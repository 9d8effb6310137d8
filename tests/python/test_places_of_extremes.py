"""Extremes and their places of the same elements at each step of a loop: one traversal, whatever
rows of arrays they are stored to; nan, ties and empty axes."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def most_likely(start, step, seen, observed):
    """Places, then extremes, of columns, and the way back."""
    n, k = len(observed), len(start)
    best = np.zeros((n, k))
    came = np.zeros((n, k), np.int64)
    best[0] = start + seen[:, observed[0]]
    for t in range(1, n):
        came[t] = np.argmax(best[t - 1][:, None] + step, axis=0)
        best[t] = np.max(best[t - 1][:, None] + step, axis=0) + seen[:, observed[t]]
    path = np.zeros(n, np.int64)
    path[n - 1] = np.argmax(best[n - 1])
    for t in range(n - 2, -1, -1):
        path[t] = came[t + 1, path[t + 1]]
    return path, best, came


def of_rows(start, step, n):
    """Extremes first, of rows, to the array that both read."""
    best = np.zeros((n, len(start)))
    came = np.zeros((n, len(start)), np.int64)
    best[0] = start
    for t in range(1, n):
        m = best[t - 1] + step
        best[t] = m.min(axis=1) * 0.5
        came[t] = m.argmin(axis=1)
    return best, came


def over_itself(step, n):
    """What is stored first is what the second reads: two traversals."""
    x = np.zeros((2, len(step)))
    came = np.zeros((n, len(step)), np.int64)
    for t in range(n):
        x[0] = np.max(x[0] + step, axis=1)
        came[t] = np.argmax(x[0] + step, axis=1)
    return x, came


def to_an_argument(step, best, came, observed):
    """A check between the two: what is stored before it shows behind its error."""
    for t in range(1, len(best)):
        came[t] = np.argmax(best[t - 1] + step, axis=1)
        best[t] = np.max(best[t - 1] + step, axis=1) + observed[t * t]
    return best


def test_most_likely_paths():
    rng = np.random.default_rng(1)
    for k in (2, 5, 11):
        args = (rng.random(k), rng.random((k, k)), rng.random((k, 3)), rng.integers(0, 3, 6))
        check(most_likely, *args)
    step = np.round(rng.random((5, 5)), 1)
    step[2, 3] = np.nan
    check(most_likely, np.zeros(5), step, rng.random((5, 3)), rng.integers(0, 3, 6))
    check(most_likely, np.zeros(5), step, rng.random((5, 3)), np.array([0, 1, 7, 2]))
    check(most_likely, np.full(5, -np.inf), step, np.zeros((5, 3)), np.array([0, 1, 2]))


def test_rows_and_what_stays_apart():
    rng = np.random.default_rng(2)
    check(of_rows, rng.random(7), np.round(rng.random((7, 7)), 1), 5)
    check(over_itself, rng.random((7, 7)), 4)
    for count in (40, 9):
        check(to_an_argument, rng.random((4, 4)), rng.random((5, 4)), np.zeros((5, 4), np.int64),
              rng.random(count))


@pytest.mark.parametrize("program, traversals", [(of_rows, 1), (over_itself, 2)])
def test_one_traversal(program, traversals):
    compiled = jit(program)
    args = (np.zeros(9), np.zeros((9, 9)), 3) if program is of_rows else (np.zeros((9, 9)), 3)
    compiled(*args, target="serial")
    ir = compiled.ir(stage="fuse-horizontally")
    assert ir.split("for %")[1].count("ireduce (") == traversals
