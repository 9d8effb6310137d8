"""Products of few columns or rows, and of complex numbers: tiles of which only a part is there.

What follows few columns lies in half vectors, rows beside them are read where they lie, and columns
of complex numbers are packed as real and as imaginary parts. No bit depends on which it is.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

import parakeet
from parakeet import jit

DTYPES = [np.float64, np.float32, np.complex128, np.complex64, np.int64, np.int16]


@pytest.fixture(autouse=True)
def no_library(monkeypatch):
    """What is tried is our own tiles, on a device too."""
    monkeypatch.setattr(parakeet.config, "cublas", False)


def product(a, b):
    return a @ b


def by_rows(a, b):
    return a @ b.T


def of_columns(a, b):
    return a.T @ b


def of_conjugates(a, b):
    return np.conj(a) @ np.conj(b).T


def subtracted(a, b):
    return np.einsum("ij,kj->ik", -a, b)


def numbers(rng, dtype, *shape):
    values = rng.integers(-20, 20, shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.integers(-20, 20, shape)
    return values.astype(dtype)


def check_exact(function, a, b):
    compiled = jit(function)
    for target in COMPILED:
        result = compiled(a, b, target=target)
        np.testing.assert_array_equal(result, function(a, b))


@pytest.mark.sampled(6, "function")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [product, by_rows, of_columns])
def test_few_columns(function, dtype):
    """One to a vector and one more; depths of one block and of several."""
    rng = np.random.default_rng(1)
    for columns in [2, 3, 4, 5, 8, 9, 16, 17]:
        for rows, depth in [(9, 40), (64, 300), (17, 600)]:
            a = numbers(rng, dtype, depth, rows) if function is of_columns else numbers(
                rng, dtype, rows, depth)
            b = numbers(rng, dtype, columns, depth) if function is by_rows else numbers(
                rng, dtype, depth, columns)
            check_exact(function, a, b)


@pytest.mark.sampled(2, "function", "dtype")
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("function", [by_rows, of_conjugates, subtracted])
def test_complex_columns_that_are_packed(function, dtype):
    rng = np.random.default_rng(2)
    for rows, columns, depth in [(30, 60, 20), (101, 130, 300), (7, 49, 513), (65, 23, 257)]:
        check_exact(function, numbers(rng, dtype, rows, depth), numbers(rng, dtype, columns, depth))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.complex64])
@pytest.mark.parametrize("columns", [3, 40])
def test_no_bit_depends_on_how_columns_are_read(dtype, columns):
    """Where they lie, packed, in whole and in half vectors, by one core, all and a device's."""
    rng = np.random.default_rng(columns)
    parts = [rng.standard_normal((2, *shape)) for shape in [(50, 400), (400, columns)]]
    a, b = (x.astype(dtype) if dtype is np.float64 else (x + 1j * y).astype(dtype)
            for x, y in parts)
    results = [jit(product)(a, b, target=target) for target in COMPILED]
    results += [jit(by_rows)(a, b.T.copy(), target=target) for target in COMPILED]
    results += [jit(product)(np.asfortranarray(a), b, target=target) for target in COMPILED]
    in_pairs = [jit(product)(a[i:i + 2], b, target="serial") for i in range(0, len(a), 2)]
    for result in [*results, np.concatenate(in_pairs)]:
        assert result.tobytes() == results[0].tobytes()
    # Sums of 400 products, one rounding each; NumPy's are by another order.
    np.testing.assert_allclose(results[0], a @ b, rtol=0, atol=400 * np.finfo(dtype).eps * 4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_packed(dtype):
    """Of columns too many for the second cache; their last tile is not whole."""
    rng = np.random.default_rng(3)
    a, b = numbers(rng, dtype, 163, 520), numbers(rng, dtype, 520, 530)
    for target in ("serial", "parallel"):
        np.testing.assert_array_equal(jit(product)(a, b, target=target), a @ b)


def energy(a, b):
    return np.vdot(a, b), (a * b).sum(), (a * b - b).sum()


def test_sums_of_complex_products_are_rounded_once_a_product():
    rng = np.random.default_rng(4)
    for size in [0, 1, 31, 100, 5000]:
        a, b = (numbers(rng, np.complex128, size) for _ in range(2))
        for target in COMPILED:
            np.testing.assert_array_equal(jit(energy)(a, b, target=target), energy(a, b))


def test_infinities_of_complex_products():
    """A finite row stays finite, and what holds no finite number holds none."""
    a = np.array([[1 + 2j, 3 - 1j], [np.inf + 0j, 1j], [np.nan, 1]])
    b = np.array([[1j, 2 + 1j, 1], [1, 1j, 2j]])
    for target in COMPILED:
        with np.errstate(all="ignore"):
            result, expected = jit(product)(a, b, target=target), a @ b
        np.testing.assert_array_equal(np.isfinite(result), np.isfinite(expected))
        np.testing.assert_array_equal(result[0], expected[0])


def one_by_rows(a, b):
    return a @ b.T


@pytest.mark.parametrize("dtype", [np.complex64, np.float32])
def test_one_row_by_rows_that_neighbouring_threads_read(dtype):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 10, (rows, 129)).astype(dtype) for rows in (1, 7))
    if dtype == np.complex64:
        a *= 1 - 2j
    for target in COMPILED:
        np.testing.assert_array_equal(jit(one_by_rows)(a, b, target=target), a @ b.T)


