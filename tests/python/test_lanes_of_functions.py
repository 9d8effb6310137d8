"""What lanes make by parts and by bits: complex functions, powers, exponents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.25, -7.5, 1e-9, -250.0, 1e-160, 1e200, np.inf, -np.inf,
         np.nan)
FUNCTIONS = (np.exp, np.log, np.log2, np.log10, np.sqrt, np.sin, np.cos, np.tan, np.sinh, np.cosh,
             np.tanh)


@jit
def all_functions(z):
    return (np.exp(z), np.log(z), np.log2(z), np.log10(z), np.sqrt(z), np.sin(z), np.cos(z),
            np.tan(z), np.sinh(z), np.cosh(z), np.tanh(z))


def check_functions(z, tolerance):
    with np.errstate(all="ignore"):
        for f, made in zip(FUNCTIONS, all_functions(z)):
            expected = f(z)
            assert made.dtype == expected.dtype
            np.testing.assert_allclose(made.real, expected.real, rtol=tolerance, err_msg=f.__name__)
            np.testing.assert_allclose(made.imag, expected.imag, rtol=tolerance, err_msg=f.__name__)


@pytest.mark.parametrize("dtype, tolerance", [("c16", 2e-14), ("c8", 1e-5)])
def test_complex_functions_of_ordinary_numbers(dtype, tolerance):
    random = np.random.default_rng(1)
    z = (random.standard_normal(4001) + 1j * random.standard_normal(4001)) * 3
    check_functions(z.astype(dtype), tolerance)


def test_complex_functions_where_one_lane_is_special():
    z = np.array([complex(a, b) for a in PARTS for b in PARTS])
    spread = np.full(8 * z.size, 0.25 + 2j)
    spread[::8] = z
    for values in (z, spread):
        check_functions(values, 2e-14)


@jit
def exponentials(x):
    return np.exp(x), np.exp2(x), np.log(x), np.log2(x), np.log10(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lanes_beyond_what_has_another_result(dtype):
    """Scores that are masked, zeros and what is too large, among others, by themselves, and near
    where results are 0, subnormal or infinite."""
    ends = (-1075, -1074, 1024) if dtype == np.float64 else (-150, -149, 128)
    near = [end * scale + away for end in ends for scale in (1.0, np.log(2.0))
            for away in (-1.5, -1e-3, 0.0, 1e-3, 1.5)]
    special = np.array(near + [0.0, -0.0, np.inf, -np.inf, np.nan, -1e9, 1e9, 1e-40, 3.0], dtype)
    spread = np.full(19 * special.size, 0.75, dtype)
    spread[::19] = special
    tiny = np.finfo(dtype).smallest_subnormal
    tolerance = 4 * np.finfo(dtype).eps
    with np.errstate(all="ignore"):
        for x in (special, spread, np.full(40, -np.inf, dtype), np.zeros(40, dtype)):
            wide = x.astype(np.longdouble)
            for made, f in zip(exponentials(x), (np.exp, np.exp2, np.log, np.log2, np.log10)):
                wanted = f(wide).astype(dtype)
                assert made.dtype == dtype
                np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tiny)
                np.testing.assert_array_equal(np.isinf(made), np.isinf(wanted))


def test_lanes_are_kept_from_what_takes_long():
    """The library takes lanes beyond the edges one by one: these do not reach it."""
    x = np.full(1000, -1e9, np.float32)
    code = str(jit(lambda x: np.exp(x)).llvm(x, target="serial"))
    assert "beyond" in code


def test_logarithms_near_one_keep_their_digits():
    angle = np.linspace(-3, 3, 1001)
    for away in (1e-3, 1e-9, 1e-15, 0.0):
        z = (1 + away) * np.exp(1j * angle)
        made = jit(lambda z: np.log(z))(z)
        expected = np.log(z)
        np.testing.assert_allclose(made.real, expected.real, rtol=1e-13, atol=1e-32)


@jit
def powers(x, y):
    return np.power(x, y), x ** x.dtype.type(1.7), x ** x.dtype.type(-3.0)


def check_powers(x, y):
    kind = x.dtype.type
    with np.errstate(all="ignore"):
        expected = np.power(x, y), x ** kind(1.7), x ** kind(-3.0)
    for made, wanted in zip(powers(x, y), expected):
        assert made.dtype == x.dtype
        limits = np.finfo(x.dtype)
        np.testing.assert_allclose(made, wanted, rtol=4 * limits.eps,
                                   atol=2 * limits.smallest_subnormal)
        is_zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(made[is_zero]), np.signbit(wanted[is_zero]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers(dtype):
    random = np.random.default_rng(2)
    most = np.log10(np.finfo(dtype).max) - 1
    x = (10.0 ** random.uniform(-most, most, 5000)).astype(dtype)
    check_powers(x, random.uniform(-4, 4, 5000).astype(dtype))
    near = (1 + random.uniform(-1e-3, 1e-3, 5000)).astype(dtype)
    check_powers(near, random.uniform(-1e5, 1e5, 5000).astype(dtype))
    nearer = (1 + random.uniform(-1e-6, 1e-6, 5000)).astype(dtype)
    check_powers(nearer, random.uniform(-5e7, 5e7, 5000).astype(dtype))
    special = np.array([0, -0.0, 1, -1, 2, -2, 0.5, 1 / 3, np.inf, -np.inf, np.nan, 1e-45, 1e-39,
                        3e38, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype)
    check_powers(*(part.ravel().copy() for part in np.meshgrid(special, special)))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bounds_between_entries_of_tables(dtype):
    """Mantissas at which another entry is taken, and those beside them."""
    steps = np.arange(0.5, 2.0, 1 / 256).astype(dtype)
    x = np.concatenate((steps, np.nextafter(steps, np.dtype(dtype).type(0)),
                        np.nextafter(steps, np.dtype(dtype).type(4))))
    for exponent in (1.0, 31.0, -100.0, 0.03125, 100.5):
        check_powers(x, np.full(x.size, exponent, dtype))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([32, 64]), st.data())
def test_any_powers(width, data):
    numbers = data.draw(st.lists(st.floats(width=width), min_size=1, max_size=40))
    x = np.array(numbers, f"f{width // 8}")
    exponent = data.draw(st.floats(-50, 50, width=32) | st.floats(width=width))
    check_powers(x, np.full(x.size, exponent, x.dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_power_depends_on_no_other_lane(dtype):
    random = np.random.default_rng(5)
    x = random.uniform(0.1, 9, 1000).astype(dtype)
    y = random.uniform(-9, 9, 1000).astype(dtype)
    alone = powers(x, y)
    x[::3] = -1
    for made, wanted in zip(powers(x, y), alone):
        np.testing.assert_array_equal(made[1::3], wanted[1::3])
        np.testing.assert_array_equal(made[2::3], wanted[2::3])


@jit
def exponents(x, k):
    return (*np.frexp(x), np.ldexp(x, k))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["f2", "f4", "f8"]), st.data())
def test_exponents_of_any_numbers(dtype, data):
    width = np.dtype(dtype).itemsize * 8
    numbers = data.draw(st.lists(st.floats(width=width), min_size=1, max_size=30))
    x = np.array(numbers, dtype)
    steps = st.integers(-2300, 2300) | st.sampled_from([-(2**31), 2**31 - 1])
    k = np.array([data.draw(steps) for _ in numbers], "i4")
    with np.errstate(all="ignore"):
        expected = (*np.frexp(x), np.ldexp(x, k))
    for made, wanted in zip(exponents(x, k), expected):
        np.testing.assert_array_equal(made, wanted, strict=True)
        if made.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(made[wanted == 0]),
                                          np.signbit(wanted[wanted == 0]))


def test_sums_of_complex_numbers():
    random = np.random.default_rng(3)
    z = random.standard_normal((300, 401)) + 1j * random.standard_normal((300, 401))

    @jit
    def sums(z):
        return (z.sum(), z.mean(), z.sum(axis=0), z.sum(axis=1), (z * z).sum(), np.abs(z).max(),
                z[:0].sum(), z.sum(initial=3 + 1j))

    expected = (z.sum(), z.mean(), z.sum(axis=0), z.sum(axis=1), (z * z).sum(), np.abs(z).max(), 0,
                z.sum() + 3 + 1j)
    for target in ("serial", "parallel"):
        for made, wanted in zip(sums(z, target=target), expected):
            np.testing.assert_allclose(made, wanted, rtol=1e-12)
    z[7, 9] = complex(np.nan, 1)
    made, wanted = sums(z)[0], z.sum()
    assert np.isnan(made.real) and np.isclose(made.imag, wanted.imag)


@jit
def extremes(z):
    return z.min(), z.max(), z.argmin(), z.argmax(), np.max(z, keepdims=True)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])] * 2),
                min_size=1, max_size=40))
def test_extremes_of_complex_numbers(parts):
    z = np.array([complex(*pair) for pair in parts])
    expected = z.min(), z.max(), z.argmin(), z.argmax(), z.max(keepdims=True)
    for made, wanted in zip(extremes(z), expected):
        np.testing.assert_array_equal(made, wanted, strict=True)


def test_products_over_all_axes():
    x = np.arange(12.0).reshape(3, 4)
    y = x.T - 2
    made = jit(lambda x, y: (np.tensordot(x, x), np.tensordot(x, y, axes=((0, 1), (1, 0)))))(x, y)
    expected = np.tensordot(x, x), np.tensordot(x, y, axes=((0, 1), (1, 0)))
    for one, wanted in zip(made, expected):
        assert one == wanted and one.shape == wanted.shape


def test_exponentials_of_float32_less_one():
    random = np.random.default_rng(4)
    x = np.concatenate((random.uniform(-1, 1, 4000), random.uniform(-90, 90, 4000),
                        10.0 ** random.uniform(-44, 0, 4000), -(10.0 ** random.uniform(-44, 0, 99)),
                        (0.0, -0.0, 0.5, -0.5, np.inf, -np.inf, np.nan))).astype("f4")
    with np.errstate(all="ignore"):
        expected = np.expm1(x.astype("f8")).astype("f4")
    made = jit(lambda x: np.expm1(x))(x)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, rtol=4 * 1.2e-7, atol=1e-45)
    np.testing.assert_array_equal(np.signbit(made[x == 0]), np.signbit(x[x == 0]))


@jit
def inverse_cosines(x):
    return np.arccosh(x)


def test_inverse_hyperbolic_cosines_of_float32():
    random = np.random.default_rng(8)
    x = np.concatenate((1 + 10.0 ** random.uniform(-7, 0, 4000), random.uniform(1, 3, 4000),
                        10.0 ** random.uniform(0, 38.5, 4000), (2.0**60, 2.0**61, 2.0**127.5),
                        (1.0, 0.5, 0.0, -0.0, -1.0, -3.0, -1e30, np.inf, -np.inf, np.nan)))
    x = x.astype("f4")
    with np.errstate(all="ignore"):
        expected = np.arccosh(x.astype("f8")).astype("f4")
    made = inverse_cosines(x)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, rtol=4 * 1.2e-7)
    assert "acoshf" not in inverse_cosines.llvm()  # of the vector library


@jit
def hyperbolic(x):
    return np.expm1(x), np.tanh(x)


def test_what_is_made_of_exponentials_of_float64():
    random = np.random.default_rng(6)
    x = np.concatenate((random.uniform(-1, 1, 4000), random.uniform(-50, 50, 4000),
                        random.uniform(-800, 800, 4000), 10.0 ** random.uniform(-320, 0, 4000),
                        -(10.0 ** random.uniform(-320, 0, 99)),
                        (0.0, -0.0, 0.5, -0.5, 700.0, 701.0, -700.0, np.inf, -np.inf, np.nan)))
    with np.errstate(all="ignore"):
        expected = [f(x.astype(np.longdouble)).astype("f8") for f in (np.expm1, np.tanh)]
    for made, wanted in zip(hyperbolic(x), expected):
        np.testing.assert_allclose(made, wanted, rtol=4 * 2.3e-16, atol=1e-323)
        np.testing.assert_array_equal(np.signbit(made[x == 0]), np.signbit(x[x == 0]))
    alone = hyperbolic(x)
    x[::5] = 750
    for made, wanted in zip(hyperbolic(x), alone):
        np.testing.assert_array_equal(made[1::5], wanted[1::5])


@jit
def remainders(x, y):
    return np.fmod(x, y), np.remainder(x, y), np.floor_divide(x, y)


@jit
def remainders_one_by_one(x, y):
    rest = x.copy()
    for i in range(1, len(x)):
        rest[i] = np.fmod(x[i], y[i]) + 0 * rest[i - 1]
    return rest


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_remainders_have_numpys_bits(dtype):
    # Quotients near whole numbers, as large as the digits count, larger; what is no number.
    random = np.random.default_rng(4)
    y = (random.random(4003) * 2.0 ** random.integers(-30, 30, 4003)).astype(dtype)
    y *= np.where(random.random(4003) < 0.5, -1, 1).astype(dtype)
    whole = np.floor(2.0 ** (random.random(4003) * 60))
    x = (y * whole).astype(dtype)
    near = np.where(np.arange(4003) % 3 == 0, np.nextafter(x, dtype_of(dtype, np.inf)), x)
    edges = np.array([0.0, -0.0, 1.0, -1.0, 3.25, 1e-45, 5e-324, 1e30, np.inf, -np.inf, np.nan])
    edges = edges.astype(dtype)
    for a, b in ((near, y), (y, near), tuple(np.meshgrid(edges, edges))):
        a, b = np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel()
        with np.errstate(all="ignore"):
            for made, expected in zip(remainders(a, b), (np.fmod(a, b), a % b, a // b)):
                np.testing.assert_array_equal(made, expected)
                np.testing.assert_array_equal(np.signbit(made)[expected == 0],
                                              np.signbit(expected)[expected == 0])
    small = near[:200], y[:200]
    expected = np.fmod(*small)
    expected[0] = small[0][0]
    np.testing.assert_array_equal(remainders_one_by_one(*small), expected)


def dtype_of(name, value):
    return np.dtype(name).type(value)


@jit
def powers_of_roots(x):
    return x**0.5, x**-0.5, x**1.5, x**-1.5, x**-1, x**-2.0


@jit
def powers_of_roots_in_turn(x):
    made = np.zeros((6, len(x)), x.dtype)
    for i in range(len(x)):
        v = x[i] if i == 0 or made[4, i - 1] != 77 else x[0]
        made[:, i] = v**0.5, v**-0.5, v**1.5, v**-1.5, v**-1, v**-2.0
    return made


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_powers_of_roots_and_quotients(dtype):
    """At their ends too: of -0, of infinities, where a square has no number."""
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, -4.0, 5e-324, 1e-310, 1.7e308, 1e160, 1e206, 1e-200]
    random = np.random.default_rng(3)
    x = np.concatenate((ends, random.random(200), random.random(200) * 1e5)).astype(dtype)
    with np.errstate(all="ignore"):
        expected = powers_of_roots.__wrapped__(x), powers_of_roots_in_turn.__wrapped__(x)
        for target in ("serial", "emulated_gpu"):
            for made, wanted in zip(powers_of_roots(x, target=target), expected[0]):
                check_root(made, wanted)
            for made, wanted in zip(powers_of_roots_in_turn(x, target=target), expected[1]):
                check_root(made, wanted)


def check_root(made, wanted):
    assert made.dtype == wanted.dtype
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(made, wanted, rtol=3 * np.finfo(made.dtype).eps, atol=0)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(made[zeros]), np.signbit(wanted[zeros]))
