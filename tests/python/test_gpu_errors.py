"""Errors in kernels: the exception of the first failing iteration, as plain Python raises it, from
many threads and blocks that fail at once; and the next call works."""

import gc

import numpy as np
import pytest
from agreement import HERE

import parakeet
from parakeet import jit

FAR = 40_000  # elements: several blocks of every kind of kernel


@pytest.fixture(autouse=True)
def memory_comes_back():
    before = parakeet.memory_info(HERE)
    yield
    gc.collect()
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


def by_index(x, places):
    return x[places] * 2


def by_stored_index(x, places):
    for i in range(len(places)):
        x[places[i]] = i
    return x[0]


def by_assert(x, places):
    for i in range(len(places)):
        assert places[i] < len(x), f"place {places[i]} of iteration {i}"
        x[i % len(x)] += 1
    return x


def by_raise(x, places):
    out = np.zeros(len(places))
    for i in range(len(places)):
        if places[i] >= len(x):
            raise ValueError(f"place {places[i]} of iteration {i}")
        out[i] = places[i]
    return out


def by_division(x, places):
    return np.array([100 // (len(x) - int(p)) for p in places])


def by_several(x, places):
    out = np.zeros(len(places))
    for i in range(len(places)):
        if places[i] == len(x) + 3:
            raise KeyError(f"three at {i}")
        if places[i] > len(x):
            raise ArithmeticError(f"beyond at {i}")
        out[i] = 7 % (len(x) - int(places[i]))
    return out


def in_a_while_loop(x, places):
    out = np.zeros(len(places))
    for i in range(len(places)):
        at = int(places[i])
        while x[at] > 0:
            at += 1
        out[i] = at
    return out


def in_a_reduction(x, places):
    return sum(x[p] for p in places)


def in_a_reduction_of_rows(x, places):
    table = places.reshape(100, -1)
    return np.array([sum(x[p] for p in row) for row in table])


def in_a_scan(x, places):
    return np.cumsum(x[places])


def in_a_filter(x, places):
    return places[x[places] > 0.5]


def in_rows_made_by_blocks(x, places):
    table = places.reshape(8, -1)
    out = np.zeros(8)
    for r in range(8):
        total = 0.0
        for p in table[r]:
            total += x[p]
        out[r] = total / (1 // (1 + int(total < 0)))
    return out


def in_a_time_loop(x, places):
    y = np.zeros(len(places))
    for t in range(3):
        for i in range(len(places)):
            y[i] = y[i] + x[places[i] + t]
    return y


FUNCTIONS = [by_index, by_stored_index, by_assert, by_raise, by_division, by_several,
             in_a_while_loop, in_a_reduction, in_a_reduction_of_rows, in_a_scan, in_a_filter,
             in_rows_made_by_blocks, in_a_time_loop]  # fmt: skip


def outcome(f, x, places):
    """What a call returns or raises, and what the array holds then."""
    try:
        with np.errstate(all="ignore"):
            result = f(x, places)
    except Exception as error:
        return type(error), str(error), x
    return None, result, x


def places_failing_at(where):
    """Indexes of an array of ten: those named are beyond it, each by another distance."""
    places = np.arange(FAR) % 7
    for order, i in enumerate(where):
        places[i] = 10 + order
    return places


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_first_failing_iteration_of_many(f):
    compiled = jit(f)
    everywhere = range(300, FAR, 64)
    for where in ([], [FAR - 1, 39_000, 20_000, 5_000, 4_999, 300], everywhere, [FAR - 1], [0], []):
        places = places_failing_at(where)
        kind, expected, after = outcome(f, np.ones(10) * (f is not in_a_while_loop), places)
        found, result, stored = outcome(lambda *args: compiled(*args, target=HERE),
                                        np.ones(10) * (f is not in_a_while_loop), places)
        assert found is kind
        assert (kind is None) == (len(where) == 0)
        if kind is None:
            np.testing.assert_allclose(result, expected, rtol=1e-12, strict=True)
            np.testing.assert_array_equal(stored, after)
        else:
            assert result.split("\n")[0] == expected.split("\n")[0]


def test_the_same_on_device_arrays():
    f = jit(by_raise)
    x = parakeet.to_gpu(np.ones(10), HERE)
    bad = parakeet.to_gpu(places_failing_at([FAR - 1, 17_000]), HERE)
    good = parakeet.to_gpu(places_failing_at([]), HERE)
    for _ in range(3):
        with pytest.raises(ValueError, match="place 11 of iteration 17000"):
            f(x, bad)
        assert f(x, good).to_host()[-1] == (FAR - 1) % 7


def test_memory_that_ends_within_a_call():
    """After some of the call's buffers, kernels and results are there."""
    def made(x, n):
        first = np.cumsum(x) + 1
        for _ in range(2):
            first = np.sort(first)[::-1] * 2
        return first, np.zeros(n) + first[0], x[::2] + 1

    f = jit(made)
    x = parakeet.to_gpu(np.ones(1000), HERE)
    expected = f(x, 1000)[1].to_host()
    gc.collect()
    in_use = parakeet.memory_info(HERE).in_use
    failed = 0
    for limit in range(in_use + 4000, in_use + 60_000, 4000):
        parakeet.set_memory_limit(limit, HERE)
        try:
            result = f(x, 1000)
        except MemoryError as error:
            failed += 1
            assert f"where {HERE}" not in str(error) and "bytes are in use" in str(error)
            assert parakeet.memory_info(HERE).in_use == in_use
        else:
            np.testing.assert_array_equal(result[1].to_host(), expected)
            del result
        finally:
            parakeet.set_memory_limit(None, HERE)
    assert failed >= 3
    np.testing.assert_array_equal(f(x, 1000)[1].to_host(), expected)
