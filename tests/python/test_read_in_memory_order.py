"""Sums of narrow columns and of turned arrays, products of rows by rows, complex extremes so far,
and what is read at one place of either of two arrays: what is read in the order of memory."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


def some(shape, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    values = random.integers(-9, 10, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.integers(-9, 10, shape)
    return values.astype(dtype)


@jit
def of_columns(v, a):
    return v @ a, a.argmax(0), np.exp(a).sum(0)


@jit
def in_steps(v, a, steps):
    total = np.zeros(a.shape[1])
    for k in range(steps):
        total = total + (v + k) @ a
    return total


@pytest.mark.sampled(2, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ("float32", "int64"))
def test_narrow_columns(dtype, target):
    # One run of 256 rows, runs that fill groups of four, and groups of which a part is there.
    for rows in (1, 33, 256, 257, 700, 769, 1024, 1025, 2000):
        for width in (1, 3, 5, 8, 17):
            v, a = some(rows, dtype, rows), some((rows, width), dtype, width)
            products, places, exponentials = of_columns(v, a, target=target)
            np.testing.assert_array_equal(products, v @ a)  # Of small integers: exact.
            np.testing.assert_array_equal(places, a.argmax(0))
            np.testing.assert_allclose(exponentials, np.exp(a).sum(0), rtol=1e-5)


def test_no_rows_have_sums():
    v, a = np.zeros(0), np.zeros((0, 3))
    np.testing.assert_array_equal(jit(lambda v, a: v @ a)(v, a), np.zeros(3))


@pytest.mark.parametrize("target", TARGETS)
def test_narrow_columns_at_each_step(target):
    for rows in (20, 40, 300, 1100):
        v, a = some(rows), some((rows, 3))
        wanted = sum((v + k) @ a for k in range(4))
        np.testing.assert_array_equal(in_steps(v, a, 4, target=target), wanted)


def test_narrow_columns_on_threads_are_those_of_one():
    random = np.random.default_rng(1)
    for width in (2, 3, 7):
        v, a = random.random(70001), random.random((70001, width))
        one = of_columns(v, a, target="serial")
        for got, wanted in zip(of_columns(v, a, target="parallel"), one, strict=True):
            np.testing.assert_array_equal(got, wanted)


@jit
def turned(x):
    return (x.swapaxes(1, 2).sum((1, 2)), x.T.sum(), np.transpose(x, (1, 0, 2)).min((0, 1)),
            x.T.argmax())


@pytest.mark.parametrize("target", TARGETS)
def test_turned_arrays_are_reduced_in_any_order(target):
    for shape in ((3, 40, 50), (1, 7, 1), (40, 2, 33)):
        x = some(shape) / 2.0
        x[0, 0, 0] = x[-1, -1, -1] = 99.0  # The greatest twice: the first in the turned order.
        got = turned(x, target=target)
        for value, wanted in zip(got, turned.__wrapped__(x), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-13)


@jit
def rows_by_rows(a, b):
    return a @ b.T


@pytest.mark.sampled(2, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ("float32", "float64", "complex128"))
def test_rows_by_rows(dtype, target):
    # Depths of several blocks with a rest; few rows, and more than one rectangle takes; columns
    # that end within a tile.
    for rows, columns, depth in ((5, 70, 600), (30, 25, 1027), (150, 9, 515), (9, 130, 17)):
        a, b = some((rows, depth), dtype), some((columns, depth), dtype, 1)
        np.testing.assert_array_equal(rows_by_rows(a, b, target=target), a @ b.T)


@jit
def batches_by_rows(a, b):
    return a @ b.swapaxes(1, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_batches_of_rows_by_rows(target):
    a, b = some((3, 10, 520)), some((3, 40, 520), seed=1)
    for left in (a, a[:1]):
        np.testing.assert_array_equal(batches_by_rows(left, b, target=target),
                                      left @ b.swapaxes(1, 2))


@jit
def extremes_so_far(z):
    return np.maximum.accumulate(z), np.minimum.accumulate(z)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
def test_complex_extremes_so_far(dtype, target):
    nan, inf = np.nan, np.inf
    for size in (1, 264, 3000):
        z = some(size, dtype, size)
        z[size // 2:] += np.linspace(0, 20, size - size // 2)  # Rises, and equals in real parts.
        cases = [z, -z]
        for special in (complex(nan, 0), complex(0, nan), complex(inf, nan), complex(-inf, inf)):
            with_one = z.copy()
            with_one[2 * size // 3] = special
            with_one[-1] = complex(nan, nan)
            cases.append(with_one)
        for case in cases:
            for got, wanted in zip(extremes_so_far(case, target=target),
                                   extremes_so_far.__wrapped__(case), strict=True):
                np.testing.assert_array_equal(got, wanted)


@jit
def decoded(bits, left, right, symbols):
    out = np.zeros(bits.shape[0], np.int64)
    count = 0
    node = 0
    for bit in bits:
        node = right[node] if bit else left[node]
        if symbols[node] >= 0:
            out[count] = symbols[node]
            count += 1
            node = 0
    return out[:count]


@jit
def walked(bits, left, right):
    node = 0
    for i in range(bits.shape[0]):
        if bits[i] == 0:
            node = left[node]
        else:
            node = right[node]
    return node


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ("int32", "int64"))
def test_children_of_nodes(dtype, target):
    left = np.array([1, -3, 0, 0, 0], dtype)  # -3 counts from the end.
    right = np.array([2, 4, 3, 1, 0], dtype)
    symbols = np.array([-1, -1, 7, 8, 9])
    bits = np.random.default_rng(0).integers(0, 2, 200).astype(np.uint8)
    np.testing.assert_array_equal(decoded(bits, left, right, symbols, target=target),
                                  decoded.__wrapped__(bits, left, right, symbols))
    assert walked(bits, left, right, target=target) == walked.__wrapped__(bits, left, right)


@pytest.mark.parametrize("target", TARGETS)
def test_places_that_one_of_the_arrays_has(target):
    left, right = np.array([0, 4, 1]), np.array([1, 0, 2, 3, 4])
    for bits in ([1, 0, 1], [1, 0, 1, 1], [1, 0, 0], [1, 0, 1, 0]):
        given = np.array(bits)
        try:
            wanted = walked.__wrapped__(given, left, right)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                walked(given, left, right, target=target)
        else:
            assert walked(given, left, right, target=target) == wanted


@jit
def by_de_boor(t, c, p, x):
    out = np.empty(len(x))
    d = np.empty(p + 1)
    for i in range(len(x)):
        k = p
        while k < len(c) - 1 and x[i] >= t[k + 1]:
            k += 1
        for j in range(p + 1):
            d[j] = c[j + k - p]
        for r in range(1, p + 1):
            for j in range(p, r - 1, -1):
                a = (x[i] - t[j + k - p]) / (t[j + 1 + k - r] - t[j + k - p])
                d[j] = (1.0 - a) * d[j - 1] + a * d[j]
        out[i] = d[p]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_short_rows_that_an_iteration_works_on(target):
    for p in (3, 9):
        t = np.concatenate([np.zeros(p), np.linspace(0, 1, 12), np.ones(p)])
        c, x = some(11 + p), np.linspace(0, 0.99, 40)
        np.testing.assert_allclose(by_de_boor(t, c, p, x, target=target),
                                   by_de_boor.__wrapped__(t, c, p, x), rtol=1e-12, atol=1e-12)
        with pytest.raises(IndexError):
            by_de_boor(t, c[:p + 1], p + 1, x, target=target)
            by_de_boor(t[:p + 3], c, p, x, target=target)
