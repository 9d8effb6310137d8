"""What indexes give is computed where it is read, behind a nest of its checks: values, and the
errors of NumPy in their order."""

import numpy as np
import pytest
from agreement import REDUCED, check_agreement

from parakeet import jit


def mean_of_rows(table, ids):
    return table[ids].mean(axis=1)


def bytes_of_table(table, image):
    return (table[image] * 255).astype(np.uint8)


def four_corners(image, y, x):
    a = np.floor(y).astype(np.int64)
    b = np.floor(x).astype(np.int64)
    v = (y - a)[:, None]
    w = (x - b)[None, :]
    a = a[:, None]
    b = b[None, :]
    top = image[a, b] * (1 - w) + image[a, b + 1] * w
    return top * (1 - v) + (image[a + 1, b] * (1 - w) + image[a + 1, b + 1] * w) * v


def through_another(x, at, places):
    return x[places[at]].sum() + (x[places[at]] * 2 > 1).sum()


def part_of(x, at):
    return (x[at] + 1)[::2].sum()


def written_between(x, at, y):
    y[:] = x[at]
    x[:] = 7.0
    return y.sum()


def comprehension(x, a, b):
    return np.array([[x[a[i]] * x[b[j]] for j in range(len(b))] for i in range(len(a))]).sum()


def sorted_before_checks(x, counts):
    return np.array([np.sort(x[: 3 + k])[1] for k in counts]) * 2


def sorted_gather(x, a):
    return np.sort(x[a])[::2].sum()


def two_gathers(x, a, y, b):
    return (x[a] * y[b]).sum()


def places(n, count, *shape, seed=0, bad=()):
    at = np.random.default_rng(seed).integers(-n, n, (count, *shape))
    for place, value in bad:
        at.reshape(-1)[place] = value
    return at


TABLE = np.random.default_rng(1).random((9, 5))
LINE = np.random.default_rng(2).random(9)


@pytest.mark.parametrize("bad", [(), ((7, 9),), ((11, -10), (3, 100))], ids=["all", "one", "two"])
@pytest.mark.parametrize("count", [0, 4, 300])
def test_rows_that_are_reduced(count, bad):
    bad = bad if count else ()
    check_agreement(
        jit(mean_of_rows), mean_of_rows, lambda: (TABLE, places(9, count, 3, bad=bad)), REDUCED
    )


def test_no_elements_check_nothing():
    """Of rows of no elements no index is looked at, as NumPy has it or not."""
    jitted = jit(mean_of_rows)
    for target in ("serial", "parallel", "emulated_gpu"):
        assert jitted(np.zeros((9, 0)), places(9, 4, 3), target=target).shape == (4, 0)


@pytest.mark.parametrize("bad", [(), ((5, 200), (50, 255))], ids=["all", "two"])
def test_bytes_that_a_table_gives(bad):
    table = np.random.default_rng(3).random(200)
    image = np.random.default_rng(4).integers(0, 200, (40, 31)).astype(np.uint8)
    for place, value in bad:
        image.reshape(-1)[place] = value
    check_agreement(jit(bytes_of_table), bytes_of_table, lambda: (table, image))


@pytest.mark.parametrize("most", [7.9, 9.5])
def test_corners_of_pixels(most):
    rng = np.random.default_rng(5)
    image, y, x = rng.random((10, 9)), rng.random(13) * most, rng.random(33) * 7.9
    check_agreement(jit(four_corners), four_corners, lambda: (image, y, x), REDUCED)


@pytest.mark.parametrize("bad", [(), ((2, 20),)], ids=["all", "one"])
def test_places_of_places(bad):
    at, others = places(20, 50, bad=bad), places(9, 20, seed=6)
    check_agreement(jit(through_another), through_another, lambda: (LINE, at, others), REDUCED)


@pytest.mark.parametrize("bad", [(), ((3, 9),)], ids=["all", "one that nobody reads"])
def test_all_places_are_checked_whatever_is_read(bad):
    check_agreement(jit(part_of), part_of, lambda: (LINE, places(9, 10, bad=bad)), REDUCED)


def test_what_is_written_before_it_is_read():
    at = places(9, 9)
    check_agreement(
        jit(written_between), written_between, lambda: (LINE.copy(), at, np.zeros(9)), REDUCED
    )


@pytest.mark.parametrize("bad_a, bad_b", [((), ()), (((3, 9),), ((1, 12),)), (((0, 9),), ())])
def test_the_first_error_of_a_comprehension(bad_a, bad_b):
    a, b = places(9, 6, bad=bad_a), places(9, 5, seed=7, bad=bad_b)
    check_agreement(jit(comprehension), comprehension, lambda: (LINE, a, b), REDUCED)


@pytest.mark.parametrize("bad_a, bad_b", [((), ()), (((3, 9),), ((1, 12),)), ((), ((1, 12),))])
def test_the_first_error_of_two_gathers(bad_a, bad_b):
    a, b = places(9, 6, bad=bad_a), places(9, 6, seed=7, bad=bad_b)
    check_agreement(jit(two_gathers), two_gathers, lambda: (LINE, a, LINE * 2, b), REDUCED)


@pytest.mark.parametrize("counts", [(0, 1, 2), (6, 0, -1), (0, -2, 3), (0, -3, -2)], ids=str)
def test_what_is_done_in_place_before_a_check_stays(counts):
    x = np.random.default_rng(8).random(9)
    given = np.array(counts)
    check_agreement(jit(sorted_before_checks), sorted_before_checks, lambda: (x, given))


@pytest.mark.parametrize("at", [(3,), (12,), (3, 12), (-10,)], ids=str)
def test_what_is_computed_of_one_element_waits_for_its_check(at):
    """On a GPU too, where one thread does all that: not in the kernel of the check."""
    places = np.array(at)
    check_agreement(jit(sorted_gather), sorted_gather, lambda: (LINE, places), REDUCED)


def test_what_indexes_give_is_no_array_of_its_own():
    report = str(jit(mean_of_rows).explain(TABLE, places(9, 4, 3), target="serial"))
    assert "1 array made" in report and "not fused" not in report
