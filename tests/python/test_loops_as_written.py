"""Loops as people write them, whose lengths, counters and small arrays code is made for: what is
assumed of the first call is not true of the next, and errors come as plain Python has them."""

import math

import numpy as np
import pytest
from agreement import REDUCED, TRANSCENDENTAL, check_agreement
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit


def escape_times(x, steps):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        z = 0.0
        for k in range(steps):
            z = z * z + x[i]
            if z > 2.0:
                break
        out[i] = k
    return out


def last_counters(x, steps):
    for i in range(len(x)):
        for k in range(steps):
            if x[i] < k:
                break
    return i, k


@pytest.mark.parametrize("program", [escape_times, last_counters])
@pytest.mark.parametrize("size", [0, 1, 7, 40])
def test_a_counter_is_read_behind_its_loop(program, size):
    jitted = jit(program)
    x = np.random.default_rng(size).random(size) * 4 - 1
    for steps in (5, 0, 1, -3, 20):  # The second and the fourth raise, or leave it unbound.
        check_agreement(jitted, program, lambda steps=steps: (x, steps))


def sums_behind_a_flag(flags, x, y):
    total = np.float64(0.0)
    for i in range(len(flags)):
        if flags[i] > 0:
            total += x[i]
        if i != 3:
            total += y[i]
    return total


def stored_in_a_loop_inside(x, y, out):
    for i in range(len(x)):
        k = 0
        while k < 3 and y[i] > 0.5:
            out[i] += y[i]
            k += 1


def guarded_neighbours(flags, x, y):
    total = np.float64(0.0)
    for i in range(len(flags)):
        if i < len(x) and i + 1 < len(y):
            total += x[i] * y[i + 1]
    return total


@pytest.mark.parametrize("program", [sums_behind_a_flag, stored_in_a_loop_inside,
                                     guarded_neighbours])
@pytest.mark.parametrize("sizes", [(9, 9, 9), (9, 12, 10), (9, 5, 9), (9, 9, 8), (0, 0, 0),
                                   (70, 70, 3)])
def test_arrays_of_other_lengths_are_indexed_alike(program, sizes):
    rng = np.random.default_rng(sum(sizes))
    arrays = [rng.random(size) for size in sizes]
    jitted = jit(program)
    check_agreement(jitted, program, lambda: tuple(np.ones(20) for _ in range(3)), REDUCED)
    check_agreement(jitted, program, lambda: tuple(a.copy() for a in arrays), REDUCED)


def waves(u, v, steps):
    before, now = u.copy(), v.copy()
    for _ in range(steps):
        after = np.zeros(u.shape)
        for i in range(1, len(u) - 1):
            after[i] = now[i - 1] + now[i + 1] - before[i]
        before = now
        now = after
    return now


@pytest.mark.sampled(2, "sizes", "steps")
@pytest.mark.parametrize("sizes", [(9, 9), (9, 12), (12, 9), (2, 2), (0, 0)])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_arrays_that_change_places_begin_with_other_lengths(sizes, steps):
    rng = np.random.default_rng(steps)
    u, v = (rng.random(size) for size in sizes)
    check_agreement(jit(waves), waves, lambda: (u, v, steps))


def polygon_crossings(px, qx, qy):
    out = np.zeros(len(px), np.int64)
    for i in range(len(px)):
        j = len(qx) - 1
        for k in range(len(qx)):
            if (qy[k] > 0.5) != (qy[j] > 0.5) and px[i] < qx[k] - qx[j]:
                out[i] += j
            j = k
    return out


@pytest.mark.parametrize("corners", [0, 1, 2, 50])
def test_the_corner_before_is_the_last_one_at_first(corners):
    rng = np.random.default_rng(corners)
    arguments = rng.random(70) - 0.5, rng.random(corners), rng.random(corners)
    check_agreement(jit(polygon_crossings), polygon_crossings, lambda: arguments)


def common_subsequence(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table


def runs_behind_a_guard(a, b):
    out = a.astype(np.float64)
    for i in range(len(a)):
        if i > 0 and a[i] == a[i - 1]:
            out[i] = out[i - 1] + 1.0
        else:
            out[i] = 0.5
    return out


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), sizes=st.tuples(st.integers(0, 9), st.integers(0, 9)))
@pytest.mark.parametrize("program", [common_subsequence, runs_behind_a_guard])
def test_both_branches_store_at_one_place(program, seed, sizes):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, 2, size) for size in sizes)
    check_agreement(jit(program), program, lambda: (a, b))


