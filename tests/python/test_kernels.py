"""How kernels are written: what stands in shared memory, who takes which elements, what is atomic.

The emulated GPU ends the process where a thread reads another's memory unasked; agreement.py says
whether they run there or on a real one.
"""

import numpy as np
import pytest
from agreement import EXACT, HERE, REDUCED, Tolerance, check_agreement
from from_source import define

import parakeet
from parakeet import jit, to_gpu

R = np.random.default_rng(5)


def check(function, *arguments, tolerance=EXACT):
    check_agreement(jit(function), function, lambda: tuple(np.copy(a) for a in arguments),
                    tolerance, targets=[HERE])


# --- Rows that several operators of an element go through ---

def softmax(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def layer_norm(x):
    mean = np.mean(x, axis=1)
    return (x - mean[:, None]) / np.sqrt(np.var(x, axis=1)[:, None] + 1e-5)


def rows_in_place(x):
    for i in range(x.shape[0]):
        top = np.max(x[i])
        x[i] = x[i] - top
        x[i] = x[i] / np.sum(np.abs(x[i]) + 1.0)


def rows_of_two(x, y):
    r = np.empty_like(x)
    for i in range(x.shape[0]):
        s = np.sum(x[i] * y[i])
        t = np.sum(x[i] - s * y[i])
        r[i] = x[i] * t + y[i] * s
    return r


def norms_of_moved_rows(x):
    r = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        d = x[i] - np.mean(x[i])
        r[i] = np.sum(d * d) + np.max(d)
    return r


# The longest that stand in shared memory are of 4096 elements of 8 bytes.
@pytest.mark.parametrize("columns", [64, 255, 257, 1000, 4096, 4097])
def test_rows_that_are_gone_through_again(columns):
    x = R.standard_normal((3, columns))
    for function in (softmax, layer_norm, norms_of_moved_rows):
        check(function, x, tolerance=REDUCED)
    check(rows_in_place, x, tolerance=REDUCED)
    check(rows_of_two, x, R.standard_normal((3, columns)), tolerance=REDUCED)


def measures_of_rows(x):
    length = np.sqrt(np.sum(x * x, axis=1))
    return np.sum(x, axis=1), np.argmax(x, axis=1), np.min(x, axis=1), length


def rows_by_their_sums(x, scale):
    r = np.empty_like(x)
    for i in range(x.shape[0]):
        s = np.sum(x[i]) + scale[i]
        t = np.sum(x[i] * s)
        scale[i] = t
        for j in range(x.shape[1]):
            r[i, j] = x[i, j] * s + t if x[i, j] > s else s
    return r


# Groups of 1 to 256 threads, with the last of their neighbours there or not, and the last group's
# rows.
@pytest.mark.sampled(3, "columns", "dtype")
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 9, 31, 64, 101, 128, 257, 1022, 2048, 2049])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_rows_of_groups_of_threads(columns, dtype):
    rows = 3 if columns > 300 else 37
    random = np.random.default_rng(columns)  # Whichever tests ran before.
    x = (random.standard_normal((rows, columns)) * 10).astype(dtype)
    check(measures_of_rows, x, tolerance=REDUCED)
    if dtype == "i2":
        return
    for function in (softmax, layer_norm, norms_of_moved_rows):
        check(function, x, tolerance=REDUCED)
    # A row's numbers have one sign: a sum that is small beside its terms is known to few digits.
    x = np.abs(x) * np.where(np.arange(rows) % 2, 1, -1).astype(dtype)[:, None]
    check(rows_by_their_sums, x, np.arange(rows).astype(dtype), tolerance=REDUCED)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [12, 100, 513, 1000])
def test_bits_of_a_row_do_not_depend_on_where_it_lies(dtype, columns):
    f = jit(softmax)
    x = R.standard_normal((21, columns)).astype(dtype)
    expected = f(x, target=HERE)
    np.testing.assert_array_equal(f(x[13:14], target=HERE), expected[13:14])
    wider = np.zeros((21, columns + 1), dtype)
    wider[:, 1:] = x
    np.testing.assert_array_equal(f(wider[:, 1:], target=HERE), expected)
    apart = np.zeros((21, 2 * columns), dtype)
    apart[:, ::2] = x
    np.testing.assert_array_equal(f(apart[:, ::2], target=HERE), expected)
    behind = to_gpu(np.concatenate([[0], x.ravel()]).astype(dtype), HERE)
    unaligned = behind[1:].reshape(x.shape)
    np.testing.assert_array_equal(f(unaligned).to_host(), expected)


