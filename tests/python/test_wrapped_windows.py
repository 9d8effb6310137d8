"""Windows that go around the edges of arrays, by loops: as plain Python, on every target."""

import numpy as np
import pytest

from parakeet import jit

TARGETS = ("serial", "parallel", "emulated_gpu")


@jit
def around(x, w):
    h, width = x.shape
    rows, columns = w.shape
    out = np.zeros((h, width))
    for i in range(h):
        for j in range(width):
            s = 0.0
            for a in range(rows):
                for b in range(columns):
                    s += w[a, b] * x[(i + a) % h, (j + b) % width]
            out[i, j] = s
    return out


@jit
def around_from_the_middle(x, w):
    n = len(x)
    k = len(w)
    out = np.zeros(n)
    for i in range(n):
        s = 0.0
        for j in range(k):
            s += w[j] * x[(i + j - k // 2) % n]
        out[i] = s
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_windows(target):
    random = np.random.default_rng(0)
    for shape in ((1, 1), (3, 4), (9, 37), (20, 64)):
        x = random.integers(-9, 9, shape).astype(float)
        for window in ((1, 1), (3, 3), (5, 2), (2, 17), (40, 3)):
            w = random.integers(-9, 9, window).astype(float)
            assert np.array_equal(around(x, w, target=target), around.__wrapped__(x, w))
    for n in (1, 5, 70):
        x = random.integers(-9, 9, n).astype(float)
        for k in (1, 3, 8, 33, 200):
            w = random.integers(-9, 9, k).astype(float)
            made = around_from_the_middle(x, w, target=target)
            assert np.array_equal(made, around_from_the_middle.__wrapped__(x, w))
