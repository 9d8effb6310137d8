"""What random programs found (fuzz.py), as small as it was made, and its siblings."""

import numpy as np
import pytest
from agreement import EXACT, REDUCED, check_agreement

from parakeet import jit


def quarters(*shape, seed=0):
    return np.random.default_rng(seed).integers(-8, 9, shape) / 4.0


def variances(x):
    return np.nanvar(x, axis=-1), np.nanstd(x, axis=-1)


def counted_both_ways(x):
    return np.minimum((~(x > 0)).sum(axis=1), 1), np.maximum((~np.isnan(x)).sum(axis=1), 0)


@pytest.mark.parametrize("f", [variances, counted_both_ways])
@pytest.mark.parametrize("columns", [1, 2, 3, 16, 40])
def test_counts_of_what_is_not_so(f, columns):
    """A bool that is turned round is 0 or 1."""
    check_agreement(jit(f), f, lambda: (quarters(5, columns),), REDUCED)


def rolled_twice(x, steps):
    u, v = x.copy(), x[::-1] + 0.0
    for _ in range(steps):
        u[1:-1] = 0.25 * (np.roll(u, 1, axis=1) - u)[1:-1]
        v = 0.25 * (np.roll(u, 1, axis=1) - np.maximum(u, v))
        u, v = v, u
    return u


def rows_before_and_after(x, steps):
    u = x.copy()
    before = np.array([u[:, -1 - j] for j in range(u.shape[1])])
    for t in range(steps):
        u[t % len(u)] = 9.0
    return before + np.array([u[:, -1 - j] for j in range(u.shape[1])])


def mapped_before_and_after(x, steps):
    u = x.copy()
    before = np.array([row[::-1] for row in u]).sum(axis=0)
    u[0, 0] = steps
    return before, np.array([row[::-1] for row in u]).sum(axis=0)


@pytest.mark.parametrize("f", [rolled_twice, rows_before_and_after, mapped_before_and_after])
@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3), (1, 2), (40, 30)])
def test_rows_are_copied_anew_behind_a_store(f, shape):
    """What an operator yields of an array it has read."""
    check_agreement(jit(f), f, lambda: (quarters(*shape), 3), EXACT)


def few_of_each(x, y):
    made = x * 1
    for q in range(3):
        made[q % len(made)] += y[q]
    return made


def up_to_a_hundred(x, y):
    made = np.zeros(100)
    for q in range(100):
        made[q] = x[q] * 2 + y[q]
    return made


@pytest.mark.parametrize("f", [few_of_each, up_to_a_hundred])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (260, 1), (5, 3), (99, 200), (200, 100)])
def test_nothing_is_read_in_front_of_its_check(f, n, m):
    """Of threads that take several iterations, too."""
    check_agreement(jit(f), f, lambda: (quarters(n), quarters(m, seed=1)), EXACT)


def added_at_places_of_its_own(t, i):
    np.add.at(t, t % len(t), 1)
    np.maximum.at(t, i, t[::-1])
    np.add.at(t, i, t)
    return t


def added_at_pairs_of_places(t, i):
    square = np.outer(t, t) % 50
    np.subtract.at(square, (square[0] % len(t), i), square[:, 0])
    return square


@pytest.mark.parametrize("f", [added_at_places_of_its_own, added_at_pairs_of_places])
@pytest.mark.parametrize("n", [1, 5, 260])
def test_what_is_stored_to_is_read_as_it_was(f, n):
    """By ufunc.at as by any other store."""
    random = np.random.default_rng(n)
    t, i = random.integers(0, n, n), random.integers(0, n, n)
    check_agreement(jit(f), f, lambda: (t.copy(), i.copy()), EXACT)
    check_agreement(jit(f), f, lambda: (t.copy(),) * 2, EXACT)


def shifted_by_few_bits(x):
    left, right = (x & 1) << (x & 3), ((x & 7) + 8) >> (x & 3)
    return np.minimum(left.astype(np.int64), 1), np.maximum(right.astype(np.int64), 8)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int64", "uint32"])
def test_shifts_reach_further_than_the_fewest_bits(dtype):
    check_agreement(jit(shifted_by_few_bits), shifted_by_few_bits,
                    lambda: (np.arange(100).astype(dtype),), EXACT)


