"""Steps of time loops that store to nearly all of an array what they make of elements around."""

import numpy as np
import pytest
from agreement import HERE, Tolerance, check_agreement, deep_copies

from parakeet import jit

RANDOM = np.random.default_rng(17)
CLOSE = Tolerance("sums combine in another order, and grow", ulps=64, of_sum=32)


def inside(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 2:] = u[:-2, 2:] - 0.5 * u[2:, 1:-1] + 0.25 * u[1:-1, :-2]
    return u


def of_the_caller(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u[0, 0]


def copied_before(u, steps):
    for _ in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] = 0.5 * (old[:-2, 1:-1] + old[1:-1, 2:])
        u[:, -1] = u[:, -2]
        u[0, :] = u[1, :]
        u[:, 0] = u[:, 1]
        u[-1, :] = 0
    return u


def two_at_once(u, steps):
    v = u * 2.0
    w = np.zeros_like(u)
    for _ in range(steps):
        product = u[1:-1, 1:-1] * v[1:-1, 1:-1]
        around = u[:-2, 1:-1] + v[2:, 1:-1]
        u[1:-1, 1:-1] += 0.1 * around - product
        v[1:-1, 1:-1] += 0.1 * product - around
        w[1:-1, 1:-1] = around
    return v, w


def until_it_is_still(u, steps):
    u = u.copy()
    count, change = 0, 1.0
    while change > 1e-3 and count < 10 * steps:
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        change = np.abs(u - old).sum()
        count += 1
    return u, count


def inner_steps(u, steps):
    total = u.sum()
    for k in range(steps):
        v = u * (k + 1)
        for _ in range(3):
            v[1:-1] = v[:-2] + 0.5 * v[2:]
        for _ in range(2):
            u[:-1] = 0.5 * (u[1:] + v[:-1])
        total += v.sum()
    return total


def names_and_views(u, steps):
    other = u[1:-1]
    keep = u.copy()
    same = keep
    for _ in range(steps):
        u[1:-1] = u[:-2] - u[2:]
        keep[1:-1] = keep[2:] + other
    return same, other.copy()


def either(u, steps):
    v = u + 1.0
    w = u if steps % 2 else v
    for _ in range(steps):
        w[1:-1] = w[:-2] + v[2:]
    return u, v, w


def renewed_before_it_is_either(u, steps):
    first = u + 1.0
    for _ in range(steps):
        first[1:-1] = 0.5 * (first[:-2] + first[2:])
    v, w = u - 1.0, u * 0.0
    for _ in range(steps):
        w[1:-1] = 0.5 * (v[:-2] + v[2:])
        v = w
    for _ in range(steps):
        v[1:-1] = 0.5 * (w[:-2] + v[2:])
        v[0] = v[-1]
    return first, v, w


def raises_on_the_way(u, steps):
    for k in range(steps):
        u[1:-1, 1:-1] = 0.5 * (u[:-2, 1:-1] + u[1:-1, 2:])
        if k == 2:
            raise ValueError("third step")
    return u


def begins_with_a_copy(u, steps):
    r = u.copy()
    for _ in range(steps):
        r = np.roll(r, 1, axis=0) * 0.5 + r[::-1]
    r[0, 0] = 7.0
    return r


def copies_of_two(u, steps):
    p, q = u.copy(), (2.0 * u)[:, :]
    for _ in range(steps):
        p, q = np.roll(q, 1, axis=1) + 0.25 * np.roll(p, 2, axis=0), np.roll(p, -1, axis=1)
    p[1] += u[1]
    return p, q


def stored_to_on_the_way(u, steps):
    r = u.copy()
    u[0] = 3.0
    for k in range(steps):
        r = np.roll(r, 1, axis=1) + 0.5 * u
        u[1] = k
    return r


PROGRAMS = [inside, begins_with_a_copy, copies_of_two, stored_to_on_the_way, of_the_caller,
            copied_before, two_at_once, until_it_is_still, inner_steps, names_and_views, either,
            renewed_before_it_is_either, raises_on_the_way]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_steps_are_those_of_numpy(program):
    jitted = jit(program)
    for shape in ((9, 11), (3, 3), (2, 5), (4, 2), (70, 130)):
        for steps in (0, 1, 2, 5):
            arguments = deep_copies((RANDOM.random(shape), steps))
            check_agreement(jitted, program, arguments, CLOSE)


@pytest.mark.parametrize("order", ["F", "strided", "reversed"])
def test_steps_over_other_layouts(order):
    base = RANDOM.random((24, 40))
    grid = {"F": np.asfortranarray(base), "strided": base[::2, ::3], "reversed": base[::-1]}[order]
    for program in (inside, of_the_caller, two_at_once):
        check_agreement(jit(program), program, deep_copies((grid, 3)), CLOSE)


def test_what_overlaps_itself_goes_step_by_step():
    def arguments():
        row = np.random.default_rng(3).random(40)
        return np.lib.stride_tricks.as_strided(row, (8, 16), (16, 8)), 2

    for program in (of_the_caller, copied_before):
        check_agreement(jit(program), program, arguments, CLOSE)


def test_a_step_makes_no_array_and_copies_nothing():
    for program, made in ((inside, 2), (of_the_caller, 1), (until_it_is_still, 2)):
        report = jit(program).explain(RANDOM.random((30, 40)), 4)
        assert any("two arrays take turns" in note.text for note in report.notes), program
        assert f", {made} array" in str(report), (program, str(report))


@pytest.mark.parametrize("target", ["serial", HERE])
def test_a_loop_begins_with_what_is_copied(target):
    report = jit(begins_with_a_copy).explain(RANDOM.random((30, 40)), 4, target=target)
    assert any("begins with what is copied" in note.text for note in report.notes)
