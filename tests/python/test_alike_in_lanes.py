"""What a loop in lanes carries that is the same in all of them: Python's answers and errors.

Each program is asked for in the order of its iterations, so that an error is that of the first; the
lengths leave no, some and all lanes of a vector without an iteration.
"""

import math
import re

import numpy as np
import pytest
from agreement import EXACT, REDUCED, TRANSCENDENTAL, check_agreement, deep_copies
from tested_targets import COMPILED

from parakeet import jit

TARGETS = ("interpreter", "serial", "parallel", "emulated_gpu")
RANDOM = np.random.default_rng(11)


def factorials(x, l, m):
    """A product of numbers of the loop's own, and a quotient by it."""
    r = np.empty(len(x))
    for i in range(len(x)):
        f = 1.0
        for k in range(l - m + 1, l + m + 1):
            f *= k
        r[i] = x[i] / f
    return r


def legendre(x, lmax):
    """Loops up to what is carried, choices all lanes make alike, and a quotient by a difference."""
    r = np.zeros((len(x), lmax + 1))
    for i in range(len(x)):
        before, now = 1.0, x[i]
        for l in range(lmax + 1):
            if l == 0:
                value = before
            elif l == 1:
                value = now
            else:
                value = ((2 * l - 1) * x[i] * now - (l - 1) * before) / l
                before, now = now, value
            weight = 1.0
            for k in range(l):
                weight *= math.sqrt((k + 1) / (2 * l + 1))
            r[i, l] = weight * value
    return r


def follow(x, following, start):
    """A list of places, by which every lane goes."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total = 0.0
        k = start
        while k != 0:
            total += x[i] * k
            k = following[k]
        r[i] = total
    return r


def collatz(x, start):
    """None may go through what has no end."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total = x[i]
        if total > 0:
            k = start
            while k != 1:
                total += k
                k = k // 2 if k % 2 == 0 else 3 * k + 1
        r[i] = total
    return r


def reciprocals(x, w, m):
    """A quotient that fails in all lanes, and an index."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total, f, at = 0.0, 4.0, 0
        for k in range(m):
            f -= 1
            at += k
            total += x[i] * (1 / f) + w[at]
        r[i] = total
    return r


def one_fails_first(x, n, w, at):
    """What fails in one lane, then what fails in all of them: told is the first iteration's."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total, place = 1 / int(n[i]), at
        for k in range(3):
            total += w[place] * x[i]
            place += k
        r[i] = total
    return r


