"""Scans of rows and columns on a GPU: in the order of places, straight to where they are stored.

On the emulated GPU, which ends the process where a thread reads another's memory unasked.
"""

import numpy as np
import pytest
from agreement import EXACT, HERE, REDUCED, check_agreement

import parakeet
from parakeet import jit

R = np.random.default_rng(11)


def check(function, *arguments, tolerance=REDUCED):
    check_agreement(jit(function), function, lambda: tuple(np.copy(a) for a in arguments),
                    tolerance, targets=[HERE])


def sums_of_rows(x):
    return np.cumsum(x, axis=1)


def sums_of_columns(x):
    return np.cumsum(x, axis=0)


def products_of_rows(x):
    return np.cumprod(x, axis=1)


def greatest_of_rows(x):
    return np.maximum.accumulate(x, axis=1)


def sums_of_each(x):
    return np.array([np.cumsum(r) for r in x])


def sums_as_a_loop(x):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            y[i, j] = total
    return y


def sums_before_each(x):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        total = 1.0
        for j in range(x.shape[1]):
            y[i, j] = total * 2.0
            total += x[i, j]
    return y


def shares_of_rows(x):
    return np.cumsum(x, axis=1) / np.sum(np.abs(x), axis=1)[:, None]


def sums_and_last(x):
    y = np.empty_like(x)
    z = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            y[i, j] = total
        z[i] = total
    return y, z


def sums_in_place(x):
    for i in range(x.shape[0]):
        x[i] = np.cumsum(x[i])


def sums_backwards_in_place(x):
    for i in range(x.shape[0]):
        x[i] = np.cumsum(x[i, ::-1])


def sums_of_sums(x):
    return np.cumsum(np.cumsum(x, axis=1), axis=0)


def sums_of_moved(x):
    return np.cumsum(x - np.mean(x, axis=1)[:, None], axis=1)


# Rows of no element, of one thread, up to a run, a group, a chunk, and of several of each.
SHAPES = [(0, 5), (5, 0), (1, 1), (3, 1), (4, 63), (4, 64), (3, 65), (5, 257), (2, 2048), (3, 2049),
          (2, 5000), (1, 40001), (1, 530000), (70, 65), (300, 100), (64, 300), (2048, 66),
          (9, 2047), (2049, 3), (9000, 9), (530000, 2)]


@pytest.mark.sampled(4, "function", "shape")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [sums_of_rows, sums_of_columns, sums_as_a_loop,
                                      sums_before_each, sums_and_last, sums_in_place])
def test_rows_of_any_length(function, shape):
    check(function, R.integers(-3, 5, shape).astype(np.float64), tolerance=EXACT)


@pytest.mark.parametrize("shape", [(1, 1), (3, 65), (2, 2049), (7, 1000)])
@pytest.mark.parametrize("function", [greatest_of_rows, sums_of_each, shares_of_rows,
                                      sums_backwards_in_place, sums_of_sums, sums_of_moved,
                                      products_of_rows])
def test_what_is_made_beside_and_behind(function, shape):
    check(function, R.uniform(0.5, 1.5, shape))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex64",
                                   "complex128"])
@pytest.mark.parametrize("function", [sums_of_rows, sums_of_columns])
def test_every_width(function, dtype):
    x = (R.standard_normal((3, 9001)) * 3).astype(dtype)
    is_exact = np.dtype(dtype).kind in "bui"
    check(function, x, tolerance=EXACT if is_exact else REDUCED)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 70, 5), (2, 3, 3000), (2100, 3, 2)])
def test_three_axes(axis, shape):
    def sums(x, axis):
        return np.cumsum(x, axis=axis)
    x = R.standard_normal(shape)
    got = jit(sums)(x, axis, target=HERE)
    np.testing.assert_allclose(got, sums(x, axis), rtol=1e-11, atol=1e-11)


def test_orders_of_memory():
    x = R.standard_normal((70, 3000))
    f = jit(sums_of_rows)
    for given in (np.asfortranarray(x), x[::-1, ::2], x.T):
        np.testing.assert_allclose(f(given, target=HERE), np.cumsum(given, axis=1), rtol=1e-10,
                                   atol=1e-10)


def affine(x, y):
    return parakeet.scan(lambda a, b: a + b + a * b, x * y, axis=1)


