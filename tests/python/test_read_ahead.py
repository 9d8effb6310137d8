"""Loops that read what later iterations store over, in one thread; and what branches in loops read
of the point that the loop is about."""

import math

import numpy as np
import pytest
from agreement import REDUCED, TRANSCENDENTAL, check_agreement
from exact_outcomes import check
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit


def trees(spots, up, df, p):
    out = np.empty(len(spots))
    n = 70
    value = np.empty(n + 1)
    for i in range(len(spots)):
        value = np.empty(n + 1)
        for j in range(n + 1):
            value[j] = max(spots[i] * up ** (2 * j - n) - 100.0, 0.0)
        for step in range(n - 1, -1, -1):
            for j in range(step + 1):
                value[j] = df * (p * value[j + 1] + (1.0 - p) * value[j])
        out[i] = value[0]
    return out


@pytest.mark.parametrize("n", [0, 1, 9])
def test_trees_of_options(n):
    check_agreement(jit(trees), trees, lambda: (np.linspace(80.0, 120.0, n), 1.02, 0.999, 0.51),
                    TRANSCENDENTAL)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40), st.integers(-3, 5), st.integers(-3, 5), st.booleans())
def test_any_distance(n, first, second, down):
    """Reads behind what is stored stay in order; reads ahead are lanes."""

    def shifted(x, rows, a, b):
        for r in range(rows):
            if down:
                for i in range(n + 4, 4, -1):
                    x[i] = x[i + 4] * 0.5 + x[i - 4] + x[i]
            for i in range(5, n + 5):
                x[i] = x[i + a] * 0.5 + x[i + b] - r
            for i in range(5, n + 5):
                x[i] = x[i + 3] * 0.5 + x[i + 1] * x[i]
        return x

    x = np.random.default_rng(n).random(n + 12)
    check_agreement(jit(shifted), shifted, lambda: (x.copy(), 3, first, second))


def two_nearest(points):
    n, d = points.shape
    nearest = np.zeros((n, 2), np.int64)
    for i in range(n):
        d1, d2, i1, i2 = np.inf, np.inf, -1, -1
        for j in range(n):
            if j == i:
                continue
            s = 0.0
            for k in range(d):
                s += (points[i, k] - points[j, k]) ** 2
            if s < d1:
                d1, d2, i1, i2 = s, d1, j, i1
            elif s < d2:
                d2, i2 = s, j
        nearest[i, 0] = i1
        nearest[i, 1] = i2
    return nearest


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (2, 2), (19, 3), (23, 16), (37, 21), (4, 0)])
def test_nearest_others(shape):
    points = np.random.default_rng(3).random(shape)
    check_agreement(jit(two_nearest), two_nearest, lambda: (points,))


def pulled(x, mass, limit):
    n = len(x)
    force = np.zeros(n)
    for i in range(n):
        for j in range(n):
            if i != j and abs(x[j] - x[i]) < limit:
                force[i] += mass[i] * mass[j] / (x[j] - x[i])
        if force[i] > 3.0:
            mass[i] = -mass[i]
    return force, mass


@pytest.mark.parametrize("n", [0, 1, 2, 33])
def test_forces_of_others(n):
    x = np.arange(n) ** 1.25
    check_agreement(jit(pulled), pulled, lambda: (x, np.full(n, 2.0), 7.0), REDUCED)


def resized(image, height, width):
    n, m = image.shape
    out = np.zeros((height, width))
    for y in range(height):
        at_y = (y + 0.5) * n / height - 0.5
        y0 = int(math.floor(at_y))
        for x in range(width):
            at_x = (x + 0.5) * m / width - 0.5
            x0 = int(math.floor(at_x))
            s = 0.0
            for dy in range(2):
                for dx in range(2):
                    yy = min(max(y0 + dy, 0), n - 1)
                    xx = min(max(x0 + dx, 0), m - 1)
                    s += image[yy, xx] * abs(at_y - y0 - 1 + dy) * abs(at_x - x0 - 1 + dx)
            out[y, x] = s
    return out


@pytest.mark.sampled(2, "shape", "size")
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (1, 30), (13, 2)])
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (1, 1), (9, 40)])
def test_clipped_places(shape, size):
    image = np.random.default_rng(5).random(shape)
    check_agreement(jit(resized), resized, lambda: (image, *size), REDUCED)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_a_clipped_place_of_nothing(shape):
    jitted = jit(resized)
    jitted(np.ones((3, 3)), 2, 2)
    image = np.ones(shape)
    check_agreement(jitted, resized, lambda: (image, 0, 5))
    for target in ("serial", "parallel"):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            jitted(image, 2, 2, target=target)


def moved_to_front(table, seen):
    places = np.empty(len(seen), np.int64)
    for i in range(len(seen)):
        k = 0
        while table[k] != seen[i]:
            k += 1
        places[i] = k
        for j in range(k, 0, -1):
            table[j] = table[j - 1]
        table[0] = seen[i]
    return places


@pytest.mark.parametrize("seen", [[], [0, 7, 7, 40, 3, 40], [4999, 17, 4800], [3, -1]])
def test_a_list_that_moves_to_its_front(seen):
    """What threads would share is stored at once where it is short, and made first where not."""
    check(moved_to_front, np.arange(5000), np.array(seen, np.int64))
