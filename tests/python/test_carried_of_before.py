"""Loops that carry what the iteration before has read: elements, comparisons, flags, bytes."""

import numpy as np
import pytest
from exact_outcomes import check


def crossings(x):
    count = 0
    before = x[0]
    for i in range(1, len(x)):
        if x[i] * before < 0:
            count += 1
        before = x[i]
    return count, before


def words(text):
    lines = 0
    count = 0
    inside = False
    for c in text:
        if c == 10:
            lines += 1
        if c == 32 or c == 10:
            inside = False
        elif not inside:
            inside = True
            count += 1
    return lines, count, inside


def rises(x, out):
    was = False
    for i in range(len(x)):
        now = x[i] > 0.5
        out[i] = now and not was
        was = now
    return was


def of_three(x):
    out = np.zeros(len(x))
    a = b = 0.0
    for i in range(len(x)):
        out[i] = x[i] + 2 * a + 3 * b
        b = a
        a = x[i]
    return out, a, b


def downwards(x, first, last):
    total = 0.0
    behind = 7.0
    start = True
    for i in range(first, last, -2):
        if not start:
            total += abs(x[i] - behind)
        behind = x[i]
        start = False
    return total, behind, start


def differences(x):
    before = 1.0
    for i in range(len(x)):
        v = x[i]
        x[i] = v - before
        before = v
    return before


def checked(x, places):
    total = 0.0
    before = 0.0
    for k in range(len(places)):
        v = x[places[k]]
        total += v * before
        before = v
    return total, before


@pytest.mark.parametrize("length", [1, 2, 3, 40, 301])
def test_what_an_iteration_has_of_the_one_before(length):
    random = np.random.default_rng(length)
    x = random.integers(-8, 8, length) / 4
    text = random.integers(8, 40, length).astype(np.uint8)
    check(crossings, x)
    check(words, text)
    check(rises, x, np.zeros(length, bool))
    check(of_three, x)
    check(differences, x)
    for first, last in [(length - 1, -1), (length - 1, 0), (0, length)]:
        check(downwards, x, first, last)


def test_nothing_is_read_of_no_iteration():
    check(words, np.zeros(0, np.uint8))
    check(of_three, np.zeros(0))
    check(rises, np.zeros(0), np.zeros(0, bool))


def test_places_that_are_checked():
    x = np.arange(5.0)
    check(checked, x, np.array([0, 4, -1, 2]))
    check(checked, x, np.array([0, 9, 1]))
