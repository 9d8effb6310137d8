"""Scans, filters and histograms in blocks: at the edges of blocks, on one core and on several."""

import numpy as np
import pytest
from tested_targets import COMPILED, TARGETS

import parakeet
from parakeet import jit

SCAN = 264
FILTER = 4096
PART = 16384


@pytest.fixture(autouse=True)
def several_threads():
    before = parakeet.get_num_threads()
    parakeet.set_num_threads(3)
    yield
    parakeet.set_num_threads(before)


def on_one_and_several(f, *args):
    """What one core and several give, which is the same to the bit."""
    serial = [np.asarray(made) for made in f(*args, target="serial")]
    parallel = [np.asarray(made) for made in f(*args, target="parallel")]
    for one, other in zip(serial, parallel, strict=True):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return serial


def agree(f, *args, rtol=1e-12):
    for made, expected in zip(on_one_and_several(jit_of(f), *args), f(*args), strict=True):
        assert made.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(made, expected, rtol=rtol, atol=1e-12)


compiled = {}


def jit_of(f):
    return compiled.setdefault(f, jit(f))


def numbers(n, seed=0):
    return np.random.default_rng(seed).random(n)


def prefixes(x, k):
    return (
        np.cumsum(x),
        np.cumsum(k),
        np.maximum.accumulate(x),
        np.logaddexp.accumulate(x),
        np.cumprod(x + 0.5),
        np.cumsum(x * x),
    )


@pytest.mark.parametrize(
    "n",
    [0, 1, 2, SCAN - 1, SCAN, SCAN + 1, 2 * SCAN, 2 * SCAN + 1, 9 * SCAN, 9 * SCAN + 1,
     10 * SCAN - 1, 17 * SCAN + 5, 75 * SCAN + 100],
)
def test_scans_at_the_edges_of_blocks(n):
    k = np.arange(n, dtype=np.int32)[::-1] * 7919
    agree(prefixes, numbers(n), k)


def test_a_nan_is_in_every_prefix_from_there_on():
    x = numbers(3 * SCAN)
    x[SCAN + 3] = np.nan
    k = np.arange(x.size, dtype=np.int32)
    agree(prefixes, x, k)


def test_sums_of_what_is_not_negative_never_fall():
    x = numbers(40 * SCAN + 17) ** 9
    x[numbers(x.size, 1) < 0.5] = 0
    (sums, *_) = on_one_and_several(jit_of(prefixes), x, np.zeros(x.size, np.int32))
    assert np.all(np.diff(sums) >= 0)
    assert np.all(np.diff(sums)[x[1:] == 0] == 0)


def kept(x, m):
    return (
        x[x > 0.5],
        x[m],
        np.flatnonzero(x > 0.25),
        np.array([v * v for v in x if np.tan(v) > 0.7]),
    )


