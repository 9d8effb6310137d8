"""Loops that keep what an iteration works with in an array made in front of them: independent where
every iteration stores what it reads, and the same answers as in Python where it does not."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def attention(x):
    n, d = x.shape
    out, weights = np.zeros((n, d)), np.empty(n)
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(d):
                s += x[i, k] * x[j, k]
            weights[j] = s
        most = weights[: i + 1].max()
        for j in range(i + 1):
            weights[j] -= most
        for j in range(i + 1):
            for k in range(d):
                out[i, k] += weights[j] * x[j, k]
    return out


def differences(x):
    out, d = np.empty((len(x), len(x))), np.zeros(3)
    for i in range(len(x)):
        for j in range(len(x)):
            d[0] = x[i, 0] - x[j, 0]
            d[1] = x[i, 1] - x[j, 1]
            d[2] = d[0] * d[1]
            s = 0.0
            for k in range(3):
                s += d[k] * d[k]
            out[i, j] = s
    return out


def windows_in_order(x):
    out, window = np.zeros(x.shape), np.empty((3, 2))
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            for a in range(3):
                for b in range(2):
                    window[a, b] = x[i + a - 1, j + b]
            out[i, j] = np.sort(window.ravel())[3]
    return out


def sorted_copies(x):
    out = np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            window = x[i - 1:i + 2, j:j + 2].copy()
            row = window.ravel()
            row.sort()
            out[i, j] = row[2] * 10.0 + window[2, 1]
    return out


def filled_anew(x):
    out, counts = np.zeros(len(x)), np.zeros(9)
    for i in range(len(x)):
        counts[:] = 0
        for j in range(x.shape[1]):
            counts[int(x[i, j]) + 4] += 1
        out[i] = counts.max() + counts[0]
    return out


INDEPENDENT = [attention, differences, windows_in_order, sorted_copies, filled_anew]


def some_are_left(x):
    out, kept = np.zeros(len(x)), np.zeros(x.shape[1])
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                kept[j] = x[i, j]
        out[i] = kept.sum()
    return out


def one_is_left(x):
    out, row = np.zeros(len(x)), np.zeros(x.shape[1] + 1)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            row[j] = x[i, j]
        out[i] = row.sum()
        row[x.shape[1]] = out[i]
    return out


def read_in_the_end(x):
    row = np.zeros(x.shape[1])
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            row[j] = x[i, j] + i
        out[i] = row[::-1][0]
    return out, row


def none_may_run(x):
    out, row = np.zeros(len(x)), np.full(x.shape[1], 3.0)
    for i in range(len(x)):
        for j in range(i - 2):
            row[j] = x[i, j]
        out[i] = row[0]
    return out


DEPENDENT = [some_are_left, one_is_left, read_in_the_end, none_may_run]


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("program", INDEPENDENT + DEPENDENT, ids=lambda f: f.__name__)
def test_answers_are_numpys(program, target):
    compiled = jit(program)
    for shape in ((12, 12), (5, 30), (1, 2), (0, 4)):
        x = np.random.default_rng(4).integers(-4, 5, shape).astype(np.float64)
        answers, wanted = compiled(x, target=target), program(x)
        for answer, right in (
            zip(answers, wanted) if program is read_in_the_end else [(answers, wanted)]
        ):
            np.testing.assert_array_equal(answer, right, str(shape))


@pytest.mark.parametrize("program", INDEPENDENT, ids=lambda f: f.__name__)
def test_loops_that_store_what_they_read_are_parallel(program):
    report = str(jit(program).explain(np.ones((6, 6)), target="parallel"))
    assert "may be touched at one place by two iterations" not in " ".join(report.split())
