"""Scalars: Python's or NumPy's, as the same expression gives in plain Python, value and exception.

Exact: type, value, sign of zero. Floating-point warnings of NumPy's scalars are not ours.
"""

import math

import numpy as np
import pytest
from agreement import check_agreement, check_same

from parakeet import jit

TARGETS = ("interpreter", "serial")

X = np.array([1.5, -2.0, 0.0])
I = np.array([3, -7, 0], dtype=np.int32)

# One operator on every kind of scalar. Python's / by zero raises, NumPy's does not.
BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor_divide": lambda a, b: a // b,
    "modulo": lambda a, b: a % b,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
}
# These give one of their operands, so where the two are of different types ours gives the join.
SELECTING = {
    "or_else": lambda a, b: a or b,
    "and_then": lambda a, b: a and b,
    "larger": lambda a, b: max(a, b),
    "smaller": lambda a, b: min(a, b),
    "chosen": lambda a, b: a if b else b,
}
PAIRS = {
    "ints": (7, -2),
    "int_by_zero": (7, 0),
    "negative_ints": (-7, 2),
    "int_and_float": (7, 2.5),
    "floats": (-7.5, 2.0),
    "float_by_zero": (1.5, 0.0),
    "zero_by_zero": (0.0, 0.0),
    "bools": (True, False),
    "bool_and_int": (True, 3),
    "numpy_floats": (np.float64(-7.5), np.float64(2.0)),
    "numpy_float_by_zero": (np.float64(1.5), 0.0),
    "float32_and_python_float": (np.float32(1.1), 2.2),
    "float32_and_float64": (np.float32(1.1), np.float64(2.2)),
    "int32_and_python_int": (np.int32(-7), 2),
    "int32_and_int64": (np.int32(-7), np.int64(2)),
    "int8_and_uint8": (np.int8(-7), np.uint8(2)),
    "numpy_int_by_zero": (np.int32(-7), np.int32(0)),
    "int32_and_python_float": (np.int32(-7), 2.5),
    "numpy_bool_and_int": (np.bool_(True), 3),
    "nan": (math.nan, 1.0),
    "infinite": (np.float64(np.inf), 2),
}
ALIKE = {name: pair for name, pair in PAIRS.items() if type(pair[0]) is type(pair[1])}
JITTED = {name: jit(f) for name, f in (BINARY | SELECTING).items()}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("operator", BINARY)
def test_binary(operator, pair):
    check_agreement(JITTED[operator], BINARY[operator], lambda: pair, targets=TARGETS)


