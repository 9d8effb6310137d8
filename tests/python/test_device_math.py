"""The formulas of kernels' mathematics: what a GPU makes of functions of real numbers, which the
emulated one makes of the host's (agreement.py says on which they run)."""

import itertools
import re

import numpy as np
import pytest
from agreement import HERE
from edge_values import edges, every_pair

from parakeet import Limitation, jit

PARTS = {"complex64": ("float32", np.complex128), "complex128": ("float64", np.clongdouble)}


def on_device(function, *arguments):
    """Of arrays, so that kernels compute it."""
    return jit(function)(*arguments, target=HERE)


def distance(actual, expected, dtype):
    """Between real numbers in units of the expected ones' last place."""
    expected = np.asarray(expected)
    unit = np.spacing(np.maximum(np.abs(expected), np.finfo(dtype).tiny).astype(dtype))
    with np.errstate(invalid="ignore"):
        away = np.abs(actual.astype(np.longdouble) - expected) / unit
    return np.where(actual == expected, 0, away)


# --- logarithms ---

def near_one(dtype, count):
    """Of size 1 but for little: on the circle, just beside it, and along the axes."""
    part, wide = PARTS[dtype]
    random = np.random.default_rng(3)
    angle = random.uniform(-np.pi, np.pi, count)
    step = np.finfo(part).eps * random.integers(-40, 40, count)
    on_circle = (np.exp(1j * angle) * (1 + step)).astype(dtype)
    close = (1 + random.integers(-9, 9, count) * np.finfo(part).eps).astype(part)
    tiny = (10.0 ** -random.integers(1, 20, count)).astype(part)
    return np.concatenate([on_circle, close + 1j * tiny, tiny + 1j * close]).astype(dtype)


@pytest.mark.parametrize("dtype", PARTS)
def test_a_logarithm_near_one_keeps_its_digits(dtype):
    """Its real part is what little the size is beyond 1: 1 must go without a rounding."""
    part, wide = PARTS[dtype]
    z = near_one(dtype, 3000)
    found = on_device(lambda z: np.log(z), z)
    x, y = z.real.astype(np.longdouble), z.imag.astype(np.longdouble)
    most, least = np.maximum(abs(x), abs(y)), np.minimum(abs(x), abs(y))
    # Of 64 bits, which squares of 53 do not fit; glibc's own counts where they are float64.
    expected = np.log(z).real if dtype == "complex128" else (
        np.log1p((most - 1) * (most + 1) + least * least) / 2)
    assert distance(found.real, expected, part).max() <= 4
    assert distance(found.imag, np.log(z).imag, part).max() <= 4


@pytest.mark.parametrize("dtype", PARTS)
def test_logarithms_of_sizes_that_are_no_normal_numbers(dtype):
    part, _ = PARTS[dtype]
    limits = np.finfo(part)
    sizes = np.array([limits.tiny / 4, limits.tiny / 1000, limits.smallest_subnormal,
                      limits.smallest_subnormal * 3, limits.tiny, limits.max, limits.max / 1.5,
                      limits.max / 3, 0, 1], part)
    pairs = np.array(list(itertools.product(sizes, sizes)), part)
    signs = np.array(list(itertools.product((1, -1), (1, -1))), part)
    z = np.empty((len(signs), len(pairs)), dtype)
    z.real, z.imag = signs[:, :1] * pairs[:, 0], signs[:, 1:] * pairs[:, 1]
    with np.errstate(all="ignore"):
        expected = np.log(z)
    found = on_device(lambda z: np.log(z), z)
    is_number = np.isfinite(expected.real)
    np.testing.assert_array_equal(found.real[~is_number], expected.real[~is_number])
    assert distance(found.real[is_number], expected.real[is_number], part).max() <= 4
    assert distance(found.imag, expected.imag, part).max() <= 4


def test_powers_of_what_is_no_normal_number():
    tiny = np.finfo(float).tiny
    x = np.array([-tiny / 4, tiny / 4, tiny / 1e5, -tiny, 1e308, -1.7e308])
    for y in (-2j, 2j, 0.5 + 1j, -0.001 + 0.3j):
        expected = x ** np.complex128(y)
        size = np.abs(y * np.log(x.astype(complex)))
        found = on_device(lambda x, y: x ** y, x, np.complex128(y))
        error = np.abs(found - expected) / np.abs(expected)
        assert (error <= (16 + 4 * size) * np.finfo(float).eps).all(), y


