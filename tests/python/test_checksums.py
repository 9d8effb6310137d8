"""Numbers of which a bit says what joins them: checksums, registers, products of bits."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


@jit
def crc(data, polynomial, start):
    value = start
    for byte in data:
        current = 0xFF & byte
        for _ in range(8):
            if (value & 1) ^ (current & 1):
                value = (value >> 1) ^ polynomial
            else:
                value >>= 1
            current >>= 1
    return value


@jit
def register(state, taps, steps, out):
    for i in range(steps):
        out[i] = state & 1
        if state & 1:
            state = (state >> 1) ^ taps
        else:
            state = state >> 1
    return state


@jit
def product(a, b, modulus):
    # Of polynomials over bits.
    result = 0
    for _ in range(8):
        if b & 1:
            result ^= a
        b >>= 1
        carry = a & 128
        a = (a << 1) & 255
        if carry:
            a ^= modulus
    return result


@jit
def stepped(x, up, down):
    s = 0
    for i in range(len(x)):
        if (s ^ x[i]) & 4:
            s = s + up
        elif (s + x[i]) & 1:
            s = s - down
        if s & 16 == 0:
            s |= down
    return s


@pytest.mark.parametrize("target", COMPILED)
def test_checksums(target):
    random = np.random.default_rng(0)
    for n in (0, 1, 7, 200):
        data = random.integers(0, 256, n).astype(np.uint8)
        for polynomial in (0x8408, 0, -1, 0xEDB88320):
            made = crc(data, polynomial, 0xFFFF, target=target)
            assert made == crc.__wrapped__([int(byte) for byte in data], polynomial, 0xFFFF)
        x = random.integers(-9, 9, n)
        wanted = stepped.__wrapped__([int(v) for v in x], 7, 3)
        assert stepped(x, 7, 3, target=target) == wanted
    for state in (1, 0xACE1, -5):
        here, there = np.zeros(90, np.int64), np.zeros(90, np.int64)
        made = register(state, 0xB400, 90, here, target=target)
        assert made == register.__wrapped__(state, 0xB400, 90, there)
        assert np.array_equal(here, there)
    for a, b in ((0x57, 0x83), (255, 255), (0, 9), (1, 128)):
        assert product(a, b, 0x1B, target=target) == product.__wrapped__(a, b, 0x1B)
