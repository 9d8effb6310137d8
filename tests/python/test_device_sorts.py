"""Sorts by kernels, beside NumPy's: kinds of elements, and sizes around what a block sorts."""

import numpy as np
import pytest
from agreement import HERE
from edge_values import edges

from parakeet import jit

TILE = 2816  # Elements of 8 bytes that a block sorts.
PLACES_TILE = 1280  # And keys of 8 bytes with their places.


def by_bits(x):
    return np.ascontiguousarray(x).tobytes()


@jit
def sorted_and_places(x):
    return np.sort(x, kind="stable"), np.argsort(x, kind="stable")


def is_as_numpy(x):
    values, places = sorted_and_places(x, target=HERE)
    expected = np.argsort(x, kind="stable")
    return np.array_equal(places, expected) and by_bits(values) == by_bits(x[expected])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32",
                                   "float64", "complex64", "complex128"])
def test_elements_of_every_kind(dtype):
    random = np.random.default_rng(0)
    assert is_as_numpy(random.choice(edges(dtype), 4 * 3840 + 3))
    assert is_as_numpy(edges(dtype)[::-1])


@pytest.mark.parametrize("size", [0, 2, 5, 11, 12, 255, PLACES_TILE, TILE - 1, TILE, TILE + 1,
                                  2 * TILE, 3 * TILE + 7, 4 * TILE + 1, 17 * TILE + 5])
def test_sizes_around_tiles(size):
    random = np.random.default_rng(size)
    assert is_as_numpy(random.standard_normal(size))
    assert is_as_numpy(random.integers(0, 3, size).astype(float))


