"""Loops that look for something: where they end, what they have found, and errors on the way."""

import ctypes
import mmap

import numpy as np
import pytest

from parakeet import jit

TARGETS = ("serial", "parallel", "emulated_gpu")
DTYPES = ("float64", "float32", "int64", "int32", "int16", "uint8", "bool")


@jit
def first(x, v, start):
    i = start
    while i < len(x) and x[i] != v:
        i += 1
    return i


@jit
def last(x, v, start):
    i = start
    while i >= 0 and x[i] != v:
        i -= 1
    return i


@jit
def unguarded(x, v, start):
    i = start
    while x[i] != v:
        i += 1
    return i


@jit
def returns(x, v):
    for i in range(len(x)):
        if x[i] == v:
            return i
    return -1


@jit
def breaks(x, v):
    place = -1
    for i in range(2, len(x)):
        if x[i] == v:
            place = i
            break
    return place, i


@jit
def rises(x):
    for i in range(len(x) - 1):
        if not x[i] <= x[i + 1]:
            return False
    return True


@jit
def matches(x, p, q):
    length = 0
    while q + length < len(x) and x[p + length] == x[q + length]:
        length += 1
    return length


@jit
def in_row(m, i, low, high):
    j = 0
    while j < m.shape[1] and (m[i, j] < low or m[i, j] > high):
        j += 1
    return j


@jit
def words(s):
    i = 0
    count = 0
    while i < len(s):
        while i < len(s) and s[i] == 32:
            i += 1
        if i < len(s):
            count += 1
        while i < len(s) and s[i] != 32:
            i += 1
    return count


@jit
def runs(x, values, counts):
    k = 0
    i = 0
    while i < len(x):
        j = i + 1
        while j < len(x) and x[j] == x[i]:
            j += 1
        values[k] = x[i]
        counts[k] = j - i
        k += 1
        i = j
    return k


@jit
def moved_to_front(data, out):
    table = np.arange(256).astype(np.uint8)
    for i in range(len(data)):
        c = data[i]
        j = 0
        while table[j] != c:
            j += 1
        out[i] = j
        while j > 0:
            table[j] = table[j - 1]
            j -= 1
        table[0] = c
    return out


@jit
def stored_behind(x, v):
    i = 0
    while i < len(x) and x[i] != v:
        x[i] = 0
        i += 1
    return i