# --- exponentials ---

@pytest.mark.parametrize("dtype", PARTS)
def test_an_exponential_that_is_zero_has_the_signs_of_its_angle(dtype):
    z = np.array([complex(-1000, angle) for angle in (2, -2, 1, -1, 4, 0.0, -0.0)]
                 + [complex(-np.inf, angle) for angle in (2, -2, 4, 0.0, -0.0, np.inf, np.nan)]
                 + [complex(-1000, np.inf), complex(-1000, np.nan)], dtype)  # fmt: skip
    with np.errstate(all="ignore"):
        expected = np.exp(z)
    found = on_device(lambda z: np.exp(z), z)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected.real)
    assert not found[numbers].any()
    for of in (np.real, np.imag):
        signs = np.signbit(of(found)), np.signbit(of(expected))
        np.testing.assert_array_equal(signs[0][numbers], signs[1][numbers])


# --- what else has a formula of its own ---

FORMULAS = "exp log sqrt sin cos tan sinh cosh tanh exp2 log2 log10 expm1 log1p".split()


@pytest.mark.parametrize("dtype", PARTS)
@pytest.mark.parametrize("name", FORMULAS)
def test_functions_by_parts_are_near_numpys(name, dtype):
    random = np.random.default_rng(2)
    z = (random.normal(size=500) + 1j * random.normal(size=500)).astype(dtype)
    function = getattr(np, name)
    found = on_device(lambda z: function(z), z)
    assert found.dtype == dtype
    epsilon = np.finfo(dtype).eps
    np.testing.assert_allclose(found, function(z), rtol=16 * epsilon, atol=16 * epsilon)


@pytest.mark.parametrize("dtype", PARTS)
@pytest.mark.parametrize("name", "exp log sqrt sin cos tan sinh cosh tanh".split())
def test_functions_by_parts_at_the_edges(name, dtype):
    z, function = edges(dtype), getattr(np, name)
    found = on_device(lambda z: function(z), z)
    with np.errstate(all="ignore"):
        expected = function(z)
    epsilon = np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, rtol=16 * epsilon, atol=16 * epsilon)


def test_tanh_of_doubles_is_ours():
    x = np.concatenate([np.linspace(-25, 25, 20_001), 10.0 ** np.linspace(-300, 2, 2_001),
                        [0.0, -0.0, np.inf, -np.inf, np.nan]])  # fmt: skip
    found = on_device(lambda x: np.tanh(x), x)
    expected = np.tanh(x.astype(np.longdouble))
    numbers = ~np.isnan(x)
    assert distance(found[numbers], expected[numbers], "f8").max() <= 3
    assert np.isnan(found[~numbers]).all()
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(x[numbers]))


def test_extremes_of_floats_take_zero_for_more():
    """As an instruction of newer GPUs does: docs/same-bits.md."""
    x, y = every_pair("float32", "float32")
    least, most = on_device(lambda x, y: (np.minimum(x, y), np.maximum(x, y)), x, y)
    np.testing.assert_array_equal(least, np.minimum(x, y))
    np.testing.assert_array_equal(most, np.maximum(x, y))
    zeros = (x == 0) & (y == 0)
    np.testing.assert_array_equal(np.signbit(least[zeros]), (np.signbit(x) | np.signbit(y))[zeros])
    np.testing.assert_array_equal(np.signbit(most[zeros]), (np.signbit(x) & np.signbit(y))[zeros])


@pytest.mark.parametrize("name", "arcsin arccos arctan arcsinh arccosh arctanh".split())
def test_what_a_gpu_has_no_formula_for_is_refused_with_its_line(name):
    function = getattr(np, name)

    def inverse(z):
        w = z * 2
        return function(w + 1)

    line = inverse.__code__.co_firstlineno + 2
    short = name.replace("arc", "a")
    message = (rf"^{re.escape(__file__)}:{line}:\d+: "
               rf"there is no {short} of complex numbers on a GPU; use "
               r"target='parallel'\n    return function\(w \+ 1\)\n +\^")  # fmt: skip
    for target in dict.fromkeys((HERE, "emulated_gpu")):
        with pytest.raises(Limitation, match=message):
            jit(inverse)(np.ones(5) * 1j, target=target)
    with pytest.raises(Limitation, match=message):
        jit(inverse).ptx(np.ones(5) * 1j)
    np.testing.assert_allclose(jit(inverse)(np.ones(5) * 1j), inverse(np.ones(5) * 1j))
