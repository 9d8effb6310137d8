"""Partitions, medians and quantiles: selected on the host, beside sorting."""

import numpy as np
import pytest
from agreement import EXACT, check_agreement
from edge_values import edges
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, lay_out

import parakeet
from parakeet import jit

REAL = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
        "float32", "float64")
TARGETS = ("serial", "parallel")


@pytest.fixture(autouse=True)
def several_threads():
    before = parakeet.get_num_threads()
    parakeet.set_num_threads(5)
    yield
    parakeet.set_num_threads(before)


@jit
def partitions(x, kth):
    return np.partition(x, kth), np.argpartition(x, kth)


@jit
def medians(x):
    return np.median(x), np.nanmedian(x)


@jit
def quantiles(x, q):
    return np.quantile(x, q), np.nanquantile(x, q), np.quantile(x, q, method="lower")


@jit
def of_rows(x):
    return (np.median(x, axis=0), np.median(x, axis=1), np.nanmedian(x, axis=1),
            np.percentile(x, [10, 90], axis=1), np.nanpercentile(x, 30, axis=0))


def some(dtype, size, seed):
    """Few and many values, with all that is special of the dtype."""
    random = np.random.default_rng(seed)
    x = random.permutation(np.resize(edges(dtype), size))
    spread = random.integers(0, min(size, 60_000) + 1, size).astype(dtype)
    return np.where(random.random(size) < random.choice([0.02, 0.5]), x, spread)


def check_partition(x, kth, made, order):
    """NumPy leaves open in which order the elements stand between the places."""
    expected = np.sort(x)
    assert made.dtype == x.dtype and order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(x.size))
    for one in (made, x[order]):
        assert np.array_equal(np.sort(one), expected, equal_nan=True)
        for place in np.atleast_1d(kth) % x.size:
            at = expected[place]
            assert np.array_equal(one[place], at, equal_nan=True)
            assert not np.any(one[:place] > at) and not np.any(one[place:] < at)
            if at == at:
                assert not np.any(np.isnan(one[:place]))


@pytest.mark.parametrize("dtype", REAL)
def test_partitions_have_at_their_places_what_sorting_puts_there(dtype):
    for size in (1, 100, 193, 3000, 100_003):
        x = some(dtype, size, size)
        for kth in (0, size // 2, -1, np.array([size // 3, -1, size // 2, size // 3])):
            alone, threads = (partitions(x, kth, target=target) for target in TARGETS)
            check_partition(x, kth, *alone)
            for one, other in zip(alone, threads):
                assert one.tobytes() == other.tobytes() or dtype == "float16"


@pytest.mark.parametrize("dtype", [t for t in REAL if t not in ("bool", "float16")])
def test_medians_and_quantiles_are_numpys(dtype):
    for size in (1, 2, 191, 3000, 100_004):
        x = some(dtype, size, size)
        with np.errstate(all="ignore"):
            is_finite = np.isfinite(x)
            x = np.where(is_finite | np.isnan(x), x, 1).astype(dtype)
            x = np.where(np.abs(x.astype(float)) < 1e6, x, 7).astype(dtype)
        numbers = x[x == x]
        for values in (x, numbers):
            for target in TARGETS:
                for made, expected in zip(medians(values, target=target),
                                          (np.median(values), np.nanmedian(values))):
                    np.testing.assert_allclose(made, expected, rtol=1e-6, strict=True)
        for q in (0.5, np.linspace(0, 1, 5), np.linspace(0, 1, 23)):
            expected = (np.quantile(x, q), np.nanquantile(x, q), np.quantile(x, q, method="lower"))
            for made, wanted in zip(quantiles(x, q, target="parallel"), expected):
                np.testing.assert_allclose(made, wanted, rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (700, 3), (4, 40_000)])
def test_rows_and_columns(shape):
    x = np.random.default_rng(1).permutation(np.arange(np.prod(shape)) / 7).reshape(shape)
    x[0, -1] = np.nan
    expected = (np.median(x, axis=0), np.median(x, axis=1), np.nanmedian(x, axis=1),
                np.percentile(x, [10, 90], axis=1), np.nanpercentile(x, 30, axis=0))
    for target in TARGETS:
        for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
            for made, wanted in zip(of_rows(layout, target=target), expected):
                np.testing.assert_allclose(made, wanted, rtol=1e-12)


def test_nothing_but_nan_or_one_value():
    for x in (np.full(5000, np.nan), np.full(5000, 3.0), np.zeros(5000, np.uint8)):
        for target in TARGETS:
            for made, expected in zip(medians(x, target=target), (np.median(x), x[0])):
                assert np.array_equal(made, expected, equal_nan=True)


def test_zeros_stand_as_sorting_leaves_them():
    x = np.where(np.arange(50_001) % 3 == 0, 0.0, -0.0)
    negative = int(np.signbit(x).sum())
    for target in TARGETS:
        made = partitions(x, np.array([negative - 1, negative]), target=target)[0]
        assert np.signbit(made[negative - 1]) and not np.signbit(made[negative])


def test_what_is_not_dense_is_selected_of_too():
    x = np.random.default_rng(2).random((4000, 6))
    for view in (x[::-3, 1], x.T, x[:, ::2], np.broadcast_to(x[0], (50, 6))):
        assert np.array_equal(medians(view)[0], np.median(view))


