"""Arrays that are copied or filled, and then stored over but for their borders."""

import numpy as np
import pytest
from agreement import EXACT, check_agreement, deep_copies

from parakeet import jit

RANDOM = np.random.default_rng(27)


def heat(u, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = v
    return u


def waves(a, b, steps):
    for _ in range(steps):
        c = np.zeros_like(a)
        c[1:-1, 2:-1] = 2 * b[1:-1, 2:-1] - a[1:-1, 2:-1] + 0.25 * (b[2:, 2:-1] - b[:-2, 2:-1])
        a = b
        b = c
    return a, b


def life(grid, steps):
    for _ in range(steps):
        count = np.zeros_like(grid)
        count[1:-1, 1:-1] = (grid[:-2, :-2] + grid[:-2, 1:-1] + grid[:-2, 2:] + grid[1:-1, :-2]
                             + grid[1:-1, 2:] + grid[2:, :-2] + grid[2:, 1:-1] + grid[2:, 2:])
        grid = ((count == 3) | ((grid == 1) & (count == 2))).astype(grid.dtype)
    return grid


def blocks(x, at, side):
    y = np.full(x.shape, 7.0)
    for i in range(side):
        for j in range(side):
            for k in range(side):
                y[at + i, at + k, at + j] = x[i, j, k]
    return y


def made_of_what_changes(x):
    """What the copy reads is written before its inside is stored."""
    y = x + 1.0
    x[:] = 0.0
    y[1:-1] = 3.0
    return y


def half_before_an_error(x, k):
    y = x.copy()
    for i in range(len(x) - 2):
        y[i + 1] = x[k[i]]
    return y


GRID = RANDOM.integers(0, 2, (9, 12))
CASES = [
    (heat, (RANDOM.random(41), 5), (RANDOM.random(2), 3), (RANDOM.random(3), 1),
     (RANDOM.random(0), 2)),
    (waves, (RANDOM.random((9, 11)), RANDOM.random((9, 11)), 4),
     (RANDOM.random((2, 3)), RANDOM.random((2, 3)), 3),
     (np.asfortranarray(RANDOM.random((5, 6))), RANDOM.random((5, 6)), 2)),
    (life, (GRID, 6), (GRID[:2], 2), (GRID[:3, :3], 1)),
    (blocks, (RANDOM.random((6, 6, 6)), 1, 4), (RANDOM.random((3, 3, 3)), 0, 3),
     (RANDOM.random((3, 3, 3)), 2, 0), (RANDOM.random((3, 3, 3)), 2, 2)),
    (made_of_what_changes, (RANDOM.random(8),), (RANDOM.random(1),)),
    (half_before_an_error, (RANDOM.random(6), np.arange(6)), (RANDOM.random(6), np.arange(6) + 4)),
]


@pytest.mark.parametrize("program, arguments", [
    pytest.param(program, arguments, id=program.__name__) for program, *arguments in CASES])
def test_borders_stay_as_they_were(program, arguments):
    jitted = jit(program)
    for each in arguments:
        check_agreement(jitted, program, deep_copies(each), EXACT)


@pytest.mark.parametrize("program", [heat, waves])
def test_only_the_borders_are_made_first(program):
    arguments = next(case[1] for case in CASES if case[0] is program)
    report = jit(program).explain(*arguments, target="serial")
    assert any("makes only what is not stored over" in note.text for note in report.notes)


def test_what_is_read_once_is_not_made():
    report = jit(life).explain(*next(case[1] for case in CASES if case[0] is life), target="serial")
    assert any(note.text == "made where it is read" for note in report.notes)
