"""Integers that few bits are read of, or that are known to be small, are computed in few bits."""

import numpy as np
import pytest
from agreement import check_agreement

from parakeet import jit

EDGES = {dtype: np.array([*np.arange(70) * 3 % 50, np.iinfo(dtype).min, np.iinfo(dtype).max, 1, 0],
                         dtype)
         for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32)}  # fmt: skip


def patterns(x, y):
    out = np.zeros(len(x), np.uint8)
    for i in range(len(x)):
        code = 0
        if x[i] > y[i]:
            code |= 1
        if x[i] >= 3:
            code |= 130
        code ^= 5
        out[i] = code
    return out


def low_bits(x, y):
    out = np.zeros(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = (int(x[i]) * 7 - int(y[i]) * 300) & 255
    return out


def compared_sums(x, y):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        total = int(x[i]) + int(y[i]) * 2 - 7
        if total > 250:
            out[i] = 1
        elif min(total, int(y[i])) < -3:
            out[i] = total
    return out


def halves(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = ((int(x[i]) - int(y[i])) >> 1) + (int(y[i]) << 3)
    return out


def products(x, y):
    out = np.zeros(len(x), np.bool_)
    for i in range(len(x)):
        out[i] = int(x[i]) * (int(y[i]) >> 2) > 40000
    return out


def negatives(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = -int(x[i]) if y[i] > 2 else ~int(y[i])
    return out


def differences(x, y):
    return np.abs(x.astype(np.int64) - y.astype(np.int64)) > 100


@pytest.mark.parametrize("program", [patterns, low_bits, compared_sums, halves, products,
                                     negatives, differences])
@pytest.mark.parametrize("dtype", EDGES, ids=lambda dtype: dtype.__name__)
def test_answers_are_those_of_all_bits(program, dtype):
    x = EDGES[dtype]
    for y in (x, x[::-1].copy(), np.roll(x, 5)):
        check_agreement(jit(program), program, lambda y=y: (x, y))


def quotients(x, y):
    out = np.zeros((10, len(x)), np.int64)
    for i in range(len(x)):
        a, b = int(x[i]), int(y[i])
        out[0, i] = (a * 200 + 127) // 255
        out[1, i] = a * b // 7
        out[2, i] = a * b % 1000
        out[3, i] = (a - b) // 3
        out[4, i] = (a - b) % 3
        out[5, i] = (a - 100) // 256 + b % 8
        out[6, i] = a // 1 + b % 1
        out[7, i] = (a + b) // 1000000
        out[8, i] = (a * a - b * b) % 255
        out[9, i] = (a // 10 * 10 + b // 100) // 9
    return out


def blended(x, y):
    out = np.empty_like(x)
    for i in range(len(x)):
        a = int(y[i])
        out[i] = (int(x[i]) * a + int(y[i]) * (255 - a) + 127) // 255 // 2
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64])
def test_quotients_by_constants(dtype):
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    x, y = (rng.integers(limits.min, limits.max, 200, dtype, endpoint=True) for _ in range(2))
    x[:3] = limits.min, limits.max, 0
    y[:3] = limits.max, limits.max, limits.min
    if dtype == np.int64:
        x, y = x >> 34, y >> 34
    check_agreement(jit(quotients), quotients, lambda: (x, y))
    if dtype == np.uint8:
        check_agreement(jit(blended), blended, lambda: (x, y))
