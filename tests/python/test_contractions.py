"""Sums and least values of products over two arrays, at the sizes where their tiles end.

Floats hold small whole numbers, so every order of summation gives the same bits.
"""

import numpy as np
import pytest
from tested_targets import COMPILED, TARGETS

import parakeet
from parakeet import jit

# Rows, columns, depth: nothing, what is not packed, one tile and one more or less, more than a
# block of the depth, several rectangles.
SIZES = [(0, 3, 2), (3, 4, 0), (3, 3, 3), (8, 24, 10), (9, 25, 7), (7, 23, 255), (8, 48, 256),
         (16, 49, 257), (130, 200, 3), (50, 201, 513), (330, 40, 12)]


@pytest.fixture(autouse=True)
def no_library(monkeypatch):
    """What is tried is our own tiles, on a device too."""
    monkeypatch.setattr(parakeet.config, "cublas", False)


def product(a, b):
    return a @ b


def least(a, b):
    return np.array([[np.min(x + y) for y in b] for x in a])


def farthest(a, b):
    return np.array([[np.max(x * y) for y in b] for x in a])


def distances(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def batch(a, b):
    return np.einsum("bij,bjk->bik", a, b)


def of_one_matrix(a, b):
    return np.einsum("bij,jk->bik", a, b)


def numbers(rng, *shape):
    return rng.integers(-20, 20, shape).astype(np.float64)


def check(function, compiled, a, b):
    with np.errstate(all="ignore"):
        expected = function(a, b)
    results = [compiled(a, b, target=target) for target in COMPILED]
    for result in results:
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype
    # Which NaN it is where two meet, processors decide by the order of their operands.
    first, last = (np.where(np.isnan(each), np.nan, each) for each in (results[0], results[-1]))
    assert first.tobytes() == last.tobytes()


def plain_pairs(combine):
    return lambda a, b: combine(a[:, None, :], b[None, :, :])


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_products(layout):
    rng = np.random.default_rng(1)
    compiled = jit(product)
    for rows, columns, depth in SIZES:
        check(product, compiled, layout(numbers(rng, rows, depth)), numbers(rng, depth, columns))


def test_products_of_strided_and_transposed_arrays():
    rng = np.random.default_rng(2)
    compiled = jit(product)
    for rows, columns, depth in SIZES:
        wide = numbers(rng, 2 * rows, 3 * depth)
        check(product, compiled, wide[::2, ::3], numbers(rng, columns, depth)[::-1].T)


@pytest.mark.parametrize("function, combine", [
    (least, plain_pairs(lambda x, y: (x + y).min(axis=2))),
    (farthest, plain_pairs(lambda x, y: (x * y).max(axis=2))),
])
def test_extremes_keep_nan_and_infinities(function, combine):
    rng = np.random.default_rng(3)
    compiled = jit(function)
    for rows, columns, depth in SIZES:
        if rows == 0 or depth == 0:
            continue
        a, b = numbers(rng, rows, depth), numbers(rng, columns, depth)
        check(combine, compiled, a, b)
        for value in (np.nan, np.inf, -np.inf):
            a[rng.integers(rows), rng.integers(depth)] = value
            b[rng.integers(columns), rng.integers(depth)] = -value
        check(combine, compiled, a, b)


def test_distances_of_all_pairs():
    rng = np.random.default_rng(4)
    compiled = jit(distances)
    for rows, columns, depth in SIZES:
        check(distances, compiled, numbers(rng, rows, depth).astype(np.float32),
              numbers(rng, columns, depth).astype(np.float32))


@pytest.mark.parametrize("function", [batch, of_one_matrix])
def test_batches(function):
    rng = np.random.default_rng(5)
    compiled = jit(function)
    for rows, columns, depth in SIZES:
        second = (depth, columns) if function is of_one_matrix else (3, depth, columns)
        check(function, compiled, numbers(rng, 3, rows, depth), numbers(rng, *second))


# What follows a product, and what its operands are made of.


def many(a, b, c, v, out):
    """Each of its lines is a product and what is made of it, or of what."""
    positive = np.maximum(a @ b + v, 0.0)
    column = (a @ b).T * 2.0
    kept = a @ b
    twice = kept * 2.0 + kept
    centred = (a - v[:1]) @ (b * 2.0)
    of_ints = a.astype(np.int64) @ b.astype(np.int64) + 1
    out[:] = 2.0 * a @ b + 3.0 * out
    first = a @ b - out
    c += a @ b
    halves = (a @ b > 0).astype(np.float32)
    both = a @ b + a @ c[: b.shape[0]]
    return positive, column, kept, twice, centred, of_ints, first, halves, both


@pytest.mark.parametrize("target", TARGETS)
def test_what_follows_a_product(target):
    rng = np.random.default_rng(6)
    compiled = jit(many)
    for rows, depth, columns in [(2, 1, 3), (9, 9, 25), (70, 65, 130), (11, 400, 60)]:
        if target == "interpreter" and depth > 9:
            continue
        tall = max(rows, depth)
        a, b = numbers(rng, rows, depth), numbers(rng, depth, columns)
        c, v, out = numbers(rng, rows, columns), numbers(rng, columns), numbers(rng, rows, columns)
        if tall > rows:
            a = np.vstack([a, numbers(rng, tall - rows, depth)])
            c, out = numbers(rng, tall, columns), numbers(rng, tall, columns)
        own = [c.copy(), out.copy()]
        expected = many(a, b, c, v, out)
        results = compiled(a, b, own[0], v, own[1], target=target)
        for result, right in zip((*results, *own), (*expected, c, out)):
            np.testing.assert_array_equal(result, right)
            assert result.dtype == right.dtype


def in_place(a, b):
    """Stores into what is summed: the sums are of what was there before."""
    a[:] = a @ b
    b -= a @ b
    return a


def test_products_that_are_stored_over_an_operand():
    rng = np.random.default_rng(7)
    a, b = numbers(rng, 30, 30), numbers(rng, 30, 30)
    own = a.copy(), b.copy()
    in_place(a, b)
    jit(in_place)(*own)
    np.testing.assert_array_equal(own[0], a)
    np.testing.assert_array_equal(own[1], b)


def layer(x, w, b):
    return np.tanh(x @ w + b)


def test_functions_of_a_product_are_made_in_lanes():
    rng = np.random.default_rng(8)
    x, w, b = (rng.standard_normal(shape).astype(np.float32) for shape in
               [(37, 50), (50, 61), (61,)])
    compiled = jit(layer)
    np.testing.assert_allclose(compiled(x, w, b), layer(x, w, b), rtol=2e-5, atol=1e-6)
    assert compiled(x, w, b).tobytes() == compiled(x, w, b, target="serial").tobytes()
    assert "tanhf" not in compiled.asm().replace("_tanhf", "")


def of_reshaped(a, b, c):
    flat = np.reshape(np.reshape(a, (a.shape[0] * a.shape[1], a.shape[2])) @ b, a.shape)
    return flat, np.tensordot(a, c, axes=([1, 2], [0, 1]))


def test_products_of_reshaped_arrays():
    rng = np.random.default_rng(9)
    compiled = jit(of_reshaped)
    for first, second, depth, columns in [(2, 3, 4, 5), (5, 7, 60, 70), (3, 50, 70, 30)]:
        a, b = numbers(rng, first, second, depth), numbers(rng, depth, depth)
        c = numbers(rng, second, depth, columns)
        for result, right in zip(compiled(a, b, c), of_reshaped(a, b, c)):
            np.testing.assert_array_equal(result, right)


def test_products_of_complex_numbers():
    rng = np.random.default_rng(10)
    compiled = jit(product)
    for rows, columns, depth in SIZES:
        a, b = (numbers(rng, *shape) + 1j * numbers(rng, *shape)
                for shape in [(rows, depth), (depth, columns)])
        check(product, compiled, a, b)


def of_itself(x):
    return x.T @ x


def of_itself_with_more(x):
    return (x @ x.T) * 0.5 + 1


def least_sums(x):
    return np.array([[np.min(a + b) for a in x] for b in x])


def batch_of_itself(x):
    return np.einsum("bij,bik->bjk", x.reshape(2, -1, x.shape[1]), x.reshape(2, -1, x.shape[1]))


def not_symmetric(x):
    """Neither what follows the sums nor the differences are the same on both sides."""
    n = x.shape[0]
    return (x @ x.T) * np.arange(n), np.array([[np.max(a - b) for a in x] for b in x])


@pytest.mark.sampled(2, "function", "rows")
@pytest.mark.parametrize("rows", [1, 255, 256, 270, 300])
@pytest.mark.parametrize("function", [of_itself, of_itself_with_more, least_sums, batch_of_itself,
                                      not_symmetric])
def test_a_matrix_by_itself_transposed(function, rows):
    """Made on and above the diagonal, and copied to below it."""
    rng = np.random.default_rng(rows)
    x = numbers(rng, rows, 6)
    if function in (of_itself, batch_of_itself):
        x = numbers(rng, 6, rows)
    compiled = jit(function)
    expected = function(x)
    results = [compiled(x, target=target) for target in COMPILED]
    for result in results:
        for made, wanted in zip(as_parts(result), as_parts(expected)):
            np.testing.assert_array_equal(made, wanted)


def as_parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("shape", [(8, 700, 900), (13, 1100, 400), (150, 600, 700),
                                   (200, 600, 700), (3, 40, 9000)])
def test_few_rows_read_far_columns_where_they_lie(shape):
    rows, depth, columns = shape
    rng = np.random.default_rng(rows)
    a, b = numbers(rng, rows, depth), numbers(rng, depth, columns)
    check(product, jit(product), a, b)


def test_a_matrix_by_a_column():
    rng = np.random.default_rng(5)
    check(product, jit(product), numbers(rng, 300, 500), numbers(rng, 500, 1))
    check(product, jit(product), numbers(rng, 1, 500), numbers(rng, 500, 1))


@pytest.mark.sampled(2, "subscripts", "dtype")
@pytest.mark.parametrize("subscripts", ["ijk,jkl->il", "ijk,ijl->kl", "ijk,kji->", "ijk,jk->i",
                                        "hijk,hjkl->hil", "ghij,ghij->g", "ghij,ghij->gh"])
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex64, bool])
def test_sums_over_several_axes(subscripts, dtype):
    rng = np.random.default_rng(6)
    left, right = (labels for labels in subscripts.split("->")[0].split(","))
    sizes = dict(zip("ghijkl", (3, 4, 9, 7, 5, 30)))
    a = (numbers(rng, *[sizes[k] for k in left]) / 8).astype(dtype)
    b = (numbers(rng, *[sizes[k] for k in right]) / 8).astype(dtype)
    compiled = jit(lambda x, y: np.einsum(subscripts, x, y))
    for target in TARGETS:
        made = compiled(a, b, target=target)
        expected = np.einsum(subscripts, a, b)
        assert np.asarray(made).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(made, expected, rtol=1e-5)


