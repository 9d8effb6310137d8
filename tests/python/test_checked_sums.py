"""Sums of floats take lanes where their elements are checked: the first failure is told."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

LENGTHS = [0, 1, 2, 7, 31, 32, 33, 64, 100, 263]


@jit
def picked(x, index):
    s = x.dtype.type(0)
    for i in range(len(index)):
        s += x[index[i]]
    return s


@jit
def picked_rows(x, index):
    out = np.empty(len(index))
    for b in range(len(index)):
        s = 0.0
        for i in range(index.shape[1]):
            s += x[index[b, i]] * 0.5
        out[b] = s
    return out


@jit
def largest(x, index):
    m = -np.inf
    for i in range(len(index)):
        m = max(m, x[index[i]])
    return m


@jit
def of_whole(x):
    s = 0.0
    for i in range(len(x)):
        s += int(x[i]) * 0.25
    return s


@jit
def two_sums(x, y, index):
    s = t = 0.0
    for i in range(len(index)):
        a = x[index[i]]
        s += a
        t += y[index[i]] * a
    return s, t


def indexes(length, size):
    return np.random.default_rng(length).integers(-size, size, length)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums(dtype, target):
    x = np.random.default_rng(1).random(50).astype(dtype)
    for length in LENGTHS:
        index = indexes(length, 50)
        near = 1e-5 if dtype == "float32" else 1e-13
        found = picked(x, index, target=target)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, x[index].sum(), rtol=near)
        rows = np.stack([index, index[::-1], -1 - index])
        np.testing.assert_allclose(picked_rows(x, rows, target=target),
                                   (x[rows] * 0.5).sum(axis=1), rtol=near)
        if length:
            assert largest(x, index, target=target) == x[index].max()
        found = two_sums(x, x + 1, index, target=target)
        np.testing.assert_allclose(found, (x[index].sum(), (x[index] * (x[index] + 1)).sum()),
                                   rtol=1e-4 if dtype == "float32" else 1e-13)


def test_threads_change_no_bits():
    x, index = np.random.default_rng(2).random(1000), indexes(60_000, 1000)
    assert picked(x, index, target="serial") == picked(x, index, target="parallel")


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("wrong", [50, -51, 2**62, -(2**63)])
def test_the_first_failure_is_told(wrong, target):
    x = np.random.default_rng(1).random(50)
    for length in LENGTHS[1:]:
        for at in {0, length // 2, length - 1}:
            index = indexes(length, 50)
            index[at] = wrong
            index[at + 1 :: 3] = 77
            message = f"index {wrong} is out of bounds for axis 0 with size 50"
            for f in (picked, largest):
                with pytest.raises(IndexError, match=message):
                    f(x, index, target=target)
            with pytest.raises(IndexError, match=message):
                two_sums(x, x, index, target=target)
            with pytest.raises(IndexError, match=message):
                picked_rows(x, np.stack([index * 0, index, index + 1]), target=target)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("odd, error", [(np.nan, ValueError), (np.inf, OverflowError)])
def test_conversions_in_sums(odd, error, target):
    for length in LENGTHS:
        x = np.arange(length) * 1.75
        np.testing.assert_allclose(of_whole(x, target=target), (np.trunc(x) * 0.25).sum())
        if length:
            x[length * 2 // 3] = odd
            with pytest.raises(error):
                of_whole(x, target=target)


@jit
def told_before(x, index, out):
    for b in range(len(out)):
        out[b] = 1.0
        s = 0.0
        for i in range(len(index)):
            s += x[index[i] + b]
        out[b] = s


def test_what_was_stored_before_is_there():
    x, index = np.random.default_rng(3).random(60), np.arange(50)
    mine, wanted = np.zeros(20), np.zeros(20)
    with pytest.raises(IndexError):
        told_before.__wrapped__(x, index, wanted)
    with pytest.raises(IndexError):
        told_before(x, index, mine, target="serial")
    np.testing.assert_allclose(mine[:11], wanted[:11])


@jit
def sparse(rows, cols, vals, x):
    y = np.empty(len(rows) - 1)
    for i in range(len(rows) - 1):
        y[i] = vals[rows[i] : rows[i + 1]] @ x[cols[rows[i] : rows[i + 1]]]
    return y


def told(f, arguments):
    try:
        return f(*arguments).tobytes()
    except (IndexError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("place", [np.uint32, np.int64])
def test_rows_of_sparse_matrices_tell_of_the_first_bad_column_or_size(target, place):
    random = np.random.default_rng(7)
    rows = np.cumsum([0, 3, 0, 1, 17, 40, 2, 16]).astype(place)
    cols = random.integers(0, 9, rows[-1]).astype(place)
    vals = random.integers(-8, 9, len(cols)).astype(np.float64)
    x = random.integers(-8, 9, 9).astype(np.float64)
    f = jit(sparse.__wrapped__, target=target)
    for position, column in [(0, 0), (0, 9), (4, 9), (30, 12), (len(cols) - 1, 9)]:
        bad = cols.copy()
        bad[position] = column
        for length in (len(cols), len(cols) - 1, 25, 4, 0):
            for arguments in ((rows, bad, vals[:length], x), (rows, bad[:length], vals, x),
                              (rows, bad[:length], vals[:length], x)):  # fmt: skip
                expected = told(sparse.__wrapped__, arguments)
                assert told(f, arguments) == expected
