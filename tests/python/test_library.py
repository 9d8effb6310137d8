"""NumPy's functions, one expression a row: value, dtype and shape as NumPy gives.

A row is an expression over the arguments of its group. All run in the interpreter for every set of
arguments, and a sample of them compiled.
"""

import math
import pickle
import re
import struct
import sys
import zlib
from pathlib import Path

import library_beside
import library_further
import library_keywords
import library_linalg
import library_places
import library_rows
import library_sorted
import numpy as np
import pytest
from agreement import TRANSCENDENTAL, check_agreement, deep_copies
from from_source import define
from layouts import values
from library_rows import CUBE, F64, I8, U8

import parakeet
from parakeet import jit

TABLES = (library_rows, library_keywords, library_beside, library_further, library_sorted,
          library_places, library_linalg)
GROUPS = {name: group for table in TABLES for name, group in table.GROUPS.items()}
ROWS = [pytest.param(group, expression, arguments, id=f"{group}-{name}-{expression}")
        for group, table in GROUPS.items()
        for name, arguments in table.arguments.items()
        for expression in table.expressions()]


def test_no_group_hides_another():
    assert len(GROUPS) == sum(len(table.GROUPS) for table in TABLES)


def compiled_of(config):
    """One row in so many is compiled, the same ones in each run."""
    return 1 if config.getoption("--long") else 16 if config.getoption("--sample") else 4


@pytest.mark.sampled(2, "expression")
@pytest.mark.parametrize(("group", "expression", "arguments"), ROWS)
def test_function(request, group, expression, arguments):
    table = GROUPS[group]
    plain = define(f"def f({table.names}):\n    return {expression}\n")
    is_compiled = zlib.crc32(request.node.name.encode()) % compiled_of(request.config) == 0
    targets = ("interpreter", "serial", "parallel") if is_compiled else ("interpreter",)
    check_agreement(jit(plain), plain, deep_copies(arguments), table.tolerance, targets=targets)


