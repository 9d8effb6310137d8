"""NumPy's element-wise functions: those that are primitives, and the others in terms of them."""

import numpy as np

from parakeet import primitives
from parakeet.library.intrinsics import astype, float_type, result_type, select, strong
from parakeet.library.registry import functions, methods, overload, register, ufunc
from parakeet.operators import map
from parakeet.primitives import (
    absolute,
    conjugate,
    divide,
    exp,
    exp2,
    log1p,
    maximum,
    multiply,
    negative,
    power,
)

# Primitives under NumPy's other names.
_ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}

for _name in primitives.PRIMITIVES:
    functions[_name] = getattr(primitives, _name)
    if hasattr(np, _name):
        register(functions[_name], getattr(np, _name))
for _alias, _name in _ALIASES.items():
    if hasattr(np, _alias):
        register(functions[_name], getattr(np, _alias))


def conjugate_method(x, out=None):
    """Unlike the function it gives numbers that are not complex back, bools and arrays too."""
    if out is None and x.dtype.kind != "c":
        return x
    return conjugate(x, out=out)


methods.update(conj=conjugate_method, conjugate=conjugate_method)


def give(result, out):
    """`result`, or `out` once it holds it."""
    if out is None:
        return result
    out[...] = result
    return out


@ufunc(np.square)
def square(x):
    x = strong(x)
    if x.dtype == bool:
        x = astype(x, np.int8)
    return multiply(x, x)


@ufunc(np.positive)
def positive(x):
    x = strong(x)
    if x.dtype == bool:
        raise TypeError("ufunc 'positive' did not contain a loop with signature matching types "
                        "<class 'numpy.dtypes.BoolDType'> -> None")
    return negative(negative(x))


@ufunc(np.fabs)
def fabs(x):
    return absolute(astype(x, float_type(x)))


@ufunc(np.reciprocal)
def reciprocal(x):
    x = strong(x)
    if x.dtype == bool:
        x = astype(x, np.int8)
    if x.dtype.kind == "i" or x.dtype.kind == "u":
        # 1 / x without its fraction; over 0 what the processor makes of infinity.
        return astype(1 / astype(x, np.float64), x.dtype)
    return divide(1, x)


@ufunc(np.float_power)
def float_power(x, y):
    x = strong(x)
    y = strong(y)
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        return power(astype(x, np.complex128), y)
    return power(astype(x, np.float64), y)


@ufunc(np.heaviside)
def heaviside(x, y):
    dtype = float_type(x, y)
    x = astype(x, dtype)
    from_zero = select(x == 0, astype(y, dtype), astype(1, dtype))
    step = select(x < 0, astype(0, dtype), from_zero)
    return select(x != x, x, step)


def widened(x, dtype):
    """float16 in float32, where several operations would each round."""
    return astype(x, np.float32 if dtype == np.float16 else dtype)


@ufunc(np.logaddexp)
def logaddexp(x, y):
    dtype = float_type(x, y)
    x = widened(x, dtype)
    y = widened(y, dtype)
    apart = maximum(x, y) + log1p(exp(-absolute(x - y)))
    return astype(select(x == y, x + 0.6931471805599453, apart), dtype)


@ufunc(np.logaddexp2)
def logaddexp2(x, y):
    dtype = float_type(x, y)
    x = widened(x, dtype)
    y = widened(y, dtype)
    apart = maximum(x, y) + 1.4426950408889634 * log1p(exp2(-absolute(x - y)))
    return astype(select(x == y, x + 1, apart), dtype)


@ufunc(np.rad2deg, np.degrees)
def rad2deg(x):
    return astype(x, float_type(x)) * (180 / 3.141592653589793)


@ufunc(np.deg2rad, np.radians)
def deg2rad(x):
    return astype(x, float_type(x)) * (3.141592653589793 / 180)


def unsigned_type(dtype):
    """Of the same width: it holds the absolute value of every number of an integer dtype."""
    if dtype.itemsize == 1:
        return np.uint8
    if dtype.itemsize == 2:
        return np.uint16
    return np.uint32 if dtype.itemsize == 4 else np.uint64


def common_divisor(a, b):
    """Of two numbers of one dtype that are not negative, by Euclid."""
    while b != 0:
        a, b = b, primitives.remainder(a, b)
    return a


def common_multiple(a, b):
    divisor = common_divisor(a, b)
    return a // divisor * b if divisor != 0 else divisor


def of_sizes(f, x, y, name):
    """f of the absolute values, in the dtype of both."""
    dtype = result_type(x, y)
    if dtype.kind != "i" and dtype.kind != "u":
        raise TypeError(f"ufunc '{name}' not supported for the input types, and the inputs could "
                        "not be safely coerced to any supported types according to the casting "
                        "rule ''safe''")
    unsigned = unsigned_type(dtype)
    a = astype(absolute(astype(x, dtype)), unsigned)
    b = astype(absolute(astype(y, dtype)), unsigned)
    return astype(map(f, a, b, axis=None), dtype)


@ufunc(np.gcd)
def gcd(x, y):
    return of_sizes(common_divisor, x, y, "gcd")


@ufunc(np.lcm)
def lcm(x, y):
    return of_sizes(common_multiple, x, y, "lcm")


@overload(np.sinc)
def sinc(x):
    x = strong(x)
    if x.dtype.kind != "c":
        x = astype(x, float_type(x, 1.0))
    y = 3.141592653589793 * x
    return select(x == 0, astype(1, x.dtype), primitives.sin(y) / y)


@ufunc(np.divmod)
def divmod_(x, y):
    return primitives.floor_divide(x, y), primitives.remainder(x, y)


@ufunc(np.modf)
def modf(x):
    x = astype(strong(x), float_type(x))
    whole = primitives.trunc(x)
    part = select(primitives.isinf(x), astype(0, x.dtype), x - whole)
    return primitives.copysign(part, x), whole


@overload(np.real)
def real(val):
    return val.real if isinstance(val, (bool, int, float, complex)) else strong(val).real


@overload(np.imag)
def imag(val):
    return val.imag if isinstance(val, (bool, int, float, complex)) else strong(val).imag


@overload(np.angle)
def angle(z, deg=False):
    x = strong(z)
    if x.dtype == bool:
        x = astype(x, np.float64)
    phase = primitives.arctan2(x.imag, x.real)
    return phase * (180 / 3.141592653589793) if deg else phase


@overload(np.iscomplex)
def iscomplex(x):
    return strong(x).imag != 0


@overload(np.isreal)
def isreal(x):
    return imag(x) == 0


@overload(np.isposinf)
def isposinf(x, out=None):
    return give(strong(x) == np.inf, out)


@overload(np.isneginf)
def isneginf(x, out=None):
    return give(strong(x) == -np.inf, out)
