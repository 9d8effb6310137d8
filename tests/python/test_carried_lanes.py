"""Loops in lanes that have lanes from the iteration before: stencils, windows, what they share."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

# Below, at and beyond one vector, two and three, and what they leave.
WIDTHS = [1, 2, 3, 4, 5, 9, 10, 17, 18, 19, 25, 26, 33, 34, 35, 49, 66, 67, 131, 260]


@jit
def window(a):
    rows = a[1:-1, :] + a[:-2, :] + a[2:, :]
    return rows[:, 1:-1] + rows[:, :-2] + rows[:, 2:] - 9 * a[1:-1, 1:-1]


@jit
def neighbours(x):
    return x[:-4] - 2 * x[1:-3] + x[2:-2] * x[3:-1] - x[4:]


@jit
def slopes(x, y):
    # The last one lies farthest ahead of lanes that are read first.
    return (x[3:] * y[3:] - x[:-3] * y[:-3]) / (1 + x[1:-2] * y[1:-2])


@jit
def counted(x):
    n = len(x)
    smooth = np.empty(n)
    rising = 0
    for i in range(2, n - 2):
        smooth[i] = (x[i - 2] + x[i - 1] + x[i] + x[i + 1] + x[i + 2]) / 5
    for i in range(1, n - 1):
        if x[i - 1] < x[i] and x[i] < x[i + 1]:
            rising += 1
    return smooth[2:-2], rising


@jit
def relaxed(x, steps):
    for _ in range(steps):
        x[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return x


@jit
def onto(x, y):
    # The arguments may share memory.
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + x[i] + x[i + 1]


@jit
def autocorrelations(x):
    total = 0.0
    for i in range(len(x) - 3):
        total += x[i] * x[i + 1] - x[i + 2] * x[i + 3]
    return total


def check(function, arguments, target):
    here = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    there = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with np.errstate(all="ignore"):
        wanted = function.__wrapped__(*there)
    made = function(*here, target=target)
    made, wanted = (r if isinstance(r, tuple) else (r,) for r in (made, wanted))
    for a, b in zip((*made, *here), (*wanted, *there), strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.array_equal(a, b, equal_nan=np.asarray(b).dtype.kind == "f")


def numbers(random, shape, dtype):
    return random.integers(-9 if np.dtype(dtype).kind != "u" else 0, 10, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "u1"])
@pytest.mark.parametrize("target", COMPILED)
def test_windows_and_neighbours(target, dtype):
    random = np.random.default_rng(0)
    for width in WIDTHS:
        for height in (3, 4, 6):
            if width >= 3:
                check(window, (numbers(random, (height, width), dtype),), target)
        check(neighbours, (numbers(random, width + 4, dtype),), target)
        x, y = numbers(random, (2, width + 3), dtype)
        check(slopes, (x, y), target)


@pytest.mark.parametrize("target", COMPILED)
def test_loops(target):
    random = np.random.default_rng(1)
    for width in WIDTHS:
        x = numbers(random, width + 4, "f8")
        check(counted, (x,), target)
        check(relaxed, (x, 3), target)
        check(autocorrelations, (x,), target)


@pytest.mark.parametrize("target", COMPILED)
def test_other_layouts(target):
    random = np.random.default_rng(2)
    for width in WIDTHS[4:]:
        a = numbers(random, (9, 2 * width), "f8")
        check(window, (np.asfortranarray(a),), target)
        for view in (a[::-1], a[:, ::-1], a[:, ::2], a.T):
            assert np.array_equal(window(view, target=target), window.__wrapped__(view))
            assert np.array_equal(neighbours(view[1], target=target),
                                  neighbours.__wrapped__(view[1]))  # fmt: skip


@pytest.mark.parametrize("target", COMPILED)
def test_what_shares_memory(target):
    random = np.random.default_rng(3)
    for width in WIDTHS:
        whole = numbers(random, width + 20, "f8")
        for shift in (-9, -8, -2, -1, 0, 1, 2, 7, 8, 9):
            here, there = whole.copy(), whole.copy()
            span = slice(10 + shift, 10 + shift + width)
            onto(here[10 : 10 + width], here[span], target=target)
            onto.__wrapped__(there[10 : 10 + width], there[span])
            assert np.array_equal(here, there)


@pytest.mark.parametrize("target", COMPILED)
def test_what_is_no_number(target):
    random = np.random.default_rng(4)
    for width in WIDTHS:
        x = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 1.0], width + 4)
        a = random.choice([np.inf, -np.inf, 0.0, -0.0, 1e308, 1.0], (4, width + 2))
        check(neighbours, (x,), target)
        check(counted, (x,), target)
        check(window, (a,), target)