@pytest.mark.parametrize("axes", [2, 3, ((0, 1), (0, 1)), ((1, 0), (2, 0)), ((2, 0, 1), (1, 0, 2))])
def test_tensordot_over_several_axes(axes):
    rng = np.random.default_rng(7)
    a = numbers(rng, 8, 8, 8)
    compiled = jit(lambda x, y: np.tensordot(x, y, axes))
    for target in TARGETS:
        np.testing.assert_array_equal(compiled(a, a, target=target), np.tensordot(a, a, axes))


@jit
def by_itself(z, w):
    return z.T @ z, w @ w.T, (z * 2.0).T @ (z * 2.0), z.T @ w.T


@pytest.mark.parametrize("target", TARGETS)
def test_symmetric_products_of_few_long_columns(target):
    for rows, columns in ((260, 63), (260, 64), (260, 77), (33, 9), (700, 20), (40, 30), (32, 17)):
        z = np.random.default_rng(columns).standard_normal((rows, columns))
        z[3, 5] = np.nan
        made = by_itself(z, z.T.copy(), target=target)
        for got, wanted in zip(made, by_itself.__wrapped__(z, z.T.copy()), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(made[0], made[0].T)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
@pytest.mark.parametrize("shape", [(300, 530, 1030), (200, 530, 40), (900, 30, 30), (500, 7, 2100)])
def test_products_of_long_columns_are_packed_a_block_at_a_time(shape, dtype):
    """Of one thread, rectangles have up to 512 rows and 1024 columns of doubles."""
    depth, rows, columns = shape
    rng = np.random.default_rng(depth)
    a, b = (rng.integers(-9, 9, (depth, side)).astype(dtype) for side in (rows, columns))
    # NumPy's own products of integers take long.
    wanted = (a.astype("f8") if dtype == "i4" else a).T @ (b.astype("f8") if dtype == "i4" else b)
    compiled = jit(lambda a, b: a.T @ b)
    for target in COMPILED:
        np.testing.assert_array_equal(compiled(a, b, target=target), wanted)
    np.testing.assert_array_equal(compiled(a.copy("F"), b.copy("F"), target="serial"), wanted)


@jit
def rows_of_lines(a, b, c, n, k, m):
    """Rows lie in one line, one behind the other."""
    for i in range(n):
        for j in range(m):
            s = 0.0
            for p in range(k):
                s += a[i * k + p] * b[p * m + j]
            c[i * m + j] = s
    return c


@jit
def columns_of_lines(a, b, c, n, k, m):
    """The same in Fortran order, from the second row on."""
    for j in range(m):
        for i in range(1, n):
            for p in range(k):
                c[i + j * n] += a[i + p * n] * b[p + j * k]
    return c


@jit
def batches_of_lines(a, b, c, n, k, m):
    for q in range(3):
        for i in range(n):
            for j in range(m):
                for p in range(k):
                    c[(q * n + i) * m + j] += a[q * n * k + i * k + p] * b[(q * k + p) * m + j]
    return c


@jit
def windows_of_lines(a, b, c, n, k, m):
    """Neighbouring rows of `a` overlap."""
    for i in range(n):
        for j in range(m):
            for p in range(k):
                c[i * m + j] += a[i * m + p * m] * b[p * m + j]
    return c


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "function", [rows_of_lines, columns_of_lines, batches_of_lines, windows_of_lines],
    ids=lambda function: function.__name__)
