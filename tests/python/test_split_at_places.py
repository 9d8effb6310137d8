"""Loops one iteration of which stores what all others read: a row of a matrix, a pivot."""

import numpy as np
import pytest
from agreement import check_agreement

from parakeet import jit


def shortest_paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@pytest.mark.parametrize("n", [0, 1, 2, 9, 34])
def test_shortest_paths(n):
    # A way of less than 0 from a place to itself changes the row that others read.
    d = np.random.default_rng(n).integers(-3, 40, (n, n)) * 1.0
    check_agreement(jit(shortest_paths), shortest_paths, lambda: (d.copy(),))


def eliminated(a, b):
    n = len(b)
    for k in range(n):
        p = a[k, k]
        for j in range(n):
            a[k, j] /= p
        b[k] /= p
        for i in range(n):
            if i != k:
                f = a[i, k]
                for j in range(n):
                    a[i, j] -= f * a[k, j]
                b[i] -= f * b[k]
            else:
                b[i] += 1.0
    return a, b


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_eliminations(n):
    a = np.triu(np.ones((n, n))) + np.eye(n) * (2.0 ** np.arange(n) - 1)
    check_agreement(jit(eliminated), eliminated, lambda: (a.copy(), np.arange(1.0, n + 1.0)))


def less_one(x, y, u, lo, hi):
    for i in range(lo, hi):
        x[i] = x[i] - x[u]
    for i in range(lo, hi):
        if i == u:
            y[i] = y[0]
        else:
            y[i] = 2 * y[i] + y[u] + i
    return x, y


@pytest.mark.sampled(2, "u", "ends")
@pytest.mark.parametrize("u", [0, 3, 5, 11, 12, 19, -1, -4, 20, -21])
@pytest.mark.parametrize("ends", [(0, 20), (5, 12), (7, 3), (0, 21), (-3, 4)])
def test_a_place_anywhere(u, ends):
    jitted = jit(less_one)
    x = np.arange(20) * 3 % 7
    check_agreement(jitted, less_one, lambda: (x.copy(), x * 1.0, u, *ends))


def settled(weights):
    n = len(weights)
    distance = np.full(n, 1e30)
    done = np.zeros(n, np.bool_)
    before = np.full(n, -1)
    distance[0] = 0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u < 0 or distance[v] < distance[u]):
                u = v
        done[u] = True
        for v in range(n):
            other = distance[u] + weights[u, v]
            if other < distance[v]:
                distance[v] = other
                before[v] = u
    return distance, before


@pytest.mark.parametrize("n", [1, 2, 8, 40])
def test_nearest_first(n):
    weights = np.random.default_rng(n).integers(-1, 30, (n, n)) * 1.0
    check_agreement(jit(settled), settled, lambda: (weights,))
