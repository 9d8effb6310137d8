"""Loops that go through arrays across their memory: by columns, planes last, from behind."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

SHAPES = [(0, 0), (1, 1), (1, 9), (5, 1), (3, 4), (17, 8), (9, 40), (70, 33)]


@jit
def by_columns(x):
    h, w = x.shape
    y = np.empty((h, w))
    for j in range(w):
        for i in range(h):
            y[i, j] = 2 * x[i, j] + j - i
    return y.sum(), y + 1


@jit
def turned(x):
    h, w = x.shape
    y = np.empty((w, h))
    for i in range(h):
        for j in range(w):
            y[j, i] = x[i, j] - x[i, 0]
    return y


@jit
def in_place(x):
    h, w = x.shape
    for j in range(1, w - 1):
        for i in range(h):
            x[i, j] = x[i, j] * 3 + x[i, 0]


@jit
def column_by_column(x, kernel):
    y = np.empty((x.shape[0] - len(kernel) + 1, x.shape[1]))
    for j in range(x.shape[1]):
        y[:, j] = np.convolve(x[:, j], kernel, mode="valid")
    return np.clip(y, -20, 20).astype(np.int64)


@jit
def centred(x):
    y = np.empty_like(x)
    for j in range(x.shape[1]):
        y[:, j] = x[:, j] - x[:, j].min()
    return y


@jit
def two_orders(x):
    h, w = x.shape
    y = np.zeros((h, w))
    z = np.zeros((w, h))
    for j in range(w):
        for i in range(h):
            y[i, j] = x[i, j] + 1
            z[j, i] = x[i, j] - 1
    return y, z


@jit
def planes_last(x):
    a, b, c = x.shape
    y = np.zeros((a, b, c))
    for k in range(c):
        for j in range(b):
            for i in range(a):
                if x[i, j, k] > 0:
                    y[i, j, k] = x[i, j, k] + k
    return y


@jit
def raising(x, places):
    # The first error is that of the first column, however it lies in memory.
    h, w = x.shape
    y = np.zeros((h, w))
    for j in range(w):
        for i in range(h):
            y[i, j] = x[i, places[i, j]]
    return y


def check(function, target, *arguments):
    here, there = ([a.copy(order="K") for a in arguments] for _ in range(2))
    made, wanted = function(*here, target=target), function.__wrapped__(*there)
    made, wanted = (r if isinstance(r, tuple) else (r,) for r in (made, wanted))
    for a, b in zip((*made, *here), (*wanted, *there), strict=True):
        if b is not None:
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert np.array_equal(a, b)


@pytest.mark.parametrize("target", COMPILED)
def test_nests(target):
    random = np.random.default_rng(0)
    for shape in SHAPES:
        x = random.integers(-9, 10, shape).astype(float)
        for layout in (x, np.asfortranarray(x)):
            for function in (by_columns, turned, in_place, two_orders):
                if shape[1] > 0:
                    check(function, target, layout)
            if shape[0] > 0:
                check(centred, target, layout)
            for n in (1, 3):
                if n <= shape[0]:
                    check(column_by_column, target, layout, np.arange(1.0, n + 1))
        check(planes_last, target, random.integers(-9, 10, (*shape, 5)).astype(float))


@pytest.mark.parametrize("target", COMPILED)
def test_the_first_error_is_the_first_in_the_program(target):
    x = np.arange(20.0).reshape(4, 5)
    places = np.zeros((4, 5), np.int64)
    check(raising, target, x, places)
    places[0, 3], places[3, 1] = 7, 9
    with pytest.raises(IndexError, match="index 9 "):
        raising(x, places, target=target)
    places[3, 1] = 0
    with pytest.raises(IndexError, match="index 7 "):
        raising(x, places, target=target)
