"""Nests that read along another axis than they write."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


@jit
def turned(a, b):
    return a.T + b, (a * 2).T.copy(), np.exp(b).T - a


@jit
def stored(a, b, line):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[j, i] = a[i, j]
            line[j * n + i + 1] = a[i, j] + a[0, j]


@jit
def axes(x):
    return x.transpose(2, 0, 1).copy(), np.ascontiguousarray(x.transpose(1, 2, 0)), \
        np.asfortranarray(x) + 1


@jit
def symmetric(a):
    return (a + a.T) / 2, np.where(a > a.T, a, a.T)


SHAPES = ((16, 16), (70, 33), (33, 70), (15, 40), (129, 140), (0, 20), (20, 0), (1, 90), (64, 200))


def agree(f, *arguments, target):
    wanted = f.__wrapped__(*arguments)
    for made, other in zip(f(*arguments, target=target), wanted, strict=True):
        np.testing.assert_array_equal(made, other)
        assert made.dtype == other.dtype


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16"])
def test_turned(target, dtype):
    random = np.random.default_rng(1)
    for n, m in SHAPES:
        a, b = random.integers(-9, 9, (n, m)).astype(dtype), np.ones((m, n), dtype)
        for made, wanted in zip(turned(a, b, target=target), turned.__wrapped__(a, b)):
            np.testing.assert_allclose(made, wanted, rtol=1e-2 if dtype == "i2" else 1e-6)
        b, wanted, line = np.zeros((m, n), dtype), a.T, np.zeros(n * m + 1, dtype)
        stored(a, b, line, target=target)
        np.testing.assert_array_equal(b, wanted)
        np.testing.assert_array_equal(line[1:].reshape(m, n), (a + a[:1]).T)


@pytest.mark.parametrize("target", TARGETS)
def test_axes(target):
    random = np.random.default_rng(2)
    for shape in ((140, 3, 130), (17, 34, 18), (2, 40, 40), (0, 20, 20)):
        for dtype in ("u1", "f4"):
            agree(axes, random.integers(0, 2, shape).astype(dtype), target=target)
    for n in (16, 131):
        x = random.random((2 * n, 2 * n))
        agree(symmetric, x[:n, :n].copy(), target=target)
        agree(symmetric, x[::2, ::2], target=target)
        agree(symmetric, x.T[:n, ::-2][:, :n], target=target)


def test_tiles_are_turned_in_registers():
    a = np.ones((150, 150))
    symmetric(a, target="serial")
    assert "interleave" in symmetric.ir(stage="scheduled")