def agrees(f, *args, target, copies=True):
    def run(function, **options):
        own = [a.copy() if isinstance(a, np.ndarray) and copies else a for a in args]
        try:
            answer = function(*own, **options)
        except (IndexError, OverflowError) as error:
            answer = type(error), str(error)
        return answer, [a.tobytes() for a in own if isinstance(a, np.ndarray)]

    meant, made = run(f.__wrapped__), run(f, target=target)
    assert np.array_equal(np.array(made[0], object), np.array(meant[0], object)), (meant, made)
    assert made[1] == meant[1]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_places(dtype, target):
    for n in (0, 1, 8, 33, 64, 71):
        for place in {0, 1, 7, 8, 31, 32, n // 2, n - 1, n}:
            x = np.zeros(n, dtype)
            if 0 <= place < n:
                x[place] = 1
            for start in (0, 1, n // 3):
                agrees(first, x, x.dtype.type(1), start, target=target)
            for start in (n - 1, n // 2):
                agrees(last, x, x.dtype.type(1), start, target=target)
            agrees(returns, x, x.dtype.type(1), target=target)
            if n > 2:
                agrees(breaks, x, x.dtype.type(1), target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_starts_outside(target):
    x = np.arange(40.0)
    for start in (-50, -41, -40, -3, 39, 40, 2**62, 2**63 - 2, -(2**63)):
        agrees(first, x, 5.0, start, target=target)
        agrees(unguarded, x, 38.0, start, target=target)
        if start < 40:
            agrees(last, x, 5.0, start, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_runs_past_the_end(target):
    for n in (1, 8, 9, 40, 64):
        agrees(unguarded, np.zeros(n), 1.0, 0, target=target)
        agrees(unguarded, np.zeros(n, np.uint8), np.uint8(1), 0, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_orders_and_matches(target):
    x = np.arange(100.0)
    agrees(rises, x, target=target)
    for place in (0, 50, 98):
        y = x.copy()
        y[place] = np.nan
        agrees(rises, y, target=target)
    text = np.tile(np.frombuffer(b"the cat and the cat and a dog", np.uint8), 3)
    for p, q in ((0, 12), (0, 29), (5, 34), (29, 58), (0, 87), (-29, 29)):
        agrees(matches, text, p, q, target=target)
    m = np.arange(120.0).reshape(3, 40)
    for low, high in ((3, 5), (0, 200), (70, 75), (500, 600)):
        for i in (0, 2, -1):
            agrees(in_row, m, i, low, high, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_searches_in_loops(target):
    random = np.random.default_rng(3)
    text = np.where(random.random(300) < 0.2, 32, 100).astype(np.uint8)
    agrees(words, text, target=target)
    for dtype in ("int64", "uint8", "float32"):
        x = np.repeat(random.integers(0, 3, 40), random.integers(1, 40, 40)).astype(dtype)
        agrees(runs, x, np.zeros_like(x), np.zeros(len(x), np.int64), target=target)
    data = (random.random(200) ** 2 * 256).astype(np.uint8)
    agrees(moved_to_front, data, np.zeros(200, np.uint8), target=target)
    agrees(stored_behind, np.arange(50), 30, target=target)


@jit
def shifted(x, by):
    n = len(x) - by
    for i in range(n):
        x[i] = x[i + by]
    for i in range(n):
        x[len(x) - 1 - i] = x[len(x) - 1 - i - by] // 2
    return x.sum()


@jit
def first_in_rows(x, v, places):
    total = 0
    for i in range(len(x)):
        found = False
        for j in range(x.shape[1]):
            if x[i, j] == v:
                found = True
                places[i] = j
                break
        if found:
            total += 1
    return total


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float64", "uint8", "int32"])
def test_searches_end_at_any_step(dtype, target):
    lengths = [1, 2, 3, 4, 5, 6, 8, 12, 13, 37, 70, 1, 1, 4]
    x = np.repeat(np.arange(len(lengths)) % 3, lengths).astype(dtype)
    agrees(runs, x, np.zeros_like(x), np.zeros(len(x), np.int64), target=target)
    for width in (1, 3, 4, 5, 36, 100):
        rows = np.zeros((width + 1, width), dtype)
        rows[np.arange(width), np.arange(width)] = 1
        agrees(first_in_rows, rows, rows[0, 0], np.zeros(width + 1, np.int64), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "bool"])
def test_what_whole_vectors_leave(dtype, target):
    for n in (31, 33, 39, 40, 63, 64, 70, 97):
        for by in (1, 3, 8):
            x = np.arange(n).astype(dtype)
            agrees(shifted, x, by, target=target)


@jit
def places_of(text, pattern):
    count = 0
    for i in range(len(text) - len(pattern) + 1):
        j = 0
        while j < len(pattern) and text[i + j] == pattern[j]:
            j += 1
        if j == len(pattern):
            count += 1
    return count


@jit
def halves(x):
    return np.where(x > 3, x // 2 + 1, x * 3).sum(), (x[1:] == x[:-1]).sum()


@pytest.mark.parametrize("target", ["serial", "parallel"])
def test_nothing_is_read_of_the_page_behind(target):
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    whole = np.frombuffer(memory, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    for other in (whole.ctypes.data, whole.ctypes.data + 2 * page):
        assert libc.mprotect(ctypes.c_void_p(other), ctypes.c_size_t(page), 0) == 0
    inside = whole[page : 2 * page]
    for n in (1, 7, 8, 31, 33, 70, page):
        for x in (inside[:n], inside[page - n :]):
            x[:] = np.arange(n) % 4
            for y in (x, x.view(np.int8)):
                agrees(first, y, y.dtype.type(9), 0, target=target, copies=False)
                agrees(last, y, y.dtype.type(9), n - 1, target=target, copies=False)
                agrees(unguarded, y, y.dtype.type(9), 0, target=target, copies=False)
                assert halves(y, target=target) == tuple(int(v) for v in halves.__wrapped__(y))
            pattern = np.array([2, 3, 0], np.uint8)
            made = places_of(x, pattern, target=target)
            assert made == places_of.__wrapped__(x, pattern)
    for other in (whole.ctypes.data, whole.ctypes.data + 2 * page):
        libc.mprotect(ctypes.c_void_p(other), ctypes.c_size_t(page), 3)
