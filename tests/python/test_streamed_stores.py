"""Arrays larger than the caches, whose stores go past them: every element is there, for all threads
and for what reads it in the same call."""

import numpy as np
import pytest

from parakeet import jit

LONG = 2**22 + 3  # 32 MiB and some of float64, in no whole vectors
TARGETS = ("serial", "parallel")


@jit
def chain(x, y):
    return x * y + 2.0 * x - y


@jit
def two(x):
    return x + 1.0, x > 0.5, x.sum()


@jit
def along_rows(a, b):
    return a + b[:, None]


@jit
def turned(a):
    return a.T * 2.0


@jit
def steps(x, count):
    for _ in range(count):
        y = x * 0.5
        x = y[::-1] + 1.0
    return x


@jit
def counted(n):
    return np.arange(n) * 3


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(5).random(LONG)


@pytest.mark.parametrize("target", TARGETS)
def test_a_chain_of_large_arrays(x, target):
    y = x[::-1].copy()
    np.testing.assert_array_equal(chain(x, y, target=target), x * y + 2.0 * x - y)
    np.testing.assert_array_equal(chain(x[1:], y[1:], target=target), (x * y + 2.0 * x - y)[1:])


@pytest.mark.parametrize("target", TARGETS)
def test_siblings_of_which_one_is_small(x, target):
    more, above, total = two(x, target=target)
    np.testing.assert_array_equal(more, x + 1.0)
    np.testing.assert_array_equal(above, x > 0.5)
    assert total == pytest.approx(x.sum())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", [2048, 2051])
def test_rows_that_begin_lines_and_rows_that_do_not(x, target, width):
    a = x[: LONG // width * width].reshape(-1, width)
    b = np.arange(len(a), dtype=float)
    np.testing.assert_array_equal(along_rows(a, b, target=target), a + b[:, None])
    np.testing.assert_array_equal(turned(a, target=target), a.T * 2.0)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_streamed_is_read_by_the_next_step(x, target):
    expected = x
    for _ in range(3):
        expected = (expected * 0.5)[::-1] + 1.0
    np.testing.assert_array_equal(steps(x, 3, target=target), expected)


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_of_nothing_read(target):
    np.testing.assert_array_equal(counted(LONG, target=target), np.arange(LONG) * 3)


def test_large_stores_go_past_the_caches(x):
    assert "streams = 1" in chain.ir(x, x, stage="scheduled", target="serial")
