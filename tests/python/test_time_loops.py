"""Loops over steps: what each element does by itself goes through all of them at once."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


def arrays_made_anew(x, c, n):
    s = x
    count = np.zeros(x.shape, dtype=np.int64)
    for k in range(n):
        inside = np.abs(s) < 2.0
        count = np.where(inside, k, count)
        s = np.where(inside, s * s + c, s)
    return s, count


def updates_in_place(x, c, n):
    total = np.zeros_like(x)
    for k in range(n):
        x *= 0.5
        x += c
        x[x > 1.0] -= 1.0
        total[:] = total + x * k
    return total


def recurrences_along_rows(x, c, n):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = 0.5 * y[:, j - 1] + x[:, j] * c[:, j]
    for j in range(x.shape[1] - 2, -1, -1):
        y[:, j] += y[:, j + 1]
    return y


def steps_by_coefficients(x, c, n):
    weights = np.arange(n) * 0.25
    for k in range(n):
        x[1:] = x[1:] * weights[k] + c[:-1]
    return x.sum()


def two_arrays_swapped(x, c, n):
    u, v = x.copy(), c.copy()
    for _ in range(n):
        u, v = v * 0.5, u + 1.0
    return u, v


def what_the_loop_begins_with(x, c, n):
    s = t = x
    for _ in range(n):
        s = s * 0.5
        t = s + t
    s[0] = 7.0
    return s, t


def old_and_new(x, c, n):
    new, old = x, c
    for _ in range(n):
        new, old = new + 1.0, new
    old[0] = 5.0
    return new, old


def neighbours_stay_in_step(x, c, n):
    for _ in range(n):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
        c[:, 1:] = c[:, :-1] + x[:, 1:]
    return x[0, 0]


def rows_of_time(x, c, n):
    for k in range(1, x.shape[0]):
        x[k] = x[k - 1] * c[k]
    return x[-1]


def one_step_raises(x, c, n):
    for k in range(n):
        x += 1.0
        assert k < 3
        x *= 2.0
    return x


PROGRAMS = [arrays_made_anew, updates_in_place, recurrences_along_rows, steps_by_coefficients,
            two_arrays_swapped, what_the_loop_begins_with, old_and_new,
            neighbours_stay_in_step, rows_of_time]  # fmt: skip


def run(function, arguments, **options):
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    results = function(*arguments, **options)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    return (*(results if isinstance(results, tuple) else (results,)), *arrays)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_steps_are_those_of_numpy(function, target):
    rng = np.random.default_rng(5)
    fast = jit(function)
    for shape in [(1, 1), (3, 7), (40, 65)]:
        for n in (0, 1, 6):
            arguments = (rng.random(shape), rng.random(shape), n)
            for ours, theirs in zip(run(fast, arguments, target=target), run(function, arguments),
                                    strict=True):  # fmt: skip
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("order", ["F", "strided"])
def test_steps_over_other_layouts(order):
    rng = np.random.default_rng(6)
    x, c = rng.random((9, 12)), rng.random((9, 12))
    if order == "F":
        x, c = np.asfortranarray(x), np.asfortranarray(c)
    else:
        x, c = (np.repeat(a, 2, axis=0)[::-2] for a in (x, c))
    for function in PROGRAMS:
        got = run(jit(function), (x, c, 4), target="serial")
        for ours, theirs in zip(got, run(function, (x, c, 4)), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_stored_before_a_step_raises_stays(target):
    x = np.zeros((4, 5))
    with pytest.raises(AssertionError):
        jit(one_step_raises)(x, x.copy(), 10, target=target)
    expected = np.zeros((4, 5))
    with pytest.raises(AssertionError):
        one_step_raises(expected, None, 10)
    np.testing.assert_array_equal(x, expected)


def test_arguments_that_overlap_go_step_by_step():
    @jit
    def function(x, y):
        for _ in range(3):
            x += y

    ours, theirs = np.arange(8.0), np.arange(8.0)
    function(ours[1:], ours[:-1])
    for _ in range(3):
        theirs[1:] += theirs[:-1]
    np.testing.assert_array_equal(ours, theirs)


def test_a_time_loop_makes_one_traversal():
    fast = jit(arrays_made_anew)
    fast(np.ones((3, 4)), np.ones((3, 4)), 2, target="serial")
    program = fast.ir(stage="interchange-loops")
    assert "map" not in program[program.index("for %") :]