@pytest.mark.parametrize("columns", [1, 63, 64, 300, 5000])
def test_any_associative_combine(columns):
    x = R.uniform(-0.5, 0.5, (3, columns))
    y = R.uniform(0.0, 0.5, (3, columns))
    expected = np.cumprod(1 + x * y, axis=1) - 1
    np.testing.assert_allclose(jit(affine)(x, y, target=HERE), expected, rtol=1e-9, atol=1e-9)


def keeps_left(x):
    return parakeet.scan(lambda a, b: a, x, axis=1), parakeet.scan(lambda a, b: b, x, axis=1)


def test_sides_do_not_change_places():
    x = R.standard_normal((3, 5000))
    left, right = jit(keeps_left)(x, target=HERE)
    assert np.array_equal(left, np.repeat(x[:, :1], 5000, axis=1))
    assert np.array_equal(right, x)


def two_sums(x):
    y = np.empty_like(x)
    z = np.empty_like(x)
    for i in range(x.shape[0]):
        a = 0.0
        b = 1.0
        for j in range(x.shape[1]):
            a += x[i, j]
            b = max(b, x[i, j])
            y[i, j] = a
            z[i, j] = b
    return y, z


@pytest.mark.parametrize("columns", [5, 64, 3001])
def test_several_values(columns):
    check(two_sums, R.standard_normal((4, columns)) * 2)


def sums_to_there(x, k):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(k[i]):
            total += x[i, j]
            y[i, j] = total
    return y


def test_rows_of_lengths_of_their_own():
    x = R.standard_normal((6, 300))
    check(sums_to_there, x, np.array([0, 1, 300, 64, 63, 7]))


def test_the_same_bits_in_every_run():
    x = R.standard_normal((5, 30000)).astype(np.float32)
    f = jit(sums_of_rows)
    first = f(x, target=HERE)
    for _ in range(3):
        assert np.array_equal(f(x, target=HERE), first)


def test_sums_of_what_is_not_negative_never_fall():
    x = R.uniform(0, 1, (3, 20000)).astype(np.float32)
    assert (np.diff(jit(sums_of_rows)(x, target=HERE), axis=1) >= 0).all()


# Of which a block of threads has several, where they are no more than a chunk; else a chunk of one.
@pytest.mark.sampled(2, "length", "dtype")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("length", [64, 100, 255, 256, 257, 1000, 2048])
def test_the_first_elements_of_long_lines_have_the_bits_of_short_ones(length, dtype):
    x = (R.standard_normal((37, 9000)) * 9).astype(dtype)
    rows, columns = jit(sums_of_rows), jit(sums_of_columns)
    whole = rows(x, target=HERE)
    assert np.array_equal(columns(x.T.copy(), target=HERE), whole.T)
    expected = whole[:, :length]
    assert np.array_equal(rows(x[:, :length].copy(), target=HERE), expected)
    assert np.array_equal(columns(x.T[:length].copy(), target=HERE), expected.T)


def test_a_column_gives_its_bits_be_they_many_or_few():
    x = R.standard_normal((70, 1 << 16)).astype(np.float32)
    f = jit(sums_of_columns)
    many = f(x, target=HERE)
    few = f(x[:, 5:8].copy(), target=HERE)
    assert np.array_equal(many[:, 5:8], few)


def sums_of_found(x, k):
    y = np.empty((k.shape[0], k.shape[1]))
    for i in range(k.shape[0]):
        total = 0.0
        for j in range(k.shape[1]):
            total += x[k[i, j]]
            y[i, j] = total
    return y


@pytest.mark.parametrize("columns", [30, 3000])
def test_the_first_failing_iteration_is_told(columns):
    k = np.zeros((4, columns), dtype=np.int64)
    k[1, columns - 2] = 77
    k[1, columns - 1] = 78
    k[2, 0] = 79
    with pytest.raises(IndexError, match="77"):
        jit(sums_of_found)(np.ones(5), k, target=HERE)


@pytest.mark.parametrize("function", [sums_of_rows, sums_of_columns, sums_as_a_loop, sums_of_each,
                                      shares_of_rows])
def test_blocks_share_rows_and_make_none_of_their_own(function):
    text = jit(function).ir(R.standard_normal((3, 4)), target=HERE, stage="extract-kernels")
    assert "atomic" in text
    threads = None  # How far what a thread does is indented.
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if threads is not None and indent <= threads:
            threads = None
        if threads is None and "thread for" in line:
            threads = indent
        assert threads is None or " = alloc " not in line
