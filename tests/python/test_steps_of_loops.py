"""Loops that go in order: short sums at each step, of places that arrays say."""

import numpy as np
import pytest
from exact_outcomes import check


def swapped_tours(D, tour, places):
    """Lengths of a tour of which two places are swapped at each step."""
    n = len(tour)
    out = np.zeros(len(places))
    k = 0
    while k < len(places):
        a = places[k]
        b = (a + 1) % n
        t = tour[a]
        tour[a] = tour[b]
        tour[b] = t
        length = D[tour[n - 1], tour[0]]
        for i in range(n - 1):
            length += D[tour[i], tour[i + 1]]
        out[k] = length
        k += 1
    return out


@pytest.mark.parametrize("n", [2, 9, 32, 33, 70])
def test_short_and_long_sums_in_a_loop(n):
    rng = np.random.default_rng(n)
    D = rng.integers(0, 100, (n, n)).astype(float)
    tour, places = rng.permutation(n), rng.integers(0, n, 12)
    check(swapped_tours, D, tour, places)


def test_a_place_that_is_not_there_in_a_sum_in_a_loop():
    D = np.arange(16.0).reshape(4, 4)
    check(swapped_tours, D, np.array([0, 1, 4, 2]), np.arange(3))
    check(swapped_tours, D, np.array([0, 1, -4, 2]), np.arange(3))
