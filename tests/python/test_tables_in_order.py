"""Tables that loops fill in order: distances, alignments, running extremes, checks in branches."""

import numpy as np
import pytest
from exact_outcomes import check


def distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            kept = min(table[i - 1, j] + 1, table[i, j - 1] + 1)
            table[i, j] = min(kept, table[i - 1, j - 1] + cost)
    return table


def distance_by_rows(a, b):
    before = np.arange(len(b) + 1)
    now = np.empty_like(before)
    for i in range(len(a)):
        now[0] = i + 1
        for j in range(len(b)):
            best = before[j]
            if a[i] != b[j]:
                best += 1
            inserted = now[j] + 1
            if inserted < best:
                best = inserted
            if before[j + 1] + 1 < best:
                best = before[j + 1] + 1
            now[j + 1] = best
        before, now = now, before
    return before


def distance_in_one_row(a, b, row):
    for i in range(1, len(a) + 1):
        corner = row[0]
        row[0] = i
        for j in range(1, len(b) + 1):
            above = row[j]
            kept = corner if a[i - 1] == b[j - 1] else corner + 1
            row[j] = min(kept, min(above + 1, row[j - 1] + 1))
            corner = above


def subsequence(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            elif table[i, j + 1] >= table[i + 1, j]:
                table[i + 1, j + 1] = table[i, j + 1]
            else:
                table[i + 1, j + 1] = table[i + 1, j]
    return table


def sums_that_wrap(x):
    out = np.empty_like(x)
    least = x[0]
    total = x[0] - x[0]
    for i in range(len(x)):
        total = x[i] + (x[-1] + (total + x[0])) + x[i]
        least = max(min(least + x[i], x[0]), min(total, x[i]))
        out[i] = least
    return out, total


def greatest_from_behind(x):
    out = np.empty_like(x)
    most = x[len(x) - 1]
    for i in range(len(x) - 1, -1, -1):
        if x[i] > most:
            most = x[i]
        out[i] = most
    return out


def least_with_its_place(x):
    out = np.empty_like(x)
    places = np.empty(len(x), np.int64)
    least = x[-1]
    place = -1
    i = len(x) - 1
    while i >= 0:
        if x[i] < least:
            least = x[i]
            place = i
        out[i] = least
        places[i] = place
        i -= 1
    return out, places


@pytest.mark.parametrize("length", [0, 1, 2, 37, 70])
def test_tables(length):
    random = np.random.default_rng(length)
    for dtype in (np.int64, np.uint8):
        a = random.integers(0, 4, length).astype(dtype)
        b = random.integers(0, 4, length + 9).astype(dtype)
        check(distance, a, b)
        check(distance_by_rows, a, b)
        check(distance_in_one_row, a, b, np.arange(len(b) + 1))
        check(subsequence, a, b)


@pytest.mark.parametrize("length", [1, 2, 33, 300])
def test_running_extremes(length):
    random = np.random.default_rng(length)
    x = random.normal(size=length)
    for y in (x, (x * 9).astype(np.int64), np.where(x > 0.9, np.nan, np.round(x) * 0.0)):
        check(greatest_from_behind, y)
        check(least_with_its_place, y)
    with np.errstate(over="ignore"):
        for dtype in (np.int8, np.int64):
            info = np.iinfo(dtype)
            check(sums_that_wrap, random.integers(info.min, info.max, length, dtype))


def kept(values, weights, places, limit):
    best = 0
    for i in range(len(places)):
        if places[i] <= limit:
            total = values[places[i]] + weights[i]
            if total > best:
                best = total
    return best


def summed(values, places, out):
    total = 0.0
    for i in range(len(places)):
        if out[i] != 0.0:
            total += values[places[i]] * out[i]
    return total


def stored(values, places, more, out):
    for i in range(len(places)):
        v = 1.0
        if places[i] != 3:
            v = values[places[i]]
            if v > 2.0:
                v += values[more[i]]
        out[i] = v


@pytest.mark.parametrize("length", [0, 5, 64, 333])
def test_checks_in_branches(length):
    random = np.random.default_rng(length)
    values = random.integers(-8, 16, 40) / 4
    whole = random.integers(-9, 9, 40)
    good = random.integers(-40, 40, length)
    out = random.integers(0, 2, length) * 1.5
    wrong = good.copy()
    wrong[length // 3 :: 50] = 41
    late = good.copy()
    late[-1:] = -41
    for places in (good, wrong, late):
        check(kept, whole, good, places, 30)
        check(kept, whole, good, places, 50)
        check(summed, values, places, out)
        for more in (good, late, wrong[::-1].copy()):
            check(stored, values, places, more, out)


def rising(x, lengths):
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1


def heaviest_before(x, w):
    most = w.copy()
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i]:
                most[i] = max(most[i], most[j] + w[i])
    return most


def cheapest_order(p):
    n = len(p) - 1
    cost = np.zeros((n, n), np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 10**15
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
    return cost


def pulls(x):
    forces = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            forces[i] += x[j] - x[i]
            forces[j] -= x[j] - x[i]
    return forces


def over_itself(x):
    best = x.copy()
    for i in range(len(x)):
        for j in range(i + 1):
            if best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return best


def around(x):
    best = x.copy()
    for i in range(len(x)):
        for j in range(-1, i):
            best[i] = max(best[i], best[j] - 1)
    return best


@pytest.mark.parametrize("length", [0, 1, 2, 37, 130])
def test_elements_made_of_others(length):
    random = np.random.default_rng(length)
    x = random.integers(0, 3 * length + 1, length)
    for y in (x, x.astype(np.uint8), np.where(x % 7 == 3, np.nan, x * 0.5)):
        check(rising, y, np.ones(length, np.int64))
        check(rising, y, np.ones(length // 2, np.int64))
        with np.errstate(over="ignore"):
            check(heaviest_before, y, y[::-1].copy())
            check(over_itself, y)
            check(around, y)
    check(cheapest_order, random.integers(1, 50, length // 2 + 1))
    check(pulls, x)


def test_elements_of_what_may_be_one():
    x = np.arange(40)[::-1].copy()
    check(rising, x, x)