def test_rows_of_narrow_elements():
    x = R.standard_normal((2, 5000)).astype(np.float32)
    check(softmax, x, tolerance=REDUCED)
    check(layer_norm, x, tolerance=REDUCED)


def test_rows_of_one_array_by_two_names():
    f = jit(rows_of_two)
    x = R.standard_normal((4, 300))
    np.testing.assert_allclose(f(x, x, target=HERE), rows_of_two(x, x), rtol=1e-12)


# --- Reads along another index than is written along ---

def turned(a):
    return a.T * 2


def symmetric(a):
    return a + a.T


def turned_in_the_middle(a):
    return np.transpose(a, (0, 2, 1)) + 1


def stored_turned(a, b):
    b[:, :] = a.T - b


@pytest.mark.sampled(2, "rows", "columns", "dtype")
@pytest.mark.parametrize("rows, columns", [(16, 16), (17, 33), (64, 31), (100, 70), (15, 200)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "c16"])
def test_what_is_read_turned(rows, columns, dtype):
    a = (R.random((rows, columns)) * 100).astype(dtype)
    check(turned, a)
    check(turned, np.asfortranarray(a))
    check(stored_turned, a, np.ones((columns, rows), dtype))
    check(turned_in_the_middle, np.stack([a, a[::-1]]))
    square = (R.random((rows, rows)) * 100).astype(dtype)
    check(symmetric, square)


# --- Several iterations a thread ---

def mixed(x, y):
    return (x + y) * x - 3


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1", "f2"])
@pytest.mark.parametrize("size", [0, 1, 3, 511, 512, 513, 1027])
def test_threads_of_narrow_elements_take_several(dtype, size):
    x = (R.random(size) * 50).astype(dtype)
    y = (R.random(size) * 50).astype(dtype)
    check(mixed, x, y)
    check(mixed, x[::-1], y)


# --- Histograms of integers ---

def counted(x, bins):
    h = np.zeros(bins, np.int64)
    for i in range(x.shape[0]):
        h[x[i]] += 1
    return h


def weighed(x, w, h):
    for i in range(x.shape[0]):
        if w[i] > 2:
            h[x[i]] -= w[i]


def extremes(x, w):
    low = np.full(10, 1 << 40)
    high = np.zeros(10, np.uint32)
    for i in range(x.shape[0]):
        low[x[i]] = min(low[x[i]], w[i])
        high[x[i]] = max(high[x[i]], np.uint32(w[i]))
    return low, high


@pytest.mark.parametrize("size", [0, 1, 5, 1000, 70000])
def test_integers_are_counted_by_atomics(size):
    x = R.integers(0, 10, size)
    w = R.integers(0, 9, size)
    f = jit(counted)
    np.testing.assert_array_equal(f(x, 10, target=HERE), counted(x, 10))
    check(weighed, x, w, np.arange(12))
    check(weighed, x, w, np.arange(24, dtype=np.int32)[::2])
    check(extremes, x, w)


def test_a_count_that_fails_leaves_what_plain_python_leaves():
    x = np.array([1, 2, 3, 40, 5, -80])
    for function, arguments in ((counted, (x, 10)), (weighed, (x, x * 9, np.zeros(10, np.int64)))):
        theirs = [np.copy(a) for a in arguments]
        with pytest.raises(IndexError) as expected:
            function(*theirs)
        with pytest.raises(IndexError) as found:
            jit(function)(*arguments, target=HERE)
        assert str(found.value) == str(expected.value)
        np.testing.assert_array_equal(arguments[-1], theirs[-1])


# --- Sums of floats at places, whose order shows ---

def sums_of_points(points, labels, k):
    sums = np.zeros((k, points.shape[1]))
    counts = np.zeros(k)
    for i in range(labels.size):
        sums[labels[i]] += points[i]
        counts[labels[i]] += 1.0
    return sums, counts