def test_memory_is_given_back():
    x = np.random.default_rng(4).random(100_000)
    medians(x)
    partitions(x, 7)
    before = parakeet.cache_info()["live_buffers"]
    for _ in range(20):
        medians(x, target="parallel")
        partitions(x, 7, target="parallel")
    assert parakeet.cache_info()["live_buffers"] == before


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0]), min_size=1, max_size=700),
       st.integers(0, 10_000), st.booleans())
def test_any_numbers(numbers, place, repeats):
    x = np.array(numbers * (7 if repeats else 1))
    kth = place % x.size
    check_partition(x, kth, *partitions(x, kth, target="serial"))


@jit
def of_short_rows(x):
    middle = x.shape[1] // 2
    return (np.partition(x, middle, axis=1), np.median(x, axis=1), np.sort(x, axis=1),
            np.quantile(x, 0.3, axis=1, method="lower"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 12, 16, 17, 40, 192])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
def test_short_rows(n, dtype):
    """By insertion, by a kernel and by selection: the same bits, and -0 before 0."""
    draw = np.random.default_rng(n)
    values = np.array([-0.0, 0.0, -1.0, 2.5]) if dtype[0] == "f" else np.array([0, 1, 1, 0])
    x = draw.choice(values, (60, n)).astype(dtype)
    expected = of_short_rows.__wrapped__(x)
    for target in TARGETS:
        partitioned, medians, in_order, lower = of_short_rows(x, target=target)
        np.testing.assert_array_equal(partitioned[:, n // 2], in_order[:, n // 2])
        np.testing.assert_array_equal(np.sort(partitioned, axis=1), expected[2])
        np.testing.assert_array_equal(medians, expected[1], strict=True)
        np.testing.assert_array_equal(in_order, expected[2], strict=True)
        np.testing.assert_array_equal(lower, expected[3], strict=True)
        if dtype[0] == "f":
            zero = in_order == 0
            signs = np.where(zero, np.signbit(in_order), 0)
            assert (np.diff(np.where(zero, 1 - signs, 2), axis=1)[zero[:, 1:] & zero[:, :-1]]
                    >= 0).all()
            middle = partitioned[:, n // 2]
            assert (np.signbit(middle) == np.signbit(in_order[:, n // 2])).all()


@pytest.mark.parametrize("n", [3, 6, 7, 16, 40, 192, 193])
def test_short_rows_with_nans(n):
    x = np.random.default_rng(n).random((50, n))
    x[x < 0.3] = np.nan
    expected = np.median(x, axis=1), np.nanmedian(np.vstack((x, np.ones(n))), axis=1)
    for target in TARGETS:
        made = jit(lambda a: np.median(a, axis=1))(x, target=target)
        np.testing.assert_array_equal(made, expected[0], strict=True)
        places = jit(lambda a: np.argpartition(a, 1, axis=1))(x, target=target)
        chosen = np.take_along_axis(x, places, axis=1)
        np.testing.assert_array_equal(chosen[:, 1], np.sort(x, axis=1)[:, 1])
        np.testing.assert_array_equal(np.sort(places, axis=1), np.tile(np.arange(n), (50, 1)))


@pytest.mark.parametrize("n", [17, 40, 192, 700, 3000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint64"])
def test_rows_are_told_apart_by_one_place(n, dtype):
    """What comes before stands before it and what is equal beside it, each in order."""
    x = np.random.default_rng(n).integers(0, 9, (40, n)).astype(dtype)
    if dtype[0] == "f":
        x[x == 8] = np.nan
    for k in (0, n // 2, -1):
        places = jit(lambda a, k: np.argpartition(a, k, axis=1))(x, k)
        pivots = np.sort(x, axis=1)[:, k, None]
        last = np.isnan(pivots)
        side = np.where(x < pivots, -1, np.where((x == pivots) | (np.isnan(x) & last), 0, 1))
        side = np.where(last & ~np.isnan(x), -1, side)
        expected = np.argsort(side, axis=1, kind="stable")
        np.testing.assert_array_equal(places, expected, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("most", [3, 40, 10**6])
def test_orders_of_rows_are_stable(most, dtype):
    """Of NumPy's kernel that is not, in runs of equal elements that are short, long or none."""
    random = np.random.default_rng(most)
    order = jit(lambda a: np.argsort(a, axis=1))
    for n in (13, 17, 31, 32, 60, 300):
        x = random.integers(0, most, (20, n)).astype(dtype) * (10**7 if dtype[-2:] == "64" else 1)
        if dtype[0] == "f":
            x[random.random(x.shape) < 0.2] = np.nan
            x[random.random(x.shape) < 0.1] = -0.0
        expected = np.argsort(x, axis=1, kind="stable")
        np.testing.assert_array_equal(order(x), expected, strict=True)


def parts_of_sorted(x, k):
    return (np.sort(x)[k], np.sort(x)[:3], np.sort(x)[-1], np.argsort(x, kind="stable")[k],
            np.argsort(x, kind="stable")[:2], np.sort(x)[::-1][:4])


def parts_of_sorted_parts(x, k):
    column = x.reshape(-1, 4)[:, 1]
    return (*parts_of_sorted(x[::2], k), *parts_of_sorted(x[::-1], k),
            *parts_of_sorted(column, k), np.sort(x[4:])[k], np.sort(x * 2)[k])


@pytest.mark.parametrize("f", [parts_of_sorted, parts_of_sorted_parts])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_what_is_read_of_a_sorted_array_that_lies_anyhow(f, layout, dtype):
    x = np.random.default_rng(5).permutation(400).astype(dtype)
    check_agreement(jit(f), f, lambda: (lay_out(x, layout), 7), EXACT)
