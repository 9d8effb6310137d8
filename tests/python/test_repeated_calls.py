"""Calls that are like one before write no key: by `_core.keyed_calls`, which counts those that do.

What may have changed between two calls is seen all the same.
"""

import asyncio
import threading

import numpy as np
import pytest

import parakeet
from parakeet import _core, jit


def first(x):
    return x[0]


def double(v):
    return v * 2


def apply(function, v):
    return function(v)


def keyed(call):
    """How many of ten calls were keyed, behind two that need not be like those before."""
    call(), call()
    before = _core.keyed_calls()
    for _ in range(10):
        call()
    return _core.keyed_calls() - before


DTYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "bool"]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 12, 16])
def test_specialisations_in_turn_are_told_apart_without_their_keys(count):
    f = jit(first, target="serial")
    arrays = [np.ones((2,) * rank, dtype) for rank in (1, 2) for dtype in DTYPES][:count]

    def turn():
        for x in arrays:
            assert f(x).dtype == x.dtype

    assert keyed(turn) == 0 and len(f._specializations()) == count


def test_more_specialisations_than_are_kept_in_sight_still_give_their_own():
    f = jit(first, target="serial")
    arrays = [np.full((2,) * rank, rank, dtype) for rank in (1, 2, 3) for dtype in DTYPES]
    for _ in range(3):
        for x in arrays:
            result = f(x)
            assert result.dtype == x.dtype and np.all(result == x[0])


def test_numbers_of_several_kinds_in_turn():
    f = jit(double, target="serial")
    numbers = [1, 1.5, True, 1j, np.float32(2), np.int8(3)]

    def turn():
        for v in numbers:
            assert f(v) == v * 2 and type(f(v)) is type(v * 2)

    assert keyed(turn) == 0


def test_a_block_that_names_the_target_keeps_the_short_way():
    f = jit(first)
    x = np.ones(3)
    with parakeet.target("serial"):
        assert keyed(lambda: f(x)) == 0
        with parakeet.target("parallel"):
            assert keyed(lambda: f(x)) == 0
        assert keyed(lambda: f(x)) == 0
        with parakeet.target("python"):
            assert f([7]) == 7
    assert len(f.timings()) == 2  # one for each of the two targets


def test_blocks_of_other_threads_and_tasks_are_theirs():
    seen = []

    @jit
    def f(x):
        return x + 1

    def ask():
        f(1.0)
        seen.append(parakeet.targets.number_in_context())

    async def task(name):
        with parakeet.target(name):
            await asyncio.sleep(0.01)
            ask()

    async def both():
        await asyncio.gather(task("serial"), task("interpreter"))

    with parakeet.target("python"):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        asyncio.run(both())
        ask()
    numbers = [parakeet.targets.number_of(n) for n in ("serial", "interpreter", "python")]
    assert seen == [parakeet.targets.NONE, *numbers]
    assert len(f.timings()) == 3  # python's own compiles nothing; the thread ran in parallel


def test_tuples_write_no_key():
    f = jit(lambda pair: pair[0] + pair[1][0], target="serial")
    x, y = np.ones(3), np.full(3, 2.0)
    assert keyed(lambda: f((x, (y, 1)))) == 0
    assert f((x, (y, 1)))[0] == 3.0
    assert f((1, (2.5, 1))) == 3.5  # other code
    assert f((x, (2.5, 1)))[0] == 3.5
    assert jit(lambda t: len(t))((1, 2, 3)) == 3


def test_tuples_whose_values_are_in_the_key_are_told_apart():
    f = jit(lambda x, shape: x.reshape(shape), target="serial")
    x = np.arange(6.0)
    for _ in range(3):
        assert f(x, (2, 3)).shape == (2, 3) and f(x, (3, 2)).shape == (3, 2)
        assert f(x, (6, 1)).shape == (6, 1)


def test_arrays_within_tuples_that_share_memory():
    @jit(target="serial")
    def shift(pair):
        for i in range(1, len(pair[0])):
            pair[0][i] = pair[1][i - 1]

    for _ in range(3):
        x, y = np.arange(5.0), np.arange(5.0)
        shift((x, y))
        assert x.tolist() == [0, 0, 1, 2, 3]
        shift((y, y))
        assert y.tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 3.0], [1, 2], [2**62]])
def test_lists_of_numbers_write_no_key(numbers):
    f = jit(first, target="serial")
    assert keyed(lambda: f(numbers)) == 0
    assert f(numbers) == np.array(numbers)[0]


def test_lists_that_become_others():
    f = jit(first, target="serial")
    numbers = [1.0, 2.0]
    for value in (1.0, 2, True, 2.5, np.float32(3)):
        numbers[0] = value
        assert f(numbers) == np.array(numbers)[0]
    assert f([[1, 2], [3, 4]]).tolist() == [1, 2] and f([1]) == 1
    with pytest.raises(TypeError, match="a list that is no array of numbers"):
        f([2**70])
    with pytest.raises(IndexError):
        f([])
    assert f([5]) == 5


@pytest.mark.parametrize("function", [double, jit(double), np.sin, abs, lambda v: v + 1])
def test_functions_write_no_key(function):
    f = jit(apply, target="serial")
    assert keyed(lambda: f(function, 2.0)) == 0
    assert f(function, 2.0) == function(2.0)


def test_functions_that_change_are_seen():
    f = jit(apply, target="serial")
    factor = 2.0

    def by_factor(v):
        return v * factor

    def other(v):
        return v * factor + 1

    def with_default(v, more=1.0):
        return v + more

    assert keyed(lambda: f(by_factor, 3.0)) == 0 and f(by_factor, 3.0) == 6.0
    factor = 5.0
    assert f(by_factor, 3.0) == 15.0
    by_factor.__code__ = other.__code__
    assert f(by_factor, 3.0) == 16.0
    assert keyed(lambda: f(with_default, 3.0)) == 0 and f(with_default, 3.0) == 4.0
    with_default.__defaults__ = (2.0,)
    assert f(with_default, 3.0) == 5.0


def test_functions_within_functions_that_change_are_seen():
    f = jit(apply, target="serial")

    def made():
        weight = 1.0

        def inner(v):
            return v * weight

        def outer(v):
            return inner(v) + 1

        def change(value):
            nonlocal weight
            weight = value

        return outer, change

    outer, change = made()
    assert keyed(lambda: f(outer, 3.0)) == 0 and f(outer, 3.0) == 4.0
    change(2.0)
    assert f(outer, 3.0) == 7.0


def test_an_array_in_a_closure_is_read_at_each_call():
    f = jit(apply, target="serial")
    weights = np.ones(2)

    def weighted(v):
        return v * weights[1]

    for value in (1.0, 4.0):
        weights[1] = value
        assert f(weighted, 3.0) == 3.0 * value
    weights = np.full(3, 9.0, np.float32)
    assert f(weighted, 3.0) == 27.0