def sums_of_singles(x, w, k):
    h = np.zeros(k, np.float32)
    largest = np.full(k, -np.inf)
    seen = np.zeros(k, np.int64)
    for i in range(x.size):
        if w[i] > 0.1:
            h[x[i]] += w[i]
        largest[x[i]] = max(largest[x[i]], 2.0 * w[i])
        seen[x[i]] += i
    return h, largest, seen


def taken_from(planes, x, h):
    for i in range(x.size):
        h[:, x[i]] -= planes[:, i]


# Rows of more than 32 columns go round; copies that no block holds are in parts.
@pytest.mark.parametrize("size, k, columns", [(0, 3, 2), (1, 3, 2), (30, 4, 3), (257, 5, 1),
                                              (3000, 50, 8), (600, 9, 40), (2000, 700, 8)])
def test_floats_are_summed_at_places(size, k, columns):
    labels = R.integers(0, k, size)
    points = R.random((size, columns))
    w = R.random(size).astype(np.float32)
    f, g = jit(sums_of_points), jit(sums_of_singles)
    for found, expected in zip(f(points, labels, k, target=HERE),
                               sums_of_points(points, labels, k), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    for found, expected in zip(g(labels, w, k, target=HERE), sums_of_singles(labels, w, k),
                               strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    check(taken_from, points.T.copy(), labels, R.random((columns, k)), tolerance=REDUCED)


def test_floats_at_a_place_that_is_not_there():
    labels = R.integers(0, 6, 900)
    labels[[333, 700]] = -9, 6
    points = R.random((900, 4))
    with pytest.raises(IndexError, match="index -9 is out of bounds"):
        jit(sums_of_points)(points, labels, 6, target=HERE)


# --- Regions of an array that is made ---

def smoothed(u, rounds):
    for _ in range(rounds):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = v
    return u


def framed(x):
    r = np.zeros((x.shape[0] + 2, x.shape[1] + 2))
    r[1:-1, 1:-1] = x
    r[0, 1:-1] = x[-1]
    r[:, 0] = 7.0
    return r


@pytest.mark.parametrize("rows, columns", [(2, 2), (3, 3), (7, 40), (33, 5)])
def test_regions_are_stored_where_the_array_is_made(rows, columns):
    x = R.random((rows, columns))
    check(framed, x)
    f = jit(smoothed)
    np.testing.assert_array_equal(f(x, 5, target=HERE), smoothed(x, 5))
    assert "3 traversals" not in str(f.explain(x, 5, target=HERE))


# --- Elements that read their neighbours ---

def convolved(image, weights):
    r = np.zeros((image.shape[0] - weights.shape[0] + 1, image.shape[1] - weights.shape[1] + 1))
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            r[i, j] = np.sum(image[i:i + weights.shape[0], j:j + weights.shape[1]] * weights)
    return r


def laplacian(u):
    return (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * u[1:-1, 1:-1, 1:-1])


@pytest.mark.parametrize("rows, columns", [(5, 33), (6, 34), (12, 40), (70, 100), (9, 20)])
def test_elements_that_read_their_neighbours(rows, columns):
    x = R.random((rows, columns))
    check(convolved, x, R.random((3, 3)), tolerance=REDUCED)
    check(laplacian, R.random((4, rows, columns)))
    check(laplacian, np.asfortranarray(R.random((columns, rows, 4))))


# --- Sums of whole matrices, and of rows whose lengths elements work out ---

def sums(a, b):
    return np.sum(a), np.max(a * b), np.sum(a + b[0]), np.argmax(a), np.argmin(b)


def sums_of_parts(x, starts):
    return np.array([np.max(x[s:s + 300]) for s in starts])


@pytest.mark.parametrize("rows, columns", [(1, 5), (70, 90), (300, 301)])
def test_sums_of_matrices(rows, columns):
    a, b = R.random((2, rows, columns))
    check(sums, a, b, tolerance=REDUCED)
    check(sums, np.asfortranarray(a), b, tolerance=REDUCED)
    check(sums, a[:, ::2], b[:, ::2], tolerance=REDUCED)
    check(sums_of_parts, a.ravel(), np.arange(0, a.size, 7))


# --- Elements of several rows a thread, and of nests that lie in memory as they are ---

def stepped(u, rounds):
    u = u.copy()
    for _ in range(rounds):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * u[1:-1, 1:-1])
        u[0] = u[1]
    return u


def stepped_in_place(u, rounds):
    for _ in range(rounds):
        for _ in range(2):
            u[1:, 1:-1] = 0.5 * (u[:-1, 1:-1] + u[1:, 2:]) - u[1:, :-2]
        u[-1] = u[0]


def updated_in_place(e, h):
    e[1:, :] -= 0.5 * (h[1:, :] - h[:-1, :])
    e[0, :] = h[0, 0]


def bounded(x):
    r = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            r[i, j] = x[i, j] if i == 0 or j == 0 else x[i - 1, j] + x[i, j - 1]
    return r


def of_places(rows, columns):
    return np.arange(rows * columns).reshape(columns, rows).T * 2


def outer(x, y):
    return x[:, None, None] * y[None, :, None] + x[None, None, :]


def in_line(x, y):
    return x * y + 1, np.where(x > y, x, y)


ROWS = [(0, 5), (5, 0), (1, 1), (1, 40), (40, 1), (3, 700), (700, 3), (4, 16), (5, 17), (8, 300)]


@pytest.mark.parametrize("rows, columns", ROWS)
def test_threads_take_several_rows(rows, columns):
    x, y = R.random((2, rows, columns))
    check(updated_in_place, x, y) if x.size else None
    check(bounded, x)
    check(of_places, rows, columns)
    check(outer, x[:, :1].ravel(), y[:1].ravel())
    check(in_line, x, y)
    check(in_line, x, y[:, ::-1])
    check(in_line, np.asfortranarray(x), y)
    check(in_line, x.astype("f4"), (y * 9).astype("u1"))
    if rows > 2 and columns > 2:
        f = jit(stepped)
        np.testing.assert_array_equal(f(x, 3, target=HERE), stepped(x, 3))
        for rounds in (0, 1, 3):
            check(stepped_in_place, x, np.int64(rounds))
            check(stepped_in_place, np.asfortranarray(x), np.int64(rounds))


def smoothed_volume(u):
    v = u.copy()
    v[1:-1, 1:-1, 1:-1] = (u[2:, 1:-1, 1:-1] - u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                           + u[1:-1, :-2, 1:-1] * 0.5 + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
    return v


def far_planes(u):
    return u[4:, 1:] * 2.0 - u[:-4, :-1] + u[2:-2, 1:]


# Four rows a thread: inside, at the ends of lines, and of the last rows.
@pytest.mark.parametrize("f", [smoothed_volume, far_planes])
@pytest.mark.parametrize("shape", [(11, 7, 131), (6, 3, 34), (5, 9, 33), (7, 6, 66), (12, 14, 20)])
def test_stencils_over_planes(f, shape):
    check(f, R.random(shape))


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (7, 1, 1, 9), (2, 1, 3, 2, 2),
                                   (1, 2, 1, 2, 1, 33)])