def stored_where_a_kept_axis_was(x, least):
    total = x.sum(axis=0, keepdims=True)
    total[total > least] = 1
    most = x.max(axis=0, keepdims=True)
    most[:] = most * 2 + total
    return total, most


@pytest.mark.parametrize("shape", [(1,), (5,), (300,), (5, 1), (5, 3)])
def test_a_sum_that_keeps_its_axis_is_stored_to(shape):
    """It is an array without axes to the compiler: one element has no lanes."""
    check_agreement(jit(stored_where_a_kept_axis_was), stored_where_a_kept_axis_was,
                    lambda: (np.abs(quarters(*shape)) + 4.0, 3.0), REDUCED)


def parts_of_one(x):
    made = x * 2
    return made[:, 1:], made, made[::2, 3:], made[2:]


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (1, 1), (2, 3), (5, 70)])
def test_a_part_without_elements_lies_behind_the_whole(shape):
    """What comes down from a device is the whole alone."""
    check_agreement(jit(parts_of_one), parts_of_one, lambda: (quarters(*shape),), EXACT)


def kept_beside_the_first(x):
    kept = x[x > 0.5]
    return kept - kept[0], (kept * kept[-1]).sum()


def of_distinct_values(x):
    distinct = np.unique(x)
    for k in range(len(distinct)):
        distinct[k] -= distinct[0]
    return distinct


@pytest.mark.parametrize("f", [kept_beside_the_first, of_distinct_values])
@pytest.mark.parametrize("n", [0, 1, 5, 260])
def test_kept_elements_are_read_by_their_places_beside_their_own(f, n):
    check_agreement(jit(f), f, lambda: (quarters(n),), REDUCED)


def all_of_the_bits(x, counts):
    each = np.bitwise_and.reduce(x, where=x > 2)
    return each, np.bitwise_and.reduce(x), np.repeat(x[0], counts)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint64", "int8", "int64"])
@pytest.mark.parametrize("counts", ["int64", "uint8", "uint64", "float64"])
def test_all_bits_of_unsigned_integers(dtype, counts):
    """And numbers of repetitions are of types that int64 holds."""
    x = np.arange(12).reshape(4, 3).astype(dtype)
    check_agreement(jit(all_of_the_bits), all_of_the_bits,
                    lambda: (x, np.array([2, 0, 1], counts)), EXACT)


def made_before_a_store_elsewhere(x, y):
    kept = x.copy()
    squares = np.array([v * v for v in y])
    kept[::2] = 0.5
    others = y * 3
    x[::-1] = 2
    return kept, squares, others


@pytest.mark.parametrize("n", [1, 2, 260])
def test_what_a_store_does_not_read_is_made(n):
    check_agreement(jit(made_before_a_store_elsewhere), made_before_a_store_elsewhere,
                    lambda: (quarters(n), quarters(n, seed=1)), EXACT)


def counted(x):
    return np.bincount(x), np.bincount(x, minlength=9)


def test_uint64_is_counted_too():
    """As newer NumPys do."""
    x = np.array([3, 0, 7, 3])
    np.testing.assert_equal(jit(counted)(x.astype(np.uint64)), counted(x))
    with pytest.raises(ValueError, match="no negative elements"):
        jit(counted)(np.array([2**63], np.uint64))


def placed_by_a_float(x, totals, n):
    for step in range(3):
        if step == 1:
            break
        made = np.zeros(n, np.int64)
        for i in range(0, n, 2):
            made[int(x[-1] * 4) % n] = i
        totals += made
    return totals


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_float_is_converted_behind_where_it_was_made(dtype):
    """In a loop, behind the checks of it."""
    x = np.array([0.25, 1.25], dtype)
    check_agreement(jit(placed_by_a_float), placed_by_a_float,
                    lambda: (x, np.zeros(9, np.int64), 9), EXACT)


def sorted_and_replaced(x):
    columns = np.sort(x, axis=0)
    columns.fill(-1)
    rows = np.array([np.sort(row) for row in x])
    rows[1:] = rows[:-1] * 2
    others = np.array([row * 2 for row in x])
    others[:, 0] = 0
    return columns, rows, others


@pytest.mark.parametrize("shape", [(5, 3), (1, 1), (40, 7)])
def test_rows_that_a_loop_made_whole_are_stored_to(shape):
    check_agreement(jit(sorted_and_replaced), sorted_and_replaced, lambda: (quarters(*shape),),
                    EXACT)
