"""Arrays that are made again and again, rows made apart, and every name that must not see it."""

from collections.abc import Callable

import numpy as np
import pytest
from agreement import EXACT, REDUCED, Tolerance, check_agreement, deep_copies

from parakeet import jit


def over_and_over(x, steps):
    a = x
    for _ in range(steps):
        a = a + 1.0
    return a


def from_a_copy(x, steps):
    a = x.copy()
    for _ in range(steps):
        a = a * 0.5 + x
    return a


def from_zeros(x, steps):
    a = np.zeros_like(x)
    for _ in range(steps):
        a = a + x
    return a


def kept_under_another_name(x, steps):
    a = x * 2.0
    b = a
    for _ in range(steps):
        a = a + 1.0
    return a, b


def last_two(x, steps):
    a = x * 2.0
    before = a
    for _ in range(steps):
        before = a
        a = a + 1.0
    return a, before


def halving(x, steps):
    a = x.copy()
    t = 0
    while t < steps:
        if t % 2 == 0:
            a = a * 0.5
        else:
            a = a + x
        t += 1
    return a


def swapped(x, steps):
    u, v = x.copy(), x * 2.0
    for _ in range(steps):
        u, v = v, u + 1.0
    return u, v


def swapped_in_place(x, steps):
    u, v = x.copy(), x * 2.0
    for _ in range(steps):
        v[:] = u[::-1] * 0.5
        u, v = v, u
    return u, v


def wave(x, steps):
    before, now = x.copy(), x.copy()
    for _ in range(steps):
        before, now = now, 2.0 * now[::-1] - before
    return before, now


def one_wave_twice(x, steps):
    before = x.copy()
    now = before
    for _ in range(steps):
        before, now = now, 2.0 * now[::-1] - before
    return before, now


def smoothed(x, steps):
    u = x.copy()
    for _ in range(steps):
        v = (u + u[::-1]) * 0.5
        u = (v + v[::-1]) * 0.25 + u
    return u


def restarted(x, steps):
    start = x * 0.5
    total = np.zeros_like(x)
    for _ in range(steps):
        a = start
        for _ in range(3):
            a = a + 1.0
        total = total + a
    return total, start


def scaled_to_one(x, steps):
    e = x * x + 1.0
    return e / e.sum()


SIZES = (0, 1, 2, 33, 20_000)
CASES = [(f, REDUCED if f is scaled_to_one else EXACT) for f in (
    over_and_over, from_a_copy, from_zeros, kept_under_another_name, last_two, halving, swapped,
    swapped_in_place, wave, one_wave_twice, smoothed, restarted, scaled_to_one)]


