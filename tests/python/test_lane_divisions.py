"""Integers divide in lanes as doubles: the floor and what is left are NumPy's to the last unit."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
# Below them a quotient of doubles is exact.
LIMITS = [2**k + d for k in (31, 32, 49, 50, 51, 52, 53, 62, 63) for d in (-2, -1, 0, 1)]


def divides(x, y):
    return x // y, x % y


def divides_by_one(x, y):
    return x // y[0], x % y[0], x // y[-1], x % y[-1]


def numbers(dtype):
    """All kinds of numbers, the ends of the dtype among them."""
    random = np.random.default_rng(7)
    info = np.iinfo(dtype)
    some = [0, 1, 2, 3, 7, 10, 99, info.max, info.max - 1, info.min, info.min + 1]
    some += [sign * limit for limit in LIMITS for sign in (1, -1)]
    kept = [k for k in some if info.min <= k <= info.max]
    wide = random.integers(info.min, info.max, 150, dtype=dtype, endpoint=True)
    near = random.integers(max(info.min, -(2**20)), min(info.max, 2**20), 150).astype(dtype)
    return np.concatenate([np.array(kept, dtype), wide, near])


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:overflow")
def test_quotients_are_exact(dtype, target):
    of_all = jit(divides)
    some = numbers(dtype)
    for shift in range(0, len(some), 13):
        divisors = np.roll(some, shift)
        for mine, wanted in zip(of_all(some, divisors, target=target), divides(some, divisors),
                                strict=True):
            np.testing.assert_array_equal(mine, wanted, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:overflow")
def test_quotients_by_one_number_are_exact(dtype):
    of_one = jit(divides_by_one)
    some = numbers(dtype)
    for at in range(0, len(some) - 1, 3):
        divisors = some[at : at + 2]
        for mine, wanted in zip(of_one(some, divisors), divides_by_one(some, divisors),
                                strict=True):
            np.testing.assert_array_equal(mine, wanted, strict=True)


def test_a_quotient_next_to_a_whole_number_is_below_it():
    divisors = np.arange(1, 2**12, dtype=np.int64)
    for whole in (1, 2**20 + 1, 2**37 + 1):
        for sign in (1, -1):
            below = sign * (divisors * whole) - 1
            for mine, wanted in zip(jit(divides)(below, divisors), divides(below, divisors),
                                    strict=True):
                np.testing.assert_array_equal(mine, wanted)


def test_fastmath_divides_integers_as_exactly():
    some = numbers("int64")
    some = some[some != 0]
    for mine, wanted in zip(jit(divides, fastmath=True)(some, some[::-1].copy()),
                            divides(some, some[::-1]), strict=True):
        np.testing.assert_array_equal(mine, wanted)
