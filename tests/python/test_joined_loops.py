"""Loops that compute much the same of each iteration are one: answers and errors stay."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def means_of_bins(values, weights, bins):
    counts = np.histogram(values, bins)[0]
    sums = np.histogram(values, bins, weights=weights)[0]
    return counts, sums


def counts_then_sums(places, weights, counts, sums):
    for i in range(len(places)):
        if places[i] < 9:
            counts[places[i]] += 1
    for i in range(len(places)):
        if places[i] < 9:
            sums[places[i]] += weights[i]


def counts_then_others(places, weights, others):
    counts = np.zeros(8, np.int64)
    sums = np.zeros(6)
    for i in range(len(places)):
        counts[places[i]] += 1
    for i in range(len(places)):
        sums[places[i]] += weights[others[i]]
    return counts, sums


def counts_and_sums_of_eight(places, weights):
    counts = np.zeros(8, np.int64)
    sums = np.zeros(8)
    for i in range(len(places)):
        counts[places[i]] += 1
    for i in range(len(places)):
        sums[places[i]] += weights[i]
    return counts, sums


def counts_of_counted(places):
    counts = np.zeros(8, np.int64)
    for i in range(len(places)):
        counts[places[i]] += 1
    sums = np.zeros(8, np.int64)
    for i in range(len(places)):
        sums[places[i]] += counts[places[i]]
    return counts, sums


def told(f, arguments):
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        result = f(*arguments)
    except (IndexError, ValueError) as error:
        of_size = "index" in str(error)
        result = (type(error).__name__, str(error) if of_size else "")
    kept = [np.asarray(r) for r in (result or ())]
    return kept + [a for a in arguments if isinstance(a, np.ndarray)]


def check(program, target, *arguments):
    expected = told(program, arguments)
    result = told(jit(program, target=target), arguments)
    assert len(result) == len(expected)
    for one, other in zip(result, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("size", [0, 1, 7, 1000, 70_000])
def test_two_histograms_of_the_same_values(target, size):
    random = np.random.default_rng(size)
    values = random.integers(-40, 40, size) * 0.125
    weights = random.integers(-9, 9, size).astype(np.float64)
    check(means_of_bins, target, values, weights, 10)
    check(means_of_bins, target, values, weights, 0)
    if size:
        values[size // 2] = np.nan
        check(means_of_bins, target, values, weights, 10)


@pytest.mark.parametrize("target", COMPILED)
def test_what_the_second_loop_stores_is_not_seen_where_the_first_fails(target):
    random = np.random.default_rng(3)
    weights = random.integers(-9, 9, 60).astype(np.float64)
    for bad, place in [(0, 3), (0, 8), (31, 8), (59, 8), (31, -9), (31, 12)]:
        places = random.integers(0, 8, 60)
        places[bad] = place
        for sums in (8, 6, 9):
            check(counts_then_sums, target, places, weights, np.zeros(8, np.int64), np.zeros(sums))
            check(counts_then_sums, target, places, weights, np.zeros(9, np.int64), np.zeros(sums))


@pytest.mark.parametrize("target", COMPILED)
def test_a_check_of_both_is_made_once(target):
    random = np.random.default_rng(4)
    weights = random.integers(-9, 9, 60).astype(np.float64)
    for bad, place in [(0, 3), (0, 8), (31, -8), (59, -9)]:
        places = random.integers(0, 8, 60)
        places[bad] = place
        check(counts_and_sums_of_eight, target, places, weights)
        check(counts_and_sums_of_eight, target, places, weights[:40])


@pytest.mark.parametrize("target", COMPILED)
def test_the_first_loop_fails_first(target):
    random = np.random.default_rng(5)
    weights = random.integers(-9, 9, 60).astype(np.float64)
    places, others = random.integers(0, 6, 60), random.integers(0, 60, 60)
    check(counts_then_others, target, places, weights, others)
    others[4] = 60
    check(counts_then_others, target, places, weights, others)
    places[3] = 7  # in the counts, not in the sums
    check(counts_then_others, target, places, weights, others)
    places[50] = 8
    check(counts_then_others, target, places, weights, others)


@pytest.mark.parametrize("target", COMPILED)
def test_what_the_first_has_counted_is_read_when_it_is_done(target):
    check(counts_of_counted, target, np.random.default_rng(6).integers(0, 8, 500))
