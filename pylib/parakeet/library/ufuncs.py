"""NumPy's element-wise functions: those that are primitives, and the others in terms of them."""

import numpy as np

from parakeet import primitives
from parakeet.library.intrinsics import astype, float_type, select, strong
from parakeet.library.registry import functions, methods, overload, register
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
methods.update(conj=conjugate, conjugate=conjugate)


def give(result, out):
    """`result`, or `out` once it holds it."""
    if out is None:
        return result
    out[...] = result
    return out


@overload(np.square)
def square(x, out=None):
    x = strong(x)
    if x.dtype == bool:
        x = astype(x, np.int8)
    return give(multiply(x, x), out)


@overload(np.positive)
def positive(x, out=None):
    x = strong(x)
    if x.dtype == bool:
        raise TypeError("ufunc 'positive' did not contain a loop with signature matching types "
                        "<class 'numpy.dtypes.BoolDType'> -> None")
    return give(negative(negative(x)), out)


@overload(np.fabs)
def fabs(x, out=None):
    return give(absolute(astype(x, float_type(x))), out)


@overload(np.reciprocal)
def reciprocal(x, out=None):
    x = strong(x)
    if x.dtype == bool:
        x = astype(x, np.int8)
    if x.dtype.kind == "i" or x.dtype.kind == "u":
        # 1 / x without its fraction; over 0 what the processor makes of infinity.
        return give(astype(1 / astype(x, np.float64), x.dtype), out)
    return give(divide(1, x), out)


@overload(np.float_power)
def float_power(x, y, out=None):
    x = strong(x)
    y = strong(y)
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        return give(power(astype(x, np.complex128), y), out)
    return give(power(astype(x, np.float64), y), out)


@overload(np.heaviside)
def heaviside(x, y, out=None):
    dtype = float_type(x, y)
    x = astype(x, dtype)
    from_zero = select(x == 0, astype(y, dtype), astype(1, dtype))
    step = select(x < 0, astype(0, dtype), from_zero)
    return give(select(x != x, x, step), out)


@overload(np.logaddexp)
def logaddexp(x, y, out=None):
    dtype = float_type(x, y)
    x = astype(x, dtype)
    y = astype(y, dtype)
    apart = maximum(x, y) + log1p(exp(-absolute(x - y)))
    return give(select(x == y, x + 0.6931471805599453, apart), out)


@overload(np.logaddexp2)
def logaddexp2(x, y, out=None):
    dtype = float_type(x, y)
    x = astype(x, dtype)
    y = astype(y, dtype)
    apart = maximum(x, y) + 1.4426950408889634 * log1p(exp2(-absolute(x - y)))
    return give(select(x == y, x + 1, apart), out)


@overload(np.rad2deg, np.degrees)
def rad2deg(x, out=None):
    return give(astype(x, float_type(x)) * (180 / 3.141592653589793), out)


@overload(np.deg2rad, np.radians)
def deg2rad(x, out=None):
    return give(astype(x, float_type(x)) * (3.141592653589793 / 180), out)


@overload(np.sinc)
def sinc(x):
    x = astype(x, float_type(x, 1.0))
    y = 3.141592653589793 * x
    return select(x == 0, astype(1, x.dtype), primitives.sin(y) / y)


@overload(np.divmod)
def divmod_(x, y):
    return primitives.floor_divide(x, y), primitives.remainder(x, y)


@overload(np.real)
def real(x):
    return strong(x).real


@overload(np.imag)
def imag(x):
    return strong(x).imag
