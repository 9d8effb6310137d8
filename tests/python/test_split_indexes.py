"""Transposed arrays of another shape: loops over their axes in the place of divisions."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


def merged(y, x):
    b, h, s, d = y.shape
    return y.transpose(0, 2, 1, 3).reshape(b, s, h * d), y.transpose(0, 2, 1, 3).reshape(b, s, -1)


def merged_and_added(y, x):
    b, h, s, d = y.shape
    return y.transpose(0, 2, 1, 3).reshape(b, s, h * d) + x


def in_a_line(y, x):
    return y.T.reshape(-1) + 1, np.transpose(y, (1, 2, 3, 0)).ravel(), y.swapaxes(0, 2).flatten()


def stored(y, x):
    line = np.zeros(y.size)
    line[:] = np.transpose(y, (3, 0, 2, 1)).ravel()
    rows = np.zeros((y.shape[1], y.size // max(y.shape[1], 1)))
    rows[:] = np.transpose(y, (1, 0, 2, 3)).reshape(y.shape[1], -1)
    return line, rows


def several_results(y, x):
    line = y.transpose(2, 0, 3, 1).reshape(-1)
    return line * 2, np.sqrt(abs(line)), line.sum(), line.argmax()


def of_steps(y, x):
    """Sizes that change with the step: powers, as in a transform in stages."""
    line = y.reshape(-1)[: 4**3]
    for i in range(3):
        line = np.transpose(line.reshape(4**i, 4, 4 ** (2 - i)), (1, 0, 2)).reshape(-1) * 0.5
    return line


PROGRAMS = (merged, merged_and_added, in_a_line, stored, several_results, of_steps)
# Heads of few and many elements, an axis of one element, and none.
SIZES = ((2, 3, 5, 16), (3, 2, 4, 3), (1, 4, 9, 8), (2, 3, 4, 1), (3, 1, 2, 11), (2, 1, 1, 33))


def parts_of(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_is_as_numpy(program):
    compiled = jit(program)
    for size in SIZES + ((5, 4, 4, 7),):
        if program is of_steps and np.prod(size) < 4**3:
            continue
        b, h, s, d = size
        y = np.random.default_rng(h).integers(-50, 50, size) * 0.5
        x = np.arange(float(y.size)).reshape(b, s, h * d)
        expected = parts_of(program(y, x))
        for target in TARGETS:
            for made, wanted in zip(parts_of(compiled(y, x, target=target)), expected):
                np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("size", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0)])
def test_no_elements(size):
    b, h, s, d = size
    y = np.zeros(size)
    f = jit(lambda y: (y.transpose(0, 2, 1, 3).reshape(b, s, h * d), y.T.reshape(-1)))
    for target in TARGETS:
        for made, wanted in zip(f(y, target=target), f.__wrapped__(y)):
            assert made.shape == wanted.shape


def test_a_size_of_minus_1_and_sizes_that_do_not_fit_at_run_time():
    f = jit(lambda x, n, m: np.reshape(x.T, (n, m)) * 2)
    x = np.arange(60.0).reshape(5, 12)
    for target in TARGETS:
        for n, m in ((-1, 12), (6, -1), (5, 12), (20, 3), (60, 1), (1, 60)):
            np.testing.assert_array_equal(f(x, n, m, target=target), f.__wrapped__(x, n, m))
        for n, m in ((-1, -1), (7, -1), (5, 11), (-5, -12)):
            with pytest.raises(ValueError):
                f(x, n, m, target=target)


def test_divisions_that_users_write():
    """Whole quotients and remainders by what is a factor, is none, and is negative."""
    f = jit(lambda x, n, m: np.array([x[i // m] * 10 + i % m for i in range(n * m)]))
    x = np.arange(30.0)
    for target in TARGETS:
        for n, m in ((3, 9), (5, 2), (1, 16), (0, 9), (-3, -4)):
            np.testing.assert_array_equal(f(x, n, m, target=target), f.__wrapped__(x, n, m))
