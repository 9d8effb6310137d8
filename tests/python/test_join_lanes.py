"""Lanes that lie apart share vectors with what lies between them; some lanes read one element."""

import ctypes
import mmap

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

LENGTHS = [0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 47, 64, 65, 97, 130]
DTYPES = ["uint8", "int16", "float32", "float64", "int64", "complex128", "bool"]


def pool_two(x, out):
    for i in range(len(out)):
        out[i] = x[2 * i] if x[2 * i + 1] != 0 else x[2 * i + 1]


def pool_three(x, out):
    for i in range(len(out)):
        out[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2]


def every_fourth(x, out):
    for i in range(len(out)):
        out[i] = x[4 * i] + x[4 * i + 2]


def windows(x, out):
    for i in range(len(out) - 1):
        out[i] = x[2 * i] + x[2 * i + 1] + x[2 * i + 2] + x[2 * i + 3]


def swap_pairs(x, out):
    for i in range(len(out) // 2):
        a = x[2 * i]
        out[2 * i] = x[2 * i + 1]
        out[2 * i + 1] = a


def turn_threes(x, out):
    for i in range(len(out) // 3):
        out[3 * i + 2] = x[3 * i]
        out[3 * i] = x[3 * i + 1]
        out[3 * i + 1] = x[3 * i + 2]


def spread_over_four(x, out):
    for i in range(len(out) // 4):
        out[4 * i] = x[i]
        out[4 * i + 1] = x[i] + x[i]
        out[4 * i + 2] = x[0]
        out[4 * i + 3] = x[i]


def stored_and_read(x, out):
    for i in range(len(out) // 2):
        out[2 * i] = x[i]
        out[2 * i + 1] = out[2 * i] + x[i]


def halves(x, out):
    for i in range(len(out)):
        out[i] = x[i // 2]


def later_halves(x, out):
    for i in range(len(out)):
        out[i] = x[(i + 3) // 2] + x[i >> 2] + x[(i + 5) // 4]


def thirds(x, out):
    for i in range(len(out)):
        out[i] = x[i // 3]


def backwards(x, out):
    for i in range(len(out)):
        out[i] = x[(len(out) - i) // 2]


# How many elements are read for a length.
PROGRAMS = {
    pool_two: lambda n: 2 * n,
    pool_three: lambda n: 3 * n,
    every_fourth: lambda n: max(4 * n - 1, 0),
    windows: lambda n: 2 * n,
    swap_pairs: lambda n: n,
    turn_threes: lambda n: n,
    spread_over_four: lambda n: max(n // 4, 1),
    stored_and_read: lambda n: n // 2,
    halves: lambda n: (n + 1) // 2,
    later_halves: lambda n: (n + 2) // 2 + 2,
    thirds: lambda n: (n + 2) // 3,
    backwards: lambda n: n // 2 + 1,
}
JITTED = {f: jit(f) for f in PROGRAMS}


def some(dtype, count):
    random = np.random.default_rng(count)
    if dtype == "bool":
        return random.integers(0, 2, count).astype(bool)
    numbers = random.integers(0, 60, count)
    return (numbers + 1j * numbers[::-1] if dtype == "complex128" else numbers).astype(dtype)


def plain(f, x, out):
    with np.errstate(all="ignore"):
        f(x, out)


@pytest.mark.sampled(6, "f", "dtype", "target")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_neighbours(f, dtype, target):
    for length in LENGTHS:
        x = some(dtype, PROGRAMS[f](length))
        mine, wanted = np.zeros(length, dtype), np.zeros(length, dtype)
        JITTED[f](x, mine, target=target)
        plain(f, x, wanted)
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("f", [swap_pairs, turn_threes, stored_and_read], ids=lambda f: f.__name__)
def test_in_place_and_overlapping(f):
    for length in LENGTHS:
        for shift in (0, 1, 2):
            mine, wanted = some("int64", length + 2), some("int64", length + 2)
            JITTED[f](mine[shift : shift + length], mine[:length], target="serial")
            f(wanted[shift : shift + length], wanted[:length])
            np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_strided(f):
    for length in (5, 32, 67):
        x = some("float64", 3 * PROGRAMS[f](length))[::3]
        mine, wanted = np.zeros((length, 2)), np.zeros((length, 2))
        JITTED[f](x, mine[:, 1], target="serial")
        f(x, wanted[:, 1])
        np.testing.assert_array_equal(mine, wanted)


class Fenced:
    """Arrays that end, or begin, where memory that nobody may touch begins, or ends."""

    def __init__(self):
        self.page = mmap.PAGESIZE
        self.memory = mmap.mmap(-1, 4 * self.page)
        self.bytes = np.frombuffer(self.memory, np.uint8)
        protect = ctypes.CDLL(None).mprotect
        for page in (0, 3):
            address = ctypes.c_void_p(self.bytes.ctypes.data + page * self.page)
            assert protect(address, ctypes.c_size_t(self.page), 0) == 0

    def arrays(self, values):
        for first in (self.page, 3 * self.page - values.nbytes):
            array = self.bytes[first : first + values.nbytes].view(values.dtype)
            array[:] = values
            yield array


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_beside_an_array_is_read(f, dtype):
    fenced = Fenced()
    for length in LENGTHS:
        values = some(dtype, PROGRAMS[f](length))
        for x in fenced.arrays(values):
            mine, wanted = np.zeros(length, dtype), np.zeros(length, dtype)
            JITTED[f](x, mine, target="serial")
            plain(f, values, wanted)
            np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("f", [swap_pairs, turn_threes, spread_over_four],
                         ids=lambda f: f.__name__)
def test_nothing_beside_an_array_is_stored(f):
    fenced = Fenced()
    for length in LENGTHS:
        x, wanted = some("int16", length + 1), np.zeros(length, "int16")
        f(x, wanted)
        for mine in fenced.arrays(np.zeros(length, "int16")):
            JITTED[f](x, mine, target="serial")
            np.testing.assert_array_equal(mine, wanted)


@jit
def until_the_end(x, out):
    for i in range(len(out) // 2):
        out[2 * i] = x[2 * i]
        out[2 * i + 1] = x[2 * i + 1]


@pytest.mark.parametrize("missing", [1, 2, 7])
def test_an_index_out_of_range_is_told_in_order(missing):
    for length in (2, 16, 40, 66):
        x, mine, wanted = some("int32", max(length - missing, 0)), *np.zeros((2, length), "int32")
        with pytest.raises(IndexError) as told:
            until_the_end.__wrapped__(x, wanted)
        with pytest.raises(IndexError) as found:
            until_the_end(x, mine, target="serial")
        assert str(found.value) == str(told.value)
        np.testing.assert_array_equal(mine, wanted)
