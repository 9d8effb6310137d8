"""Loops that store, or read and store, at places which elements of arrays say.

On a GPU threads share them: the last store at a place stays, and what goes through several
iterations at one place goes through them in order. So every target has the bits of one core, and
an error leaves what plain Python leaves.
"""

import numpy as np
import pytest
from agreement import check_agreement
from exact_outcomes import TARGETS, check
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS

from parakeet import jit


def last_ones(y, p, x):
    for i in range(len(p)):
        y[p[i]] = x[i]


def by_index_array(y, p, x):
    y[p] = x


def put(y, p, x):
    np.put(y, p, x)


def last_of_chosen(y, p, x):
    for i in range(len(p)):
        if x[i] > 0:
            y[p[i]] = x[i]


def last_of_two(y, p, x):
    for i in range(len(p)):
        y[p[i]] = x[i]
        y[p[len(p) - 1 - i]] = 2 * x[i]


def numbers_of_the_last(y, p, x):
    first = np.full(len(y), -1)
    for i in range(len(p)):
        first[p[i]] = i
        y[p[i]] = x[i]
    return first


def seen(y, p, x):
    y[p] = 1


def seen_or_not(y, p, x):
    for i in range(len(p)):
        y[p[i]] = 1 if x[i] > 0 else 0


def of_those_left(y, p, x):
    left = p
    for step in range(4):
        keep = x[: len(left)] > step
        y[left[keep]] = step
        y[left] = x[: len(left)]
        left = left[~keep]
    return left


def added(y, p, x):
    np.add.at(y, p, x)


def taken_away(y, p, x):
    np.subtract.at(y, p, x)


def largest(y, p, x):
    np.maximum.at(y, p, x)


def smallest(y, p, x):
    for i in range(len(p)):
        y[p[i]] = min(y[p[i]], x[i])


def larger(y, p, x):
    for i in range(len(p)):
        if x[i] > y[p[i]]:
            y[p[i]] = x[i]


def faded(y, p, x):
    for i in range(len(p)):
        y[p[i]] = y[p[i]] // 2 + x[i]


def ranks(y, p, x):
    rank = np.empty(len(p), np.int64)
    count = np.zeros(len(y), np.int64)
    for i in range(len(p)):
        rank[i] = count[p[i]]
        count[p[i]] += 1
        if x[i] > 0:
            y[p[i]] += x[i]
    return rank, count


def mixed(y, p, x):
    """With what no element that is stored has a part in, at the place and beside it."""
    for i in range(len(p)):
        k = p[i]
        t = x[i] * 2 + p[len(p) - 1 - i]
        if x[i] > 0:
            y[k] = y[k] // 3 - t
        elif t < 5:
            y[k] = i + x[len(p) - 1 - i]


def no_less(y, p, x):
    for i in range(len(p)):
        if x[i] >= y[p[i]]:
            y[p[i]] = x[i]


def lower(y, p, x):
    for i in range(len(p)):
        if y[p[i]] > x[i]:
            y[p[i]] = x[i]


OF_ELEMENTS = [last_ones, by_index_array, put, last_of_chosen, last_of_two, numbers_of_the_last,
               seen, seen_or_not, of_those_left, added, taken_away, largest, smallest, larger,
               no_less, lower, faded, ranks, mixed]  # fmt: skip


def numbers(r, dtype, count):
    made = r.integers(-100, 100, count)
    return made % 2 == 0 if dtype == "?" else made.astype(dtype)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("f", OF_ELEMENTS)
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 1, 63, 64, 65, 700, 3000]),
       st.sampled_from([1, 2, 50, 3000]), st.sampled_from(["f8", "f4", "i8", "i4", "u1", "i2"]))
def test_every_place_sees_its_iterations_in_order(f, seed, trips, places, dtype):
    r = np.random.default_rng(seed)
    p = r.integers(-places, places, trips)
    check(f, numbers(r, dtype, places), p, numbers(r, dtype, trips))


@pytest.mark.parametrize("f", OF_ELEMENTS)
def test_the_first_index_that_is_wrong(f):
    r = np.random.default_rng(3)
    p = r.integers(-50, 50, 300)
    p[200], p[150] = 50, -51
    # NumPy looks at all indexes before it begins; for `at` we do not.
    is_at = f in (added, taken_away, largest)
    check(f, numbers(r, "f8", 50), p, numbers(r, "f8", 300),
          expected="serial" if is_at else "python")


def rows(y, p, x):
    y[p] = x


def rows_added(y, p, x):
    for i in range(len(p)):
        for j in range(x.shape[1]):
            y[p[i], j] = y[p[i], j] * 0.5 + x[i, j]


