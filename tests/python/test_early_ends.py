"""Reductions of bools end where the answer is known; first places of bools; scans in one pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parakeet
from parakeet import jit

TARGETS = ("serial", "parallel")


@pytest.fixture(autouse=True)
def several_threads():
    before = parakeet.get_num_threads()
    parakeet.set_num_threads(6)
    yield
    parakeet.set_num_threads(before)


@jit
def of_bools(b):
    return (b.any(), b.all(), np.any(~b), np.all(b | ~b), b.max(), b.min(), b.argmax(), b.argmin(),
            np.logical_or.reduce(b))


def of_bools_by_numpy(b):
    return (b.any(), b.all(), (~b).any(), True, b.max(), b.min(), b.argmax(), b.argmin(), b.any())


@jit
def of_numbers(x, limit):
    return np.any(x > limit), np.all(x <= limit), (x * 2 > limit).any(), np.any(np.isnan(x))


@jit
def of_rows(b):
    return b.argmax(axis=0), b.argmax(axis=1), b.argmin(axis=-1), b.any(axis=1), b.all(), b.any()


@pytest.mark.parametrize("size", [1, 15, 16, 17, 1041, 8191, 8193, 100_001])
def test_one_that_differs_is_found_wherever_it_is(size):
    for place in (None, 0, size // 2, size - 1, min(16, size - 1)):
        b = np.zeros(size, bool)
        if place is not None:
            b[place] = True
        for bools in (b, ~b, b[::-1]):
            for target in TARGETS:
                assert of_bools(bools, target=target) == of_bools_by_numpy(bools)


def test_conditions_end_early_too():
    x = np.zeros(100_001)
    for place in (0, 50_000, 100_000):
        x[:] = 0
        x[place] = 3
        for limit in (1.0, 4.0, 7.0):
            for target in TARGETS:
                expected = ((x > limit).any(), (x <= limit).all(), (x * 2 > limit).any(), False)
                assert of_numbers(x, limit, target=target) == expected


@pytest.mark.parametrize("shape", [(1, 1), (3, 2000), (2000, 3), (40, 41)])
def test_rows(shape):
    random = np.random.default_rng(3)
    for share in (0.0, 0.001, 0.5, 1.0):
        b = random.random(shape) < share
        expected = (b.argmax(axis=0), b.argmax(axis=1), b.argmin(axis=-1), b.any(axis=1), b.all(),
                    b.any())
        for target in TARGETS:
            for made, wanted in zip(of_rows(b, target=target), expected):
                np.testing.assert_array_equal(made, wanted)


def test_what_fails_behind_an_early_end_fails():
    @jit
    def some(x, at):
        return np.any(np.array([x[i] > 0 for i in at]))

    with pytest.raises(IndexError):
        some(np.ones(5), np.array([0, 1, 99]))


@jit
def prefixes(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x), np.cumsum(x)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.5, -2.0, np.nan, np.inf]) | st.floats(-9, 9),
                min_size=1, max_size=60), st.integers(1, 30))
def test_scans_of_extremes_have_the_same_bits_by_any_number_of_threads(numbers, repeats):
    x = np.array(numbers * repeats)
    made = []
    for threads in (1, 3, 6):
        parakeet.set_num_threads(threads)
        made.append(prefixes(x, target="parallel"))
    made.append(prefixes(x, target="serial"))
    np.testing.assert_array_equal(made[0][0], np.maximum.accumulate(x))
    np.testing.assert_array_equal(made[0][1], np.minimum.accumulate(x))
    for other in made[1:]:
        for one, same in zip(made[0], other):
            assert one.tobytes() == same.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
def test_scans_of_integers(dtype):
    x = np.random.default_rng(5).integers(0, 100, 20_000).astype(dtype)
    for target in TARGETS:
        for made, expected in zip(prefixes(x, target=target),
                                  (np.maximum.accumulate(x), np.minimum.accumulate(x),
                                   np.cumsum(x))):
            np.testing.assert_array_equal(made, expected, strict=True)
