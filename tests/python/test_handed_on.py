"""Arrays that a step hands on to the next one under another name, and columns that are stored one
by one."""

import numpy as np
import pytest
from agreement import REDUCED, check_agreement

from parakeet import jit


def legendre(x, last):
    p, q = np.ones_like(x), x
    for n in range(2, last):
        p, q = q, ((2 * n - 1) * x * q - (n - 1) * p) / n
    return q


def both_and_the_first(x, steps):
    p, q = x, x * 2
    for _ in range(steps):
        p, q = q, p + q * 0.5
    p[0] = 100.0
    return p, q, x


def three_names(x, y, steps):
    a, b, c = x, y, x + y
    for k in range(steps):
        a, b, c = b, c, a * 0.25 + b - c * k
    return a, b, c


def that_change_places(x, y, steps):
    a, b, c = x, y, x + y
    for _ in range(steps):
        a, b, c = b, a, c + a
    return a, b, c


def begun_again(x, steps):
    once = np.zeros_like(x)
    total = 0.0
    for _ in range(3):
        each = once
        for _ in range(steps):
            each = each * x + 1
        each[0] += 1
        total += each[0]
    return total, once


def horner(x, c):
    r = np.zeros_like(x)
    for k in range(len(c)):
        r = r * x + c[k]
    return r


def taps(x, w):
    n = x.shape[1] - len(w) + 1
    out = np.zeros((len(x), n))
    for k in range(len(w)):
        out = out + w[k] * x[:, k:k + n]
    return out


def crossed(a, b):
    return np.cross(a, b)


def turned(q, v):
    w, u = q[:, 0:1], q[:, 1:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def stacked(x, y):
    return np.stack((x + y, x - y, x * y), axis=-1), np.stack((x, y), axis=1)


def columns(x, y):
    out = np.zeros((len(x), 3))
    out[:, 2] = x
    out[:, 0] = out[::-1, 2] + y
    out[:, 1] = y * 2
    return out


@pytest.mark.parametrize("last", [0, 2, 3, 4, 20])
@pytest.mark.parametrize("shape", [(0,), (300,), (7, 9)])
def test_polynomials_of_the_two_before(shape, last):
    x = np.random.default_rng(0).random(shape) - 0.5
    check_agreement(jit(legendre), legendre, lambda: (x, last), REDUCED)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("program", [three_names, that_change_places])
def test_names_of_steps(program, steps):
    x, y = np.random.default_rng(1).random((2, 50))
    check_agreement(jit(program), program, lambda: (x, y, steps), REDUCED)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_what_few_steps_leave_is_what_they_began_with(steps):
    """An element that is stored then shows in what the caller gave, or does not."""
    check_agreement(
        jit(both_and_the_first),
        both_and_the_first,
        lambda: (np.arange(20.0), steps),
        REDUCED,
    )


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_an_array_that_begins_several_loops_is_the_one_that_is_stored_to(steps):
    check_agreement(jit(begun_again), begun_again, lambda: (np.arange(4.0), steps), REDUCED)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_an_array_that_is_made_for_a_loop_is_not_made(n):
    x, c = np.random.default_rng(3).random((40, 30)), np.arange(float(n))
    check_agreement(jit(horner), horner, lambda: (x, c), REDUCED)
    check_agreement(jit(taps), taps, lambda: (x, c), REDUCED)
    for target in ("serial", "emulated_gpu"):
        for program in (horner, taps):
            assert "1 array made" in str(jit(program).explain(x, c, target=target))


@pytest.mark.parametrize("n", [0, 1, 33, 1000])
def test_columns_of_vectors(n):
    rng = np.random.default_rng(2)
    a, b, q = rng.random((n, 3)), rng.random((n, 3)), rng.random((n, 4))
    check_agreement(jit(crossed), crossed, lambda: (a, b), REDUCED)
    check_agreement(jit(turned), turned, lambda: (q, a), REDUCED)
    check_agreement(jit(stacked), stacked, lambda: (a[:, 0].copy(), b[:, 0].copy()))
    check_agreement(jit(columns), columns, lambda: (a[:, 0].copy(), b[:, 0].copy()))


def test_columns_are_stored_in_one_traversal():
    a = np.ones((5, 3))
    for target in ("serial", "emulated_gpu"):
        assert "1 traversal," in str(jit(crossed).explain(a, a, target=target))