@pytest.mark.parametrize("pair", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("operator", SELECTING)
def test_selecting(operator, pair):
    check_agreement(JITTED[operator], SELECTING[operator], lambda: pair, targets=TARGETS)


@pytest.mark.parametrize(("pair", "expected"), [
    ((7, 2.5), 7.0), ((2, True), 2), ((np.float32(3), 2), np.float32(3)),
    ((3, np.float32(2)), np.float32(3)), ((np.int8(3), np.int32(2)), np.int32(3)),
    ((np.float32(3), np.float64(2)), np.float64(3)), ((3, np.float64(2)), np.float64(3))],
    ids=repr)
def test_selecting_from_two_types_gives_their_join(pair, expected):
    for target in TARGETS:
        check_same(JITTED["larger"](*pair, target=target), expected)


# Where a scalar comes from says whose it is.
ORIGINS = {
    "literal": lambda x, i: 2,
    "float_literal": lambda x, i: 2.0,
    "bool_literal": lambda x, i: True,
    "length": lambda x, i: len(x),
    "shape": lambda x, i: x.shape[0],
    "size_and_rank": lambda x, i: (x.size, x.ndim),
    "element": lambda x, i: x[0],
    "int_element": lambda x, i: i[1],
    "comparison_of_elements": lambda x, i: x[0] < x[1],
    "comparison_of_sizes": lambda x, i: len(x) < 3,
    "not_of_an_element": lambda x, i: not x[0],
    "reduction": lambda x, i: x.sum(),
    "int_reduction": lambda x, i: i.sum(),
    "any": lambda x, i: i.any(),
    "builtin_int": lambda x, i: int(x[0]),
    "builtin_float": lambda x, i: float(i[0]),
    "builtin_bool": lambda x, i: bool(x[2]),
    "builtin_round": lambda x, i: round(float(x[0])),
    "builtin_abs_of_an_element": lambda x, i: abs(i[1]),
    "builtin_abs_of_an_int": lambda x, i: abs(-3),
    "builtin_max": lambda x, i: max(x[0], 0.5),
    "builtin_min_of_three": lambda x, i: min(3, 2, 5),
    "math_function": lambda x, i: math.sqrt(x[0]),
    "math_constant": lambda x, i: math.pi,
    "numpy_function_of_python": lambda x, i: np.sqrt(2.0),
    "numpy_function_of_int": lambda x, i: np.sqrt(2),
    "numpy_constant": lambda x, i: np.pi,
    "numpy_cast": lambda x, i: np.float32(1.1),
    "numpy_int_cast": lambda x, i: np.int8(5) + 2,
    "weak_meets_element": lambda x, i: i[0] + 2,
    "weak_float_meets_int_element": lambda x, i: i[0] + 2.5,
    "weak_float_meets_array": lambda x, i: (i * 0.5, x * 2),
    "sizes_meet_elements": lambda x, i: x[0] * len(x),
    "divided_sizes": lambda x, i: len(x) / 2,
    "integer_power": lambda x, i: len(x) ** 2,
    "negative_power": lambda x, i: 2 ** -1,
    "float_power": lambda x, i: 2.0 ** len(x),
    "element_power": lambda x, i: (x[0] ** 2, i[0] ** 2),
    "range_variable": lambda x, i: [k for k in range(3)],
    "chained_comparison": lambda x, i: 0 < len(x) < 5,
    "divmod": lambda x, i: divmod(-7, 2),
    "power_builtin": lambda x, i: pow(3, 2),
    "shifts": lambda x, i: (1 << 4, -9 >> 1, ~5),
    "complex_literal": lambda x, i: (1 + 2j) * 2,
    "int_of_nan": lambda x, i: int(x[2] / x[2]),
    "int_of_infinity": lambda x, i: int(x[0] / x[2]),
    "zero_to_a_negative": lambda x, i: 0.0 ** -len(x),
}


def of_list(f):
    """A comprehension gives an array in ours: this is the one difference on purpose here."""
    def plain(x, i):
        result = f(x, i)
        return np.array(result) if isinstance(result, list) else result

    return plain


@pytest.mark.parametrize("name", ORIGINS)
def test_origin(name):
    check_agreement(jit(ORIGINS[name]), of_list(ORIGINS[name]), lambda: (X.copy(), I.copy()),
                    targets=TARGETS)


# A Python int meets a dtype: it must fit, as NEP 50 says.
@pytest.mark.parametrize(("dtype", "number"), [
    ("uint8", 255), ("uint8", 256), ("uint8", 300), ("uint8", -1), ("int8", 127), ("int8", 128),
    ("int8", -128), ("int8", -129), ("int32", 2**31 - 1), ("int32", 2**31), ("uint32", 2**32 - 1),
    ("uint64", 2**63 - 1), ("float32", 2**31), ("float32", 300)])
def test_a_python_int_fits_or_overflows(dtype, number):
    def added(x, k):
        return x + k

    x = np.arange(3).astype(dtype)
    check_agreement(jit(added), added, lambda: (x.copy(), number), targets=TARGETS)
    check_agreement(jit(added), added, lambda: (x[0], number), targets=TARGETS)


@pytest.mark.parametrize("python_type", [int, float, bool, complex])
@pytest.mark.parametrize("value", [0, 1, True, 2.5, np.int8(3), np.float32(1.5), np.bool_(False)])
def test_casts_of_arguments(python_type, value):
    def cast(v):
        return python_type(v)

    check_agreement(jit(cast), cast, lambda: (value,), targets=TARGETS)


@pytest.mark.parametrize("value", [3, 2.5, True, np.int16(3), np.float32(2.5), np.bool_(True),
                                   np.uint64(2**64 - 1), 1 + 2j, np.complex64(1j), None,
                                   (1, 2.5), (1, (np.float32(2), None))], ids=repr)
def test_an_argument_comes_back_as_it_went_in(value):
    def same(v):
        return v

    check_agreement(jit(same), same, lambda: (value,))


def test_a_scalar_that_joins_both_kinds_is_numpys():
    def last(x):
        y = 0.0
        for xi in x:
            y = xi
        return y

    for target in TARGETS:
        assert type(jit(last)(X, target=target)) is np.float64
        empty = jit(last)(X[:0], target=target)
        assert type(empty) is np.float64 and empty == 0.0


def test_joined_branches_promote():
    def either(flag):
        return 1 if flag else 2.5

    for target in TARGETS:
        assert jit(either)(True, target=target) == 1.0
        assert type(jit(either)(True, target=target)) is float


def asked_of_an_int(n):
    return n.bit_length(), n.bit_count(), (n * 3).bit_length(), np.int64(n).bit_count()


@pytest.mark.parametrize("n", [6, 0, -7, 2**40, -(2**60), True])
def test_methods_of_integers(n):
    check_agreement(jit(asked_of_an_int), asked_of_an_int, lambda: (n,))


def asked_of_a_float(x):
    return x.is_integer(), (x * 2).is_integer(), np.float32(x).is_integer(), np.int8(3).is_integer()


@pytest.mark.parametrize("x", [2.5, 2.0, -0.0, 1e300, float("inf"), float("nan")])
def test_methods_of_floats(x):
    check_agreement(jit(asked_of_a_float), asked_of_a_float, lambda: (x,))


def a_method_of_an_array(x):
    return x.is_integer()


def a_method_of_pythons_ints(x):
    return x[0].bit_length()


@pytest.mark.parametrize("f", [a_method_of_an_array, a_method_of_pythons_ints])
def test_who_has_no_such_method(f):
    with pytest.raises(AttributeError):
        jit(f)(np.arange(3))
