"""Loops that go on one by one only where something is found: what lanes pass over before."""

import numpy as np
import pytest
from agreement import check_agreement

from parakeet import jit


@jit
def place_of(text, pattern):
    n = len(text)
    m = len(pattern)
    for i in range(n - m + 1):
        j = 0
        while j < m and text[i + j] == pattern[j]:
            j += 1
        if j == m:
            return i
    return -1


@jit
def place_of_all(text, pattern):
    for i in range(len(text) - len(pattern) + 1):
        ok = True
        for j in range(len(pattern)):
            if text[i + j] != pattern[j]:
                ok = False
                break
        if ok:
            return i
    return -1


@jit
def apart(text, pattern):
    count = 0
    i = 0
    while i + len(pattern) <= len(text):
        k = 0
        while k < len(pattern) and text[i + k] == pattern[k]:
            k += 1
        if k == len(pattern):
            count += 1
            i += k
        else:
            i += 1
    return count, i


@jit
def last_place_of(text, pattern):
    i = len(text) - len(pattern)
    while i >= 0:
        j = 0
        while j < len(pattern) and text[i + j] == pattern[j]:
            j += 1
        if j == len(pattern):
            return i
        i -= 1
    return -1


@jit
def past_the_end(text, pattern):
    found = 0
    i = 0
    while i < len(text):
        j = 0
        while j < len(pattern) and text[i + j] == pattern[j]:
            j += 1
        if j == len(pattern):
            found += 1
        i += 1
    return found


@jit
def fields(text, out):
    k = 0
    start = 0
    for i in range(len(text)):
        if text[i] == 98:
            out[k] = i - start
            start = i + 1
            k += 1
    return k, start


@jit
def crossed_out(n):
    prime = np.ones(n, np.bool_)
    count = 0
    for i in range(2, n):
        if prime[i]:
            count += 1
            for j in range(i * i, n, i):
                prime[j] = False
    return count


@jit
def ahead(x, by):
    # What an iteration stores those that follow ask.
    steps = 0
    for i in range(len(x)):
        if x[i] != 0:
            for k in range(len(x) // 100):
                if i + by + k < len(x):
                    x[i + by + k] = x[i] - 1
            steps += i
    return steps


@jit
def first_and_last(x, v):
    seen = False
    first = -1
    last = -1
    i = 0
    while i < len(x):
        if x[i] == v:
            if not seen:
                first = i
            seen = True
            last = i
            j = i
            while j < len(x) and x[j] == v:
                j += 1
            i = j
        else:
            i += 1
    return seen, first, last


@jit
def by_one_or_two(x, v):
    other = True
    steps = 0
    i = 0
    while i < len(x):
        is_other = x[i] != v
        if is_other:
            i += 2
            if other:
                steps += 1
        else:
            i += 1
        other = is_other
    return i, steps


@jit
def turned(x, v, a, b):
    # Flags that change places where something is found.
    count = 0
    for i in range(len(x)):
        if x[i] == v:
            a, b = b, a
            for j in range(i):
                count += j
        elif a:
            count += 1
    return count, a, b


@jit
def marks_are_there(x, v, marks):
    total = 0
    i = 0
    while i < len(x):
        if x[i] == v:
            j = 0
            while marks[j] != i:
                j += 1
            total += j
            i += 3
        else:
            i += 1
    return total


def texts(letters):
    random = np.random.default_rng(letters)
    for n in (0, 1, 2, 31, 33, 34, 64, 66, 97, 130, 1500):
        yield random.integers(97, 97 + letters, n).astype(np.uint8)


PATTERNS = (b"", b"a", b"ab", b"aab", b"a" * 40)
SEARCHES = (place_of, place_of_all, apart, last_place_of)


def check(function, *args):
    def copies():
        return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)

    # Long ones are those of one target: the interpreter takes its time.
    is_short = all(np.size(a) < 80 for a in args)
    targets = {} if is_short else {"targets": ("serial",)}
    check_agreement(function, function.__wrapped__, copies, **targets)


@pytest.mark.parametrize("letters", [1, 2, 4, 26, 150])
def test_patterns(letters):
    for text in texts(letters):
        for pattern in PATTERNS:
            pattern = np.frombuffer(pattern, np.uint8).copy()
            for function in SEARCHES:
                if len(pattern) > 0 or function is not apart:
                    check(function, text, pattern)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "int64"])
def test_places_around_the_ends_of_lanes(dtype):
    pattern = np.array([3, 0, 4]).astype(dtype)
    for n in (3, 34, 35, 36, 70, 100):
        for place in {0, 1, 7, 8, 9, 30, 31, 32, 33, 64, n - 4, n - 3, n - 2}:
            text = np.zeros(n, dtype)
            part = text[place : place + 3]
            part[:] = pattern[: len(part)]
            for function in SEARCHES:
                check(function, text, pattern)


def test_errors_are_those_of_the_first_that_fails():
    for n in (0, 1, 5, 40, 100):
        for text in (np.zeros(n, np.uint8), np.arange(n).astype(np.uint8)):
            for pattern in ([], [0], [0, 0], [n - 1], [n - 1, 0], [n - 2, n - 1]):
                check(past_the_end, text, np.array(pattern).astype(np.uint8))
    x = np.zeros(200, np.uint8)
    x[[50, 120, 180]] = 1
    check(marks_are_there, x, np.uint8(1), np.array([7, 50, 180, 120]))
    check(marks_are_there, x, np.uint8(1), np.array([7, 50, 120]))
    check(marks_are_there, x, np.uint8(1), np.arange(0))


@pytest.mark.parametrize("letters", [1, 2, 4, 26])
def test_what_is_stored_where_something_is_found(letters):
    for text in texts(letters):
        check(fields, text, np.zeros(len(text) + 1, np.int64))
        check(fields, text, np.zeros(len(text) // 8, np.int64))


def test_what_later_iterations_ask():
    for n in (0, 2, 3, 33, 34, 100, 1000):
        check(crossed_out, n)
    for dtype in ("uint8", "int16", "float64"):
        for by in (0, 1, 2, 30, 31, 32, 33, 40):
            x = np.zeros(300, dtype)
            x[[3, 100]] = 5
            check(ahead, x, by)


def test_flags_and_steps():
    for letters in (1, 2, 5, 40):
        for text in texts(letters):
            x = text - np.uint8(97)
            for v in (np.uint8(0), np.uint8(1), np.uint8(77)):
                check(first_and_last, x, v)
                check(by_one_or_two, x, v)
                check(turned, x, v, True, False)
                check(turned, x, v, True, True)


def asks_lanes(function, *args):
    compiled = jit(function.__wrapped__)
    compiled(*args, target="serial")
    return "first_lane" in compiled.ir(stage="scheduled")


def test_which_loops_ask_lanes():
    text, pattern = np.zeros(100, np.uint8), np.ones(4, np.uint8)
    for function in SEARCHES:
        assert asks_lanes(function, text, pattern), function
    assert asks_lanes(fields, text, np.zeros(100, np.int64))
    assert asks_lanes(ahead, np.zeros(300), 2)
    # With little to do, and few elements in a register, one by one is as fast.
    assert not asks_lanes(fields, np.zeros(100), np.zeros(100, np.int64))
