"""Short rows that networks sort: every dtype and order, lengths that the program or a call says."""

import numpy as np
import pytest
from edge_values import edges
from numpy.lib.stride_tricks import sliding_window_view
from tested_targets import TARGETS

from parakeet import jit

SORTED = ("bool", "int8", "uint16", "int32", "uint64", "int64", "float16", "float32", "float64")


@jit
def columns_sorted(x):
    return np.sort(x, axis=0), np.argsort(x, axis=0), np.sort(x, axis=0, kind="stable")


@jit
def places_of_columns(x, kth):
    order = np.argpartition(x, kth, axis=0)
    return np.partition(x, kth, axis=0), order, np.take_along_axis(x, order, axis=0)


@jit
def medians(x):
    return np.median(x, axis=0), np.nanmedian(x, axis=0), np.percentile(x, (20, 90), axis=0)


@jit
def median_filter(image):
    return np.median(sliding_window_view(image, (3, 3)), axis=(2, 3))


@jit
def median_of_shifts(image):
    n, m = image.shape
    shifted = [image[i:n - 2 + i, j:m - 2 + j] for i in range(3) for j in range(3)]
    return np.median(np.stack(shifted), axis=0)


@jit
def stacked(a, b, c):
    together = np.sort(np.stack((a, b, c)), axis=0)
    return together[1], together[2] - together[0], np.argsort(np.stack((c, a, b)), axis=0)


@jit
def sorted_where_they_are(x, k):
    x.sort(axis=0)
    y = x.T.copy()
    y[k].sort()
    return y


def columns(dtype, rows, seed):
    random = np.random.default_rng(seed)
    special = random.choice(edges(dtype), (rows, 37))
    return np.where(random.random((rows, 37)) < 0.4, special,
                    random.integers(0, 4, (rows, 37)).astype(dtype))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", SORTED)
def test_columns(dtype, target):
    for rows in (2, 3, 7, 16):
        x = columns(dtype, rows, rows)
        made, order, stable = columns_sorted(x, target=target)
        np.testing.assert_array_equal(made, np.sort(x, axis=0), strict=True)
        np.testing.assert_array_equal(stable, np.sort(x, axis=0), strict=True)
        np.testing.assert_array_equal(order, np.argsort(x, axis=0, kind="stable"), strict=True)


@pytest.mark.parametrize("target", TARGETS)
def test_partitions_and_medians(target):
    for dtype in ("int16", "float64", "float32"):
        x = columns(dtype, 9, 3)
        made, _, taken = places_of_columns(x, 4, target=target)
        for one in (made, taken):
            np.testing.assert_array_equal(one[4], np.sort(x, axis=0)[4])
            np.testing.assert_array_equal(np.sort(one[:4], axis=0), np.sort(x, axis=0)[:4])
        finite = np.where(np.isfinite(x), x, x.dtype.type(1)) / x.dtype.type(4)
        finite[3, ::5] = np.nan
        for got, wanted in zip(medians(finite, target=target), medians.__wrapped__(finite)):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_filters_and_stacks(target):
    random = np.random.default_rng(6)
    image = random.standard_normal((13, 21))
    image[4, 5] = np.nan
    np.testing.assert_array_equal(median_filter(image, target=target),
                                  median_filter.__wrapped__(image))
    np.testing.assert_array_equal(median_of_shifts(image, target=target),
                                  median_filter.__wrapped__(image))
    parts = random.integers(0, 3, (3, 50))
    for got, wanted in zip(stacked(*parts, target=target), stacked.__wrapped__(*parts)):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_in_place(target):
    for shape in ((5, 8), (40, 3)):
        x = np.random.default_rng(2).standard_normal(shape)
        y = x.copy()
        np.testing.assert_array_equal(sorted_where_they_are(x, 1, target=target),
                                      sorted_where_they_are.__wrapped__(y, 1))
        np.testing.assert_array_equal(x, y)


def test_zeros_of_either_sign_are_in_order():
    x = np.array([[0.0, 1.0, -0.0, np.nan], [-0.0, -0.0, 0.0, 0.0], [-0.0, 0.0, 1.0, -0.0]]).T
    for target in ("serial", "parallel"):
        made, order, _ = columns_sorted(np.ascontiguousarray(x), target=target)
        assert np.signbit(made[:3]).T.tolist() == [[True, False, False], [True, True, False],
                                                   [True, True, False]]
        assert order[:, 1].tolist() == [0, 1, 2, 3]


def test_the_call_says_how_long_columns_are():
    f = jit(lambda x: np.sort(x, axis=0))
    x = np.arange(48).reshape(16, 3)[::-1].copy()
    for rows, has_call in ((x, False), (np.tile(x, (2, 1)), True)):
        np.testing.assert_array_equal(f(rows, target="serial"), np.sort(rows, axis=0))
        assert ("library_call" in f.ir(rows, target="serial", stage="scheduled")) == has_call


def test_quantiles_are_as_many_as_a_list_says():
    f = jit(lambda x: (np.clip(x, *np.percentile(x, [20, 70])), np.quantile(x, (0.1, 0.9))[1]))
    x = np.random.default_rng(7).standard_normal(40)
    for made, wanted in zip(f(x), f.__wrapped__(x), strict=True):
        np.testing.assert_allclose(made, wanted)
