"""Sums of small integers, of which more fit a register than of the whole sum."""

import numpy as np
import pytest
from agreement import check_agreement

from parakeet import jit

EXTREME = {
    np.uint8: (0, 255),
    np.int8: (-128, 127),
    np.int16: (-32768, 32767),
    np.uint16: (0, 65535),
}


def sums(x, low):
    total = 0
    count = 0
    squares = 0
    far = 0
    for i in range(len(x)):
        v = int(x[i])
        total += v
        if x[i] != low:
            count += 1
        squares += v * v
        far += abs(v - int(x[0]))
    return total, count, squares, far, x.sum(), (x > low).sum(), np.count_nonzero(x)


# All elements are as far from 0 as they can be: what is summed in too few bits wraps around.
@pytest.mark.sampled(2, "dtype", "n")
@pytest.mark.parametrize("dtype", list(EXTREME), ids=lambda d: d.__name__)
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 4097, 8192, 70_001])
def test_extreme_elements(dtype, n):
    compiled = jit(sums)
    low, high = EXTREME[dtype]
    for value in (low, high):
        x = np.full(n, value, dtype)
        check_agreement(compiled, sums, lambda x=x: (x, dtype(low)))


def of_rows(x, y):
    n, m = x.shape
    out = np.zeros((n, 4), np.int64)
    for i in range(n):
        for k in range(m):
            out[i, 0] += x[i, k]
            if x[i, k] != y[k]:
                out[i, 1] += 1
            out[i, 2] += int(x[i, k]) * int(y[k])
        out[i, 3] = np.abs(x[i].astype(np.int64) - y).sum()
    return out


# Rows longer than what fits the narrower type at once: 65,535 ones in 16 bits.
@pytest.mark.sampled(2, "m", "dtype")
@pytest.mark.parametrize("m", [0, 5, 64, 65_535, 65_536, 140_000])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16], ids=lambda d: d.__name__)
def test_long_rows(m, dtype):
    low, high = EXTREME[dtype]
    x = np.full((2, m), high, dtype)
    x[1:, ::3] = low
    check_agreement(jit(of_rows), of_rows, lambda: (x, np.full(m, low, dtype)))


def whole(x):
    s = 0
    for i in range(len(x)):
        s += int(x[i])
    return s


# Integers made of floats: the first that is none is the one that is told of.
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 7, 64, 299])
def test_whole_numbers_of_floats(bad, at):
    x = np.linspace(-1000.5, 1000.5, 300)
    check_agreement(jit(whole), whole, lambda: (x,))
    x[at] = bad
    x[at + 1 :] = -bad
    check_agreement(jit(whole), whole, lambda: (x,))