def median_of_neighbours(x):
    out = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        three = np.empty(3)
        for k in range(3):
            three[k] = x[i - 1 + k]
        for k in range(2):
            for l in range(2):
                if three[l] > three[l + 1]:
                    three[l], three[l + 1] = three[l + 1], three[l]
        out[i] = three[1]
    return out


def rows_that_leave_the_loop(x):
    kept = np.zeros(4)
    for i in range(len(x)):
        row = np.zeros(4)
        row[i % 4] = x[i]
        if x[i] > 0.5:
            kept = row
    return kept


def rows_that_change_places(x):
    a = np.zeros(2)
    b = np.ones(2)
    for i in range(len(x)):
        c = np.empty(2)
        c[0] = a[1] + x[i]
        c[1] = b[0]
        a = b
        b = c
    return a, b


def small_arrays_of_small_arrays(x):
    total = np.float64(0.0)
    for i in range(len(x)):
        a = np.zeros((2, 2))
        a[0, 1] = x[i]
        for _ in range(3):
            b = np.zeros((2, 2))
            for r in range(2):
                for c in range(2):
                    b[r, c] = a[c, r] + 1.0
            a = b
        total += a[0, 1] - a[1, 0]
    return total


def arrays_of_two_lengths(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a = np.zeros(2) if x[i] > 0.5 else np.ones(3)
        out[i] = a[1] + x[i] + len(a)
    return out


def sorted_or_not(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            a = np.sort(x[:3])
        else:
            a = x[:2] * 2.0
        out[i] = a[-1]
    return out


@pytest.mark.parametrize("program", [median_of_neighbours, rows_that_leave_the_loop,
                                     rows_that_change_places, small_arrays_of_small_arrays,
                                     arrays_of_two_lengths, sorted_or_not])
@pytest.mark.parametrize("size", [0, 1, 5, 300])
def test_small_arrays_are_made_in_loops(program, size):
    x = np.random.default_rng(size).random(size)
    check_agreement(jit(program), program, lambda: (x,), REDUCED)


def quotients_told_from_zero(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        divisor = float(y[i])
        if abs(divisor) < 1e-3:
            out[i] = -1.0
        else:
            out[i] = 1.0 / divisor
    return out


def quotients_told_too_little(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        divisor = float(y[i])
        if divisor >= 0.0:
            out[i] = 1.0 / divisor
    return out


@pytest.mark.parametrize("program", [quotients_told_from_zero, quotients_told_too_little])
def test_divisors_are_told_from_zero(program):
    x = np.arange(6.0)
    for odd in (0.0, -0.0, 1e-4, np.nan, np.inf, 5.0):
        y = np.array([1.0, -2.0, odd, 3.0, 0.5, 1.0])
        check_agreement(jit(program), program, lambda y=y: (x, y))


def steps_that_converge(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = 1.0
        for _ in range(20):
            d = v - math.exp(-v) * x[i] + 0.01 * math.erf(v) + 0.01 * math.log(y[i] / x[i])
            if abs(d) < 1e-3:
                break
            v -= d / 2
        out[i] = v
    return out


@pytest.mark.parametrize("size", [1, 7, 8, 16, 33, 100])
def test_lanes_that_leave_do_not_disturb_the_others(size):
    rng = np.random.default_rng(size)
    x, y = rng.random(size) + 0.5, rng.random(size) + 0.5
    check_agreement(jit(steps_that_converge), steps_that_converge, lambda: (x, y), TRANSCENDENTAL)


def factor(a):
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = math.sqrt(s) if i == j else s / l[j, j]
    return l


def test_sums_that_are_subtracted_from_in_loops():
    b = np.random.default_rng(1).random((40, 40))
    a = b @ b.T + 40 * np.eye(40)
    check_agreement(jit(factor), factor, lambda: (a,), REDUCED)


def rows_times_small_matrix(points, matrix):
    out = np.zeros(points.shape)
    for i in range(len(points)):
        for r in range(3):
            for c in range(3):
                out[i, r] += matrix[r, c] * points[i, c]
    return out


@pytest.mark.parametrize("size", [0, 1, 50])
def test_columns_are_read_before_a_loop_over_rows(size):
    rng = np.random.default_rng(size)
    points, matrix = rng.random((size, 3)), rng.random((3, 3))
    check_agreement(jit(rows_times_small_matrix), rows_times_small_matrix,
                    lambda: (points, matrix), REDUCED)