@pytest.mark.parametrize("n", [0, 1, FILTER - 1, FILTER, FILTER + 1, 3 * FILTER + 11])
@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_filters_at_the_edges_of_blocks(n, share):
    x = numbers(n)
    x[n // 2 : n // 2 + 3] = np.nan
    agree(kept, x, numbers(n, 1) < share, rtol=0)


def first_refused(x):
    return np.array([v for v in x if 1 // int(v) >= 0])


def test_a_filter_raises_what_its_first_failing_element_does():
    x = np.ones(5 * FILTER)
    x[[2 * FILTER + 5, 4 * FILTER]] = 0, np.nan
    for target in COMPILED:
        with pytest.raises(ZeroDivisionError):
            jit_of(first_refused)(x, target=target)
        with pytest.raises(ValueError, match="NaN"):
            jit_of(first_refused)(x[2 * FILTER + 6 :], target=target)


def counts(x, n, w, places):
    h = np.zeros(n, np.int64)
    for v in x:
        h[int(v * n)] += 1
    sums = np.zeros(n)
    most = np.full(n, -np.inf)
    for i in range(places.shape[0]):
        sums[places[i]] -= w[i]
        most[places[i]] = np.maximum(most[places[i]], w[i])
    rows = np.zeros((n, 2))
    number = np.zeros(n, np.uint8)
    for i in range(places.shape[0]):
        if w[i] > 0.25:
            number[places[i]] += 1
        for j in range(2):
            rows[places[i], j] += w[i] * j
    added = np.ones(n)
    np.add.at(added, places, w)
    return h, sums, most, rows, number, added


@pytest.mark.parametrize("n", [0, 1, PART, PART + 1, 3 * PART + 6])
@pytest.mark.parametrize("bins", [7, 3000])
def test_counts_and_sums_at_places(n, bins):
    places = np.random.default_rng(2).integers(-bins, bins, n)
    agree(counts, numbers(n), bins, numbers(n, 1), places)


def room_for_the_largest(k, w):
    least, most = k.min(), k.max()
    assert least >= 0
    assert most < 1000
    sums = np.zeros(most + 1)
    for i in range(k.shape[0]):
        sums[k[i]] += w[i]
    return np.bincount(k, minlength=5), sums


def test_places_up_to_the_largest_are_not_checked():
    k = np.random.default_rng(4).integers(0, 30, PART + 2)
    agree(room_for_the_largest, k, numbers(k.size))
    assert jit_of(room_for_the_largest).explain(k, numbers(k.size)).checks_in_loops == 0
    with pytest.raises(MemoryError):
        jit_of(library_counts)(numbers(1), np.array([2**62]), numbers(1))


def extremes(k, first):
    wide = k.astype(np.int64)
    return np.min(wide, initial=first), np.max(wide, initial=-first)


@pytest.mark.parametrize("first", [0, 9_000_000_000, -9_000_000_000])
def test_the_least_and_the_largest_of_what_is_widened(first):
    k = np.random.default_rng(5).integers(-100, 100, 3 * FILTER + 7).astype(np.int8)
    for part in (k, k[:0], k[:1], k[k > 0]):
        agree(extremes, part, first)


def library_counts(x, k, w):
    return np.bincount(k), np.bincount(k, w), np.bincount(k, minlength=40), np.histogram(x, 12)[0]


@pytest.mark.parametrize("n", [1, PART, 2 * PART + 3])
def test_counts_of_the_library(n):
    k = np.random.default_rng(3).integers(0, 30, n)
    agree(library_counts, numbers(n), k, numbers(n, 1))


def counts_with_room(k):
    return np.bincount(k, minlength=40)


# The largest of the counted numbers, which has room or not; one of another kind is refused.
@pytest.mark.parametrize("most", [39, 40, 1000, -1, -(2**63), 2**62])
@pytest.mark.parametrize("n", [1, PART + 6])
def test_counts_of_what_has_room_or_not(n, most):
    k = np.random.default_rng(7).integers(0, 30, n)
    k[n // 2] = most
    for target in COMPILED:
        if 0 <= most < 2**48:
            counts = jit_of(counts_with_room)(k, target=target)
            np.testing.assert_array_equal(counts, np.bincount(k, minlength=40), strict=True)
        else:
            with pytest.raises(ValueError if most < 0 else MemoryError):
                jit_of(counts_with_room)(k, target=target)


def counts_of_bytes(k, least):
    return np.bincount(k), np.bincount(k, minlength=40), np.bincount(k, minlength=least)


# All that a byte holds is counted, and what is last of it is left out.
def test_counts_of_bytes_end_with_the_largest():
    k = np.random.default_rng(9).integers(0, 30, PART + 6).astype(np.uint8)
    for largest in (30, 41, 255):
        k[77] = largest
        for part in (k, k[:100], k[:0], k > 7):
            for least in (0, 256, 300):
                agree(counts_of_bytes, part, least)
    assert jit_of(counts_of_bytes).explain(k, 0).checks_in_loops == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64])
def test_counts_of_narrow_numbers_with_room_or_not(dtype):
    k = np.random.default_rng(8).integers(0, 30, PART + 6).astype(dtype)
    for outside in (39, 41, np.iinfo(dtype).max % 1000, -1):
        if outside < 0 and np.iinfo(dtype).min == 0:
            continue
        k[77] = outside
        for target in COMPILED:
            if outside >= 0:
                counts = jit_of(counts_with_room)(k, target=target)
                np.testing.assert_array_equal(counts, np.bincount(k, minlength=40), strict=True)
            else:
                with pytest.raises(ValueError):
                    jit_of(counts_with_room)(k, target=target)


def sums_of_what_is_dear(x, k):
    sums = np.zeros(24)
    for i in range(x.size):
        if x[i] > 0.9:
            sums[3] += 1.0
        sums[k[i]] += np.exp(x[i]) / (1.0 + x[i])
    return (sums,)


# One part, several, and stretches of trips that end before the part does.
@pytest.mark.parametrize("n", [9, PART, PART + 1, 2 * PART + 512, 3 * PART + 517])
def test_sums_at_places_of_what_is_made_in_lanes(n):
    k = np.random.default_rng(5).integers(0, 24, n)
    agree(sums_of_what_is_dear, numbers(n), k.astype(np.int16))
    k[n - 3] = 24
    for target in COMPILED:
        with pytest.raises(IndexError, match="index 24 is out of bounds"):
            jit_of(sums_of_what_is_dear)(numbers(n), k, target=target)


def sums_of_exp(x, k):
    sums = np.zeros(64)
    for i in range(x.size):
        sums[k[i]] += np.exp(x[i])
    return (sums,)


# Of the last trips of a part too, which are no whole stretch.
@pytest.mark.parametrize("value", [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
def test_what_is_added_does_not_depend_on_the_trip(value):
    n = 2 * PART + 300
    k = np.zeros(n, np.int64)
    made = set()
    for place in (0, 511, 512, PART - 1, PART, 2 * PART + 1, n - 45, n - 1):
        x = np.full(n, -np.inf)
        x[place] = value
        made.add(on_one_and_several(jit_of(sums_of_exp), x, k)[0][0])
    assert len(made) == 1


def count_two(j, k):
    first, second = np.zeros(4, np.int64), np.zeros(4, np.int64)
    for i in range(len(j)):
        first[j[i]] += 1
        second[k[i]] += 1
    return first, second


# What fails second in an iteration is before what fails first in a later one of the same thread.
@pytest.mark.parametrize("later", [1, 256, 3 * 256])
def test_the_first_error_of_several_in_a_count(later):
    j, k = np.zeros((2, PART), np.int64)
    k[5], j[5 + later] = 7, 9
    for target in COMPILED:
        with pytest.raises(IndexError, match="7"):
            jit_of(count_two)(j, k, target=target)


def add_into(h, k):
    for i in k:
        h[i] += 1.5


def add_and_sum(h, k):
    total = 0
    for i in k:
        h[i] += 1.5
        total += i
    return total


@pytest.mark.sampled(2, "at", "add")
@pytest.mark.parametrize("add", [add_into, add_and_sum])
@pytest.mark.parametrize("at", [0, 5, PART + 9, 3 * PART - 1])
def test_what_was_added_before_an_error_stays(at, add):
    k = np.random.default_rng(4).integers(0, 50, 3 * PART)
    k[at] = 50
    k[at + 1 :: 1000] = -90
    expected = np.zeros(50)
    with pytest.raises(IndexError) as plain:
        add(expected, k)
    for target in COMPILED:
        h = np.zeros(50)
        with pytest.raises(IndexError) as raised:
            jit_of(add)(h, k, target=target)
        assert str(raised.value) == str(plain.value)
        np.testing.assert_array_equal(h, expected)


def add_rows(h, k, x):
    for i in range(k.size):
        h[k[i]] += x[i]
    return h


@pytest.mark.parametrize("wrong", [None, 5, 7 * PART // 8])
def test_rows_are_added_to_at_places(wrong):
    x = numbers(3 * PART).reshape(-1, 3)
    k = np.random.default_rng(6).integers(-9, 9, x.shape[0])
    if wrong is None:
        agree(lambda k, x: add_rows(np.zeros((9, 3)), k, x), k, x)
        return
    k[wrong] = 9
    for target in COMPILED:
        ours, expected = np.ones((9, 3)), np.ones((9, 3))
        with pytest.raises(IndexError):
            add_rows(expected, k, x)
        with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 9"):
            jit_of(add_rows)(ours, k, x, target=target)
        np.testing.assert_allclose(ours, expected, 1e-12)


def counts_and_sums(x, k, bins):
    h, least = np.zeros(bins, np.int64), 5
    total, product, outside, most, where = 1.5, 1.0, 0, -np.inf, -1
    for i in range(len(x)):
        total -= x[i]
        product *= 1.0 + x[i] / 1e6
        least = min(least, k[i])
        if x[i] > most:
            most = x[i]
            where = i
        if k[i] >= bins:
            outside += 1
            total += 0.25
        else:
            h[k[i]] += 1
    return h, total, product, least, outside, most, where


def forces(x, among, others):
    f, energy, pairs = np.zeros(len(x)), 0.0, 0
    for k in range(len(among)):
        i, j = among[k], others[k]
        d = x[i] - x[j]
        f[i] += d
        f[j] -= d
        if d > 0.0:
            energy += d * d
            pairs += 1
    return f, energy, pairs


def triangle_of_forces(x):
    f, energy = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            f[i] += d
            f[j] -= d
            energy += d * d
    return f, energy


@pytest.mark.parametrize("n", [0, 1, 9, PART + 1, 3 * PART + 6])
def test_what_a_loop_carries_beside_counts(n):
    x, generator = numbers(n), np.random.default_rng(8)
    k = generator.integers(-7, 9, n)
    agree(counts_and_sums, x, k, 7)
    agree(forces, numbers(50), k, generator.integers(0, 50, n))


def test_what_nested_loops_carry_beside_sums_at_places():
    agree(triangle_of_forces, numbers(400))


def test_a_loop_that_carries_a_sum_beside_counts_runs_on_several_threads():
    report = jit_of(forces).explain(numbers(9), np.zeros(9, int), np.zeros(9, int))
    assert "counted in copies" in report and "not parallel" not in report


def nearest(points, centres):
    labels = np.array([np.argmin(np.sum((centres - p) ** 2, axis=1)) for p in points])
    return labels, np.argmin([[np.sum((p - c) ** 2) for c in centres] for p in points], axis=1)


@pytest.mark.parametrize("target", COMPILED)
def test_the_nearest_is_the_first_of_equals_and_a_nan_the_nearest(target):
    points, centres = numbers(150 * 7).reshape(150, 7), numbers(11 * 7, 1).reshape(11, 7)
    centres[4] = centres[2]
    points[77] = centres[2]
    points[3, 5] = points[149, 0] = np.nan
    for ours, expected in zip(
        jit_of(nearest)(points, centres, target=target), nearest(points, centres), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


def count(x, n):
    h = np.zeros(n, np.int32)
    for v in x:
        h[int(v * n)] += 1
    return h


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("first, second", [(np.nan, 7.0), (7.0, np.nan), (np.inf, np.nan)])
def test_the_first_iteration_that_fails_says_what(first, second, target):
    x = numbers(4 * PART)
    x[PART + 3] = first
    x[3 * PART :: 11] = second
    with pytest.raises(Exception) as plain:
        count(x, 10)
    with pytest.raises(type(plain.value)) as raised:
        jit_of(count)(x, 10, target=target)
    assert str(raised.value) == str(plain.value)


def test_a_loop_in_copies_is_not_called_sequential():
    report = jit_of(count).explain(numbers(9), 3, target="parallel")
    assert "counted in copies" in report and "not parallel" not in report


def test_a_read_only_array_and_one_that_overlaps_itself():
    k = np.random.default_rng(5).integers(0, 5, 2 * PART)
    h = np.zeros(10)
    windows = np.lib.stride_tricks.as_strided(h, (6, 5), (8, 8))
    expected = np.zeros(10)
    rows = np.lib.stride_tricks.as_strided(expected, (6, 5), (8, 8))
    add_into(rows, k)
    jit_of(add_into)(windows, k)
    np.testing.assert_array_equal(h, expected)
    h.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        jit_of(add_into)(h, k)


def recurrences(x, window):
    n = x.shape[0]
    smooth = x.copy()
    for i in range(1, n):
        smooth[i] = 0.25 * x[i] + 0.75 * smooth[i - 1]
    back = x.copy()
    for i in range(n - 2, -1, -1):
        back[i] = x[i] - 0.5 * back[i + 1]
    numbers = np.ones(n, np.int64)
    for i in range(2, n):
        numbers[i] = numbers[i - 1] + numbers[i - 2]
    around = x.copy()
    for i in range(n):
        around[i] = 0.5 * around[i - 1] + x[i]  # The last one comes before the first.
    table = np.outer(x, x)
    for i in range(1, n):
        for j in range(1, n):
            table[i, j] = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]) + x[j]
    widest = np.zeros(max(n - window + 1, 0))
    for i in range(n - window + 1):
        for j in range(window):
            if x[i + j] > widest[i]:
                widest[i] = x[i + j]
    return smooth, back, numbers, around, table, widest


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_loop_stores_and_reads_back(target):
    compiled = jit(recurrences)
    for n in (0, 1, 2, 3, 40):
        x = np.random.default_rng(n).random(n)
        for window in (1, 3, n, n + 2, -1):
            expected = recurrences(x, window)
            for a, b in zip(compiled(x, window, target=target), expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_that_is_stored_and_read_back_is_a_scan(target):
    @jit
    def sums(x):
        y = np.zeros(x.shape[0])
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]
        return y

    x = np.random.default_rng(3).random(5 * SCAN)
    np.testing.assert_allclose(sums(x, target=target), np.cumsum(x) - x[0], rtol=1e-13)
