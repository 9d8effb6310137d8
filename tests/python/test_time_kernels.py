"""Time loops of which a GPU makes several steps in one kernel."""

import numpy as np
import pytest
import test_time_tiles as loops
from agreement import EXACT, HERE, check_agreement, deep_copies

from parakeet import jit

RANDOM = np.random.default_rng(2911)
# Kernels make several steps of so many elements and more: 1 << 16.
SHAPE = (270, 250)


def reactions(u, steps):
    v = 1.0 - u
    for t in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        product = u[1:-1, 1:-1] * v[1:-1, 1:-1] * v[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.16 * lap - product + 0.06 * (1.0 - u[1:-1, 1:-1])
        v[1:-1, 1:-1] += product - 0.1 * v[1:-1, 1:-1]
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :]
        v[:, 0] = v[:, 1] * t
    return u, v


def rolled_along_both(u, steps):
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) - 3.0 * u)
    return u


def sums_of_integers(u, steps):
    cells = (u * 10.0).astype(np.int32)
    for _ in range(steps):
        cells[1:-1, 1:-1] = (cells[:-2, 1:-1] + cells[2:, 1:-1] + cells[1:-1, 2:]) % 7
    return cells


JOINED = [loops.smoothed_in_turns, loops.by_loops_that_swap, loops.waves,
          loops.fields_with_a_source, loops.new_in_each_step, loops.time_that_is_carried,
          loops.staggered_grids, loops.rolled_in_turns,
          loops.borders_of_the_other_end, reactions, rolled_along_both, sums_of_integers]


@pytest.mark.parametrize("program", JOINED, ids=lambda program: program.__name__)
def test_steps_of_one_kernel_have_the_bits_of_steps_in_turn(program):
    jitted = jit(program)
    notes = jitted.explain(RANDOM.random(SHAPE), 4, target=HERE)
    assert "several steps in one kernel" in " ".join(notes.split())
    for steps in (5, 26):
        check_agreement(jitted, program, deep_copies((RANDOM.random(SHAPE), steps)), EXACT,
                        targets=[HERE])


@pytest.mark.parametrize("program", [loops.rows_from_the_other_end, loops.a_sum_on_the_way,
                                     loops.elements_that_choose],
                         ids=lambda program: program.__name__)
def test_steps_stay_apart_that_are_not_known(program):
    notes = jit(program).explain(RANDOM.random(SHAPE), 4, target=HERE)
    assert "several steps in one kernel" not in notes