def at_pairs(y, p, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[p[i], p[j] % y.shape[1]] = x[i, j]


def columns(y, p, x):
    for j in range(x.shape[1]):
        for i in range(len(p)):
            y[p[i], j] = x[i, j]


def part_of_rows(y, p, x):
    for i in range(len(p)):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                y[p[i], j] = x[i, j]


def rows_of_lengths(y, p, x):
    for i in range(len(p)):
        for j in range(p[i] % x.shape[1]):
            y[p[i], j] = x[i, j]


@pytest.mark.sampled(6, "f", "trips", "places", "width")
@pytest.mark.parametrize("f", [rows, rows_added, at_pairs, columns, part_of_rows, rows_of_lengths])
@pytest.mark.parametrize("trips", [5, 64, 500])
@pytest.mark.parametrize("places", [1, 30, 700])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_rows(f, trips, places, width):
    r = np.random.default_rng(trips)
    p = r.integers(0, places, trips)
    check(f, r.standard_normal((places, width)), p, r.standard_normal((trips, width)))


def test_rows_with_an_index_that_is_wrong():
    r = np.random.default_rng(4)
    p = r.integers(0, 30, 100)
    p[50] = 30
    for f in (rows, rows_added, columns):
        check(f, r.standard_normal((30, 5)), p, r.standard_normal((100, 5)))


def above_the_diagonal(y, x):
    """Whose inner loop is one iteration's own, and none to share."""
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            y[n * i - i * (i + 1) // 2 + j - i - 1] = x[i] * x[j]


@pytest.mark.parametrize("n", [5, 70])
@pytest.mark.parametrize("missing", [0, 1])
def test_pairs_in_a_row(n, missing):
    r = np.random.default_rng(n)
    check(above_the_diagonal, np.zeros(n * (n - 1) // 2 - missing), r.standard_normal(n))


def test_arrays_that_share_memory():
    for shift in (0, 1):
        for f in (last_ones, faded):
            made = []
            for target in ("python", *TARGETS):
                x = np.arange(400.0)
                p = np.arange(300) * 7 % 100
                jit(f)(x[shift:shift + 300], p, x[:300], target=target)
                made.append(x.tobytes())
            assert len(set(made)) == 1


# Groups of more iterations than a segment has, which several threads share.
@pytest.mark.sampled(6, "f", "dtype")
@pytest.mark.parametrize("f", [larger, no_less, lower])
@pytest.mark.parametrize("trips, places", [(511, 1), (512, 1), (513, 1), (1025, 2), (5000, 3),
                                           (7000, 40)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u8"])
def test_extremes_that_many_iterations_keep(f, trips, places, dtype):
    r = np.random.default_rng(trips)
    p = np.minimum(r.integers(0, places, trips), r.integers(0, places, trips))
    x = (3 * r.standard_normal(trips)).round().clip(0 if dtype == "u8" else -9).astype(dtype)
    y = np.abs(2 * r.standard_normal(places)).round().astype(dtype)
    if np.dtype(dtype).kind == "f":
        for value in (np.nan, -0.0, 0.0):
            x[r.random(trips) < 0.1] = value
        y[r.random(places) < 0.3] = np.nan
        y[r.random(places) < 0.3] = -0.0
    check(f, y, p, x)


@jit
def at_several_axes(y, i, j, w):
    np.add.at(y, (i, j), w)
    np.maximum.at(y, (i[:, None], np.arange(2)), w[:, None])
    np.subtract.at(y, (1, i), 2.0)
    np.negative.at(y, ([0, 1, 1], 3))
    np.add.at(y, (i[:3],), y[0])
    return y


@pytest.mark.parametrize("target", TARGETS)
def test_at_takes_an_array_for_each_axis(target):
    random = np.random.default_rng(4)
    i, j = random.integers(-7, 7, (2, 300))
    w = random.integers(-9, 9, 300).astype(float)
    y = np.zeros((7, 8))
    made, wanted = (f(y.copy(), i, j, w) for f in (
        lambda *args: at_several_axes(*args, target=target), at_several_axes.__wrapped__))
    np.testing.assert_array_equal(made, wanted)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
        at_several_axes(y, i + 1, j, w, target=target)


def counts_and_maxima(y, z, p, w):
    for i in range(len(p)):
        y[p[i]] += 1
    np.add.at(y, p, w)
    for i in range(len(p)):
        z[p[i]] = max(z[p[i]], w[i])


at_any_byte = jit(counts_and_maxima)


@pytest.mark.parametrize("layout", ["unaligned", "broken_stride"])
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f8"])
def test_elements_that_lie_at_any_byte_are_no_atomics(layout, dtype):
    random = np.random.default_rng(3)
    p, w = random.integers(0, 9, 700), random.integers(0, 40, 700)

    def make_arguments():
        y, z = np.arange(9).astype(dtype), np.zeros(9, dtype)
        return LAYOUTS[layout](y), LAYOUTS[layout](z), p, w.astype(dtype)

    check_agreement(at_any_byte, counts_and_maxima, make_arguments)