def test_matrices_whose_rows_lie_in_one_line(function, target):
    rng = np.random.default_rng(9)
    sizes = [(3, 2, 5), (0, 2, 2), (2, 0, 3)] + [(9, 25, 7), (40, 33, 52)] * (
        target != "interpreter")
    for n, k, m in sizes:
        length = 3 * (n + 1) * (k + 1) * (m + 1)
        a, b, c = (numbers(rng, length).astype(np.float64) for _ in range(3))
        right = function.__wrapped__(a, b, c.copy(), n, k, m)
        np.testing.assert_array_equal(function(a, b, c.copy(), n, k, m, target=target), right)


@jit
def sums_of_products(a, b):
    return np.array([[sum(a[i, k] * b[k, j] for k in range(a.shape[1]))
                      for j in range(b.shape[1])] for i in range(a.shape[0])])


@jit
def sums_of_few(a, b, n):
    return np.array([[sum([a[i, k] * b[k, j] for k in range(n)]) for j in range(b.shape[1])]
                     for i in range(a.shape[0])])


@pytest.mark.parametrize("target", TARGETS)
def test_comprehensions_whose_indexes_are_taken_to_be_in_range(target):
    rng = np.random.default_rng(4)
    for rows, depth, columns in [(2, 3, 4), (17, 30, 26)]:
        if target == "interpreter" and rows > 2:
            continue
        a, b = numbers(rng, rows, depth), numbers(rng, depth + 1, columns)
        np.testing.assert_array_equal(sums_of_products(a, b, target=target), a @ b[:-1])
        np.testing.assert_array_equal(sums_of_few(a, b, 2, target=target), a[:, :2] @ b[:2])
        with pytest.raises(IndexError, match="out of bounds for axis 0"):
            sums_of_products(a, b[:-2], target=target)
        with pytest.raises(IndexError, match="out of bounds for axis 1"):
            sums_of_few(a, b, depth + 1, target=target)
    assert sums_of_products(a[:0], b[:3], target=target).shape == (0, b.shape[1])


