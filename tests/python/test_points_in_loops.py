"""Loops over points and states of a few elements, which are written out where they are so short."""

import numpy as np
import pytest
from agreement import Tolerance, check_agreement, deep_copies

from parakeet import jit

LENGTHS = (1, 2, 3, 5)
LONG = Tolerance("sums of a few elements, steps of which each goes on from the last",
                 ulps=64.0, of_one=4096.0)  # fmt: skip


def distances(points):
    total = 0.0
    for i in range(len(points)):
        for j in range(i):
            total += np.sqrt(np.sum((points[i] - points[j]) ** 2))
    return total


def pair_forces(pos, box):
    forces = np.zeros_like(pos)
    energy = 0.0
    for i in range(len(pos) - 1):
        for j in range(i + 1, len(pos)):
            d = pos[i] - pos[j]
            d = d - box * np.round(d / box)
            r2 = np.sum(d * d)
            if r2 < 6.0:
                inverse = 1.0 / (r2 + 0.5) ** 3
                energy += 4.0 * inverse * (inverse - 1.0)
                force = 48.0 * inverse * (inverse - 0.5) * d
                forces[i] += force
                forces[j] -= force
    return forces, energy


def orbits(pos, vel, dt, steps):
    pos, vel = pos.copy(), vel.copy()
    for _ in range(steps):
        for i in range(len(pos)):
            acceleration = np.zeros_like(pos[i])
            for j in range(len(pos)):
                if i != j:
                    r = pos[j] - pos[i]
                    acceleration += r / (np.dot(r, r) + 1e-3) ** 1.5
            vel[i] += dt * acceleration
        for i in range(len(pos)):
            pos[i] += dt * vel[i]
    return pos, vel


def springs(pos, ends):
    forces = np.zeros_like(pos)
    for s in range(len(ends)):
        i, j = ends[s, 0], ends[s, 1]
        d = pos[j] - pos[i]
        r = np.linalg.norm(d) + 0.1
        forces[i] += (r - 1.0) * d / r
        forces[j] -= (r - 1.0) * d / r
    return forces


def descent(x, matrix, steps):
    history = np.zeros((steps, len(x)))
    best = np.inf
    for k in range(steps):
        gradient = matrix @ x - 1.0
        x = x - 0.1 * gradient
        size = np.sqrt(np.sum(gradient**2))
        if size < best:
            best = size
        history[k] = x[::-1]
    return x, history, best


def bounces(x, v):
    steps = 0
    while np.abs(x).max() < 2.0:
        x = x + 0.1 * v
        if x[0] > 1.0:
            v = -v
        steps += 1
    return x, v, steps


def lorenz(state, steps):
    rows = np.empty((steps, 3))
    for k in range(steps):
        x, y, z = state
        slope = np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])
        state = state + 0.01 * slope
        rows[k] = state
    return state, rows


def kalman(measured, step, noise):
    x = np.zeros(2)
    spread = np.eye(2)
    estimates = np.zeros(len(measured))
    for k in range(len(measured)):
        x = step @ x
        spread = step @ spread @ step.T + noise
        gain = spread[:, 0] / (spread[0, 0] + 0.1)
        x = x + gain * (measured[k] - x[0])
        spread = spread - np.outer(gain, spread[0])
        estimates[k] = x[0]
    return estimates, spread


def nearest(points, others):
    places = np.zeros(len(points), dtype=np.int64)
    for i in range(len(points)):
        least = np.inf
        for j in range(len(others)):
            d = np.sum((points[i] - others[j]) ** 2)
            if d < least:
                least = d
                places[i] = j
    return places


def swapped(a, b, steps):
    for _ in range(steps):
        a, b = b, a + b
    return a, b, a[0] + b[-1]


def changed_in_place(a, steps):
    first = a
    for k in range(steps):
        a = a * 0.5
        a[k % len(a)] += 1.0
    first[0] += 3.0
    return first, a


def read_before_either_is_stored(counts, ends):
    for s in range(len(ends)):
        i, j = ends[s, 0], ends[s, 1]
        first, second = counts[i, 0], counts[j, 0]
        counts[i, 0] = first + 1.0
        counts[j, 0] = second + 1.0
    return counts


JITTED = {
    program: jit(program)
    for program in (distances, pair_forces, orbits, springs, descent, bounces, lorenz, kalman,
                    nearest, swapped, changed_in_place, read_before_either_is_stored)
}  # fmt: skip


def check(program, *arguments):
    check_agreement(JITTED[program], program, deep_copies(arguments), LONG)


@pytest.mark.parametrize("length", LENGTHS)
def test_points_of_any_length(length):
    rng = np.random.default_rng(length)
    pos, vel = rng.random((7, length)) * 4, rng.random((7, length))
    check(pair_forces, pos, 3.0)
    check(orbits, pos, vel, 0.01, 2)
    check(springs, pos, rng.integers(0, 7, (9, 2)))
    check(nearest, pos, vel)


@pytest.mark.parametrize("length", LENGTHS)
def test_states_of_any_length(length):
    rng = np.random.default_rng(length)
    x, v = rng.random(length), rng.random(length) + 0.1
    check(descent, x, rng.random((length, length)), 5)
    check(bounces, x * 0.1, v)
    check(swapped, x, v, 3)
    check(changed_in_place, x, 3)
    check(changed_in_place, x, 0)


def test_states_of_a_known_length():
    check(lorenz, np.array([1.0, 1.0, 1.0]), 20)
    step, noise = np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2) * 0.01
    check(kalman, np.linspace(0, 1, 15), step, noise)


def test_what_no_step_changes_is_given_back():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    check(swapped, a, b, 0)


def test_an_update_that_is_lost_where_two_places_are_one():
    ends = np.random.default_rng(7).integers(0, 4, (5000, 2))
    check(read_before_either_is_stored, np.zeros((4, 2)), ends)


def test_no_array_is_made_of_a_point():
    points = np.arange(30.0).reshape(10, 3)
    report = str(JITTED[distances].explain(points))
    assert "0 arrays made" in report, report
