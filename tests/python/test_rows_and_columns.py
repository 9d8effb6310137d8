"""Matrices times vectors and reductions of columns, at the sizes where what is made at once ends.

Floats hold small whole numbers, so every order of summation gives the same bits.
"""

import numpy as np
import pytest

from parakeet import jit

# Rows and columns: nothing, one, a few rows at a time and one more or less, several stretches, one
# run of rows and a few, runs that threads share.
SIZES = [(0, 5), (5, 0), (1, 1), (4, 7), (9, 40), (33, 64), (70, 300), (200, 1031), (3, 20000),
         (257, 40), (600, 700), (2100, 130)]


def many(a, v, w, out):
    """v has a number for each column, w for each row."""
    out += w @ a
    spread = a - v
    return (
        a @ v,
        w @ a,
        a.T @ w,
        2.0 * (a @ v) + w,
        (a * a).sum(axis=0),
        a.sum(axis=0) * 0.5 + v,
        spread.sum(axis=0),
    )


def extremes(a):
    return a.min(axis=0), a.max(axis=0), (a > 0).sum(axis=0)


def numbers(rng, dtype, *shape):
    return rng.integers(-9, 9, shape).astype(dtype)


def fresh(args):
    return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args]


def check(compiled, function, *args):
    targets = ["serial", "parallel"]
    results = [compiled(*fresh(args), target=t) for t in targets]
    expected = function(*fresh(args))
    for serial, parallel, right in zip(*results, expected):
        np.testing.assert_array_equal(serial, right)
        assert serial.dtype == right.dtype
        assert serial.tobytes() == parallel.tobytes()


def layouts(a):
    wide = np.zeros((2 * a.shape[0], 3 * a.shape[1]), a.dtype)
    wide[::2, ::3] = a
    return [a, np.asfortranarray(a), wide[::2, ::3]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_with_vectors(dtype):
    rng = np.random.default_rng(1)
    compiled = jit(many)
    for place, (rows, columns) in enumerate(SIZES):
        v, w = numbers(rng, dtype, columns), numbers(rng, dtype, rows)
        a = layouts(numbers(rng, dtype, rows, columns))[place % 3 if dtype is np.float64 else 0]
        check(compiled, many, a, v, w, numbers(rng, dtype, columns))


def test_extremes_of_columns():
    rng = np.random.default_rng(2)
    compiled = jit(extremes)
    for rows, columns in SIZES:
        if rows == 0:
            continue
        a = numbers(rng, np.float64, rows, columns)
        a[rng.random(a.shape) < 0.01] = np.nan
        check(compiled, extremes, a)


def stacked(a, w):
    return a.sum(axis=1), np.einsum("bk,bkj->bj", w, a)


def test_columns_of_a_stack():
    rng = np.random.default_rng(3)
    compiled = jit(stacked)
    for depth, columns in [(0, 4), (1, 9), (35, 70), (1100, 90)]:
        a = numbers(rng, np.float64, 3, depth, columns)
        check(compiled, stacked, a, numbers(rng, np.float64, 3, depth))


def moments(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j] * a[i, j]
    return a.sum(axis=0), a.mean(axis=0), a.var(axis=0), a.argmax(axis=0), out


def test_runs_of_rows_have_the_same_bits_on_every_target():
    rng = np.random.default_rng(4)
    compiled = jit(moments)
    for rows, columns in [(255, 3), (513, 9), (1500, 200), (5000, 61)]:
        a = rng.random((rows, columns))
        serial = compiled(a, np.ones(columns), target="serial")
        parallel = compiled(a, np.ones(columns), target="parallel")
        expected = moments(a, np.ones(columns))
        for one, other, right in zip(serial, parallel, expected):
            assert one.tobytes() == other.tobytes()
            np.testing.assert_allclose(one, right, rtol=1e-13)


def of_slices(a, w, first, last):
    """Columns and rows of parts of a matrix, one of its own columns among them."""
    part = a[:, first:last]
    return (
        w @ part,
        part.sum(axis=0),
        a[:, last] @ part,
        a[1:, first] @ a[1:, first:],
        w[1:] @ (a[1:, first + 1 :] - a[:-1, first:-1]),
        a[2:, 1:].max(axis=0),
        (a[1:, first:] * a[:-1, first:]).sum(axis=0),
    )


def eliminated(a):
    """What each column has of those before it, in place."""
    for j in range(1, a.shape[1]):
        a[:, j:] -= np.outer(a[:, j - 1], a[:, j - 1] @ a[:, j:])
    return a.sum(axis=0)


def test_columns_of_slices():
    rng = np.random.default_rng(5)
    compiled, in_place = jit(of_slices), jit(eliminated)
    for rows, columns in SIZES:
        if rows < 4 or columns < 5:
            continue
        a, w = numbers(rng, np.float64, rows, columns), numbers(rng, np.float64, rows)
        for first, last in [(0, columns - 1), (1, 2), (3, 3), (columns // 3, columns - 2)]:
            check(compiled, of_slices, a, w, first, last)
    bits = rng.integers(0, 2, (30, 9)).astype(np.float64)
    bits[:, ::2] = 0.0
    results = [in_place(bits.copy(), target=target) for target in ("serial", "parallel")]
    assert results[0].tobytes() == results[1].tobytes()
    np.testing.assert_allclose(results[0], eliminated(bits.copy()), rtol=1e-12)
