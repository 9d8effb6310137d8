"""Loops whose iterations go through whole arrays, and reductions of reductions: on a GPU threads
share what an iteration or a row is made of, whatever the sizes.

Elements are small integers, so that sums are exact in whatever order they are taken.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def channels(x):
    out = np.empty_like(x)
    for c in range(len(x)):
        scaled = x[c] * (c + 1.0)
        out[c] = np.roll(np.roll(scaled, c, axis=1), -c, axis=0) + scaled[::-1]
    return out


def channels_of_channels(x):
    out = np.zeros((2, len(x)) + x.shape[1:])
    for k in range(2):
        for c in range(len(x)):
            t = x[c] + k
            out[k, c] = t[::-1, ::-1] - t
    return out


def shifted_sums(x):
    out = np.zeros((x.shape[1] - 2, x.shape[2] - 2))
    for c in range(len(x)):
        for i in range(3):
            for j in range(3):
                out += x[c, i:i + out.shape[0], j:j + out.shape[1]] * (i + 2 * j - c)
    return out


def shifted_counts(x):
    n = x.astype(np.int64)
    out = np.zeros((x.shape[1] - 2, x.shape[2] - 2), np.int64)
    for i in range(3):
        for j in range(3):
            part = np.einsum("chw,c->hw", n[:, i:i + len(out), j:j + out.shape[1]], n[:, i, j])
            out += np.maximum(part, i - j)
    return out


def total_of_rows(x):
    rows = x.reshape(-1, x.shape[2])
    return (rows.max(axis=1) - (rows * rows).sum(axis=1)).sum()


def running_rows(x):
    rows = x.reshape(-1, x.shape[2])
    return np.cumsum(np.abs(rows).max(axis=1))


def kept_rows(x):
    rows = x.reshape(-1, x.shape[2])
    sums = rows.sum(axis=1)
    return sums[sums > 0]


def rows_beside_their_turned(x):
    t = np.floor(np.exp2(x))
    return t - t[:, :, ::-1]


PROGRAMS = [channels, channels_of_channels, shifted_sums, shifted_counts, total_of_rows,
            running_rows, kept_rows, rows_beside_their_turned]  # fmt: skip


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_answers_are_numpys(program, target):
    compiled = jit(program)
    for shape in ((3, 40, 70), (300, 3, 5), (2, 3, 100), (1, 100, 60)):
        x = np.random.default_rng(3).integers(-4, 5, shape).astype(np.float64)
        np.testing.assert_array_equal(compiled(x, target=target), program(x), str(shape))


def test_the_failing_iteration_is_the_first():
    @jit
    def f(x, places):
        out = np.zeros_like(x)
        for c in range(len(x)):
            t = x[c] * 2
            out[places[c]] = t[::-1] + t
        return out

    x = np.ones((3, 40, 70))
    for target in COMPILED:
        with pytest.raises(IndexError, match="index 7 is out of bounds"):
            f(x, np.array([1, 7, 9]), target=target)
