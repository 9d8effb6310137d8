"""Loops whose places are guarded, clipped, mirrored or wrapped at the edges of arrays."""

import math

import numpy as np
import pytest
from agreement import check_agreement
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit

LENGTHS = [0, 1, 2, 3, 4, 7, 34]


def mirrored(x, k):
    n = len(x)
    r = len(k) // 2
    out = np.full(n, -1.0)
    for i in range(n):
        s = 0.0
        for t in range(-r, r + 1):
            p = i + t
            if p < 0:
                p = -p
            if p >= n:
                p = 2 * n - 2 - p
            s += k[t + r] * x[p]
        out[i] = s
    return out


def clipped(x, k):
    n = len(x)
    r = len(k) // 2
    out = np.full(n, -1.0)
    for i in range(n):
        s = 0.0
        for q in range(len(k)):
            s += k[q] * x[min(max(i + q - r, 0), n - 1)]
        out[i] = s
    return out


def guarded(x, k):
    n = len(x)
    r = len(k) // 2
    out = np.full(n, -1.0)
    count = 0
    for i in range(n):
        s = 0.0
        for q in range(len(k)):
            p = i - r + q
            if 0 <= p < n:
                s += k[q] * x[p]
            else:
                count += 1
        out[i] = s
    return out, count


def from_ends(x, k):
    n = len(x)
    out = np.full(n, -1.0)
    for i in range(n):
        before = x[i - 1]
        after = x[i + 1 if i + 1 < n else 0]
        if i == 0:
            out[i] = x[i] + 2 * after
        elif i == n - 1:
            out[i] = 3 * before - k[0]
        else:
            out[i] = before + after + out[i - 1]
    return out


# Small integers, so that sums are exact in any order; mirrors of wide windows fall out of range.
@pytest.mark.sampled(2, "function", "width")
@pytest.mark.parametrize("function", [mirrored, clipped, guarded, from_ends])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 8])
def test_windows(function, width):
    compiled = jit(function)
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        x, k = rng.integers(-9, 9, n) * 1.0, rng.integers(-9, 9, width) * 1.0
        check_agreement(compiled, function, lambda x=x, k=k: (x, k))


def shallow(h, u):
    n, m = h.shape
    out = np.empty((n, m))
    for i in range(n):
        up = i - 1 if i > 0 else n - 1
        down = i + 1 if i + 1 < n else 0
        for j in range(m):
            left = j - 1 if j >= 1 else m - 1
            right = 0 if j == m - 1 else j + 1
            out[i, j] = h[up, j] - 2 * h[down, j] + 3 * u[i, left] - 5 * u[i, right] + h[i, j]
    return out


def depthwise(x, w):
    c, h, v = x.shape
    y = np.zeros((c, h, v), np.float32)
    for k in range(c):
        for i in range(h):
            for j in range(v):
                s = np.float32(0)
                for a in range(3):
                    for b in range(3):
                        ii = i + a - 1
                        jj = j + b - 1
                        if ii >= 0 and ii < h and jj >= 0 and jj < v:
                            s += x[k, ii, jj] * w[k, a, b]
                y[k, i, j] = max(s, np.float32(0))
    return y


def neighbours(board, steps):
    n, m = board.shape
    for _ in range(steps):
        new = board.copy()
        for i in range(n):
            for j in range(m):
                total = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        a = i + di
                        b = j + dj
                        if not (di == 0 and dj == 0) and a >= 0 and b >= 0 and a < n and b < m:
                            total += board[a, b]
                if total < 2 or total > 3:
                    new[i, j] = 0
                elif total == 3:
                    new[i, j] = 1
        board = new
    return board


@pytest.mark.sampled(2, "n", "m")
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("m", [1, 2, 3, 33])
def test_grids(n, m):
    rng = np.random.default_rng(n)
    h, u = rng.integers(-9, 9, (2, n, m)) * 1.0
    check_agreement(GRIDS[0], shallow, lambda: (h, u))
    x = rng.integers(-9, 9, (3, n, m)).astype(np.float32)
    w = rng.integers(-9, 9, (3, 3, 3)).astype(np.float32)
    check_agreement(GRIDS[1], depthwise, lambda: (x, w))
    board = rng.integers(0, 2, (n, m))
    check_agreement(GRIDS[2], neighbours, lambda: (board, 2))


GRIDS = [jit(f) for f in (shallow, depthwise, neighbours)]


def energy(s):
    n, m = s.shape
    e = 0.0
    for i in range(n):
        down = i + 1 if i + 1 < n else 0
        for j in range(m):
            right = j + 1 if j + 1 < m else 0
            e -= s[i, j] * (s[down, j] + s[i, right])
            if i > 0 and j > 0:
                e += s[i - 1, j - 1]
    return e


@pytest.mark.parametrize("n", LENGTHS[1:])
def test_sums(n):
    compiled = jit(energy)
    for m in (1, 2, 40):
        s = np.random.default_rng(n).integers(-9, 9, (n, m)) * 1.0
        check_agreement(compiled, energy, lambda s=s: (s,))


def first_outside(x, y, lo, hi, c):
    n = len(x)
    count = 0
    for i in range(lo, hi):
        if i > c:
            y[i] = x[i - c] + 10
        elif i + c < n:
            y[i] = x[i + c]
            count += i
        if i < hi - 1 and i >= lo + 1:
            y[i] += x[i + 1]
    return y, count


