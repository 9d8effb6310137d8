"""What loops ask of many lanes, of two bounds of a number, and of the stack."""

import re
import sys

import numpy as np
import pytest
from agreement import REDUCED, check_agreement
from test_counters_of_lanes import matches, matches_by_break
from tested_targets import TARGETS

from parakeet import jit

HOST = ("serial", "parallel")


def letters(count, dtype, kinds=3):
    return (np.random.default_rng(count).integers(0, kinds, count)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.float32, np.int64])
@pytest.mark.parametrize("program", [matches_by_break, matches])
def test_lanes_that_leave_a_loop_one_by_one(program, dtype):
    compiled = jit(program)
    for count in (0, 3, 64, 127, 1000, 5000):
        check_agreement(compiled, program,
                        lambda count=count: (letters(count, dtype), letters(3, dtype)))


@pytest.mark.skipif("serial" not in TARGETS, reason="about the host's code")
@pytest.mark.parametrize("registers", [16, 32])
def test_wide_masks_pass_as_bytes(registers, monkeypatch):
    with open("/proc/cpuinfo") as lines:
        if registers == 32 and not any("avx2" in line for line in lines):
            pytest.skip("no AVX2")
    monkeypatch.setenv("PARAKEET_DEBUG", f"registers:{registers}")
    for program in (matches_by_break, matches):
        compiled = jit(program, cache=False)
        for count in (127, 3000):
            check_agreement(compiled, program,
                            lambda count=count: (letters(count, np.uint8), letters(2, np.uint8)),
                            targets=HOST)
        assembly = compiled.asm(letters(9, np.uint8), letters(2, np.uint8), target="serial")
        assert assembly.count("pinsrb") < 16


def sum_between(x, y):
    total = np.float64(0.0)
    for i in range(len(x)):
        if 0.2 < x[i] < 0.7 and y[i] < 0.5:
            total += x[i] * y[i]
    return total


def pieces(x, y):
    made = np.empty(len(x))
    for i in range(len(x)):
        a = x[i]
        if a < 0.2:
            made[i] = a * 2
        elif a < 0.5 and y[i] > 0.3:
            made[i] = a * a
        elif a < 0.8 or not y[i] < 0.9:
            made[i] = 1 - a
        else:
            made[i] = y[i]
    return made


def mixed_conditions(x, y):
    few = x.astype(np.float32)
    flags = (few < 0.5) & (y > 0.25) | (y == x)
    small = (x * 100).astype(np.int8)
    chosen = np.where(flags & (small > 10), few, np.float32(2.0))
    numbers = np.where(flags ^ (small < 50), small, np.int8(1))
    wide = np.where((few > 0.1) & ~flags, x, y)
    return chosen, numbers, wide, flags & (x < 0.9), (flags | (small == 3)).sum(), flags.any()


def conditions_in_loops(x, y):
    counts = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        low = x[i] < 0.5 and y[i] > 0.2
        a = x[i]
        while a < 1.5 and (low or a < 1.0):
            a += y[i] + 0.25
            if a > 0.75 and low:
                counts[i] += 2
        if low or a > 1.2:
            counts[i] += 1
    return counts


def neighbours_where_low(x, y):
    made = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        if x[i] < 0.5:
            made[i] = y[i - 1] + y[i + 1]
            if y[i] > 0.5:
                made[i] += made[i] * x[i + 1]
    return made


def clip_and_count(x, y):
    made = x.copy()
    count = 0
    for i in range(len(x)):
        if made[i] < 0.25:
            made[i] = 0.25
            count += 1
        elif made[i] > 0.75:
            made[i] = y[i]
            count += 2
    return made, count


def twice_where_low(x, y):
    made = x.copy()
    for i in range(len(x)):
        if made[i] < 0.5:
            made[i] = made[i] * 2 + y[i]
    filled = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < y[i]:
            filled[i] = x[i]
    return made, filled


CONDITIONS = (sum_between, pieces, mixed_conditions, conditions_in_loops, neighbours_where_low,
              clip_and_count, twice_where_low)


@pytest.mark.parametrize("count", [0, 1, 3, 9, 32, 100, 1003])
@pytest.mark.parametrize("program", CONDITIONS)
def test_conditions_of_several_comparisons(program, count):
    x, y = np.random.default_rng(count).random((2, count))
    y[::7] = x[::7]
    check_agreement(jit(program), program, lambda: (x, y), REDUCED)


