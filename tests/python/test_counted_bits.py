"""Loops that go through the bits of a number count them, and its places, as plain Python does: of
integers of every dtype, negative ones and zeros among them, with what else is carried."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def bits_set(x):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        v = x[i]
        while v:
            v &= v - x.dtype.type(1)
            out[i] += 1
    return out


def without_last_bits(x):
    total = 0
    odd = False
    sign = 1
    for i in range(len(x)):
        v = int(x[i])
        while v > 0:
            v ^= v & -v
            total += 3
            odd = not odd
            sign = -sign
    return total, odd, sign


def places_of_bits(x):
    out = np.zeros((len(x), 3), np.int64)
    for i in range(len(x)):
        v = x[i]
        places = 0
        power = np.int32(1)
        while v > 0:
            v >>= 1
            places += 1
            power <<= 1
        out[i, 0] = places
        out[i, 1] = power
        out[i, 2] = v
    return out


def logarithms(x):
    out = np.zeros(len(x), np.int64)
    rest = 0
    for i in range(len(x)):
        v = x[i]
        while v > 1:
            v //= 2
            out[i] += 1
        rest ^= int(v)
    return out, rest


def bits_shifted_out(x):
    ones = 0
    twos = 0
    parity = 0
    for i in range(len(x)):
        v = int(x[i])
        while v > 0:
            ones += v & 1
            if v & 1:
                twos += 2
            parity ^= v % 2
            v >>= 1
    return ones, twos, parity


def zeros_behind(x):
    out = np.zeros((len(x), 4), np.int64)
    for i in range(len(x)):
        v = x[i]
        while v != 0 and v % 2 == 0:
            v //= 2
            out[i, 0] += 1
        out[i, 1] = v
        w = x[i]
        while w > 0 and (w & 1) == 0:
            w >>= 1
            out[i, 2] += 1
        out[i, 3] = w
    return out


def ones_behind(x):
    out = np.zeros((len(x), 2), np.int64)
    for i in range(len(x)):
        v = x[i]
        while v > 0 and v & 1:
            v >>= 1
            out[i, 0] += 1
        out[i, 1] = v
    return out


def odd_parts(x):
    """Of what is not zero: the loop would not end."""
    twos = 0
    for i in range(len(x)):
        v = x[i]
        if v != 0:
            while not v & 1:
                v >>= 1
                twos += 1
            x[i] = v
    return twos


def one_number_after_another(x):
    seed = 1
    for i in range(len(x)):
        v = (seed * 25214903917 + int(x[i])) & 0xFFFFFFFFFFFF
        w = v | 1 << 40
        count = 0
        while w & 1 == 0:
            w >>= 1
            count += 1
        while v:
            v &= v - 1
            count += 1
        seed = (seed ^ count) * 5 & 0xFFFFFF
    return seed


def numbers(dtype):
    dtype = np.dtype(dtype)
    info = np.iinfo(dtype)
    high = [info.max, info.max - 1, info.max // 2 + 1]
    few = np.array([0, 1, 2, 3, 5, 6, 7, 12, 64, 96, 127, *high], dtype)
    raw = np.random.default_rng(dtype.num).bytes(40 * dtype.itemsize)
    signed = [info.min + 1, -1, -2, -8] if dtype.kind == "i" else []
    x = np.concatenate([few, np.array(signed, dtype), np.frombuffer(raw, dtype)])
    return x[x <= np.iinfo(np.int64).max]


LOOPS = [bits_set, places_of_bits, logarithms, bits_shifted_out, zeros_behind, ones_behind,
         odd_parts]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_every_dtype(f, dtype):
    check(f, numbers(dtype))


def test_of_numbers_in_order():
    for f in (without_last_bits, one_number_after_another):
        check(f, np.random.default_rng(0).integers(-9, 1 << 52, 100))


@pytest.mark.parametrize("f", [bits_set, logarithms, bits_shifted_out, odd_parts],
                         ids=lambda f: f.__name__)
def test_no_loop_is_left(f):
    compiled = jit(f)
    compiled(numbers("u4"))
    assert "while" not in compiled.ir(stage="count-bits").replace("%step", "")
