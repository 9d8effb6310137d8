"""Loops that store what they keep one behind the other: the same as plain Python, on every target.

Short ones stay loops; where a count reaches the end of an array the exception is the loop's, and
what it has stored before is there.
"""

import numpy as np
import pytest
from exact_outcomes import TARGETS, check

from parakeet import jit


def kept(x, y, z):
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            y[k] = x[i]
            z[k] = i
            k += 1
    return k


def kept_new(x, y, z):
    found = np.empty_like(x)
    places = np.zeros(len(x), np.int32)
    k = 0
    for i in range(len(x)):
        v = x[i] * 2
        if v > 0:
            found[k] = v
            places[k] = i
            k += 1
    return found[:k], places, k


def kept_between(x, y, z):
    k = 3
    for i in range(2, len(x) - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            y[k] = x[i] - x[i - 1]
            z[k] = 7
            k += 1
    return k


def dropped(x, y, z):
    k = 0
    for i in range(len(x)):
        if x[i] <= 0:
            continue
        y[k] = x[i]
        k += 1
    y[k:] = -1
    return k


def one_then_another(x, y, z):
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            y[k] = x[i]
            k += 1
    first = k
    for i in range(len(x)):
        if x[i] <= 0:
            y[k] = x[i]
            k += 1
    return first, k


def by_places(x, y, z):
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            y[k] = x[z[i] % len(x)]
            k += 1
    return k


def in_place(x, y, z):
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            x[k] = x[i]
            k += 1
    return k


def pairs(x, y, z):
    made = np.zeros((len(x), 2))
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            made[k, 0] = i
            made[k, 1] = x[i]
            k += 1
    return made[:k]


def of_a_grid(x, y, z):
    grid = x.reshape(-1, 5) if len(x) % 5 == 0 else x.reshape(-1, 1)
    k = 0
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] > 0:
                y[k] = grid[i, j]
                z[k] = j
                k += 1
    return k


def again_and_again(x, y, z):
    total = 0
    for t in range(3):
        k = 0
        for i in range(len(x)):
            if x[i] > t - 1:
                y[k] = x[i] + t
                k += 1
        total += k
    return total


ALL = [kept, kept_new, kept_between, dropped, one_then_another, by_places, in_place, pairs,
       of_a_grid, again_and_again]  # fmt: skip


@pytest.mark.sampled(6, "f", "count", "above")
@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("count", [0, 1, 5, 1023, 1024, 4095, 4097, 20000])
@pytest.mark.parametrize("above", [-3, 0, 3])
def test_kept_elements(f, count, above):
    r = np.random.default_rng(count)
    x = r.standard_normal(count) + above
    check(f, x, np.zeros(count + 4), np.arange(count + 4))


@pytest.mark.sampled(4, "f", "dtype")
@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "i2"])
def test_dtypes(f, dtype):
    x = np.random.default_rng(1).integers(0, 3, 5000).astype(dtype)
    check(f, x, np.zeros(5004, dtype), np.arange(5004, dtype=np.int16))


@pytest.mark.sampled(3, "f", "room")
@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("room", [0, 1, 100, 999, 1000, 1001])
def test_a_count_that_reaches_the_end(f, room):
    x = np.where(np.arange(3000) % 3 == 0, 1.5, -1.0)
    check(f, x, np.zeros(room), np.zeros(3004, np.int64))
    check(f, x, np.zeros(3004), np.zeros(room, np.int64))


def test_arrays_that_share_memory():
    for f in (kept, dropped, by_places):
        for shift in (0, 1, -1):
            made = []
            for target in ("python", *TARGETS):
                memory = np.sin(np.arange(4000.0))
                x = memory[1:3001]
                jit(f)(x, memory[1 + shift:3001 + shift], np.zeros(3000, np.int64), target=target)
                made.append(memory.tobytes())
            assert len(set(made)) == 1
