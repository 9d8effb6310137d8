"""Ranges whose ends lie farther apart than a 64-bit integer counts, the stop behind the start.

No iteration runs, whatever becomes of the loop: parallel, in lanes, a reduction, a list.
"""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit

FAR = 2**62


def stored(y, start, stop, step):
    for i in range(start, stop, step):
        y[i] = 2.0 * i
    return y


def stored_up(y, start, stop, step):
    for i in range(start, stop):
        y[i] = 2.0 * i
    return y


def stored_down(y, start, stop, step):
    for i in range(start, stop, -1):
        y[i % 7] = 2.0 * i
    return y


def added(y, start, stop, step):
    total = 0
    for i in range(start, stop, 3):
        total += i
    return total


def nested(y, start, stop, step):
    for i in range(start, stop):
        for j in range(start, stop, step):
            y[i] += y[j]
    return y


def listed(y, start, stop, step):
    return np.array([2.0 * i for i in range(start, stop, step)])


def zipped(y, start, stop, step):
    total = 0.0
    for i, each in zip(range(start, stop), y):
        total += i * each
    return total


@pytest.mark.parametrize(
    "function", [stored, stored_up, stored_down, added, nested, listed, zipped])
def test_no_iteration_of_a_stop_far_behind_the_start(function):
    ends = (-FAR - 1, FAR, -1) if function is stored_down else (FAR, -FAR - 1, 1)
    for span in (ends, (3, 7, 2)):
        expected = function(np.arange(9.0), *span)
        for target in TARGETS:
            made = jit(function)(np.arange(9.0), *span, target=target)
            np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("step", [-7, -3, -2, -1, 1, 2, 3, 7])
def test_iterations_of_every_step(step):
    for start in range(-3, 4):
        for stop in range(-8, 9):
            for target in ("interpreter", "serial"):
                made = jit(added_by)(start, stop, step, target=target)
                assert made == added_by(start, stop, step)


def added_by(start, stop, step):
    total = 1
    for i in range(start, stop, step):
        total = 10 * total + i
    return total
