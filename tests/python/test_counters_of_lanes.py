"""Loops `while` that lanes leave one by one: what is the same in all that go on is a number there,
and what it was in each lane is read behind."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def matches(text, pattern):
    count = 0
    for i in range(len(text) - len(pattern) + 1):
        j = 0
        while j < len(pattern) and text[i + j] == pattern[j]:
            j += 1
        if j == len(pattern):
            count += 1
    return count


def matches_by_break(text, pattern):
    count = 0
    for i in range(len(text) - len(pattern) + 1):
        same = True
        for j in range(len(pattern)):
            if text[i + j] != pattern[j]:
                same = False
                break
        if same:
            count += 1
    return count


def lengths_of_matches(text, pattern):
    out = np.zeros(len(text), np.int64)
    for i in range(len(text) - len(pattern) + 1):
        j = 0
        while j < len(pattern) and text[i + j] == pattern[j]:
            j += 1
        out[i] = j
    return out


def places_among(text, pattern):
    """Pattern's elements add up to text's: some are never reached."""
    out = np.zeros((len(text), 3), np.int64)
    for i in range(len(text)):
        j = 0
        k = len(pattern)
        total = 0
        while j < len(pattern) and total < text[i]:
            total += pattern[j] + 1
            j += 1
            k -= 1
        out[i, 0] = j
        out[i, 1] = k
        out[i, 2] = total
    return out


def last_two(text, pattern):
    """Two counters that change places, one of them as it was a trip before."""
    out = np.zeros((len(text), 2), np.int64)
    for i in range(len(text)):
        a = 1
        b = 0
        v = int(text[i])
        while v > a:
            v -= 1
            a, b = b + 1, a
        out[i, 0] = a
        out[i, 1] = b * 100 + v
    return out


def loops_in_loops(text, pattern):
    """An inner loop goes on as long as each lane's element, in each trip of the outer one."""
    out = np.zeros(len(text), np.int64)
    for i in range(len(text)):
        j = 0
        s = 0
        while j < len(pattern) and s < 3 * text[i]:
            k = j
            while k > 0 and pattern[k] + k < text[i] + 4:
                k -= 1
                s += pattern[k]
            s += k + 1
            if j % 2 == 1:
                s += pattern[j]
            j += 1
        out[i] = s * 10 + j
    return out


LOOPS = [matches, matches_by_break, lengths_of_matches, places_among, last_two, loops_in_loops]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_as_in_plain_python(f):
    rng = np.random.default_rng(0)
    for n in (0, 1, 5, 64, 301):
        for m in (0, 1, 4, 9):
            check(f, rng.integers(0, 3, n), rng.integers(0, 2, m))
    text = np.tile(rng.integers(0, 2, 7).astype(np.uint8), 30)
    check(f, text.astype(np.int64), text[3:13].astype(np.int64))
    if f in (matches, matches_by_break):
        check(f, text, text[3:13])


@pytest.mark.parametrize("f", [matches, matches_by_break], ids=lambda f: f.__name__)
def test_neighbours_are_read_together(f):
    compiled = jit(f)
    compiled(np.zeros(99, np.uint8), np.zeros(9, np.uint8), target="serial")
    assert "load_lanes %text" in compiled.ir(stage="scheduled")
    assert "gather" not in compiled.ir(stage="scheduled")
