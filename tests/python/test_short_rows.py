"""Rows of a few elements: sorted, partitioned, and the places of their extremes."""

import numpy as np
import pytest
from edge_values import edges
from tested_targets import TARGETS

from parakeet import jit

REAL = ("bool", "int8", "uint8", "int32", "uint64", "int64", "float16", "float32", "float64")


@jit
def sorts(x):
    return np.sort(x, axis=1), np.sort(x, axis=1, kind="stable")


@jit
def orders(x):
    return np.argsort(x, axis=1, kind="stable")


@jit
def sorted_in_steps(x):
    lower = np.sort(x, axis=1)
    return lower[:, 0] + lower[:, -1], np.sort(x * 2.0, axis=0), np.sort(np.sort(x), axis=0)


@jit
def sorted_blocks(x):
    return np.sort(x, axis=2), np.sort(x.T, axis=0), np.sort(x, axis=1)


@jit
def partitions(x, kth):
    return np.partition(x, kth, axis=1), np.argpartition(x, kth, axis=1)


@jit
def extremes(x):
    return (np.argmax(x, axis=0), np.argmin(x, axis=0), np.argmax(x, axis=1),
            np.argmin(x, axis=1), np.argmax(x.T, axis=1))


def some(dtype, shape, seed):
    random = np.random.default_rng(seed)
    special = random.permutation(np.resize(edges(dtype), shape).ravel()).reshape(shape)
    plain = random.integers(0, 5, shape).astype(dtype)
    return np.where(random.random(shape) < 0.3, special, plain)


def same(got, wanted):
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", REAL)
def test_sorts(dtype, target):
    for width in (1, 2, 3, 5, 8, 9, 15, 17):
        x = some(dtype, (40, width), width)
        for got in sorts(x, target=target):
            same(got, np.sort(x, axis=1))
        same(orders(x, target=target), np.argsort(x, axis=1, kind="stable"))


def test_negative_zeros_come_first():
    x = np.array([[0.0, -0.0, 1.0, -0.0], [-0.0, 0.0, np.nan, -1.0]])
    for target in ("serial", "parallel"):
        for got in (sorts(x, target=target)[0], partitions(x, 1, target=target)[0]):
            assert np.signbit(got).tolist() == [[True, True, False, False],
                                                [True, True, False, np.signbit(got[1, 3])]]


@pytest.mark.parametrize("target", TARGETS)
def test_rows_made_where_they_end_up(target):
    x = np.random.default_rng(1).standard_normal((50, 7))
    for got, wanted in zip(sorted_in_steps(x, target=target), sorted_in_steps(x, target="python"),
                           strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    b = np.random.default_rng(2).standard_normal((6, 5, 4))
    for order in "CF":
        y = np.array(b, order=order)
        for got, wanted in zip(sorted_blocks(y, target=target), sorted_blocks(y, target="python"),
                               strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.sampled(6, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", REAL)
def test_partitions(dtype, target):
    for width in (1, 2, 3, 8, 9, 12, 16, 17):
        x = some(dtype, (30, width), width)
        for kth in {0, 1 % width, width // 2, width - 1}:
            made, order = partitions(x, kth, target=target)
            wanted = np.sort(x, axis=1)
            for one in (made, np.take_along_axis(x, order, axis=1)):
                same(one[:, kth], wanted[:, kth])
                same(np.sort(one[:, :kth], axis=1), wanted[:, :kth])
                same(np.sort(one, axis=1), wanted)


@pytest.mark.sampled(6, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", REAL)
def test_places_of_extremes(dtype, target):
    for shape in ((1, 1), (1, 6), (127, 3), (128, 3), (129, 1), (700, 2), (1500, 40), (3, 500)):
        x = some(dtype, shape, shape[0])
        for order in "CF":
            y = np.array(x, order=order)
            wanted = (np.argmax(x, 0), np.argmin(x, 0), np.argmax(x, 1), np.argmin(x, 1),
                      np.argmax(x.T, 1))
            for got, one in zip(extremes(y, target=target), wanted, strict=True):
                same(got, one)


@jit
def of_columns(x, v):
    return x.sum(axis=0), x.max(axis=0), v @ x, (x * x).sum(axis=0), x.mean(axis=0)


@jit
def sums_of_columns(x, v):
    return x.sum(axis=0), v @ x


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i2"])
def test_runs_of_short_rows_side_by_side_have_the_bits_of_long_rows(dtype):
    random = np.random.default_rng(5)
    for rows in (0, 1, 256, 1023, 1024, 1025, 2400):
        wide = (random.standard_normal((rows + 1, 40)) * 100).astype(dtype)[1:]
        v = (random.standard_normal(rows) * 100).astype(dtype)
        if dtype != "i2" and rows > 1000:
            wide[rows // 2, 0] = np.nan
        f = sums_of_columns if rows == 0 else of_columns
        expected = f(wide, v, target="serial")
        for columns in (2, 3, 8, 17):
            x = np.ascontiguousarray(wide[:, :columns])
            for target in ("serial", "parallel"):
                for made, wanted in zip(f(x, v, target=target), expected):
                    assert made.dtype == wanted.dtype
                    np.testing.assert_array_equal(made, wanted[:columns])
        for made, wanted in zip(expected, f.__wrapped__(wide, v)):
            np.testing.assert_allclose(made, wanted, rtol=1e-3, atol=1e-1 * (dtype != "f8"))


@jit
def triangles(n, k, m):
    return np.tril_indices(n, k, m) + np.triu_indices(n, k, m)


def test_indexes_of_triangles_of_any_size_and_diagonal():
    for n in (0, 1, 5, -2):
        for m in (0, 1, 3, 9, -1):
            for k in (0, 1, -2, 20, -20):
                expected = np.tril_indices(n, k, m) + np.triu_indices(n, k, m)
                for made, wanted in zip(triangles(n, k, m), expected):
                    assert made.dtype == wanted.dtype
                    np.testing.assert_array_equal(made, wanted)
    assert [len(a) for a in triangles(3, 2**62, 4)] == [12, 12, 0, 0]
    assert [len(a) for a in triangles(3, -2**62, 4)] == [0, 0, 12, 12]
