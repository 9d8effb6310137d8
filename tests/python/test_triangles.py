"""Rows of a triangle of sums, each of which alone is a matrix times a vector.

Rows are made a block at a time; sums of small integers are exact in whatever order, so all give
what plain Python gives, on every target. Sides end inside a block, at its end and behind it.
"""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import reduce

SIDES = [0, 1, 2, 31, 32, 33, 70]


def from_the_diagonal(x):
    m = x.shape[1]
    out = np.zeros((m, m))
    for i in range(m):
        out[i:m, i] = out[i, i:m] = x[:, i] @ x[:, i:m] / 4.0
    return out


def behind_the_diagonal(x):
    m = x.shape[1]
    out = np.eye(m)
    for i in range(m - 1):
        out[i + 1 : m, i] = out[i, i + 1 : m] = x[:, i] @ x[:, i + 1 : m]
    return out


def up_to_the_diagonal(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = np.dot(x[i], x[j])
    return out


def before_the_diagonal(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        out[i, :i] = x[:i] @ x[i]
    return out


def of_two(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i:] = (x[i:] * 2.0) @ x[i] + i
    return out


def least(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            out[i, j] = np.min(x[i] + x[j])
    return out


def of_a_triangle_by_a_triangle(x):
    n = x.shape[0]
    square = x @ x.T
    out = square * 1
    for i in range(n):
        out[i, :i] = out[i, :i] @ square[:i, :i]
    return out


@pytest.mark.parametrize("function", [from_the_diagonal, behind_the_diagonal, up_to_the_diagonal,
                                      before_the_diagonal, of_two, least,
                                      of_a_triangle_by_a_triangle])  # fmt: skip
@pytest.mark.parametrize("side", SIDES)
def test_triangle(function, side):
    x = np.random.default_rng(side).integers(-9, 9, (side, 40)).astype(float)
    check(function, np.ascontiguousarray(x.T) if "diagonal" in function.__name__ and
          function.__name__.startswith(("from", "behind")) else x)  # fmt: skip


def shares_of_prefixes(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        row = x[i, : i + 1] * 2.0
        most = np.max(row)
        out[i, : i + 1] = (row - most) / (1.0 + np.sum(np.abs(row)))
    return out


def mirrored_lines(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        line = x[i, i:] * x[i:, 0]
        out[i:, i] = line - 1.0
        out[i, i:] = line[::-1]
    return out


def sorted_prefixes(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i, : i + 1] = np.sort(x[i, : i + 1])
    return out


def windows(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        part = x[i, max(i - 2, 0) : min(i + 3, n)] + 1.0
        total = part.sum()
        out[i, : part.shape[0]] = part * total
    return out


def farther_from_zero(a, b):
    return b if abs(b) > abs(a) else a


def by_a_combine_of_its_own(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        row = x[i, : i + 1]
        out[i, : i + 1] = row - reduce(farther_from_zero, row)
    return out


@pytest.mark.parametrize("function", [shares_of_prefixes, mirrored_lines, sorted_prefixes, windows,
                                      by_a_combine_of_its_own])  # fmt: skip
@pytest.mark.parametrize("side", [0, 1, 2, 33, 70])
def test_rows_of_a_length_of_their_own(function, side):
    check(function, np.random.default_rng(side).integers(-9, 9, (side, side)).astype(float))


def in_their_place(x, y):
    for r in range(x.shape[0]):
        for q in range(x.shape[1]):
            x[r, q, :] = x[r, q, :] @ y
    return x


def of_a_row_just_stored(x, y):
    for r in range(x.shape[0]):
        for q in range(x.shape[1]):
            x[r, q, 0] = 3.0
            x[r, q, :] = x[r, q, :] @ y
    return x


def of_the_row_before(x, y):
    for r in range(x.shape[0]):
        for q in range(1, x.shape[1]):
            x[r, q, :] = (x[r, q - 1, :] @ y) % 7.0
    return x


@pytest.mark.parametrize("function", [in_their_place, of_a_row_just_stored, of_the_row_before])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 130])
def test_rows_that_are_stored_over(function, rows):
    rng = np.random.default_rng(rows)
    x = rng.integers(-9, 9, (3, rows, 12)).astype(float)
    check(function, x, rng.integers(-9, 9, (12, 12)).astype(float))


def stacked(x, y):
    return x @ y


def apart(x, y):
    n, m, k = x.shape
    x[:] = np.reshape(np.reshape(x, (n, m, 1, k)) @ y, (n, m, k))
    return x


@pytest.mark.parametrize("shape", [(0, 3, 4), (1, 1, 4), (5, 7, 4), (20, 3, 40), (3, 0, 4)])
def test_a_stack_of_matrices_by_one(shape):
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 9, shape).astype(float)
    y = rng.integers(-9, 9, (shape[-1], shape[-1])).astype(float)
    check(stacked, x, y)
    check(stacked, x[:, ::-1], y[:, :2])
    check(stacked, x.T.copy().T, y[:, 0])
    check(stacked, x[None, :, ::2], y)
    check(apart, x, y)
    if shape[0] > 0:
        check(stacked, x[0, 0] if shape[1] > 0 else y[0], np.stack([y, y]))
