"""Sorts on several threads, beside NumPy's and beside one thread's bits."""

import numpy as np
import pytest
from edge_values import edges

import parakeet
from parakeet import jit

SIZES = (1000, 40_000, 100_003)
SPREAD = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float16", "float32", "float64", "complex64")


@pytest.fixture(autouse=True)
def several_threads():
    before = parakeet.get_num_threads()
    parakeet.set_num_threads(5)
    yield
    parakeet.set_num_threads(before)


@jit
def sorted_and_places(x):
    return np.sort(x), np.sort(x, kind="stable"), np.argsort(x)


@jit
def sorted_rows(x):
    return np.sort(x, axis=1), np.sort(x, axis=0)


def by_bits(x):
    return np.ascontiguousarray(x).tobytes()


def some(dtype, size):
    """Few and many values, each often, with all that is special of the dtype."""
    random = np.random.default_rng(size)
    x = random.permutation(np.resize(edges(dtype), size))
    spread = random.integers(0, min(size, 60_000), size).astype(dtype)
    return np.where(random.random(size) < 0.5, x, spread)


@pytest.mark.parametrize("dtype", SPREAD)
def test_sorts_as_numpy_and_as_one_thread(dtype):
    for size in SIZES:
        x = some(dtype, size)
        values, stable, places = sorted_and_places(x, target="parallel")
        order = np.argsort(x, kind="stable")
        assert np.array_equal(places, order), size
        assert by_bits(stable) == by_bits(x[order]), size
        assert np.array_equal(values, np.sort(x), equal_nan=True), size
        alone = sorted_and_places(x, target="serial")
        assert by_bits(alone[1]) == by_bits(stable) and np.array_equal(alone[2], places), size
        is_number = ~np.isnan(values)
        assert by_bits(alone[0][is_number]) == by_bits(values[is_number]), size


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_sorts_rows_and_columns(dtype):
    x = some(dtype, 120_000).reshape(3, 40_000)
    for made, expected in zip(sorted_rows(x, target="parallel"), (np.sort(x, axis=1),
                                                                  np.sort(x, axis=0))):
        assert np.array_equal(made, expected, equal_nan=True)


def test_negative_zeros_come_first_on_any_number_of_threads():
    x = np.where(np.arange(50_000) % 3 == 0, 0.0, -0.0)
    for target in ("serial", "parallel"):
        signs = np.signbit(sorted_and_places(x, target=target)[0])
        assert signs[: np.signbit(x).sum()].all() and not signs[np.signbit(x).sum() :].any()


def test_what_is_found_by_sorting_is_as_numpy_has_it():
    @jit
    def found(x):
        return np.median(x), np.unique(x), np.percentile(x, 30)

    x = np.random.default_rng(3).integers(0, 500, 90_000) * 0.5
    for made, expected in zip(found(x, target="parallel"),
                              (np.median(x), np.unique(x), np.percentile(x, 30))):
        assert np.array_equal(made, expected)


def test_arrays_of_a_sort_are_given_back():
    x = np.random.default_rng(4).random(100_000)
    sorted_and_places(x, target="parallel")
    before = parakeet.cache_info()["live_buffers"]
    for _ in range(20):
        sorted_and_places(x, target="parallel")
    assert parakeet.cache_info()["live_buffers"] == before
