"""Time loops of which several steps are done at once, a band of rows after the other."""

import inspect

import numpy as np
import pytest
from agreement import EXACT, check_agreement, deep_copies

import parakeet
from parakeet import jit

RANDOM = np.random.default_rng(2811)


def smoothed_in_turns(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return u, v


def by_loops_that_swap(u, steps):
    v = u.copy()
    for _ in range(steps):
        for i in range(2, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.5 * (u[i - 2, j] + u[i + 1, j]) - 0.25 * u[i, j - 1]
        u, v = v, u
    return u, v


def inside_in_place(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] - 2.0 * u[1:-1, 1:-1] + u[:-2, 1:-1])


def waves(u, steps):
    before, now, then = u.copy(), u.copy(), np.zeros_like(u)
    for _ in range(steps):
        then[1:-1, 1:-1] = (2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1]
                            + 0.1 * (now[2:, 1:-1] + now[:-2, 1:-1] - 2.0 * now[1:-1, 1:-1]))
        before, now, then = now, then, before
    return now


def fields_with_a_source(u, steps):
    ex, ey, hz = u.copy(), 0.5 * u, 2.0 * u
    for t in range(3, steps + 3):
        ey[0, :] = np.float64(t) * 0.125
        ex[-1, :] = ex[-2, :]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        hz[:, 0] = hz[:, 1]
    return ex, ey, hz


def two_rows_upwards(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[:-3] = 0.5 * (u[3:] + u[:-3])
        u[2:] = 0.25 * v[:-2] + u[2:]
    return u, v


def elements_that_choose(u, steps):
    v = u.copy()
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(u.shape[1]):
                if (i + t) % 2 == 0:
                    v[i, j] = u[i - 1, j]
                elif u[i, j] < 0.5:
                    v[i, j] = u[i + 1, j] * 0.5
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                u[i, j] = v[i, j] + 0.25
    return u


def step(u, weight):
    around = u.copy()
    around[1:-1, 1:-1] = weight * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return around


def new_in_each_step(u, steps):
    for _ in range(steps):
        u = step(u, 0.25)
    return u


def three_of_which_one_is_new(u, steps):
    before, now = u, 0.5 * u
    for t in range(steps):
        then = np.zeros_like(u)
        then[1:-1] = 2.0 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        then[0, :] = np.float64(t) * 0.5
        before, now = now, then
    return before, now, u


def what_only_a_step_knows(u, steps):
    for _ in range(steps):
        slope = np.zeros_like(u)
        slope[1:-1] = u[2:] - u[:-2]
        old = u.copy()
        u[1:-1] = old[1:-1] - 0.1 * (slope[2:] - slope[:-2]) + 0.25 * old[:-2]
    return u


def time_that_is_carried(u, steps):
    v, time, scale, pace = u.copy(), np.float64(0.25), np.float64(1.0), 0.125
    for _ in range(steps):
        v[0, :] = time * scale
        v[1:-1] = 0.5 * u[:-2] + scale * u[2:]
        u[1:-1] = v[1:-1] + time
        u[-1, :] = time
        scale = 1.0 - 0.75 * scale * time
        time += pace
    return u, v, time, scale


def staggered_grids(h, steps):
    u, time = np.zeros((h.shape[0] + 1, h.shape[1])), np.float64(0.0)
    for _ in range(steps):
        u[1:-1] = u[1:-1] - 0.1 * (h[1:] - h[:-1])
        h = h - 0.1 * (u[1:] - u[:-1])
        time += 0.1
        u[0] = time
    return h, u


def rolled(u, steps):
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
                       - 4 * u)
    return u


def rolled_in_turns(u, steps):
    v = 0.5 * u
    for t in range(steps):
        v -= 0.25 * (np.roll(u, -2, axis=0) - u)
        u[:] = u + 0.125 * (v - np.roll(v, 3, axis=0))
        v[5 % u.shape[0], :] = np.float64(t)
    return u, v


