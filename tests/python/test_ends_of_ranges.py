"""Loops whose checks hold everywhere where they do at the ends of their ranges.

Transforms by steps, knapsacks and windows at computed places give what plain Python gives, on every
target: values, exceptions, indexes that count from the end, and what was stored before an error.
"""

import numpy as np
import pytest
from exact_outcomes import check

import parakeet

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")


def butterflies(re, im, w, half, blocks):
    stage = half
    while stage < blocks:
        step = blocks // (2 * stage)
        for i in range(0, blocks, 2 * stage):
            for j in range(stage):
                k = j * step
                t = re[i + j + stage] * w[k]
                u = re[i + j]
                re[i + j] = u + t
                re[i + j + stage] = u - t
                im[i + j] += 1.0
        stage *= 2


def twiddled(x, m, wm):
    a = x.copy()
    while m <= len(x):
        for k in range(0, len(x), m):
            w = 1.0 + 0.0j
            for j in range(m // 2):
                t = w * a[k + j + m // 2]
                u = a[k + j]
                a[k + j] = u + t
                a[k + j + m // 2] = u - t
                w *= wm
        m *= 2
    return a


def turned(x, w, m):
    a = x.copy()
    while m <= len(x):
        half = m // 2
        step = len(x) // m
        for i in range(0, len(x), m):
            for j in range(half):
                u = a[i + j]
                v = a[i + j + half] * w[j * step]
                a[i + j] = u + v
                a[i + j + half] = u - v
        m *= 2
    return a


def ways(coins, dp):
    for k in range(len(coins)):
        for i in range(coins[k], len(dp)):
            dp[i] += dp[i - coins[k]]


def taken_once(w, v, dp, cap):
    for k in range(len(w)):
        for j in range(cap, w[k] - 1, -1):
            dp[j] = max(dp[j], dp[j - w[k]] + v[k])


def reached(items, can):
    for k in range(len(items)):
        for s in range(len(can) - 1, items[k] - 1, -1):
            if can[s - items[k]]:
                can[s] = True


def by_products(x, y, c):
    for k in range(len(c)):
        for i in range(3):
            for j in range(2):
                y[i + j] += x[(i * c[k] + j) * c[k]]


def stores(y, idx):
    for k in range(len(idx)):
        for i in range(0, 5, 2):
            y[idx[k] * i - i // 2] = y[k] + i


def triangles(x, y, c):
    for k in range(len(c)):
        for i in range(1, 4):
            for j in range(i, 4):
                y[i] += x[(j + 1) * c[k]]
            for j in range(0, i):
                y[j] -= x[(i - j) * c[k]]


def floats(n, seed=5):
    return np.random.default_rng(seed).standard_normal(n)


@pytest.mark.parametrize("size, blocks, half", [(64, 64, 1), (64, 48, 1), (63, 64, 1), (64, 64, 0),
                                                (20, 64, 16), (64, 64, -3), (16, 16, 4)])
def test_transforms_by_steps(size, blocks, half):
    check(butterflies, floats(size), floats(size, 6), floats(40, 7), max(half, 1), blocks)
    if half > 0:
        x = floats(size) + 1j * floats(size, 9)
        check(twiddled, x, 2 * half, np.exp(-0.3j))
        check(turned, x, np.exp(-1j * np.arange(blocks // 2)), 2 * half)


@pytest.mark.parametrize("coins", [[1, 2, 5], [3, 0, 2], [-2, 1], [70], [2, -70], [2, -40, 1],
                                   [-2**63, 1], [2**62]])
def test_ways_of_coins(coins):
    dp = np.zeros(50, np.int64)
    dp[0] = 1
    check(ways, np.array(coins), dp)
    check(taken_once, np.array(coins), floats(3)[:len(coins)], np.zeros(50), 49)
    check(taken_once, np.array(coins), floats(3)[:len(coins)], np.zeros(50), 50)
    check(reached, np.array(coins), np.arange(50) == 3)


# (2 c + 1) c comes back into the array where it wraps around.
@pytest.mark.parametrize("factors", [[1, 2], [3, 4], [-1, 1], [0, 0], [2, -2], [2**62, 1],
                                     [2**32], [-(2**63)], [2**31, 2**33]])
def test_places_as_products(factors):
    check(by_products, floats(40), floats(5), np.array(factors))
    check(stores, floats(11), np.array(factors))
    # Sums that are exact in any order.
    check(triangles, np.round(8 * floats(40)) / 8, np.zeros(5), np.array(factors))


def test_checks_are_made_at_ends():
    jitted = parakeet.jit(turned)
    report = str(jitted.explain(floats(8) + 0j, floats(4) + 0j, 2, target="serial"))
    assert "its checks are made at its ends first" in " ".join(report.split())


def packed(values, weights, limit):
    best = np.zeros((len(values) + 1, limit + 1), np.int64)
    for i in range(1, len(values) + 1):
        for w in range(limit + 1):
            best[i, w] = best[i - 1, w]
            if weights[i - 1] <= w:
                best[i, w] = max(best[i, w], best[i - 1, w - weights[i - 1]] + values[i - 1])
    return best


def delayed(x, y, delay):
    for i in range(len(y)):
        if i >= delay[0] and i < delay[1]:
            y[i] = x[i - delay[0]] + x[delay[1] - i]
        else:
            y[i] += 1.0


def delayed_twice(x, y, delay):
    for i in range(len(y) - 1, -1, -2):
        p = i - delay[0]
        if delay[1] > i:
            y[i] = x[p]
        y[i] += x[i - delay[1]]


def moved_on(x, by):
    for i in range(len(by)):
        if by[0] <= i:
            by[i] = x[i - by[0]]


NUMBERS = [0, 1, 7, 40, 41, 60, -1, -3, -41, -(2**62), 2**62, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("weight", NUMBERS)
def test_branches_that_bound(weight):
    values = np.arange(3) + 5
    check(packed, values, np.array([2, weight, 3]), 40)
    check(packed, values, np.array([weight, 9]), 40)
    check(packed, values, np.array([], np.int64), 3)
    check(packed, values, np.array([weight] * 3), -1)
    if abs(weight) < 100:
        check(packed, values, np.array([2, weight, 3], np.int8), 40)
    for other in (0, 3, 39, 40, 41, -2, 2**63 - 1, -(2**63)):
        for delay in ([weight, other], [other, weight]):
            check(delayed, floats(40), floats(40, 3), np.array(delay))
            check(delayed_twice, floats(41), floats(40, 3), np.array(delay))
    check(delayed, floats(40), floats(0), np.array([], np.int64))
    check(moved_on, np.arange(30), np.array([weight, *range(5, 34)]))


def stacked(free, moves):
    row = 0
    seen = 0
    while row >= 0 and seen < 60:
        seen += 1
        if free[row] == 0:
            row -= 1
        else:
            free[row] -= 1
            row += 1
            free[row] = moves[seen % len(moves)]
    return seen, row


@pytest.mark.parametrize("depth", [0, 1, 3, 9])
def test_tops_of_stacks(depth):
    for moves in ([0], [1, 0, 2, 0], [1]):
        check(stacked, np.full(depth, 2), np.array(moves))