@pytest.mark.parametrize(("program", "tolerance"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_steps_see_what_they_should(program: Callable, tolerance: Tolerance):
    jitted = jit(program)
    for n in SIZES:
        for steps in (0, 1, 2, 5):
            targets = ("serial", "parallel") if n > 100 else ("interpreter", "serial", "parallel")
            check_agreement(jitted, program, lambda n=n, s=steps: (np.linspace(-1.0, 2.0, n), s),
                            tolerance, targets)


def test_a_step_without_effect_returns_the_argument_itself():
    x = np.arange(3.0)
    assert jit(over_and_over)(x, 0) is x
    assert jit(from_a_copy)(x, 0) is not x


def test_two_names_of_one_result_are_one_array():
    a, b = jit(kept_under_another_name)(np.arange(3.0), 0)
    assert a is b
    a, b = jit(kept_under_another_name)(np.arange(3.0), 1)
    assert not np.shares_memory(a, b)


# Steps that read rows, columns and corners of what they write over.


def eliminated(x, steps):
    a = x.copy()
    for k in range(min(steps, a.shape[0], a.shape[1])):
        a = a - a[:, k, None] * a[k] * 0.25
    return a


def shortest(x, steps):
    a = x.copy()
    for k in range(min(steps, a.shape[0], a.shape[1])):
        a = np.minimum(a, a[:, k, None] + a[k])
    return a


def from_corners(x, steps):
    a = x * 2.0
    for _ in range(steps):
        if a.shape[0] > 0 and a.shape[1] > 0:
            a = a * 0.5 + a[0, 0] - a[-1, -1] * a[-1]
    return a


def columns_of_columns(x, steps):
    a = np.asfortranarray(x * 2.0)
    for k in range(min(steps, a.shape[1])):
        a = a * 0.5 - a[:, k, None]
    return a


def rows_below(x, steps):
    a = x * 2.0
    kept = np.zeros(a.shape[0])
    for k in range(min(steps, a.shape[0])):
        a = a * 0.5 - a[k]
        kept[k] = a[k, -1] if a.shape[1] > 0 else 0.0
    return a, kept


def rows_as_columns(x, steps):
    a = x * 2.0
    for k in range(min(steps, a.shape[0], a.shape[1])):
        a = a * 0.5 - a[k][:, None]
    return a


def boxes(x, steps):
    a = x[:, :, None] * np.arange(1.0, 4.0)
    for k in range(min(steps, 3)):
        a = a - a[:, :, k, None] * 0.5 + a[:1, :, k, None] - a[:, :1, :] + a[:, :1, :1]
    return a


GRIDS = ((0, 0), (0, 4), (4, 0), (1, 1), (1, 7), (7, 1), (5, 9), (70, 300))
STEPS_OVER_GRIDS = [eliminated, shortest, from_corners, columns_of_columns, rows_below,
                    rows_as_columns, boxes]


@pytest.mark.parametrize("program", STEPS_OVER_GRIDS, ids=lambda f: f.__name__)
def test_steps_see_rows_and_columns_as_they_were(program: Callable):
    jitted = jit(program)
    for shape in GRIDS:
        if program is boxes and min(shape) == 0:
            continue  # NumPy has no row 0 to broadcast.
        if program is rows_as_columns:
            shape = (shape[0], shape[0])
        for steps in (0, 1, 3):
            def make(shape=shape, steps=steps):
                return np.sin(np.arange(float(np.prod(shape)))).reshape(shape), steps
            compiled = ("serial", "parallel")
            targets = compiled if shape[0] > 9 else ("interpreter", *compiled)
            check_agreement(jitted, program, make, EXACT, targets)


def test_a_row_or_column_is_no_reason_for_another_array():
    grid = np.ones((4, 5))
    assert jit(shortest).ir(grid, 3, stage="place-results").count("foreach") == 2
    assert "written over a, which ends there" in str(jit(shortest).explain(grid, 3))


# Rows.


def prefix(row, start):
    sums = np.empty(len(row))
    total = start
    for j in range(len(row)):
        total = total * 0.5 + row[j]
        sums[j] = total
    return sums


def prefixes(m):
    return np.array([prefix(row, 1.0) for row in m])


def prefixes_of_prefixes(m):
    return np.array([[prefix(row, start) for start in (0.0, 1.0)] for row in m])


def scaled_rows(m):
    return np.array([prefix(row, 0.0) / (1.0 + np.abs(row).max()) for row in m]) if m.size else m


def stepped_rows(m):
    def step(row):
        a = row.copy()
        for k in range(4):
            a = a * 0.5 + k
        return a

    return np.array([step(row) for row in m])


def prefixes_into(m, out):
    for i in range(len(m)):
        out[i] = prefix(m[i], 1.0)


def every_other(m):
    out = np.zeros((len(m), 2 * m.shape[1]))
    for i in range(len(m)):
        out[i, ::-2] = prefix(m[i], 1.0)
    return out


def one_row_after_another(m):
    out = np.zeros_like(m)
    for i in range(1, len(m)):
        out[i] = prefix(m[i] + out[i - 1], 1.0)
    return out


def a_row_of_itself(m):
    out = m.copy()
    for i in range(len(m)):
        out[i] = prefix(out[i, ::-1], 1.0)
    return out


def raises_in_the_middle(m):
    def checked(row):
        sums = np.zeros(len(row))
        for j in range(len(row)):
            if row[j] > 3.0:
                raise ValueError(f"{j} is too large")
            sums[j] = row[j]
        return sums

    for i in range(len(m)):
        m[i] = checked(m[i] + 1.0)


SHAPES = ((0, 3), (3, 0), (1, 1), (4, 5), (200, 70))


@pytest.mark.parametrize("program", [prefixes, prefixes_of_prefixes, scaled_rows, stepped_rows,
                                     every_other, one_row_after_another, a_row_of_itself,
                                     raises_in_the_middle], ids=lambda f: f.__name__)
def test_rows_are_what_they_are_alone(program: Callable):
    jitted = jit(program)
    for shape in SHAPES:
        targets = ("serial", "parallel") if shape[0] > 9 else ("interpreter", "serial", "parallel")
        if shape[0] == 0 and program in (prefixes, prefixes_of_prefixes, stepped_rows):
            continue  # NumPy knows no row's length then.
        matrix = np.linspace(-1.0, 5.0, shape[0] * shape[1]).reshape(shape)
        check_agreement(jitted, program, deep_copies((matrix,)), targets=targets)


@pytest.mark.parametrize("columns", [4, 5])
def test_rows_go_into_an_array_of_the_caller_or_raise(columns):
    check_agreement(jit(prefixes_into), prefixes_into,
                    lambda: (np.arange(12.0).reshape(3, 4), np.zeros((3, columns))))


def test_rows_are_written_in_place_and_loops_carry_no_copies():
    m = np.ones((4, 5))
    made = jit(prefixes).ir(m, stage="plan-memory")
    assert made.count("alloc") == 1
    assert jit(from_zeros).ir(m[0], 3, stage="plan-memory").count("alloc") == 1
    assert jit(wave).ir(m[0], 3, stage="plan-memory").count("alloc") == 2