def borders_of_the_other_end(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = 0.25 * (u[:-2] + u[2:]) + 0.25
        v[0, :] = v[-2, :]
        v[-1, :] = v[1, :]
        u[:] = v
    return u


def new_behind_a_store_to_the_old(u, steps):
    first = u
    for _ in range(steps):
        u[0, :] = 1.0
        u = step(u, 0.25)
    return first, u


def as_long_as_others(u, steps):
    line, other = u[0] * 0.5, u[:, 0] + 0.25
    for _ in range(steps):
        line = np.max(u, axis=1) + 0.5
        line, other = other, line
    return line, other


def rows_from_the_other_end(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:] = 0.5 * u[:-1] + 0.25
        u[:] = v[::-1]
    return u


def a_sum_on_the_way(u, steps):
    v, total = u.copy(), np.float64(0.0)
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u[1:-1] = v[1:-1]
        total += u[1, 1]
    return u, total


PROGRAMS = [smoothed_in_turns, by_loops_that_swap, inside_in_place, waves, fields_with_a_source,
            two_rows_upwards, elements_that_choose, new_in_each_step, three_of_which_one_is_new,
            what_only_a_step_knows, time_that_is_carried, staggered_grids, rolled,
            rolled_in_turns, borders_of_the_other_end, new_behind_a_store_to_the_old,
            rows_from_the_other_end, a_sum_on_the_way]
TILED = PROGRAMS[:-3]
BY_LOOPS = (by_loops_that_swap, elements_that_choose)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", [*PROGRAMS, as_long_as_others], ids=lambda each: each.__name__)
def test_no_bit_depends_on_how_many_steps_are_done_at_once(program):
    jitted = jit(program)
    # Of 800 rows, one core takes some at a time, of 90 two threads do; 5 are done step by step.
    shapes = [(800, 6), (90, 7), (5, 9)] if program in BY_LOOPS else [(800, 250), (90, 250), (5, 9)]
    for shape in shapes:
        for steps in (0, 1, 9, 26):
            arguments = deep_copies((RANDOM.random(shape), steps))
            check_agreement(jitted, program, arguments, EXACT, targets=["serial", "parallel"])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_done_at_once_is_what_steps_allow(program):
    notes = jit(program).explain(RANDOM.random((8, 9)), 4)
    assert ("several steps at once" in " ".join(notes.split())) == (program in TILED)


@pytest.mark.parametrize("target", ["serial", "parallel"])
def test_a_profile_has_the_steps_on_the_line_of_the_loop(target):
    jitted = jit(smoothed_in_turns)
    u = RANDOM.random((800, 250))
    jitted(u, 2, target=target)
    with parakeet.profile() as profile:
        jitted(u, 60, target=target)
    (called,) = profile.functions
    (first,) = [line for line, text in enumerate(inspect.getsource(smoothed_in_turns).split("\n"))
                if "for _" in text]
    loop = smoothed_in_turns.__code__.co_firstlineno + first
    assert {line.line for line in called.lines} == {loop - 1, loop}
    assert not [tip for tip in profile.tips if f"line {loop}" in tip]


def test_volumes_lines_and_other_numbers():
    def heat(u, steps):
        for _ in range(steps):
            u[1:-1] = u[1:-1] + (u[2:] - u[:-2]) // 2
        return u

    heated = jit(heat)
    for shape in ((900_000,), (400, 20, 30), (700, 300)):
        for dtype in (np.float32, np.int16):
            grid = (100 * RANDOM.random(shape)).astype(dtype)
            check_agreement(heated, heat, deep_copies((grid, 17)), EXACT,
                            targets=["serial", "parallel"])


def test_layouts_and_arrays_that_are_one():
    jitted = jit(smoothed_in_turns)
    base = RANDOM.random((1600, 500))
    for grid in (np.asfortranarray(base[::2, ::2]), base[::2, ::2], base[::-2, ::-2]):
        check_agreement(jitted, smoothed_in_turns, lambda grid=grid: (grid.copy(order="K"), 11),
                        EXACT, targets=["serial", "parallel"])

    def shifts(u, v, steps):
        for _ in range(steps):
            u[1:] = 0.5 * v[:-1]
            v[:-1] = u[1:] + 0.25
        return u

    moved = jit(shifts)
    for rows in (0, 1, 300):
        line = RANDOM.random((1200, 300))

        def overlapping(rows=rows, line=line):
            own = line.copy()
            return own[rows:rows + 900], own[:900], 14

        check_agreement(moved, shifts, overlapping, EXACT, targets=["serial", "parallel"])
