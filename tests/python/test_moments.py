"""Variances, covariances and regressions, whose squares are summed in the traversal that makes the
mean: as exact as in two traversals, whatever lies where."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tested_targets import COMPILED

import parakeet
from parakeet import jit

RANDOM = np.random.default_rng(5)


def squares(x):
    return ((x - x.mean()) ** 2).sum()


def variance(x):
    return x.var(), x.std()


def covariance(x, y):
    return ((x - x.mean()) * (y - y.mean())).sum()


def half_centred(x, y):
    return ((x.mean() - x) * y).sum()


def regression(x, y):
    u, v = x - x.mean(), y - y.mean()
    slope = (u * v).sum() / (u * u).sum()
    return slope, y.mean() - slope * x.mean()


def exact_squares(x):
    """Correctly rounded, for the mean that is nearest to the true one."""
    x = [float(each) for each in x.reshape(-1)]
    mean = math.fsum(x) / len(x)
    return math.fsum((each - mean) ** 2 for each in x)


def relative(value, expected):
    return abs(float(value) - expected) / expected


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6, -1e8, 1e12])
def test_far_from_zero_nothing_is_lost(target, offset):
    x = RANDOM.standard_normal(30_000) + offset
    # A mean that is off by as much adds its square; two traversals lose that as well.
    allowed = 1e-14 + (16 * np.spacing(abs(offset))) ** 2
    assert relative(jit(squares)(x, target=target), exact_squares(x)) <= allowed


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("offset", [0.0, 300.0, 1e5])
def test_single_precision_is_as_exact_as_in_two_traversals(target, offset):
    x = (RANDOM.standard_normal(50_000) + offset).astype("f4")
    allowed = 2e-6 + (16 * float(np.spacing(np.float32(offset)))) ** 2
    assert relative(jit(squares)(x, target=target), exact_squares(x)) <= allowed


@pytest.mark.sampled(2, "target", "place", "outlier")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("place", [0, 1, 5000, 9999])
@pytest.mark.parametrize("outlier", [1e6, -1e13, 1e100])
def test_one_that_lies_far_off(target, place, outlier):
    """Whether it is among the samples or not: the shift is then far from the mean."""
    x = RANDOM.standard_normal(10_000)
    x[place] = outlier
    y = RANDOM.standard_normal(10_000)
    np.testing.assert_allclose(jit(squares)(x, target=target), exact_squares(x), rtol=1e-12)
    for function in (covariance, half_centred):
        scale = np.linalg.norm(x - x.mean()) * np.linalg.norm(y)
        assert abs(jit(function)(x, y, target=target) - function(x, y)) <= 1e-12 * scale


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_samples_that_tell_nothing_of_the_rest(target, dtype):
    """All 64 of them equal and far off: the sum is made as it is written."""
    x = RANDOM.standard_normal(6400).astype(dtype)
    x[::100] = 1e5
    found = jit(squares)(x, target=target)
    np.testing.assert_allclose(found, exact_squares(x), rtol=1e-12 if dtype == "f8" else 1e-5)
    x = np.zeros(64_000, dtype)
    x[::1000] = 1e5
    np.testing.assert_allclose(jit(squares)(x, target=target), exact_squares(x),
                               rtol=1e-12 if dtype == "f8" else 1e-5)


@pytest.mark.parametrize("target", COMPILED)
def test_equal_numbers_have_no_variance_to_speak_of(target):
    f = jit(variance)
    for value in (0.0, 3.0, 0.1, -1e100, 5e-324):
        for n in (1, 2, 63, 64, 65, 10_000):
            x = np.full(n, value)
            found, root = f(x, target=target)
            assert 0 <= root <= 256 * np.spacing(abs(value)) and found >= 0


@pytest.mark.sampled(2, "target", "odd", "place")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 1e200])
@pytest.mark.parametrize("place", [0, 7, 511])
def test_what_is_not_finite_is_as_numpy_has_it(target, odd, place):
    x, y = RANDOM.standard_normal((2, 512))
    x[place] = odd
    with np.errstate(all="ignore"):
        for function in (squares, variance):
            np.testing.assert_allclose(jit(function)(x, target=target), function(x), rtol=1e-12)
        for function in (covariance, half_centred, regression):
            for order in ((x, y), (y, x)):
                found, expected = jit(function)(*order, target=target), function(*order)
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e185 * (odd == 1e200))


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.filterwarnings("ignore")
def test_none_and_few(target):
    f = jit(lambda x: (x.mean(), x.var(), ((x - x.mean()) ** 2).sum()))
    for n in range(5):
        x = RANDOM.standard_normal(n)
        np.testing.assert_allclose(f(x, target=target),
                                   (x.mean(), x.var(), ((x - x.mean()) ** 2).sum()), rtol=1e-12)
    g = jit(lambda a: a.var())
    for shape in [(0, 3), (3, 0), (1, 1), (2, 1, 3)]:
        a = RANDOM.standard_normal(shape)
        np.testing.assert_allclose(g(a, target=target), a.var(), rtol=1e-12)


@pytest.mark.sampled(2, "target", "layout")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("layout", ["c", "transposed", "strided", "reversed"])
def test_of_matrices(target, layout):
    a = RANDOM.standard_normal((60, 84)) + 50
    b = a * a + RANDOM.standard_normal(a.shape)
    a, b = {"c": (a, b), "transposed": (a.T, b.T), "strided": (a[::2, ::3], b[::2, ::3]),
            "reversed": (a[::-1], b[::-1])}[layout]
    for function in (variance, lambda a: variance(a * 2 + 1)):
        np.testing.assert_allclose(jit(function)(a, target=target), function(a), rtol=1e-11)
    for function in (covariance, regression):
        np.testing.assert_allclose(jit(function)(a, b, target=target), function(a, b), rtol=1e-9)


@pytest.mark.parametrize("target", COMPILED)
def test_of_integers_and_others(target):
    x = RANDOM.integers(-9, 9, 5000)
    y = RANDOM.standard_normal(5000)
    for dtype in ("i1", "u1", "i4", "i8", "?", "f2"):
        z = x.astype(dtype)[: 500 if dtype == "f2" else None]
        np.testing.assert_allclose(jit(variance)(z, target=target), variance(z),
                                   rtol=2e-2 if dtype == "f2" else 1e-12)
    np.testing.assert_allclose(jit(covariance)(x, y, target=target), covariance(x, y), rtol=1e-9)
    z = y + 1j * x
    np.testing.assert_allclose(jit(variance)(z, target=target), variance(z), rtol=1e-12)


@pytest.mark.parametrize("target", COMPILED)
def test_what_is_stored_in_between_counts(target):
    def stored(x, k):
        m = x.mean()
        x[k] = 100.0
        return ((x - m) ** 2).sum()

    def checked(x, k):
        m = x.mean()
        if m > 1e9:
            raise ValueError("far")
        return x[k] + ((x - m) ** 2).sum()

    for function in (stored, checked):
        x = RANDOM.standard_normal(3000)
        expected = function(x.copy(), 77)
        np.testing.assert_allclose(jit(function)(x.copy(), 77, target=target), expected, rtol=1e-12)
    with pytest.raises(IndexError):
        jit(checked)(np.ones(4), 4, target=target)
    with pytest.raises(ValueError, match="far"):
        jit(checked)(np.full(4, 1e10), 4, target=target)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("outlier", [0.5, 1e12])
def test_a_moment_of_what_another_has_made_is_told_good_by_itself(target, outlier):
    """It cannot be judged, or made as it is written, where the first one is."""
    def weighted(x, y):
        m = x.mean()
        v = ((x - m) ** 2).sum() / len(x)
        return v, ((x - m) * (y * v)).sum()

    x, y = np.linspace(0, 1, 5000), np.sin(np.arange(5000.0))
    x[0] = outlier
    np.testing.assert_allclose(jit(weighted)(x, y, target=target), weighted(x, y), rtol=1e-9)


@pytest.mark.parametrize("target", COMPILED)
def test_in_loops_and_branches(target):
    def whitened(x, steps):
        for _ in range(steps):
            x = (x - x.mean()) / x.std() + 1
        return x

    def either(x, by_mean):
        if by_mean:
            m = x.mean()
            s = ((x - m) ** 2).mean()
        else:
            m = x[0]
            s = ((x - m) ** 2).mean()
        return m, s

    x = RANDOM.standard_normal(2000) * 7 + 20
    np.testing.assert_allclose(jit(whitened)(x, 3, target=target), whitened(x, 3), rtol=1e-9)
    for by_mean in (True, False):
        np.testing.assert_allclose(jit(either)(x, by_mean, target=target), either(x, by_mean),
                                   rtol=1e-12)


@given(st.integers(0, 300), st.sampled_from(["f4", "f8"]), st.integers(0, 2**32 - 1),
       st.floats(-1e4, 1e4), st.floats(1e-3, 1e3))
def test_any_offset_and_width(n, dtype, seed, offset, width):
    x = (np.random.default_rng(seed).standard_normal(n + 1) * width + offset).astype(dtype)
    found = float(JITTED(x, target="serial"))
    eps = float(np.finfo(dtype).eps)
    off = len(x) * (8 * eps * (abs(offset) + width)) ** 2  # by a mean that is rounded
    assert abs(found - exact_squares(x)) <= 40 * eps * exact_squares(x) + off


JITTED = jit(squares)


@pytest.mark.parametrize("n", [10, 5000, 300_000])
def test_one_core_and_all_cores_have_the_same_bits(n):
    x = RANDOM.standard_normal(n) + 3
    y = RANDOM.standard_normal(n) * 2 + x
    spoiled = np.where(np.arange(n) % max(n // 64, 1) == 0, 1e7, x)
    for function in (squares, variance):
        for values in (x, spoiled):
            serial, parallel = (jit(function)(values, target=t) for t in ("serial", "parallel"))
            assert np.array_equal(serial, parallel)
    assert jit(regression)(x, y, target="serial") == jit(regression)(x, y, target="parallel")


def test_the_same_without_the_pass(monkeypatch):
    """What the pass changes is rounding alone."""
    x = RANDOM.standard_normal(20_000) + 10
    shifted = jit(lambda x: x.var())
    with_it = shifted(x, target="serial")
    assert shifted.explain(x, target="serial").traversals == 1
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:shift-moments")
    as_written = jit(lambda x: x.var())
    np.testing.assert_allclose(with_it, as_written(x, target="serial"), rtol=1e-13)
    assert as_written.explain(x, target="serial").traversals == 2


def test_the_account_says_so_and_the_profile_counts_it():
    x = RANDOM.standard_normal(20_000)
    f = jit(squares)
    f.compile(x, target="serial")
    account = f.explain(x, target="serial")
    assert account.traversals == 1, str(account)
    with parakeet.profile() as profile:
        f(x, target="serial")
    assert "squares" in str(profile)


def by_mean(x):
    m = x.mean()
    return ((x - m) ** 2).sum()


def test_what_comes_again_and_again_needs_no_second_traversal():
    """As columns of a matrix in one row do. Only where samples are far off is the sum made anew."""
    columns = np.tile(np.linspace(0, 1, 1000), 1024)
    samples = np.arange(64)
    spoiled = RANDOM.standard_normal(columns.size)
    spoiled[(samples * 64 + samples * 41 % 64) * columns.size // 4096] = 1e4
    f = jit(by_mean)
    f.compile(columns, target="serial")
    for x, is_made_anew in ((columns, False), (spoiled, True)):
        with parakeet.profile() as profile:
            f(x, target="serial")
        assert ("((x - m) ** 2).sum()" in str(profile)) == is_made_anew, str(profile)


@pytest.mark.parametrize("n", [1, 2047, 2048, 2049, 100_003, 900_000])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_rows_of_a_gpu_lose_nothing(n, offset):
    """One row, one and one element, the most rows; of one array and of two, whatever lies first."""
    x = RANDOM.standard_normal(n) + offset
    y = 3 * x + RANDOM.standard_normal(n)
    x[0] += 1e3
    target = "emulated_gpu"
    np.testing.assert_allclose(jit(squares)(x, target=target), exact_squares(x), rtol=1e-12)
    if n > 1:
        for found, expected in zip(jit(regression)(x, y, target=target), regression(x, y)):
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_gpu_needs_two_kernels():
    """One that reads rows, and one that makes all else of them: no samples, and no second sums."""
    x = RANDOM.standard_normal(10_000)
    for function, arguments in ((variance, (x,)), (regression, (x, x + 1))):
        assert str(jit(function).ptx(*arguments)).count(".entry") == 2


def single_between(x):
    m = x.mean()
    single = x.astype(np.float32).sum()
    return single, ((x - m) ** 2).sum(), m


@pytest.mark.parametrize("target", COMPILED)
def test_a_sum_of_singles_between_a_mean_and_its_moment(target):
    x = RANDOM.standard_normal(10_000) + 2
    found, expected = jit(single_between)(x, target=target), single_between(x)
    assert found[0].dtype == np.float32
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1:], expected[1:], rtol=1e-12)
