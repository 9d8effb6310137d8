"""Loops whose steps end on several paths, each of which stores, counts up and down and asks whether
to go on; random numbers in order, their remainders and logarithms."""

import numpy as np
from exact_outcomes import check

from parakeet import jit


def queens(n):
    """Counts by masks: a search that goes back, whose state stands in one array's rows."""
    stack = np.zeros((n + 1, 4), np.int64)
    full = (1 << n) - 1
    stack[0, 3] = full
    level = 0
    total = 0
    while level >= 0:
        free = stack[level, 3]
        if free == 0:
            level -= 1
            continue
        bit = free & -free
        stack[level, 3] = free ^ bit
        if level == n - 1:
            total += 1
            continue
        c = stack[level, 0] | bit
        left = ((stack[level, 1] | bit) << 1) & full
        right = (stack[level, 2] | bit) >> 1
        level += 1
        stack[level, 0] = c
        stack[level, 1] = left
        stack[level, 2] = right
        stack[level, 3] = full & ~(c | left | right)
    return total, level, stack


def queens_with_a_break(n, stack):
    """The same of one array; too short a stack fails where Python does, with what is stored."""
    full = (1 << n) - 1
    stack[0] = full
    row = 0
    total = 0
    while True:
        if stack[3 * row] == 0:
            row -= 1
            if row < 0:
                break
            continue
        bit = stack[3 * row] & -stack[3 * row]
        stack[3 * row] -= bit
        if row == n - 1:
            total += 1
            continue
        stack[3 * row + 4] = (stack[3 * row + 1] | bit) << 1
        stack[3 * row + 5] = (stack[3 * row + 2] | bit) >> 1
        row += 1
        stack[3 * row] = full & ~(stack[3 * row + 1] | stack[3 * row + 2])
    return total


def machine(code, memory):
    """Counters that go up, down, begin anew and turn negative, read behind the loop."""
    at = 0
    steps = 0
    low = 0
    while at < len(code) and steps < 60:
        steps += 1
        if code[at] == 0:
            memory[at] += steps
            at += 2
        elif code[at] == 1:
            memory[at % 3] -= low
            low -= 7
            at -= 1
        elif code[at] == 2:
            low = 5
            at += 1
        else:
            memory[at] = low
            at = 0
            code[steps % len(code)] = 0
        if at < 0:
            at = 3
    return at, steps, low


def remainders(seed, by):
    """Of numbers of 32 bits and more, of either sign, by divisors that begin at 2**32 and at 0."""
    out = np.zeros((len(by), 2), np.int64)
    for i in range(len(by)):
        seed = (seed * 1103515245 + 12345) & 0x1FFFFFFFF
        out[i, 0] = (seed - (seed >> 1 & 1) * (1 << 32)) % by[i]
        out[i, 1] = seed // by[i]
    return out


def waits(n, seed):
    """Integers that become floats between calls of functions."""
    worst = 0.0
    free = 0.0
    for i in range(n):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        free = max(free, float(i)) - np.log((seed >> 20) / 8796093022208.0)
        worst = max(worst, free - np.float32(seed >> 41) / np.float32(i + 1))
    return worst, seed


def test_searches_that_go_back():
    for n in (1, 4, 6):
        check(queens, n)
        for length in (3 * n, 3 * n - 1, 2 * n):
            check(queens_with_a_break, n, np.zeros(length, np.int64))


def test_counters_on_every_path():
    rng = np.random.default_rng(1)
    for _ in range(12):
        check(machine, rng.integers(0, 4, 9), rng.integers(0, 99, 9))


def test_remainders_of_random_numbers():
    edges = [(1 << 32) + k for k in (-2, -1, 0, 1)] + [(1 << 31) + k for k in (-1, 0, 1)]
    by = np.array([*edges, 1, 2, 3, 7, -1, -5, -(1 << 32), 1 << 40], np.int64).repeat(9)
    check(remainders, 2463534242, by)


def test_conversions_between_calls():
    expected = waits(200, 42)
    got = jit(waits)(200, 42)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-13)  # Logarithms of libm.
    assert got[1] == expected[1]
