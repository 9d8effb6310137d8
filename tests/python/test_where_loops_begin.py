"""Loops whose checks hold where they begin, and what they ask or make the same every time.

Merges, insertions, stacks, windows and wraps by numbers give what plain Python gives, on every
target: values, exceptions, and what was stored before one.
"""

import numpy as np
import pytest
from exact_outcomes import check
from hypothesis import given, settings
from hypothesis import strategies as st


def common(ptr, idx):
    total = 0
    for u in range(len(ptr) - 1):
        for e in range(ptr[u], ptr[u + 1]):
            v = idx[e]
            if v <= u:
                continue
            i = ptr[u]
            j = ptr[v]
            while i < ptr[u + 1] and j < ptr[v + 1]:
                if idx[i] == idx[j]:
                    total += 1
                    i += 1
                    j += 1
                elif idx[i] < idx[j]:
                    i += 1
                else:
                    j += 1
    return total


def asked_of_what_is_stored(ptr, idx):
    i = 0
    while i < ptr[2] and ptr[2] < idx[3]:
        ptr[2] -= 1
        i += 2
    return i


def three_conditions(ptr, idx):
    i = 0
    found = 0
    while i < len(idx) and found < ptr[1] and i < ptr[idx[0]]:
        if idx[i] > 2:
            found += 1
        i += 1
    return i, found


def medians(x, w):
    n = len(x)
    h = w // 2
    out = np.empty(n)
    for i in range(n):
        buf = np.empty(w)
        m = 0
        for j in range(max(0, i - h), min(n, i + h + 1)):
            v = x[j]
            p = m
            while p > 0 and buf[p - 1] > v:
                buf[p] = buf[p - 1]
                p -= 1
            buf[p] = v
            m += 1
        out[i] = buf[m // 2]
    return out


def inserted_in_place(x, w):
    for j in range(1, len(x)):
        v = x[j]
        k = j - w
        while k >= 0 and x[k] > v:
            x[k + 1] = x[k]
            k -= 1
        x[k + 1] = v
    return x[0]


def rows_inserted(x, w):
    a = x[: len(x) // 4 * 4].reshape(-1, 4).copy()
    for i in range(a.shape[0]):
        for j in range(1, 4):
            v = a[i, j]
            k = j - 1
            while k >= 0 and a[i, k] > v:
                a[i, k + 1] = a[i, k]
                k -= 1
            a[i, k + 1] = v
    return a


def hull(x, w):
    p = x[: len(x) // 2 * 2].reshape(-1, 2)
    h = np.empty((max(len(p) - w // 8, 0), 2))
    k = 0
    for i in range(len(p)):
        while k >= 2 and (h[k - 1, 0] - h[k - 2, 0]) * (p[i, 1] - h[k - 2, 1]) <= (
            h[k - 1, 1] - h[k - 2, 1]
        ) * (p[i, 0] - h[k - 2, 0]):
            k -= 1
        h[k] = p[i]
        k += 1
    return h[:k].copy()


def basins(x, w):
    g = x[: len(x) // 5 * 5].reshape(-1, 5)
    n, m = g.shape
    lowest = np.zeros((n, m), np.int64)
    count = 0
    for i in range(n):
        for j in range(m):
            v = g[i, j]
            place = i * m + j
            for a in range(max(i - 1, 0), min(i + 2, n)):
                for b in range(max(j - 1, 0), min(j + 2, m)):
                    if g[a, b] < v:
                        v = g[a, b]
                        place = a * m + b
            if place == i * m + j:
                count += 1
            lowest[i, j] = place + count
    return lowest, count


def nearest(x, w):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best = 1e30
        place = -1
        for j in range(len(x)):
            d = abs(x[i] - x[j])
            if 0.1 < d < best:
                best = d
                place = j
        if place >= 0:
            out[i] = x[place]
    return out


def turned(x, w):
    t = np.zeros(40)
    for i in range(min(len(x), 40)):
        t[i] = x[i]
    for s in range(3):
        for i in range(40):
            y = t[i] + t[(i + 1) % 40]
            t[i] = t[(i + 17) % 40] - 0.5 * y
            if y > 0.25:
                t[i] += 0.125
    return t


def columns_turned(x, w):
    a = np.zeros((max(len(x), 1), 7))
    for i in range(len(x)):
        for j in range(7):
            a[i, j] = x[i] * j
    for p in range(6):
        for q in range(p + 1, 7):
            for k in range(a.shape[0]):
                b = a[k, p]
                c = a[k, q]
                a[k, p] = 0.5 * b - 0.25 * c
                a[k, q] = 0.25 * b + 0.5 * c
    return a


def masked(text, table):
    out = np.empty(2 * len(text), np.int64)
    for i in range(len(text)):
        v = np.uint32(text[i]) << np.uint32(4)
        out[2 * i] = table[(v >> np.uint32(6)) & np.uint32(63)]
        out[2 * i + 1] = table[text[i] & np.uint8(15)]
    return out


def stored_twice(x, w):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = x[i]
        if x[i] > 0.5:
            y[i] = y[i] * 2
        y[i + 1] = 1.0
        if x[i] < 0:
            x[i] = y[i + 1 - w % 2]
    return y


OF_NUMBERS = [medians, inserted_in_place, rows_inserted, hull, basins, nearest, turned,
              columns_turned, stored_twice]  # fmt: skip


@pytest.mark.parametrize("f", OF_NUMBERS)
@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 40),
    st.sampled_from([-1, 0, 1, 2, 5, 6, 9, 16]),
    st.integers(0, 9),
    st.booleans(),
)
def test_numbers(f, count, w, seed, rounded):
    x = np.random.default_rng(seed).standard_normal(count)
    check(f, np.round(x) if rounded else x, w)


rows = st.lists(st.integers(-3, 14), min_size=1, max_size=9)


@pytest.mark.parametrize("f", [common, asked_of_what_is_stored, three_conditions])
@settings(max_examples=40, deadline=None)
@given(rows, st.lists(st.integers(-2, 9), min_size=1, max_size=12), st.booleans())
def test_rows_anywhere(f, ptr, idx, in_order):
    check(f, np.array(sorted(ptr) if in_order else ptr), np.array(idx))


@pytest.mark.parametrize("length", [64, 63, 16, 15, 0])
def test_masks(length):
    check(masked, np.arange(200, dtype=np.uint8), np.arange(length) * 3)


def in_threes(data, n, scale):
    """Each number and what it makes, side by side, as far as `n` says."""
    out = np.zeros(n)
    o = 0
    i = 0
    while i < len(data):
        out[o] = data[i]
        out[o + 1] = data[i] * scale
        out[o + 2] = o
        out[3] = i
        o += 3
        i += 1
    return out


@pytest.mark.parametrize("n", [18, 17, 16, 15, 3, 1, 0])
def test_neighbours_of_which_the_last_is_not_there(n):
    check(in_threes, np.arange(6.0), n, 0.5)


def stored_before(out, p, q):
    """What is stored to an argument before an index fails stays."""
    for k in range(2):
        made = np.zeros(3)
        made[p + k] = 1.0
        out[k] = p
        made[q + k] = 2.0
        out[2 + k] = q
    return out


@pytest.mark.parametrize("p, q", [(0, 1), (1, 2), (2, 0), (0, 3)])
def test_a_store_that_shows_comes_before_a_later_failure(p, q):
    check(stored_before, np.zeros(4), p, q)