def first_rows(a, b):
    return a[:4] @ b


def test_few_known_rows_leave_columns_side_by_side():
    a, b = np.ones((9, 40)), np.ones((40, 300))
    code = str(jit(first_rows).ir(a, b, target="serial", stage="scheduled"))
    stores = [line for line in code.splitlines() if "store_lanes" in line]
    assert stores and not [line for line in stores if "axis = 0" in line]


def biased(a, b):
    return np.maximum(a @ b + b[0], 0)


ON_HOST = ["serial", "parallel"]
SIDES = [(40, 70), (2, 130), (130, 3), (5, 33), (33, 9), (40, 16), (0, 7)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (product, np.float64),
        (product, np.float32),
        (by_rows, np.float64),
        (by_rows, np.float32),
        (of_columns, np.float32),
        (biased, np.int64),
    ],
)
def test_a_short_side_has_tiles_of_its_own(function, dtype):
    """Of rows, of columns and of both: vectors that are whole or not, depths of one panel and of
    two. Ordinary code gives such a call up once, and one other code takes them all."""
    rng = np.random.default_rng(13)
    compiled = jit(function, cache=False)
    for rows, columns in SIDES:
        for depth in (21, 75):
            a = numbers(rng, dtype, rows, depth)
            b = numbers(rng, dtype, depth, columns)
            a = a.T.copy() if function is of_columns else a
            b = b.T.copy() if function is by_rows else b
            target = ON_HOST[rows % 2 if function is product else 0]
            np.testing.assert_array_equal(compiled(a, b, target=target), function(a, b))


def test_no_bit_depends_on_the_side():
    """Rows and columns of a product, by themselves and beside others."""
    rng = np.random.default_rng(14)
    a, b = rng.standard_normal((70, 333)), rng.standard_normal((333, 60))
    whole = jit(product)(a, b, target="serial")
    function = jit(product)
    for rows, columns, order in [(70, 2, "C"), (70, 9, "F"), (3, 60, "C"), (10, 60, "F")]:
        few, narrow = np.array(a[:rows], order=order), np.ascontiguousarray(b[:, :columns])
        part = function(few, narrow, target="serial")
        assert part.tobytes() == whole[:rows, :columns].tobytes()


def test_code_for_short_sides_is_one():
    function = jit(product, cache=False)
    for rows, columns in [(20, 30), (5, 30), (30, 6), (7, 7), (40, 40), (9, 12)]:
        function(np.ones((20, rows)).T, np.ones((20, columns)), target="serial")
    assert len(function.timings()) == 2
    first, plain = jit(product, cache=False), jit(product, cache=False)
    for rows, columns in [(5, 30), (30, 6), (40, 40)]:
        first(np.ones((20, rows)).T, np.ones((20, columns)), target="serial")
        plain(np.ones((rows, 20)), np.ones((20, columns)), target="serial")
    assert len(first.timings()) == len(plain.timings()) == 1


def test_short_sums_are_no_short_side():
    """A first call of few features has the code that others have, until a side is short."""
    function = jit(product, cache=False)
    for rows, columns, compiled in [(40, 30, 1), (7, 30, 2), (50, 40, 2), (50, 6, 2)]:
        function(np.ones((10, rows)).T, np.ones((10, columns)), target="serial")
        assert len(function.timings()) == compiled


