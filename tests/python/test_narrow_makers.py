"""What is read in part is made in part: the answers, and the errors, of making all of it."""

import numpy as np
import pytest
from edge_values import edges

import parakeet
from parakeet import jit

TARGETS = ("serial", "parallel", "emulated_gpu")


@jit
def whole(x):
    return np.sort(x), np.argsort(x), np.cumsum(x), np.maximum.accumulate(x)


@jit
def ends(x):
    order = np.argsort(x)
    return np.sort(x)[0], np.sort(x)[-1], order[0], np.argsort(x)[-1], np.sort(x)[::-1][0]


@jit
def places(x, i, j):
    s = np.sort(x)
    return s[i], s[j], np.argsort(x)[i], np.cumsum(x)[j], np.maximum.accumulate(x)[:j]


@jit
def some(x, k):
    return (np.sort(x)[:k], np.sort(x)[-k:], np.sort(x)[::-1][:k], np.argsort(x)[:k],
            np.argsort(x)[::-1][:k], np.cumsum(x)[:k], np.cumsum(x)[k::-3], np.sort(x)[k:-k:2])


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    assert one.dtype == other.dtype and one.shape == other.shape
    nans = one != one
    np.testing.assert_array_equal(nans, other != other)
    assert one[~nans].tobytes() == other[~nans].tobytes()


def mixed(dtype, size):
    """Few values, those at the edges among them, so that many are equal."""
    random = np.random.default_rng(size)
    return random.permutation(np.resize(np.concatenate((edges(dtype), edges(dtype)[:1])), size))


@pytest.mark.parametrize("dtype, target", [("float64", "serial"), ("float64", "emulated_gpu"),
                                           ("float32", "parallel"), ("uint8", "serial")])
def test_parts_are_those_of_the_whole(dtype, target):
    # A thread of the emulated GPU takes its time.
    for size in (9, 40) if target == "emulated_gpu" else (1, 9, 14, 40, 700, 5000):
        for x in (mixed(dtype, size), mixed("int8", size).astype(dtype)):
            s, order, sums, greatest = whole(x, target=target)
            expected = (s[0], s[-1], order[0], order[-1], s[-1])
            for one, other in zip(ends(x, target=target), expected):
                same(one, other)
            i, j = size // 3, size - 1 - size // 4
            expected = (s[i], s[j], order[i], sums[j], greatest[:j])
            for one, other in zip(places(x, i, j, target=target), expected):
                same(one, other)
            for k in (0, 1, size // 2, size // 7, size - 1):
                expected = (s[:k], s[-k:], s[::-1][:k], order[:k], order[::-1][:k], sums[:k],
                            sums[k::-3], s[k:-k:2])
                for one, other in zip(some(x, k, target=target), expected):
                    same(one, other)


@jit
def of_products(a, b, i, j):
    rows = (a @ b)[i], (a @ b)[:, j], (a @ b)[1:3], (a @ b @ a)[i], (b @ a).T[j][None]
    return rows, (a @ b)[i, j], np.trace(a @ b), np.diag(a @ b), np.outer(a[0], b[0])[i, ::2]


@pytest.mark.parametrize("target", TARGETS)
def test_parts_of_products(target):
    random = np.random.default_rng(1)
    for n in (4, 33):
        a, b = random.standard_normal((n, n)), random.standard_normal((n, n))
        made, meant = of_products(a, b, 2, -1, target=target), of_products.__wrapped__(a, b, 2, -1)
        for one, other in zip(made[0] + made[1:], meant[0] + meant[1:]):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
            assert np.shape(one) == np.shape(other)


@jit
def of_nothing(x, a, b, i):
    return np.sort(x)[i], np.argsort(x)[i], (a @ b)[i]


@pytest.mark.parametrize("target", TARGETS)
def test_errors_stay(target):
    a, x = np.ones((3, 3)), np.ones(3)
    for args in ((x, a, a, 3), (x[:0], a, a, 0), (x, a, a[:2], 1), (x, a, a, -4)):
        with pytest.raises((IndexError, ValueError)) as meant:
            of_nothing.__wrapped__(*args)
        with pytest.raises(meant.type) as raised:
            of_nothing(*args, target=target)
        assert str(raised.value) == str(meant.value)


@jit
def kept_apart(x, k):
    total = np.cumsum(x)
    x[0] = 7.0
    made = np.sort(x)[:k]
    made[0] = -1.0
    x[1] = 9.0
    return total[k], made, np.sort(x)[k]


@jit
def in_loops(points, queries, k):
    near = np.zeros((len(queries), k), np.int64)
    for q in range(len(queries)):
        near[q] = np.argsort(((points - queries[q]) ** 2).sum(axis=1))[:k]
    return near, np.sort(points, axis=1)[:, 0], np.array([np.sort(row)[-1] for row in points])


@pytest.mark.parametrize("target", TARGETS)
def test_stores_and_loops(target):
    random = np.random.default_rng(2)
    for program, args in ((kept_apart, (random.random(40), 5)),
                          (in_loops, (random.random((60, 3)), random.random((7, 3)), 4))):
        made = program(*[np.copy(each) for each in args], target=target)
        for one, other in zip(made, program.__wrapped__(*[np.copy(each) for each in args])):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_many_are_found_by_threads():
    x = np.random.default_rng(3).standard_normal(200_000)
    s, order = np.sort(x), np.argsort(x, kind="stable")
    before = parakeet.get_num_threads()
    parakeet.set_num_threads(3)
    try:
        for k in (1, 50, 20_000, 150_000):
            made = some(x, k, target="parallel")
            expected = (s[:k], s[-k:], s[::-1][:k], order[:k], order[::-1][:k])
            for one, other in zip(made[:5], expected):
                assert np.array_equal(one, other)
    finally:
        parakeet.set_num_threads(before)