def windows_of(f, x, width):
    """f of the window around every place of a vector, clipped at its ends."""
    starts = [i - width // 2 for i in range(len(x))]
    return np.array([f(x[max(s, 0):s + width]) for s in starts])


@pytest.mark.parametrize("width", [1, 2, 3, 5, 100])
def test_pmap1(width):
    x = values(50)
    expected = windows_of(np.sum, x, width)
    np.testing.assert_allclose(parakeet.pmap1(np.sum, x, width), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [(3, 3), (1, 2), (4, 5), 3])
def test_pmap2(width):
    x = values((6, 8))
    rows, columns = width if isinstance(width, tuple) else (width, width)
    expected = np.array([
        [x[max(i - rows // 2, 0):i - rows // 2 + rows,
           max(j - columns // 2, 0):j - columns // 2 + columns].max() for j in range(8)]
        for i in range(6)])
    np.testing.assert_array_equal(parakeet.pmap2(np.max, x, width), expected)


@pytest.mark.parametrize(("width", "step"), [
    ((3, 3), (1, 1)), ((2, 3), (2, 1)), (2, 3), ((9, 1), 1)])
def test_pmap2_trim(width, step):
    x = values((6, 8))
    windows = np.lib.stride_tricks.sliding_window_view
    across = width if isinstance(width, tuple) else (width, width)
    down, right = step if isinstance(step, tuple) else (step, step)
    if across[0] > 6:
        expected = np.empty((0, 8))
    else:
        expected = windows(x, across)[::down, ::right].max(axis=(2, 3))
    np.testing.assert_array_equal(parakeet.pmap2_trim(np.max, x, width, step), expected)


@pytest.mark.parametrize("f", [min, max, any, all])
def test_windows_of_python_functions(f):
    """They take no matrix: NumPy's are meant."""
    x = values((4, 5)) > 0 if f in (any, all) else values((4, 5))
    over = getattr(np, f.__name__)
    rows = jit(lambda x: (parakeet.pmap2(f, x, (3, 1)), parakeet.pmap2_trim(f, x, 2)))
    for target in ("interpreter", "serial", "python"):
        clipped, inner = rows(x, target=target)
        assert clipped.dtype == x.dtype and clipped.shape == x.shape
        assert clipped[1, 1] == over(x[0:3, 1]) and clipped[0, 0] == over(x[0:2, 0])
        assert inner.shape == (3, 4) and inner[2, 3] == over(x[2:, 3:])


def test_old_names():
    assert (parakeet.alen(CUBE), parakeet.rank(CUBE)) == (3, 3)
    assert (parakeet.alen(7), parakeet.rank(7)) == (1, 0)
    assert jit(lambda x: (parakeet.alen(x), parakeet.rank(x)))(CUBE) == (3, 3)


MATH = [f"math.{name}(x)" for name in (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "erf", "erfc", "fabs",
    "floor", "ceil", "trunc", "degrees", "radians", "isnan", "isinf", "isfinite")]
MATH += ["math.acosh(x + 1)", "math.atan2(x, 2)", "math.hypot(x, 2)", "math.pow(x, 2)",
         "math.log(x, 3)", "math.copysign(x, -1)", "math.fmod(x, 0.3)", "math.pi * x", "math.inf",
         "math.tau", "math.e", "math.ulp(x)", "math.modf(x)", "math.frexp(x)", "math.ldexp(x, 5)",
         "math.remainder(x * 7, 0.5)", "math.nextafter(x, 2)", "math.dist((x, 1), (2, x))",
         "math.isclose(x, x * 1.0000000001)", "math.isclose(x, 2, rel_tol=0.9, abs_tol=0.1)"]


GAMMA_PLACES = [-170.25, -20.3, -1.5, -0.5, 1e-30, 0.5, 1, 2.5, 4.99, 23, 24, 100.5, 150.5, 171.6]


@pytest.mark.parametrize("name", ["gamma", "lgamma"])
def test_gamma(name):
    """As math has it, of which each sum of terms may differ in the last bits."""
    f = getattr(math, name)
    made = jit(lambda x: np.array([f(v) for v in x]))
    x = np.concatenate((GAMMA_PLACES, np.linspace(0.01, 30, 200)))
    expected = np.array([f(v) for v in x])
    for target in ("interpreter", "serial", "parallel", "emulated_gpu"):
        np.testing.assert_allclose(made(x, target=target), expected, rtol=8e-15, atol=2e-15)
    ends = jit(lambda x: (f(x), f(-x), f(x - x)))
    assert ends(np.inf)[0] == np.inf and np.isnan(ends(np.nan)).all()
    assert ends(0.0)[0] == np.inf and ends(3.0)[2] == np.inf


@pytest.mark.parametrize("x", [0.75, np.float32(0.25), True], ids=["float", "float32", "bool"])
@pytest.mark.parametrize("expression", MATH)
def test_math(expression, x):
    if expression == "math.trunc(x)":
        x = float(x)  # NumPy's scalars have no __trunc__
    if x is True and ("atanh" in expression or "log" in expression):
        x = 0.5  # True is no number of their domain
    plain = define(f"import math\ndef f(x):\n    return {expression}\n")
    check_agreement(jit(plain), plain, lambda: (x,), TRANSCENDENTAL)


INTEGERS = ("math.gcd(n, 12)", "math.gcd()", "math.gcd(n)", "math.lcm(n, 4, 6)", "math.isqrt(n)",
            "math.factorial(n)", "math.perm(n, 2)", "math.perm(n)", "math.comb(n, 2)",
            "math.comb(2, n)", "math.prod((n, 2, 3), start=4)", "math.remainder(n, 2)")


@pytest.mark.parametrize("n", [0, 1, 2, 9, 20, -6])
@pytest.mark.parametrize("expression", INTEGERS)
def test_math_of_integers(expression, n):
    plain = define(f"import math\ndef f(n):\n    return {expression}\n")
    check_agreement(jit(plain), plain, lambda: (n,), targets=("interpreter",))


@pytest.mark.parametrize("n", [2**62, 2**63 - 1, 3037000499**2, 3037000499**2 - 1, 10**18 - 1])
def test_a_root_of_a_large_integer(n):
    assert jit(lambda n: math.isqrt(n))(n, target="interpreter") == math.isqrt(n)


FAR = sys.float_info.max
STEPS = [(1.0, 2.0, 1), (1.0, 2.0, 0), (1.0, 2.0, 2**52), (1.0, 2.0, 2**52 + 1), (2.0, 1.0, 3),
         (5e-324, -1.0, 1), (-5e-324, 1.0, 1), (5e-324, -1.0, 3), (0.0, -0.0, 1), (-0.0, 0.0, 0),
         (0.0, 1.0, 7), (-FAR, FAR, 2**63 - 1), (FAR, -FAR, 2**63 - 1), (FAR, math.inf, 9),
         (math.nan, 1.0, 2), (1.0, math.nan, 2), (-1.0, -2.0, 4), (-3.0, 5.0, 2**62)]


def place_of(x):
    place, = struct.unpack("q", struct.pack("d", abs(x)))
    return -place if x < 0 else place


def stepped(x, y, steps):
    """What math.nextafter gives from Python 3.12 on, in integers without an end."""
    if steps == 0 or math.isnan(x):
        return x
    first, last = place_of(x), place_of(y)
    place = min(first + steps, last) if first < last else max(first - steps, last)
    if place == last or math.isnan(y):
        return y
    size, = struct.unpack("d", struct.pack("q", abs(place)))
    return math.copysign(size, place or x)


@pytest.mark.parametrize(("x", "y", "steps"), STEPS)
def test_many_steps_from_a_float_to_another(x, y, steps):
    f = jit(lambda x, y, steps: math.nextafter(x, y, steps=steps))
    expected = [stepped(x, y, steps)]
    if sys.version_info >= (3, 12):
        expected.append(math.nextafter(x, y, steps=steps))
    for target in ("interpreter", "serial"):
        got = f(x, y, steps, target=target)
        for e in expected:
            assert struct.pack("d", got) == struct.pack("d", e) or (got != got and e != e)
        with pytest.raises(ValueError, match="steps must be a non-negative integer"):
            f(x, y, -1, target=target)


def test_the_table_of_primitives_is_the_compilers():
    table = Path(__file__).parents[2] / "frontend/primitives.def"
    rows = re.findall(r'^PARAKEET_PRIMITIVE\("(\w+)", \w+, (\d),', table.read_text(), re.MULTILINE)
    assert {name: int(arity) for name, arity in rows} == {
        name: primitive.arity for name, primitive in parakeet.primitives.PRIMITIVES.items()}


@pytest.mark.parametrize("module", [parakeet.operators, parakeet.primitives])
def test_the_stubs_have_every_name(module):
    stub = Path(module.__file__).with_suffix(".pyi").read_text()
    names = re.findall(r"^(\w+): (?:Primitive|_\w+)$", stub, re.MULTILINE)
    assert set(names) == set(module.__all__)


@pytest.mark.parametrize("name", parakeet.primitives.PRIMITIVES)
def test_a_primitive_is_called_from_python(name):
    primitive = getattr(parakeet, name)
    assert pickle.loads(pickle.dumps(primitive)) is primitive
    operands = (U8, U8[::-1])[:primitive.arity]
    if name in ("erf", "erfc"):
        expected = np.vectorize(getattr(math, name))(U8.astype(np.float16)).astype(np.float16)
        np.testing.assert_allclose(primitive(U8), expected, rtol=2e-3)
        return
    expected = getattr(np, name)(*operands)
    actual = primitive(*operands)
    assert actual.dtype == expected.dtype
    tolerance = 4e-3 if expected.dtype == np.float16 else 1e-15
    np.testing.assert_allclose(actual, expected, rtol=tolerance)


def test_primitives_take_keywords_and_a_target():
    out = np.zeros(3)
    assert parakeet.add(1.0, np.ones(3), out=out, target="serial") is out
    np.testing.assert_array_equal(out, [2, 2, 2])
    assert parakeet.add(I8, I8, dtype=np.float32).dtype == np.float32


def test_public_names_are_found():
    for name in ("add", "exp", "float32", "zeros", "sum", "mean", "true_divide", "map", "pmap2"):
        assert getattr(parakeet, name) is not None
        assert name in dir(parakeet)


def test_a_user_gives_a_function_its_meaning():
    def doubled(x):  # stands for a function that nobody else knows
        raise AssertionError("is compiled by its overload only")

    @parakeet.overload(doubled)
    def _(x):
        return 2 * x

    np.testing.assert_array_equal(jit(lambda x: doubled(x))(F64), 2 * F64)


@jit
def orders(*arrays):
    return tuple([np.argsort(x) for x in arrays])


def test_argsort_of_many_keeps_equal_elements_in_order():
    random = np.random.default_rng(20)
    whole = random.integers(-40, 40, 5000)
    floats = np.where(whole > 30, np.nan, whole / 4.0)
    floats[::7] = -0.0
    arrays = [whole, whole.astype(np.int32), (whole + 40).astype(np.uint32), floats,
              (whole + 40).astype(np.uint64), floats.astype(np.float32), np.zeros(5000),
              random.random(5000), np.full(2000, np.nan)]  # fmt: skip
    for order, x in zip(orders(*arrays, target="serial"), arrays, strict=True):
        np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


def test_searches_among_few_and_among_none():
    @jit
    def places(edges, values):
        return np.searchsorted(edges, values), np.searchsorted(edges, values, "right")

    sides = ("left", "right")
    values = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 7.0, 8.0, np.inf, np.nan])
    for count in range(10):
        edges = np.arange(float(count))
        for got, side in zip(places(edges, values, target="serial"), sides, strict=True):
            np.testing.assert_array_equal(got, np.searchsorted(edges, values, side))
    edges = np.array([0.0, 1.0, 1.0, np.nan, np.nan])
    for got, side in zip(places(edges, values, target="serial"), sides, strict=True):
        np.testing.assert_array_equal(got, np.searchsorted(edges, values, side))