@pytest.mark.skipif("serial" not in TARGETS, reason="about the host's code")
@pytest.mark.parametrize("registers", [16, 32])
@pytest.mark.parametrize("program", CONDITIONS)
def test_masks_are_as_wide_as_elements(program, registers, monkeypatch):
    with open("/proc/cpuinfo") as lines:
        if registers == 32 and not any("avx2" in line for line in lines):
            pytest.skip("no AVX2")
    monkeypatch.setenv("PARAKEET_DEBUG", f"registers:{registers}")
    compiled = jit(program, cache=False)
    x, y = np.random.default_rng(registers).random((2, 203))
    check_agreement(compiled, program, lambda: (x, y), REDUCED, targets=HOST)
    if registers == 32 and program in (sum_between, pieces, neighbours_where_low):
        assembly = compiled.asm(x, y, target="serial")
        assert assembly.count("vpack") <= 8


def counts_inside(x, low, scale, bins):
    counts = np.zeros(max(bins, 1), np.int64)
    for i in range(len(x)):
        k = int((x[i] - low) * scale)
        if 0 <= k < bins:
            counts[k] += 1
    return counts


def counts_outside(x, y, h, w):
    inside = x[0] * 0
    for i in range(len(x)):
        if y[i] < 0 or y[i] >= h or x[i] < 0 or x[i] >= w:
            continue
        inside += 1 + x[i]
    return inside


@pytest.mark.parametrize("bins", [50, 1, 0, -3, -(2**62)])
def test_a_number_between_two_bounds(bins):
    x = np.random.default_rng(0).normal(size=1000) * 40
    check_agreement(jit(counts_inside), counts_inside, lambda: (x, -20.0, 1.0, bins))
    places = np.array([0, 1, -1, 49, 50, 51, 2**62, -(2**62), 2**63 - 1, -(2**63)] * 30)
    check_agreement(jit(counts_outside), counts_outside,
                    lambda: (places, np.roll(places, 7), bins, 50))
    check_agreement(jit(counts_outside), counts_outside,
                    lambda: (np.roll(places, 7), places, 50, bins))


@pytest.mark.skipif("serial" not in TARGETS, reason="about the host's code")
def test_two_bounds_are_one_comparison():
    assembly = jit(counts_inside).asm(np.ones(9), 0.0, 1.0, 5, target="serial")
    assert "setns" not in assembly


def plane_counts(x, y, nx, ny):
    counts = np.zeros((nx, ny), np.int64)
    for i in range(len(x)):
        counts[int(np.floor(x[i] * nx)), int(np.floor(y[i] * ny))] += 1
    return counts


def plane_sums(x, y, nx, ny):
    sums = np.zeros((nx, ny))
    for i in range(len(x)):
        sums[int(np.floor(x[i] * nx)), int(np.floor(y[i] * ny))] += x[i]
    return sums


@pytest.mark.parametrize("count", [0, 100, 70_000])
def test_dear_places_in_parts_without_copies(count):
    x, y = np.random.default_rng(0).random((2, count))
    check_agreement(jit(plane_counts), plane_counts, lambda: (x, y, 12, 7))
    check_agreement(jit(plane_sums), plane_sums, lambda: (x, y, 12, 7), REDUCED)
    if count:
        x[count // 2] = 1.5
        check_agreement(jit(plane_counts), plane_counts, lambda: (x, y, 12, 7))


def length(n):
    return 0 if n == 0 else length(n - 1) + 1


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ends_in_another(n):
    result = 0
    if n > 0:
        result = ends_in_another(n - 1)
    if n == 0:
        result = length(0)
    return result


def three_ways(n, x):
    if n == 0:
        return x[0]
    if n % 2 == 0:
        x[n % len(x)] += 1
        return x[1]
    return three_ways(n - 1, x) + three_ways(n - 2, x) if n > 1 else three_ways(n - 1, x)


# A call that calls nothing does not ask whether there is room for it: its caller has.
@pytest.mark.parametrize(("function", "deepest"),
                         [(length, 1000), (is_even, 1000), (ends_in_another, 999)])
def test_how_deep_calls_may_be(function, deepest):
    if "serial" not in TARGETS:
        pytest.skip("about the host's code")
    compiled = jit(function)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        compiled(deepest, target="serial")
        with pytest.raises(RecursionError):
            compiled(deepest + 1, target="serial")
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.skipif("serial" not in TARGETS, reason="about the host's code")
def test_a_way_that_calls_nothing_needs_no_frame():
    assembly = jit(length).asm(3, target="serial")
    first = re.search(r"^callee\.length[^\n]*:\n\t(\w+)", assembly, re.MULTILINE)
    assert first[1].startswith(("test", "cmp"))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
def test_some_ways_call_and_some_do_not(n):
    check_agreement(jit(three_ways), three_ways, lambda: (n, np.arange(4.0)))