def test_many_axes(shape):
    x, y = R.random((2, *shape))
    check(in_line, x, y)
    check(in_line, x[..., ::-1], y)
    check(outer, x.ravel()[:5], y.ravel()[:3])


# --- Divisions by what the host knows ---

def divided(x, by):
    quotients, remainders = np.empty_like(x), np.empty_like(x)
    for i in range(x.size):
        quotients[i] = x[i] // by
        remainders[i] = x[i] % by
    return quotients, remainders


def differences(a, b, weights):
    return np.sum((a - b[None, :])**2 * weights[:, None]), np.max(a + b)


BORDERS = [0, 1, 2, 6, 7, 8, 2**31 - 2, 2**31 - 1, 2**31, 2**32 + 5, 2**62]


@pytest.mark.parametrize("by", [1, 2, 7, 2**31 - 1, 2**31, 2**40, -1, -7])
def test_divisions_are_products_where_numbers_are_small(by):
    x = np.array(BORDERS + [-b for b in BORDERS] + list(range(300)))
    check(divided, x, np.int64(by))


@pytest.mark.parametrize("rows, columns", [(1, 1), (3, 5), (70, 130), (300, 31)])
def test_sums_over_several_axes(rows, columns):
    a = R.random((rows, columns))
    check(differences, a, R.random(columns), R.random(rows), tolerance=REDUCED)


def extremes_and_totals_of_columns(x):
    return np.sum(x, axis=0), np.max(x, axis=0), np.min(x * 2, axis=0), np.sum(x * x, axis=0)