def scores(a, b):
    return np.tanh((a @ b.T) / 4.0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
def test_few_rows_by_rows(dtype):
    """On both sides of where each element is a sum of its own: rows, sums, their length."""
    rng = np.random.default_rng(11)
    for function in (by_rows, of_conjugates):
        for n, m, k in ((3, 3, 1000), (8, 40, 64), (9, 40, 64), (11, 11, 200), (8, 5, 63),
                        (3, 0, 70), (0, 4, 70), (2, 7, 129)):
            check_exact(function, numbers(rng, dtype, n, k), numbers(rng, dtype, m, k))


def test_few_rows_have_the_same_bits():
    rng = np.random.default_rng(12)
    compiled = jit(scores)
    for dtype in (np.float64, np.float32):
        a = rng.standard_normal((5, 777)).astype(dtype)
        b = rng.standard_normal((33, 777)).astype(dtype)
        of_one = compiled(a, b, target="serial")
        by_themselves = [compiled(a[i:i + 1], b, target="serial")[0] for i in range(len(a))]
        np.testing.assert_array_equal(of_one, by_themselves)
        np.testing.assert_array_equal(of_one, compiled(a, b, target="parallel"))
        np.testing.assert_allclose(of_one, scores(a, b), rtol=1e-3 if dtype == np.float32 else 1e-9)


def added_rows(a, v, out):
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * v[k]
        out[i] += s
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_rows_by_a_vector_are_made_together(dtype):
    """Four at a time where there are so many, and the last ones alone; columns of one element; two
    rows by two or four others."""
    rng = np.random.default_rng(5)
    for rows in (3, 8, 21):
        a, v = numbers(rng, dtype, rows, 77), numbers(rng, dtype, 77)
        check_exact(product, a, v)
        check_exact(product, a, v[:, None])
        check_exact(of_columns, a.T.copy(), v[:, None])
    check_exact(by_rows, numbers(rng, dtype, 11, 77), numbers(rng, dtype, 7, 77))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parts_of_lanes(dtype):
    """Registers of half the size hold some lanes of four sums at a time: no bit depends on it. Sums
    of less than all lanes, and on both sides of where rows are made one by one."""
    rng = np.random.default_rng(7)
    for depth in (20, 64, 77, 512, 521):
        a, b = (rng.standard_normal((rows, depth)).astype(dtype) for rows in (9, 7))
        for function, other in ((product, b[0]), (product, b[0][:, None]), (by_rows, b)):
            compiled = jit(function)
            together = compiled(a, other, target="serial")
            few = [compiled(a[i:i + 3], other, target="serial") for i in range(0, len(a), 3)]
            assert together.tobytes() == np.concatenate(few).tobytes()
            assert together.tobytes() == compiled(a, other, target="parallel").tobytes()
            np.testing.assert_allclose(together, function(a, other), rtol=0,
                                       atol=depth * np.finfo(dtype).eps * 4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_columns_whose_steps_share_places_in_the_cache(dtype):
    """They are packed where many rows read them: the last tile of rows, or of columns, is short."""
    rng = np.random.default_rng(8)
    for columns in (256, 512):
        a, b = numbers(rng, dtype, 41, 70), numbers(rng, dtype, 70, columns)
        check_exact(product, a, b)
        check_exact(product, a, b[:, :columns - 3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.int8])
def test_what_lies_along_the_sums_is_turned(dtype):
    """Squares of every size of element, steps of the depth that fill none, rows that are few."""
    rng = np.random.default_rng(9)
    for rows, columns, depth in [(70, 3, 37), (70, 2, 16), (40, 30, 45), (3, 50, 19)]:
        a = rng.integers(-3, 4, (rows, depth)).astype(dtype)
        b = rng.integers(-3, 4, (columns, depth)).astype(dtype)
        check_exact(by_rows, a, b)
        check_exact(product, a, b.T.copy())


def test_rows_that_are_added_to_in_place():
    rng = np.random.default_rng(6)
    a, v = numbers(rng, np.float64, 10, 90), numbers(rng, np.float64, 90)
    compiled = jit(added_rows)
    for target in COMPILED:
        result = compiled(a, v, np.arange(10.0), target=target)
        np.testing.assert_array_equal(result, np.arange(10.0) + a @ v)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [product, by_rows, of_columns])
def test_columns_of_several_blocks(function, dtype):
    """What a rectangle packs for itself is packed where the one before it had its own."""
    rng = np.random.default_rng(8)
    for rows, depth, columns in [(24, 400, 300), (23, 193, 1000), (12, 520, 512), (3, 520, 512)]:
        a, b = numbers(rng, dtype, rows, depth), numbers(rng, dtype, depth, columns)
        a = np.ascontiguousarray(a.T) if function is of_columns else a
        b = np.ascontiguousarray(b.T) if function is by_rows else b
        check_exact(function, a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_several_blocks(dtype):
    rng = np.random.default_rng(9)
    a, b = numbers(rng, dtype, 3, 40, 410), numbers(rng, dtype, 3, 410, 420)
    check_exact(product, a, b)
    check_exact(product, a, b[1])


def test_blocks_have_the_bits_of_a_sum_in_order():
    """Of one core and of all: rows that are packed, and the same ones alone, which are not."""
    rng = np.random.default_rng(10)
    a, b = rng.standard_normal((40, 500)), rng.standard_normal((500, 700))
    compiled = jit(product)
    whole = compiled(a, b, target="serial")
    np.testing.assert_array_equal(compiled(a, b, target="parallel"), whole)
    for first in range(0, 40, 8):
        some = compiled(a[first : first + 8], b, target="serial")
        np.testing.assert_array_equal(some, whole[first : first + 8])
