"""Sums of products of operands in either order in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tested_targets import TARGETS

from parakeet import jit


@jit
def of_matrices(x, y):
    return (
        np.einsum("ij,ij->i", x, y),
        np.einsum("ij,ij->j", x, y),
        np.einsum("ij,ij->", x, y),
        np.einsum("ij,ij", x, y),
        np.tensordot(x, y),
        np.tensordot(x, y, ((0, 1), (0, 1))),
        np.einsum("ij,ik->jk", x, y),
        np.einsum("ij->i", x),
    )


@jit
def with_vectors(x, v, w):
    return (
        np.einsum("ij,j->i", x, v),
        np.einsum("j,ij->i", v, x),
        np.einsum("ij,i->j", x, w),
        np.einsum("i,ij,j->", w, x, v),
        np.tensordot(x, v, 1),
        np.tensordot(w, x, 1),
        np.tensordot(v, v, 1),
        np.einsum("ij,j->i", x.T, w),
    )


@jit
def of_three_axes(x, y):
    return (
        np.einsum("bij,bij->b", x, y),
        np.einsum("bij,bij->bi", x, y),
        np.einsum("bij,bij->ij", x, y),
        np.tensordot(x, y, ((0, 2), (0, 2))),
        np.tensordot(x, y, 3),
    )


def check(function, arguments, target, rtol=1e-12):
    wanted = function(*arguments, target="python")
    for g, w in zip(function(*arguments, target=target), wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=1e-12)
        assert np.asarray(g).dtype == np.asarray(w).dtype
        assert np.shape(g) == np.shape(w)


def ordered(rng, shape, order, dtype):
    if dtype == "int64":
        return np.array(rng.integers(-9, 9, shape), order=order)
    return np.array(rng.random(shape), order=order).astype(dtype, order="K")


@pytest.mark.sampled(6, "dtype", "orders", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("orders", ["CC", "FF", "CF", "FC"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_both_orders(dtype, orders, target):
    rng = np.random.default_rng(1)
    for n, m in ((1, 1), (2, 5), (70, 33)):
        x, y = (ordered(rng, (n, m), order, dtype) for order in orders)
        check(of_matrices, (x, y), target)
        check(with_vectors, (x, y[0].copy(), y[:, 0].copy()), target)
    x, y = (ordered(rng, (3, 4, 5), order, dtype) for order in orders)
    check(of_three_axes, (x, y), target)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from(["CC", "FF", "CF"]))
def test_any_sizes(n, m, orders):
    rng = np.random.default_rng(n * m)
    x, y = (ordered(rng, (n, m), order, "float64") for order in orders)
    for target in ("serial", "parallel"):
        check(of_matrices, (x, y), target)
        check(with_vectors, (x, y[0].copy(), y[:, 0].copy()), target)


@jit
def left_over(x, y):
    return np.setdiff1d(x, y)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64", "bool", "complex128"])
def test_what_is_left_of_a_set(dtype, target):
    rng = np.random.default_rng(2)
    for n, m in ((0, 0), (0, 3), (5, 0), (1, 1), (40, 7), (300, 900)):
        x, y = (rng.integers(0, 60, k).astype(dtype) for k in (n, m))
        np.testing.assert_array_equal(left_over(x, y, target=target), np.setdiff1d(x, y))
    if dtype.startswith("float"):
        x = np.array([np.nan, 1, -0.0, np.inf, 2, np.nan, 0.0], dtype)
        for y in ([], [np.nan], [0.0, np.inf, np.nan], [-1, 5]):
            y = np.array(y, dtype)
            np.testing.assert_array_equal(left_over(x, y, target=target), np.setdiff1d(x, y))


@jit
def of_patches(x, w):
    """Products of rows that are windows, each of them apart in memory."""
    n, c, high, wide = x.shape
    count, _, a, b = w.shape
    windows = np.lib.stride_tricks.sliding_window_view(x, (a, b), axis=(2, 3))
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * (high - a + 1) * (wide - b + 1), -1)
    blocks = x.reshape(n, c, high // 2, 2, wide // 2, 2).transpose(0, 2, 4, 1, 3, 5)
    blocks = blocks.reshape(-1, 4 * c)
    return rows @ w.reshape(count, -1).T, blocks @ blocks.T, np.maximum(rows, 0) @ rows.T


@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_had_more_axes(target):
    rng = np.random.default_rng(9)
    for shape, window in (((2, 3, 6, 8), (3, 3)), ((1, 1, 2, 4), (2, 1)), ((2, 2, 4, 4), (4, 4)),
                          ((2, 2, 4, 10), (1, 9))):
        x = rng.standard_normal(shape)
        check(of_patches, (x, rng.standard_normal((9, shape[1], *window))), target)


@jit
def of_columns(x, w):
    """Columns that loops copy, and that a transpose puts into one row for each of the filter."""
    n, c, high, wide = x.shape
    count, _, a, b = w.shape
    wide, high = wide - b + 1, high - a + 1
    columns = np.empty((n, c, a, b, high, wide), x.dtype)
    for i in range(a):
        for j in range(b):
            columns[:, :, i, j] = x[:, :, i:i + high, j:j + wide]
    columns = columns.transpose(1, 2, 3, 0, 4, 5).reshape(c * a * b, -1)
    return columns, w.reshape(count, -1) @ columns


@pytest.mark.parametrize("target", TARGETS)
def test_columns_that_loops_copy(target):
    rng = np.random.default_rng(9)
    for shape, window in (((2, 3, 6, 8), (3, 3)), ((1, 1, 2, 4), (2, 1)), ((2, 2, 4, 4), (4, 4)),
                          ((2, 2, 4, 10), (1, 9))):
        x = rng.standard_normal(shape)
        check(of_columns, (x, rng.standard_normal((9, shape[1], *window))), target)