def test_products_of_lines_and_comprehensions_are_contractions():
    a = np.zeros(400)
    for function in (rows_of_lines, columns_of_lines, batches_of_lines):
        assert "contraction: " in function.explain(a, a, a, 5, 4, 6, target="serial")
    assert "contraction: " not in windows_of_lines.explain(a, a, a, 5, 4, 6, target="serial")
    square = np.zeros((9, 9))
    assert "contraction: " in sums_of_products.explain(square, square, target="serial")
    assert "no checks left" in sums_of_few.explain(square, square, 3, target="serial")


def products_on_both_sides(x, y):
    """The last store at a place is marked by an atomic, beside a sum that only the stores need."""
    n = x.shape[0]
    c = np.zeros((n, n))
    for i in range(1, n):
        for j in range(n - 1):
            s = 0.0
            for k in range(n):
                s += y[i, k] * x[k, j]
            c[i, j] = s
            c[j, i] = c[i, j]
    return c


@pytest.mark.parametrize("n", [2, 9, 17])
def test_the_last_of_sums_that_are_stored_twice(n):
    x, y = np.random.default_rng(n).integers(-3, 4, (2, n, n)).astype(float)
    for target in COMPILED:
        result = jit(products_on_both_sides)(x, y, target=target)
        np.testing.assert_array_equal(result, products_on_both_sides(x, y))