# Parts of a sum, and parts of those where they are many: 16,384 rows are 256 parts.
@pytest.mark.sampled(3, "rows", "columns", "dtype")
@pytest.mark.parametrize("rows", [511, 512, 16_384, 16_385, 24_577, 50_000])
@pytest.mark.parametrize("columns", [2, 3, 17])
@pytest.mark.parametrize("dtype", ["f8", "i8", "i4"])
def test_long_columns(rows, columns, dtype):
    x = R.integers(-1000, 1000, (rows, columns)).astype(dtype)
    check(extremes_and_totals_of_columns, x)  # Of whole numbers, which sums of floats hold.


# --- What threads read instead of the host ---

def driven(e, source):
    for t in range(source.size):
        e[0] = source[t]
        e[1:] += source[t] * 0.5


def scaled_by_its_own(x, y):
    first = x[0]
    for i in range(x.size):
        x[i] = x[i] * first
    y[:] = x[1] + y
    return first


def centred(x):
    return (x - np.mean(x)) / np.max(x)


@pytest.mark.parametrize("size", [2, 300, 1000])
def test_threads_read_what_the_host_would_for_them(size):
    x, y = R.random((2, size)) + 0.5
    check(driven, R.random((size, 3)), y[:5])
    check(scaled_by_its_own, x, y)
    check(centred, x, tolerance=REDUCED)


# --- Rows of less elements than a block has threads: several of them are one block's ---

@pytest.mark.sampled(2, "function", "dtype")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
@pytest.mark.parametrize("function", [
    lambda x: np.sum(x, axis=1), lambda x: np.max(x, axis=1), lambda x: np.argmax(x, axis=1),
    lambda x: np.argmin(x, axis=1), lambda x: np.var(x, axis=1), softmax,
])  # fmt: skip
def test_short_rows_share_blocks(function, dtype):
    """What an element has once, as the place of a maximum, is as wide as it is."""
    jitted = jit(function)
    ir = str(jitted.ir(np.ones((9, 64), dtype), stage="scheduled", target="emulated_gpu"))
    assert ", 2048" in ir, "a block for each row, however short"
    for columns in (1, 31, 64, 100, 256):
        x = R.integers(-40, 40, (70, columns)).astype(dtype)
        check(function, x, tolerance=REDUCED)


# --- Reductions whose elements are combined in their order ---

def folded(x):
    return parakeet.reduce(lambda a, b: a + b + a * b, x)


def folded_from(x):
    return parakeet.reduce(lambda a, b: a * b + (a + b), x * 2.0, init=0.25)


def last_of(x):
    return parakeet.reduce(lambda a, b: b, x)


def longest_step(x):
    return parakeet.reduce(lambda a, b: a if abs(a) >= abs(b) else b, x[1:] - x[:-1], init=0.0)


def product_of_complex(x):
    return np.prod(np.exp(1j * x))


