"""Sums and least values of products over two arrays, at the sizes where their tiles end.

Floats hold small whole numbers, so every order of summation gives the same bits.
"""

import numpy as np
import pytest

from parakeet import jit

# Rows, columns, depth: nothing, what is not packed, one tile and one more or less, more than a
# block of the depth, several rectangles.
SIZES = [(0, 3, 2), (3, 4, 0), (3, 3, 3), (8, 24, 10), (9, 25, 7), (7, 23, 255), (8, 48, 256),
         (16, 49, 257), (130, 200, 3), (50, 201, 513), (330, 40, 12)]


def product(a, b):
    return a @ b


def least(a, b):
    return np.array([[np.min(x + y) for y in b] for x in a])


def farthest(a, b):
    return np.array([[np.max(x * y) for y in b] for x in a])


def distances(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def batch(a, b):
    return np.einsum("bij,bjk->bik", a, b)


def of_one_matrix(a, b):
    return np.einsum("bij,jk->bik", a, b)


def numbers(rng, *shape):
    return rng.integers(-20, 20, shape).astype(np.float64)


def check(function, compiled, a, b):
    with np.errstate(all="ignore"):
        expected = function(a, b)
    results = [compiled(a, b, target=target) for target in ("serial", "parallel")]
    for result in results:
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype
    assert results[0].tobytes() == results[1].tobytes()


def plain_pairs(combine):
    return lambda a, b: combine(a[:, None, :], b[None, :, :])


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_products(layout):
    rng = np.random.default_rng(1)
    compiled = jit(product)
    for rows, columns, depth in SIZES:
        check(product, compiled, layout(numbers(rng, rows, depth)), numbers(rng, depth, columns))


def test_products_of_strided_and_transposed_arrays():
    rng = np.random.default_rng(2)
    compiled = jit(product)
    for rows, columns, depth in SIZES:
        wide = numbers(rng, 2 * rows, 3 * depth)
        check(product, compiled, wide[::2, ::3], numbers(rng, columns, depth)[::-1].T)


@pytest.mark.parametrize("function, combine", [
    (least, plain_pairs(lambda x, y: (x + y).min(axis=2))),
    (farthest, plain_pairs(lambda x, y: (x * y).max(axis=2))),
])
def test_extremes_keep_nan_and_infinities(function, combine):
    rng = np.random.default_rng(3)
    compiled = jit(function)
    for rows, columns, depth in SIZES:
        if rows == 0 or depth == 0:
            continue
        a, b = numbers(rng, rows, depth), numbers(rng, columns, depth)
        check(combine, compiled, a, b)
        for value in (np.nan, np.inf, -np.inf):
            a[rng.integers(rows), rng.integers(depth)] = value
            b[rng.integers(columns), rng.integers(depth)] = -value
        check(combine, compiled, a, b)


def test_distances_of_all_pairs():
    rng = np.random.default_rng(4)
    compiled = jit(distances)
    for rows, columns, depth in SIZES:
        check(distances, compiled, numbers(rng, rows, depth).astype(np.float32),
              numbers(rng, columns, depth).astype(np.float32))


@pytest.mark.parametrize("function", [batch, of_one_matrix])
def test_batches(function):
    rng = np.random.default_rng(5)
    compiled = jit(function)
    for rows, columns, depth in SIZES:
        second = (depth, columns) if function is of_one_matrix else (3, depth, columns)
        check(function, compiled, numbers(rng, 3, rows, depth), numbers(rng, *second))
