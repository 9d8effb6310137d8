"""The place of the best element, by itself and beside other sums of a loop, on every target."""

import numpy as np
import pytest
from agreement import HERE
from tested_targets import with_added

import parakeet
from parakeet import jit

TARGETS = with_added(("serial", "parallel", "emulated_gpu"))
RANDOM = np.random.default_rng(11)


def places(x):
    return x.argmax(), x.argmin()


def check(function, *args, target):
    expected = function(*args)
    found = jit(function)(*args, target=target)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(5, "target", "dtype", "n")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", "f4 f8 f2 i1 u1 i4 u4 i8 u8 ? c16".split())
@pytest.mark.parametrize("n", [1, 2, 255, 5000, 40_000])
def test_of_every_type_the_first_of_equals(target, dtype, n):
    x = (RANDOM.integers(0, 5, n) - (0 if dtype[0] in "u?" else 2)).astype(dtype)
    check(places, x, target=target)
    check(places, np.zeros(n, dtype), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_first_nan_comes_before_all(target, dtype):
    x = RANDOM.standard_normal(40_000).astype(dtype)
    for odd in ([], [39_999], [5, 4], [0, 1], [8192, 12_288, 33_000]):
        y = x.copy()
        y[odd] = np.nan
        y[100] = np.inf
        y[101] = -np.inf
        check(places, y, target=target)
    for value in (np.nan, np.inf, -np.inf):
        check(places, np.full(9000, value, dtype), target=target)
    check(places, np.array([0.0, -0.0, 0.0], dtype), target=target)
    check(places, np.array([-np.inf, np.nan], dtype), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["i1", "i8", "u8"])
def test_the_least_and_the_greatest_numbers_of_a_type(target, dtype):
    least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for values in ([least] * 3, [greatest] * 3, [least, greatest], [greatest, least]):
        check(places, np.array(values * 2000, dtype), target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_of_views_and_matrices(target):
    a = RANDOM.integers(0, 1000, (70, 90)).astype("f8")
    check(places, a, target=target)
    check(places, a.T, target=target)
    check(lambda a: (a[::-2, ::3].argmax(), a[3].argmin(), a[:, 4].argmax()), a, target=target)
    check(lambda a: a.argmax(axis=0), a, target=target)
    check(lambda a: a.argmin(axis=1), a, target=target)
    with pytest.raises(ValueError, match="empty sequence"):
        jit(places)(np.zeros(0), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 7, 20_000])
def test_a_loop_that_finds_a_place_and_sums_beside_it(target, n):
    def survey(x):
        best, place, least, last, total, odd = x[0], 0, x[0], 0, 0, 0
        for i in range(len(x)):
            if x[i] > best:
                best = x[i]
                place = i
            if x[i] <= least:
                least = x[i]
                last = i
            total += i % 7
            odd = max(odd, i if x[i] > 3 else 0)
        return best, place, least, last, total, odd

    check(survey, RANDOM.integers(0, 9, n).astype("f8"), target=target)
    check(survey, np.zeros(n), target=target)


def test_a_gpu_reads_each_element_once():
    f = jit(lambda x: x.argmax())
    x = parakeet.to_gpu(RANDOM.standard_normal(100_000), HERE)
    f(x)
    before = parakeet.memory_info(HERE).launches
    f(x)
    assert parakeet.memory_info(HERE).launches - before == 3
    assert f.explain(x).traversals == 1