def test_orders_that_are_there_already():
    up = np.arange(5.0 * TILE)
    for x in (up, up[::-1], np.zeros(len(up)), np.roll(up, TILE // 2), up[::2], up * np.nan):
        assert is_as_numpy(x)
    assert is_as_numpy(np.ones(1))


@pytest.mark.parametrize("shape", [(0, 3), (5, 7), (3, 2 * TILE + 1)])
def test_rows_and_columns(shape):
    def f(x):
        return np.sort(x), np.sort(x, axis=0), np.argsort(x, stable=True), np.sort(x, axis=None)

    x = np.random.default_rng(1).integers(-9, 9, shape).astype(float)
    for x in (np.asfortranarray(x), x[::-1, ::-1]):
        for result, expected in zip(jit(f)(x, target=HERE), f(x), strict=True):
            np.testing.assert_array_equal(result, expected, strict=True)


def test_what_is_built_on_sorting():
    def f(x, k):
        y = x.copy()
        y.sort()
        order = np.argsort(x, kind="stable")
        return (y, np.unique(k), np.median(x), np.partition(x, 3)[3], np.percentile(x, 30),
                np.searchsorted(x, k, sorter=order), np.lexsort((x, k)))

    random = np.random.default_rng(2)
    x, k = random.standard_normal(3 * TILE), random.integers(0, 50, 3 * TILE)
    results, expected = jit(f)(x, k, target=HERE), f(x, k)
    for result, wanted in zip(results, expected, strict=True):
        for one, of_numpy in zip(np.atleast_1d(result), np.atleast_1d(wanted), strict=True):
            np.testing.assert_allclose(one, of_numpy, rtol=1e-14)


def test_sorts_between_other_code():
    def f(x, steps):
        total = np.zeros(x.shape[0])
        for k in range(steps):
            y = np.sort(x * (k + 1) % 7)
            if y[0] < 3:
                total += y
            else:
                total -= np.sort(y[::-1])
        return total

    x = np.random.default_rng(3).random(TILE + 3)
    np.testing.assert_allclose(jit(f)(x, 5, target=HERE), f(x, 5))


LONG = 1 << 17  # From here on, keys are sorted by their digits,
LONG_OF_EIGHT = 1 << 20  # those of 8 bytes from here on.
DIGIT_TILE = 6144  # Of which a block takes so many, of at most 4 bytes.
OF_DIGITS = ["bool", "int8", "uint8", "uint16", "int32", "uint32", "float16", "float32"]


def any_bits(dtype, size):
    random = np.random.default_rng(4)
    if dtype == "bool":
        return random.random(size) < 0.3
    return random.integers(0, 256, size * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)


@pytest.mark.parametrize("dtype", OF_DIGITS)
def test_long_arrays_by_digits(dtype):
    """Each nan as it came, zeros of both signs."""
    assert is_as_numpy(any_bits(dtype, LONG + 4097))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_zeros_and_nan_by_digits(dtype):
    assert is_as_numpy(np.random.default_rng(5).choice(edges(dtype), LONG))


def of_any_bits():
    x = any_bits("float64", LONG_OF_EIGHT + 5)
    x[::3] = np.random.default_rng(6).choice(edges("float64"), len(x[::3]))
    return x


def of_one_digit():
    return np.random.default_rng(7).integers(0, 200, LONG_OF_EIGHT)


def of_two_digits():
    return of_one_digit() << 40 | of_one_digit()[::-1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [of_any_bits, of_one_digit, of_two_digits])
def test_long_arrays_of_eight_bytes(make):
    assert is_as_numpy(make())


@pytest.mark.parametrize("size", [LONG - 1, LONG, 22 * DIGIT_TILE, 22 * DIGIT_TILE + 1])
def test_sizes_around_tiles_of_digits(size):
    random = np.random.default_rng(size)
    assert is_as_numpy(random.integers(-500, 500, size).astype("int16"))


def test_digits_that_keys_have_in_common():
    some = of_one_digit()[:LONG].astype("int32")
    for x in (some << 16, np.zeros(LONG, "float32"), np.full(LONG, np.nan, "float32"),
              np.arange(LONG, dtype="uint32")[::-1], np.arange(LONG, dtype="float32")):
        assert is_as_numpy(x)


def test_copies_that_are_sorted_leave_what_they_are_made_of():
    def f(x):
        changed = x.copy()
        changed[0] = 7
        changed.sort()
        every_second = np.sort(x[::2])
        both = np.sort(x)
        x[3] = -1
        return changed, every_second, both

    x = np.random.default_rng(9).standard_normal(2 * LONG + 11, dtype="float32")
    ours, plain = x.copy(), x.copy()
    for result, expected in zip(jit(f)(ours, target=HERE), f(plain), strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)
    np.testing.assert_array_equal(ours, plain)


def test_places_that_are_in_order_of_another_key():
    random = np.random.default_rng(8)
    x = random.integers(0, 9, LONG).astype("int16")
    y = random.standard_normal(LONG).astype("float32")
    found = jit(lambda x, y: np.lexsort((y, x)))(x, y, target=HERE)
    np.testing.assert_array_equal(found, np.lexsort((y, x)), strict=True)


def test_the_report_says_where_it_is_sorted():
    report = str(sorted_and_places.explain(np.ones(4), target=HERE))
    assert "sorted by kernels" in report and "through the host" not in report
    inside = jit(lambda x, y: np.array([np.sort(x[: 3 + k])[1] for k in y]))
    report = inside.explain(np.ones(40), np.arange(3), target=HERE)
    assert "through the host for sort" in report and "no kernel starts another" in report


@jit
def partitioned(x, k):
    return np.partition(x, k)


def check_partition(x, k):
    made, expected = partitioned(x, k, target=HERE), np.sort(x)
    place = k % len(x)
    np.testing.assert_array_equal(made[place], expected[k], strict=True)
    np.testing.assert_array_equal(np.sort(made[:place]), expected[:place], strict=True)
    np.testing.assert_array_equal(np.sort(made), expected, strict=True)


BRACKETED = 1 << 20  # Of so many elements only what lies near the place is sorted.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [0, 1000, BRACKETED // 2, -60_000, -1])
def test_partitions_of_long_arrays(k):
    x = np.random.default_rng(2).standard_normal(BRACKETED + 3)
    x[::1000] = np.nan
    check_partition(x, k)


def test_partitions_where_samples_are_like_no_other_element():
    x = np.random.default_rng(3).integers(0, 3, BRACKETED, dtype=np.int32)
    check_partition(x, BRACKETED // 2)
    x[::BRACKETED // 4096] = 1000
    check_partition(x, BRACKETED // 2)
    check_partition(np.arange(BRACKETED, dtype="f4")[::-1], 5)
    check_partition(x[:BRACKETED - 1], -5)
    with pytest.raises(ValueError, match="kth"):
        partitioned(x, BRACKETED, target=HERE)
