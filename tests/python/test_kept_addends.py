"""Loops that add up what loops inside them have stored: each iteration keeps what it adds."""

import math

import numpy as np
import pytest
from agreement import REDUCED, TRANSCENDENTAL, check_agreement

from parakeet import jit


def normalised(x, out):
    total = x.sum() * 0.0 + 1.0
    best, at = x.sum() * 0.0 - 1.0, -1
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j])
        t = 0.0
        for j in range(x.shape[1]):
            t += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= t
        total += math.log(t)
        if out[i, 0] > best:
            best, at = out[i, 0], i
    return total, best, at, out


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 3), (40, 17), (300, 5)])
def test_rows_that_are_made_and_added_up(shape):
    x = np.random.default_rng(shape[0]).random(shape)
    check_agreement(jit(normalised), normalised, lambda: (x, np.zeros(shape)), TRANSCENDENTAL)


def downwards(x, out, limit):
    count = 0
    for i in range(len(x) - 1, 1, -2):
        for j in range(out.shape[1]):
            out[i, j] = x[i] + j
        if out[i, 1] < limit:
            count += i
        out[i, 2] = out[i, 0] + 1
    return count, out


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 33])
def test_steps_downwards(size):
    x = np.arange(size) * 0.5
    for limit in (-1.0, 3.2, 100.0):
        check_agreement(jit(downwards), downwards, lambda m=limit: (x, np.zeros((size, 3)), m))


def running(x, out):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] + s
        t = 0.0
        for j in range(x.shape[1]):
            t += out[i, j]
        s += t * 0.125
    return s, out


def test_what_is_stored_of_the_sum_stays_in_order():
    x = np.random.default_rng(1).integers(0, 9, (12, 5)) * 1.0
    check_agreement(jit(running), running, lambda: (x, np.zeros((12, 5))), REDUCED)


def failing(x, y):
    out = np.zeros((len(x), 2))
    total = 0
    for i in range(len(x)):
        for j in range(2):
            out[i, j] = x[i] * j
        total += int(10 // int(out[i, 1])) + y[i]
    return total, out


@pytest.mark.parametrize(("zero", "length"), [(3, 9), (8, 9), (20, 9), (5, 5), (30, 30)])
def test_the_first_iteration_that_fails_is_told(zero, length):
    x = np.arange(1.0, 21.0)
    if zero < 20:
        x[zero] = 0.0
    check_agreement(jit(failing), failing, lambda: (x, np.arange(length)))
