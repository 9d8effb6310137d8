"""What is made of prefixes while they are made, running extremes, and places of extremes."""

import numpy as np
import pytest
from agreement import EXACT, SCANNED, check_agreement
from tested_targets import COMPILED

import parakeet
from parakeet import jit


def running_mean(x):
    return np.cumsum(x) / np.arange(1, x.size + 1)


def over_itself(x):
    np.cumsum(x, out=x)
    return x


def added_up(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


def behind_a_zero(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = y[i] + x[i]
    return y


def joined_behind_a_zero(x):
    sums = np.concatenate((np.zeros(1), np.cumsum(x)))
    return sums[3:] - sums[:-3]


def below_the_largest_so_far(x):
    return x / np.maximum.accumulate(np.abs(x)) - 1


def through_dear_functions(x):
    return np.exp(np.sin(np.cumsum(x) / len(x))) + np.tanh(x)


def behind_what_is_stored_in_between(x):
    sums = np.cumsum(x)
    largest = np.maximum.accumulate(x)
    x[:2] = 7.0
    return sums * 2, largest + x


def backwards_over_itself(x):
    x[:] = np.cumsum(x[::-1])
    return x


def of_neighbours(x):
    x[1:] = np.cumsum(x[:-1])
    return x


def rows_scaled(x):
    rows = x[: x.size // 7 * 7].reshape(-1, 7)
    return np.cumsum(rows * 2.0, axis=1) + 1.0


def shown_behind_an_error(x):
    s = 0.0
    for i in range(len(x)):
        assert x[i] < 1e300, "too large"
        s += x[i]
        x[i] = s


def largest_so_far(x):
    y = np.empty_like(x)
    m = x[0]
    for i in range(len(x)):
        m = max(m, x[i])
        y[i] = m
    return y


def least_and_where(x):
    y = np.empty_like(x)
    place = np.empty(len(x), np.int64)
    m, at = np.inf, -1
    for i in range(len(x)):
        if x[i] < m:
            m, at = x[i], i
        y[i] = m
        place[i] = at
    return y, place, np.float64(m), at


def last_of_the_largest(x):
    place = np.empty(len(x), np.int64)
    m, at = -np.inf, -1
    for i in range(len(x)):
        if x[i] >= m:
            m, at = x[i], i
        place[i] = at
    return place


def from_the_end(x):
    y = np.empty_like(x)
    m = -np.inf
    for i in range(len(x) - 1, -1, -1):
        if m < x[i]:
            m = x[i]
        y[i] = m
    return y, np.float64(m)


def place_of_the_largest(x):
    at = 0
    for i in range(1, len(x)):
        if x[i] > x[at]:
            at = i
    return at


def last_place_of_the_least(x):
    at = len(x) - 1
    for i in range(len(x)):
        if not x[i] > x[at]:
            at = i
    return at


def places_in_rows(x):
    rows = x[: x.size // 3 * 3].reshape(-1, 3)
    places = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        best = 0
        for j in range(1, rows.shape[1]):
            if rows[i, best] < rows[i, j]:
                best = j
        places[i] = best
    return places


def place_while_stored(x):
    at = 0
    for i in range(1, len(x)):
        if x[i] > x[at]:
            at = i
        x[i] = 0.0
    return at


def some_and_all(x):
    some, every = False, True
    for i in range(len(x)):
        some = some or x[i] > 2.5
        every = every and abs(x[i]) < 1e9
    return some, every


def flags_on_their_way(x):
    seen = False
    after = np.zeros(len(x), bool)
    for i in range(len(x)):
        seen = seen or x[i] > 1.0
        after[i] = seen
    return after


def far_place(x):
    at = 40
    for i in range(len(x)):
        if x[i] > x[at]:
            at = i
    return at


def drawdown(x):
    c = np.cumsum(x)
    return (c - np.minimum.accumulate(c)).max()


def summed_twice(x):
    return np.cumsum(np.cumsum(x) / x.size)


def prefixes_and_their_sum(x):
    c = np.cumsum(x)
    return c, c.mean(), x.max()


def sums_and_products(x):
    return np.cumsum(x), np.cumprod(1.0 + x * 1e-3), (x > 0.0).sum()


def of_integers(x):
    k = (x * 8.0).astype(np.int64)
    return np.cumsum(k).max(), np.maximum.accumulate(k), k.sum()


def of_narrow_ones(x):
    return np.abs(np.cumsum(x.astype(np.float32))).max()


def read_from_the_end(x):
    c = np.cumsum(x)
    return np.abs(c - c[::-1]).mean(), c.max()


def marked_on_their_way(x):
    c = np.cumsum(x)
    x[0] = c.max()
    return x.sum(), c[-1]


TOTALS = (drawdown, summed_twice, prefixes_and_their_sum, sums_and_products, of_integers,
          of_narrow_ones, read_from_the_end, marked_on_their_way)  # fmt: skip
PREFIXES = (running_mean, over_itself, added_up, behind_a_zero, joined_behind_a_zero,
            below_the_largest_so_far, through_dear_functions, behind_what_is_stored_in_between,
            backwards_over_itself, of_neighbours, rows_scaled,
            shown_behind_an_error)  # fmt: skip
EXTREMES = (largest_so_far, least_and_where, last_of_the_largest, from_the_end,
            place_of_the_largest, last_place_of_the_least, places_in_rows, place_while_stored,
            far_place, some_and_all, flags_on_their_way)  # fmt: skip


def _numbers(n):
    return np.random.default_rng(n).standard_normal(n)


@pytest.mark.sampled(2, "program", "n")
@pytest.mark.parametrize("n", [1, 2, 9, 30_011])
@pytest.mark.parametrize("program", PREFIXES)
def test_what_is_made_of_prefixes(program, n):
    check_agreement(jit(program), program, lambda: (_numbers(n),), SCANNED)


@pytest.mark.sampled(2, "program", "n")
@pytest.mark.parametrize("n", [1, 264, 2112, 2113, 30_011])
@pytest.mark.parametrize("program", TOTALS)
def test_what_is_summed_of_prefixes(program, n):
    check_agreement(jit(program), program, lambda: (_numbers(n),), SCANNED)


@pytest.mark.parametrize("program", TOTALS)
def test_what_is_summed_of_prefixes_has_the_same_bits_by_any_number_of_threads(program):
    compiled, before = jit(program), parakeet.get_num_threads()
    for x in (_numbers(50_000), _with_edges(50_000, "nan"), -np.zeros(5000)):
        made = [compiled(x.copy(), target="serial")]
        for threads in (1, 2, 6):
            parakeet.set_num_threads(threads)
            made.append(compiled(x.copy(), target="parallel"))
        parakeet.set_num_threads(before)
        for other in made[1:]:
            for one, same in zip(np.atleast_1d(made[0]) if np.isscalar(made[0]) else made[0],
                                 np.atleast_1d(other) if np.isscalar(other) else other):
                assert one.tobytes() == same.tobytes()


@pytest.mark.parametrize("program", [drawdown, prefixes_and_their_sum, of_narrow_ones])
def test_what_is_summed_of_prefixes_is_so_as_they_are_made(program):
    assert jit(program).explain(_numbers(5000), target="serial").traversals == 1


def _with_edges(n, kind):
    x = np.round(_numbers(n), 1)
    x[:: 7 if kind != "first" else n] = {"nan": np.nan, "inf": -np.inf, "first": np.nan}[kind]
    x[1::5] = 0.0
    x[3::5] = -0.0
    return x


@pytest.mark.sampled(2, "program", "n", "kind")
@pytest.mark.parametrize("kind", ["nan", "inf", "first"])
@pytest.mark.parametrize("n", [1, 5, 20_011])
@pytest.mark.parametrize("program", EXTREMES)
def test_running_extremes(program, n, kind):
    check_agreement(jit(program), program, lambda: (_with_edges(n, kind),), EXACT)
    check_agreement(jit(program), program, lambda: (np.nan_to_num(_with_edges(n, kind), neginf=-9.0)
                                           .astype(np.float32),), EXACT)  # fmt: skip


@pytest.mark.parametrize("program", [running_mean, over_itself, added_up, rows_scaled,
                                     below_the_largest_so_far])  # fmt: skip
def test_no_array_is_made_for_prefixes_alone(program):
    report = jit(program).explain(_numbers(5000), target="serial")
    assert (report.traversals, report.temporaries) == (1, 0), str(report)


@pytest.mark.parametrize("program", [running_mean, below_the_largest_so_far])
def test_no_array_is_made_for_prefixes_alone_in_kernels(program):
    report = jit(program).explain(_numbers(5000), target="emulated_gpu")
    assert (report.traversals, report.temporaries) == (1, 0), str(report)


@pytest.mark.parametrize("program", [largest_so_far, least_and_where, from_the_end, added_up])
def test_loops_that_store_prefixes_are_scans(program):
    assert any("made a scan" in row.done for row in jit(program).explain(_numbers(50)).rows)


@pytest.mark.parametrize("program", [place_of_the_largest, some_and_all])
def test_places_of_extremes_and_flags_are_reductions(program):
    report = jit(program).explain(_numbers(50))
    assert any("made a reduction" in row.done for row in report.rows), str(report)


@pytest.mark.parametrize("target", COMPILED)
def test_what_is_stored_in_front_of_an_error_shows(target):
    x = np.ones(20_000)
    x[12_345] = np.inf
    with pytest.raises(AssertionError, match="too large"):
        jit(shown_behind_an_error)(x, target=target)
    assert x[12_344] == 12_345.0
    assert x[12_346] == 1.0


def test_serial_code_has_nothing_for_several_threads():
    x, f = _numbers(50_000), jit(running_mean)
    serial, parallel = (f.ir(x, target=target, stage="scheduled")
                        for target in ("serial", "parallel"))
    assert "= team" in parallel and "= team" not in serial
    assert 2 * len(serial.splitlines()) < len(parallel.splitlines())
    np.testing.assert_array_equal(f(x, target="serial"), f(x, target="parallel"))
