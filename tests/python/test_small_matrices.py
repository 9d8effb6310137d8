"""Points times small matrices: sums and columns of two to four elements, which are written out."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit

DTYPES = ("float32", "float64", "complex64", "int64")


@jit
def turned(points, a):
    return points @ a.T, (points @ a.T + 1).sum(axis=0)


@jit
def products(x, y):
    return x @ y


def some(shape, dtype, seed):
    random = np.random.default_rng(seed)
    x = random.integers(-4, 5, shape) / (1 if dtype == "int64" else 2)
    return (x + 1j * random.integers(-4, 5, shape) if dtype == "complex64" else x).astype(dtype)


def same(got, wanted):
    np.testing.assert_array_equal(got, wanted)  # No sum of so small halves is rounded.
    assert got.dtype == wanted.dtype


@pytest.mark.sampled(3, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_points(dtype, target):
    for count, depth, columns in ((40, 3, 3), (3, 2, 4), (1, 3, 3), (0, 3, 3), (17, 3, 5),
                                  (9, 5, 3), (40, 1, 3), (33, 4, 2), (2, 20, 20), (3, 3, 50)):
        points, a = some((count, depth), dtype, 1), some((columns, depth), dtype, 2)
        got = turned(points, a, target=target)
        same(got[0], points @ a.T)
        same(got[1], (points @ a.T + 1).sum(axis=0))
    for order in "CF":
        x, y = np.array(some((3, 3), dtype, 3), order=order), some((3, 50), dtype, 4)
        same(products(x, y, target=target), x @ y)
        same(products(y[:, ::-2].T, x, target=target), y[:, ::-2].T @ x)


@pytest.mark.parametrize("target", TARGETS)
def test_stacks(target):
    for shape in ((7, 3, 3), (7, 2, 5), (0, 3, 3), (2, 4, 4)):
        x, y = some(shape, "float64", 5), some((shape[0], shape[2], 3), "float64", 6)
        same(products(x, y, target=target), x @ y)


def test_bits_are_those_of_any_sizes():
    """Each sum is made in index order with one rounding less a product, short or not."""
    random = np.random.default_rng(7)
    x, y = random.standard_normal((50, 3)), random.standard_normal((3, 3))
    wide = np.concatenate((y, random.standard_normal((3, 40))), axis=1)
    for target in ("serial", "parallel"):
        same(products(x, y, target=target), products(x, wide, target=target)[:, :3])


def test_wrong_shapes():
    for x, y in ((np.ones((4, 3)), np.ones((2, 3))), (np.ones((3, 3)), np.ones((4, 2)))):
        with pytest.raises(ValueError):
            products(x, y, target="serial")
