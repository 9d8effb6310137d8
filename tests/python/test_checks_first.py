"""Loops that store to their arguments at indexes found in arrays: checks are looked at before."""

import numpy as np
import pytest
from agreement import EXACT, Tolerance, check_agreement, deep_copies

from parakeet import jit

CLOSE = Tolerance("sums combine in another order", ulps=16, of_sum=8)


def gather(y, x, at):
    for i in range(len(at)):
        y[i] = 2.0 * x[at[i]]


def scatter_rows(y, x, at):
    for i in range(len(at)):
        for j in range(2):
            y[i] += x[at[i] - j]


def sparse_product(y, x, rows, at, weights):
    for i in range(len(rows) - 1):
        s = 0.0
        for k in range(rows[i], rows[i + 1]):
            s += weights[k] * x[at[k]]
        y[i] = s


def backwards(y, x, rows, at):
    for i in range(len(rows) - 1):
        for k in range(rows[i + 1] - 1, rows[i] - 1, -1):
            y[i] = 0.5 * y[i] + x[at[k]]


def in_branches(y, x, at, divisors):
    for i in range(len(at)):
        if divisors[i] > -3:
            y[i] = x[at[i]] + 7 // divisors[i]
        elif at[i] < 5:
            y[i] = x[at[i] + 1]


def numbers_and_sums(y, x, at):
    total = x[0] * 0.0
    for i in range(len(at)):
        y[i] = x[at[i]]
        total += x[at[i]]
    return total


def of_what_is_stored(at, x):
    for i in range(len(at)):
        at[i] = at[at[i]] + int(x[i])


def slices(y, x, at):
    for i in range(len(at)):
        y[i : i + 2] = x[at[i] : at[i] + 2]


X = np.linspace(-1.0, 2.0, 11)
PLACES = {
    "right": [3, 0, 10, 7, 7, 2, 1, 9],
    "counted from the end": [3, -1, 10, -11, 7, 2, 1, -9],
    "first": [11, 0, 1, 2, 3, 4, 5, 6],
    "in the middle": [3, 0, 10, 7, -12, 2, 50, 9],
    "last": [3, 0, 10, 7, 7, 2, 1, 11],
    "none": [],
}


@pytest.mark.sampled(2, "program", "places")
@pytest.mark.parametrize("places", PLACES, ids=lambda places: places)
@pytest.mark.parametrize("program", [gather, scatter_rows, numbers_and_sums, slices])
def test_what_lies_before_an_error_is_stored(program, places):
    def arguments():
        return np.arange(9.0), X.copy(), np.array(PLACES[places], np.int64)

    check_agreement(jit(program), program, arguments, EXACT if program is gather else CLOSE)


ROWS = {
    "rows": [0, 2, 2, 7, 8],
    "one behind the end": [0, 2, 2, 7, 9],
    "counted from the end": [-2, 0, 3, 8],
    "from before the array": [-9, 0, 3],
    "rows that overlap": [0, 6, 2, 8],
    "no row": [0],
}


@pytest.mark.sampled(2, "rows", "places")
@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: rows)
@pytest.mark.parametrize("places", ["right", "counted from the end", "in the middle", "last"])
def test_rows_as_long_as_elements_say(rows, places):
    def arguments(*more):
        y = np.arange(6.0)
        return y, X.copy(), np.array(ROWS[rows], np.int64), np.array(PLACES[places]), *more

    weights = np.linspace(0.5, 1.5, 8)
    product = jit(sparse_product)
    check_agreement(product, sparse_product, lambda: arguments(weights.copy()), CLOSE)
    # Of fewer weights than places.
    check_agreement(product, sparse_product, lambda: arguments(weights[:5].copy()), CLOSE)
    check_agreement(jit(backwards), backwards, arguments, CLOSE)


@pytest.mark.parametrize("divisors", [[1, 2, -3, -5, 4, 9, 1, 1], [1, 2, -3, 0, 4, 9, 1, 1]])
@pytest.mark.parametrize("places", ["right", "in the middle"])
def test_checks_of_branches_that_are_taken(divisors, places):
    def arguments():
        return np.arange(9.0), X.copy(), np.array(PLACES[places]), np.array(divisors)

    check_agreement(jit(in_branches), in_branches, arguments, EXACT)


def test_checks_of_what_the_loop_stores_stay_where_they_are():
    for stored in ([1, 2, 3, 0], [1, 2, 9, 0]):
        arguments = deep_copies((np.array(stored), np.array([0.0, 1.0, 2.0, 0.0])))
        check_agreement(jit(of_what_is_stored), of_what_is_stored, arguments, EXACT)


def test_such_loops_are_parallel():
    y, at = np.zeros(1000), np.arange(1000)
    report = jit(gather).explain(y, y.copy(), at)
    assert "its checks are made first" in str(report)
    assert "no checks left" in str(report)
    rows = np.arange(0, 1001, 10)
    report = jit(sparse_product).explain(y, y.copy(), rows, at, y.copy())
    assert "its checks are made first" in str(report), str(report)