def until_found(x, w, end):
    """Lanes leave together."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total, at = x[i], -1
        for k in range(len(w)):
            if w[k] == end:
                at = k
                break
            total += w[k] * x[i]
        r[i] = total + 1000 * at
    return r


def until_enough(x, w, limit):
    """Lanes leave one by one: what they count differs."""
    r = np.empty(len(x))
    for i in range(len(x)):
        total, count = x[i], 0
        for k in range(len(w)):
            if total > limit:
                break
            total += w[k]
            count += 1
        r[i] = total + 1000 * count
    return r


def some_count(x, m):
    """Some lanes change what they carry; what comes a trip later differs with it."""
    r = np.empty(len(x))
    for i in range(len(x)):
        count, before, steps = 0, 0, 0
        for k in range(m):
            before = count
            if x[i] > k:
                count += 1
            steps += 2
        r[i] = count + 100 * before + 10000 * steps
    return r


def leave_alike(x, p, m):
    """One branch by what all lanes know, in another that some lanes take."""
    r = np.empty(len(x))
    for i in range(len(x)):
        k, s = 1, 0.5
        for j in range(m):
            if x[i] > 0:
                if p > j:
                    k, s = k * 2, s + x[i]
                else:
                    k += 1
            if p > 2 * j:
                s += k
        r[i] = s * k
    return r


def nested(x, w, m):
    """The places of the inner loop follow what the outer one carries."""
    r = np.zeros(len(x))
    for i in range(len(x)):
        at, width = 0, 1
        for _ in range(m):
            for k in range(at, at + width):
                r[i] += w[k % len(w)] * x[i]
            at += width
            width += at % 3
    return r


LENGTHS = (0, 1, 7, 8, 9, 64, 77)


def column(length):
    return RANDOM.normal(size=length)


ENDS = np.array([0, 0, 1, 2, 3, 4], np.int64)
WEIGHTS = np.array([0.5, 1.5, 0.25, 2.0, -1.0, 3.0])

CASES = {
    "factorials": (factorials, lambda x: (x, 9, 4), EXACT),
    "factorials of nothing": (factorials, lambda x: (x, 9, 0), EXACT),
    "a factorial that is zero": (factorials, lambda x: (x, 2, 4), EXACT),
    "legendre": (legendre, lambda x: (np.tanh(x), 6), TRANSCENDENTAL),
    "legendre of nothing": (legendre, lambda x: (np.tanh(x), -1), TRANSCENDENTAL),
    "follow": (follow, lambda x: (x, ENDS, 5), EXACT),
    "follow out of range": (follow, lambda x: (x, ENDS, 9), EXACT),
    "collatz": (collatz, lambda x: (x, 27), EXACT),
    "none goes through what has no end": (collatz, lambda x: (-np.abs(x), 0), EXACT),
    "reciprocals": (reciprocals, lambda x: (x, WEIGHTS, 3), EXACT),
    "the reciprocal of zero": (reciprocals, lambda x: (x, np.arange(20.0), 5), EXACT),
    "reciprocals of no place": (reciprocals, lambda x: (x, WEIGHTS[:3], 3), EXACT),
    "until found": (until_found, lambda x: (x, WEIGHTS, 2.0), EXACT),
    "until nothing is found": (until_found, lambda x: (x, WEIGHTS, 7.0), EXACT),
    "until enough": (until_enough, lambda x: (x, WEIGHTS, 2.0), EXACT),
    "some count": (some_count, lambda x: (2 * x, 5), EXACT),
    "some count nothing": (some_count, lambda x: (x, 0), EXACT),
    "leave alike": (leave_alike, lambda x: (x, 3, 6), EXACT),
    "nested": (nested, lambda x: (x, WEIGHTS, 5), REDUCED),
    "nested in nothing": (nested, lambda x: (x, WEIGHTS, 0), EXACT),
}


@pytest.mark.sampled(2, "name", "length")
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", CASES)
def test_lanes_agree_with_python(name, length):
    function, arguments, tolerance = CASES[name]
    check_agreement(jit(function), function, deep_copies(arguments(column(length))), tolerance,
                    TARGETS)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("at, zero, expected", [
    (6, 9, "index 6 is out of bounds for axis 0 with size 6"),
    (5, 9, "index 6 is out of bounds for axis 0 with size 6"),
    (4, 9, "division by zero"),
    (6, 0, "division by zero"),
    (0, 9, "division by zero"),
    (0, 49, "division by zero"),
])
def test_the_first_iteration_tells_its_error(at, zero, expected, target):
    n = np.ones(50, np.int64)
    n[zero] = 0
    with pytest.raises((IndexError, ZeroDivisionError), match=f"^{expected}$") as told:
        jit(one_fails_first)(column(50), n, WEIGHTS, at, target=target)
    with pytest.raises(told.type, match=f"^{expected}$"):
        one_fails_first(column(50), n, WEIGHTS, at)


@pytest.mark.parametrize("function, arguments", [
    (factorials, (column(50), 9, 4)),
    (legendre, (np.tanh(column(50)), 6)),
    (nested, (column(50), WEIGHTS, 5)),
    (follow, (column(50), ENDS, 5)),
    (collatz, (column(50), 27)),
    (reciprocals, (column(50), WEIGHTS, 3)),
    (one_fails_first, (column(50), np.ones(50, np.int64), WEIGHTS, 0)),
], ids=lambda each: getattr(each, "__name__", ""))
def test_what_is_carried_alike_leaves_lanes(function, arguments):
    told = jit(function, target="serial").explain(*arguments).verbose
    over_i = told[told.index("for i in"):].splitlines()[1]
    assert re.fullmatch(r"\s+loop: one thread, \d+ lanes.*", over_i), told
