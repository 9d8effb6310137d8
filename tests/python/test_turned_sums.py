"""Reductions of arrays that are turned and given another shape."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


@jit
def rows(x):
    n, m, k = x.shape
    turned = x.transpose(1, 0, 2).reshape(m, n * k)
    return x.swapaxes(1, 2).reshape(4, -1).sum(1), turned.mean(1), turned.max(1), turned.argmin(1)


@jit
def wholes(x, y):
    flat = x.T.reshape(-1)
    return flat @ y.reshape(-1), np.where(flat > 0.5, flat, 0.0).sum(), flat[:7].sum()


@jit
def parts(x, count):
    flat, total = x.T.reshape(-1), 0.0
    for i in range(count):
        total += flat[3 * i:3 * i + 3].sum() * i
        x[0, 0] = total
    return total


@pytest.mark.parametrize("target", TARGETS)
def test_turned_sums(target):
    random = np.random.default_rng(1)
    for shape in ((4, 6, 5), (4, 1, 9), (8, 3, 2), (4, 0, 3)):
        x = random.random(shape)
        for made, wanted in zip(rows(x, target=target), rows.__wrapped__(x), strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-12)
    x, y = random.random((20, 30)), random.random((20, 30))
    for made, wanted in zip(wholes(x, y, target=target), wholes.__wrapped__(x, y), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-12)
    other = x.copy()
    np.testing.assert_allclose(parts(x, 50, target=target), parts.__wrapped__(other, 50))
    np.testing.assert_allclose(x, other)


def test_what_is_read_whole_is_made_first():
    x = np.ones((4, 6, 5))
    for f, is_made in ((lambda x: x.swapaxes(1, 2).reshape(4, -1).sum(1), True),
                       (lambda x: x.swapaxes(1, 2).reshape(-1)[:9].sum(), False)):
        f = jit(f)
        np.testing.assert_allclose(f(x, target="serial"), f.__wrapped__(x))
        assert ("%line" in f.ir(x, target="serial", stage="scheduled")) == is_made
