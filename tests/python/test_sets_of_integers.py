"""Integers that lie close together are counted and looked up, wherever they lie."""

import numpy as np
import pytest

import parakeet
from parakeet import jit

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@jit
def sorts(x):
    return np.sort(x), np.sort(x, kind="stable"), np.argsort(x), np.unique(x)


@jit
def sets(x, y):
    return (np.isin(x, y), np.isin(x, y, invert=True), np.union1d(x, y), np.intersect1d(x, y),
            np.setdiff1d(x, y), np.setxor1d(x, y))


def sets_by_numpy(x, y):
    return (np.isin(x, y), np.isin(x, y, invert=True), np.union1d(x, y), np.intersect1d(x, y),
            np.setdiff1d(x, y), np.setxor1d(x, y))


def close_together(dtype, size, apart, seed):
    """At both ends of the dtype, and in the middle."""
    random = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    apart = min(apart, info.max - info.min)
    for least in (info.min, info.max - apart, max(info.min, -(apart // 2) - 1)):
        yield np.array([least + int(k) for k in random.integers(0, apart + 1, size)], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts(dtype):
    before = parakeet.get_num_threads()
    for threads in (1, 4):
        parakeet.set_num_threads(threads)
        for size, apart in ((1500, 3), (5000, 1249), (5000, 1250), (40_000, 100_000)):
            for x in close_together(dtype, size, apart, size):
                expected = np.sort(x), np.sort(x), np.argsort(x, kind="stable"), np.unique(x)
                for made, wanted in zip(sorts(x, target="parallel"), expected):
                    np.testing.assert_array_equal(made, wanted, strict=True)
    parakeet.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sets(dtype):
    for apart in (3, 500, 2**40):
        for x, y in zip(close_together(dtype, 700, apart, 1), close_together(dtype, 300, apart, 2)):
            for made, wanted in zip(sets(x, y), sets_by_numpy(x, y)):
                np.testing.assert_array_equal(made, wanted, strict=True)
    x = np.array([np.iinfo(dtype).min, 0, np.iinfo(dtype).max], dtype)
    for made, wanted in zip(sets(x, x[::2]), sets_by_numpy(x, x[::2])):
        np.testing.assert_array_equal(made, wanted, strict=True)