def product_of_rows(x):
    return np.prod(np.exp(1j * x)[: x.size // 3 * 3].reshape(-1, 3))


# Each of two is rounded on the way, and their errors add up.
MULTIPLIED = Tolerance("products of numbers combine in a tree, NumPy's in order", ulps=4.0,
                       of_sum=64.0)
ORDERED = [folded, folded_from, last_of, longest_step, product_of_complex, product_of_rows]


# A thread takes 64 elements, a block of threads 16384.
@pytest.mark.sampled(2, "function", "n")
@pytest.mark.parametrize("function", ORDERED)
@pytest.mark.parametrize("n", [1, 2, 64, 65, 1000, 16384, 16449, 70000])
def test_elements_are_combined_in_their_order(function, n):
    check(function, R.standard_normal(n) * 1e-3, tolerance=MULTIPLIED)


@pytest.mark.parametrize("function", ORDERED)
def test_what_combines_in_order_is_two_kernels(function):
    ir = str(jit(function).ir(np.ones(9), stage="scheduled", target="emulated_gpu"))
    assert ir.count("block for") == 2


def folded_integers(x, by):
    return parakeet.reduce(lambda a, b: (a + b) // by, x, init=1)


@pytest.mark.parametrize("by", [1, 0])
def test_a_combine_that_raises(by):
    check(folded_integers, np.arange(1000), by)


def test_elements_that_raise_are_combined_in_order():
    def chosen(x, places):
        return parakeet.reduce(lambda a, b: a + b + a * b, x[places])

    places = R.integers(0, 300, 20000)
    check(chosen, R.standard_normal(300) * 1e-3, places, tolerance=REDUCED)
    check(chosen, R.standard_normal(300), np.append(places, [300, 500]), tolerance=REDUCED)


# --- Columns, which are read once ---

def places_of_extremes(x):
    return np.argmax(x, axis=0), np.argmin(x, axis=0)


def places_in_the_middle(x):
    return np.argmin(x, axis=1)


@pytest.mark.sampled(2, "dtype", "shape")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "float16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (700, 3), (5, 0), (2000, 40)])
def test_places_of_extremes_of_columns(dtype, shape):
    x = R.integers(0, 50, shape).astype(dtype)
    check(places_of_extremes, x)
    check(places_of_extremes, np.asfortranarray(x))
    if dtype.startswith("float"):
        x[R.random(shape) < 0.01] = np.nan
        x[:, ::2][R.random(x[:, ::2].shape) < 0.1] = -np.inf
        check(places_of_extremes, x)


def test_places_of_extremes_along_a_middle_axis():
    check(places_in_the_middle, R.integers(0, 30, (3, 600, 4)))


def variances(x):
    return np.var(x, axis=0), np.std(x, axis=0, ddof=1, keepdims=True)


# Of differences from another number than the mean.
@pytest.mark.sampled(2, "rows", "dtype")
@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 64, 1023, 1500])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_variances_of_columns(rows, dtype):
    spread = 100 * R.standard_normal((rows, 7))
    if rows == 1:
        return check(lambda x: np.var(x, axis=0), spread.astype(dtype), tolerance=REDUCED)
    check(variances, spread.astype(dtype), tolerance=REDUCED)
    check(variances, (spread + 500).astype(dtype), tolerance=REDUCED)


def test_variances_of_columns_far_from_what_is_subtracted():
    """The elements that are looked at first lie apart from all others."""
    x = R.standard_normal((1500, 5))
    x[:: 1500 // 32, :3] += 1e5
    x[:, 4] = 0.1
    check(variances, x, tolerance=REDUCED)
    odd = x.copy()
    odd[7, 1], odd[0, 2], odd[1499, 3] = np.nan, np.inf, -np.inf
    check(variances, odd, tolerance=REDUCED)
    check(lambda x: np.var(x, axis=1), x.reshape(1, 1500, 5), tolerance=REDUCED)


@pytest.mark.parametrize("function, sums", [(lambda x: np.var(x, axis=0), 4),
                                            (lambda x: np.argmax(x, axis=0), 1)])
def test_columns_are_gone_through_once(function, sums):
    """Some samples and one traversal."""
    ir = str(jit(function).ir(np.ones((9, 9)), stage="schedule", target="emulated_gpu"))
    assert len([line for line in ir.splitlines() if "= ireduce" in line and
                line.startswith(("    %", "      %"))]) == sums


def standardized(x):
    return (x - x.mean(0)) / x.std(0)


def test_means_and_deviations_of_columns_are_made_in_one_traversal():
    x = 3 + R.standard_normal((1500, 70))
    check(standardized, x, tolerance=REDUCED)
    ir = str(jit(standardized).ir(x, stage="schedule", target="emulated_gpu"))
    assert len([line for line in ir.splitlines() if "(add, add, add)" in line]) == 1
    assert len([line for line in ir.splitlines() if "imap" in line or "foreach" in line]) == 5


def test_variances_of_no_rows():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        expected = np.var(np.ones((0, 4)), axis=0)
    got = jit(lambda x: np.var(x, axis=0))(np.ones((0, 4)), target="emulated_gpu")
    np.testing.assert_array_equal(got, expected)


# --- Searches, of which many among many begin among samples ---

def places_of(a, q):
    return np.searchsorted(a, q), np.searchsorted(a, q, side="right")


@pytest.mark.parametrize("count", [65535, 65536, 65537, 131071, 131072, 131073])
def test_searches_among_samples(count):
    a = np.sort(np.round(R.standard_normal(count), 3))
    a[-50:] = np.nan
    q = np.concatenate([np.round(R.standard_normal(70_000), 3), a[:9], [np.nan, np.inf, -np.inf]])
    check(places_of, a, q)
    check(places_of, (a[:-50] * 1000).astype(np.int32), (q[:66_000] * 1000).astype(np.int32))


# --- Maps, of which a thread makes neighbours where all arrays begin at multiples of 16 bytes ---

def halved(x, y):
    return np.where(x > y, x, y) + x


def halved_in_place(x, y):
    x[:] = np.minimum(x, y)
    return x > y


def of_one_element(x, y):
    return x + y[0], x > y[-1]


def between_neighbours(x, y):
    return x[1:] - x[:-1], y[::-1] + x


MAPS = [halved, halved_in_place, of_one_element, between_neighbours]


@pytest.mark.parametrize("function", MAPS)
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f2", "f4", "f8", "F", "i8"])
def test_maps_of_neighbours(function, dtype):
    """From anywhere in memory on, and of any length."""
    if dtype == "?" and function is between_neighbours:
        return
    memory = R.integers(-50, 50, (2, 2070)).astype(dtype)
    for begin_x, begin_y, n in [(0, 0, 2048), (1, 0, 2047), (4, 1, 1024), (0, 2, 1030), (0, 0, 5)]:
        jitted = jit(function)
        for target in ("serial", HERE):
            arguments = memory.copy()
            own_x = arguments[0, begin_x : begin_x + n]
            own_y = arguments[1, begin_y : begin_y + n]
            found = jitted(own_x, own_y, target=target)
            copied = memory.copy()
            wanted = function(copied[0, begin_x : begin_x + n], copied[1, begin_y : begin_y + n])
            np.testing.assert_equal(found, wanted)
            assert copied.tobytes() == arguments.tobytes()


def test_maps_of_matrices_are_along_one_line():
    for shape in [(8, 256), (3, 5, 7), (1, 4096)]:
        x = R.standard_normal(shape).astype("f4")
        check(halved, x, -x)


def test_what_is_read_and_stored_as_one():
    x = np.ones(9, "f4")
    ptx = jit(halved).ptx(x, x)
    assert ptx.count("ld.global.nc.v4.f32") == 2 and ptx.count("st.global.v4.f32") == 1
    assert "v2.f64" in jit(halved).ptx(np.ones(9), np.ones(9))
    assert ".v4" not in jit(lambda x: x[1:] - x[:-1]).ptx(x)


# --- What kernels take from the program around them ---

def with_numbers(count, lines):
    """A function of an array and of `count` numbers, of which `{sum}` adds up one product each."""
    names = [f"a{k}" for k in range(count)]
    products = [f"x[i] * {name}" for name in names]
    total = " + ".join(f"({' + '.join(products[k:k + 100])})" for k in range(0, count, 100))
    body = "".join(f"    {line}\n" for line in lines.format(sum=total).split("\n"))
    return define(f"def f(x, {', '.join(names)}):\n{body}")


# 490 of 8 bytes are parameters of the kernel yet.
@pytest.mark.sampled(4, "lines", "count")
@pytest.mark.parametrize("count", [3, 490, 520, 1100])
@pytest.mark.parametrize("lines", [
    "return np.array([{sum} for i in range(len(x))])",
    "for i in range(len(x)):\n    if x[i] > 90:\n        raise ValueError('large')\n"
    "    x[i] = {sum}\nreturn x",
    "s = 0.0\nfor i in range(len(x)):\n    s += {sum}\nreturn s",
    "y = x.copy()\nfor i in range(1, len(x)):\n    y[i] = y[i - 1] + ({sum})\nreturn y",
], ids=["map", "checked", "sum", "scan"])  # fmt: skip
def test_numbers_that_a_kernel_takes(count, lines):
    function = with_numbers(count, lines)
    numbers = R.standard_normal(count)
    for x in (R.standard_normal(300), np.append(R.standard_normal(299), 91.0)):
        check(function, x, *numbers, tolerance=REDUCED)


def test_a_kernel_of_many_numbers_runs_in_each_turn_of_a_loop():
    lines = "for t in range(5):\n    x = np.array([{sum} for i in range(len(x))])\nreturn x"
    check(with_numbers(600, lines), R.standard_normal(50), *R.uniform(-0.05, 0.05, 600),
          tolerance=REDUCED)