# Borders may lie outside the loop, behind each other, and where nothing can be added to them.
@settings(max_examples=150)
@given(
    n=st.integers(0, 9),
    lo=st.integers(-4, 12),
    hi=st.integers(-4, 12),
    c=st.integers(-9, 9) | st.sampled_from([2**62, 2**62 + 40, -(2**62), -(2**62) - 40]),
)
def test_borders_anywhere(n, lo, hi, c):
    x = np.arange(n) * 1.0
    check_agreement(ANYWHERE, first_outside, lambda: (x, np.zeros(n), lo, hi, c))


ANYWHERE = jit(first_outside)


def shifted(x, y, c):
    n = len(x)
    for i in range(n):
        y[i] += x[min(max(i - c, 0), n - 1)]
        if i > c:
            y[i] += x[i - 1]
        if i + c // 2 < n:
            y[i] += 100
    return y


# The parts of a loop are not as long as the distance of its borders, which wraps around.
@pytest.mark.parametrize("c", [2**62 + 10, 2**63 - 2, 2**63 - 8, 2**63 - 1, -(2**62) - 10])
def test_borders_far_apart(c):
    check_agreement(jit(shifted), shifted, lambda: (np.arange(10.0) + 1, np.zeros(10), c))


def halves(x, y):
    n = len(x)
    for i in range(n):
        if i < n // 2:
            y[i] = x[2 * i]
        else:
            y[i] = -x[2 * i - n]
    return y


def triangle(a, b):
    n = len(a)
    for i in range(n):
        for j in range(n):
            if j < i:
                b[i, j] = a[j, i]
            elif j == i:
                b[i, j] = 1.0
            else:
                b[i, j] = math.sqrt(a[i, j])
    return b


@pytest.mark.parametrize("n", LENGTHS)
def test_parts(n):
    check_agreement(jit(halves), halves, lambda: (np.arange(n) * 1.0, np.zeros(n)))
    a = np.arange(n * n).reshape(n, n) * 1.0
    check_agreement(jit(triangle), triangle, lambda: (a, np.zeros((n, n))))


def raises_in_order(x, y, at):
    n = len(x)
    for i in range(n):
        before = i - 1 if i > 0 else at
        y[i] = x[before] + 1 / x[i]
    return y


# The first iteration fails first, though others fail too; what came before has been stored.
@pytest.mark.parametrize(("at", "zero"), [(0, 5), (99, 5), (99, 0), (0, 39), (3, 0)])
def test_the_first_error_of_all_parts(at, zero):
    x = np.arange(40) + 1.0
    x[zero] = 0
    check_agreement(jit(raises_in_order), raises_in_order, lambda: (x, np.zeros(40), at))


def rows(ptr, val, at, x):
    n = len(ptr) - 1
    y = np.zeros(n)
    for i in range(n):
        s = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            if at[p] != i:
                s += val[p] * x[at[p]]
            else:
                s -= val[p]
        y[i] = s
    return y


# Rows that begin before the first element, end behind the last, or go backwards.
@pytest.mark.parametrize(
    "ends", [[0, 3, 3, 8], [-2, 2, 5], [4, 2, 8, 1], [0, 8, 9], [0, 12], [-9, 1]]
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_that_elements_bound(ends, dtype):
    at = np.array([0, 1, 2, 0, -1, 3, 1, 0], dtype)
    for more in (0, 1, -1):
        val, x = np.arange(8.0 + more), np.arange(4.0)
        check_agreement(jit(rows), rows, lambda val=val, x=x: (np.array(ends, dtype), val, at, x))


def gathered(table, at):
    n, m = at.shape
    y = np.zeros(n)
    for i in range(n):
        for k in range(m):
            y[i] += table[at[i, k]]
    return y


# Short rows of what lies anywhere are summed in order, long ones in lanes.
@pytest.mark.parametrize("m", [0, 1, 9, 31, 32, 33, 70])
def test_short_rows(m):
    at = np.random.default_rng(m).integers(-5, 5, (7, m))
    check_agreement(jit(gathered), gathered, lambda: (np.arange(5.0), at))
    at[3, m // 2 :] = 5
    check_agreement(jit(gathered), gathered, lambda: (np.arange(5.0), at))


def of_bytes(table, at, start):
    n, m = at.shape
    y = np.zeros(n)
    for i in range(n):
        s = start
        for k in range(m):
            s += table[at[i, k]] * table[k]
        y[i] = s
    return y


# In the same order whether code is made for their length or not: sums of products that are exact.
@pytest.mark.parametrize("m", [1, 4, 9, 16, 31])
def test_short_rows_are_in_order(m):
    table = np.random.default_rng(m).random(256).astype(np.float32).astype(np.float64)
    at = np.random.default_rng(m).integers(0, 256, (40, m)).astype(np.uint8)
    compiled = jit(of_bytes)
    expected = of_bytes(table, at, 0.0)
    for layout in (at, np.asfortranarray(at), np.repeat(at, 2, 1)[:, ::2]):
        for target in ("serial", "parallel"):
            np.testing.assert_array_equal(compiled(table, layout, 0.0, target=target), expected)


def test_explain_says_so():
    assert "split at its borders" in str(jit(clipped).explain(np.ones(9), np.ones(3)))
