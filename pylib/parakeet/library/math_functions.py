"""The functions of Python's `math`: Python floats in, Python numbers out.

Outside their domain they give nan or inf, where Python raises.
"""

import math

from parakeet import primitives
from parakeet.library.registry import overload


@overload(math.ceil)
def ceil(x):
    if isinstance(x, int):
        return int(x)
    return int(primitives.ceil(float(x)))


@overload(math.floor)
def floor(x):
    if isinstance(x, int):
        return int(x)
    return int(primitives.floor(float(x)))


@overload(math.trunc)
def trunc(x):
    return int(x)


@overload(math.fabs)
def fabs(x):
    return abs(float(x))


@overload(math.isnan)
def isnan(x):
    return bool(primitives.isnan(float(x)))


@overload(math.isinf)
def isinf(x):
    return bool(primitives.isinf(float(x)))


@overload(math.isfinite)
def isfinite(x):
    return bool(primitives.isfinite(float(x)))


@overload(math.sqrt)
def sqrt(x):
    return float(primitives.sqrt(float(x)))


@overload(math.cbrt)
def cbrt(x):
    return float(primitives.cbrt(float(x)))


@overload(math.exp)
def exp(x):
    return float(primitives.exp(float(x)))


@overload(math.exp2)
def exp2(x):
    return float(primitives.exp2(float(x)))


@overload(math.expm1)
def expm1(x):
    return float(primitives.expm1(float(x)))


@overload(math.log)
def log(x, base=None):
    if base is None:
        return float(primitives.log(float(x)))
    return float(primitives.log(float(x)) / primitives.log(float(base)))


@overload(math.log2)
def log2(x):
    return float(primitives.log2(float(x)))


@overload(math.log10)
def log10(x):
    return float(primitives.log10(float(x)))


@overload(math.log1p)
def log1p(x):
    return float(primitives.log1p(float(x)))


@overload(math.sin)
def sin(x):
    return float(primitives.sin(float(x)))


@overload(math.cos)
def cos(x):
    return float(primitives.cos(float(x)))


@overload(math.tan)
def tan(x):
    return float(primitives.tan(float(x)))


@overload(math.asin)
def asin(x):
    return float(primitives.arcsin(float(x)))


@overload(math.acos)
def acos(x):
    return float(primitives.arccos(float(x)))


@overload(math.atan)
def atan(x):
    return float(primitives.arctan(float(x)))


@overload(math.sinh)
def sinh(x):
    return float(primitives.sinh(float(x)))


@overload(math.cosh)
def cosh(x):
    return float(primitives.cosh(float(x)))


@overload(math.tanh)
def tanh(x):
    return float(primitives.tanh(float(x)))


@overload(math.asinh)
def asinh(x):
    return float(primitives.arcsinh(float(x)))


@overload(math.acosh)
def acosh(x):
    return float(primitives.arccosh(float(x)))


@overload(math.atanh)
def atanh(x):
    return float(primitives.arctanh(float(x)))


@overload(math.erf)
def erf(x):
    return float(primitives.erf(float(x)))


@overload(math.erfc)
def erfc(x):
    return float(primitives.erfc(float(x)))


@overload(math.atan2)
def atan2(y, x):
    return float(primitives.arctan2(float(y), float(x)))


@overload(math.copysign)
def copysign(x, y):
    return float(primitives.copysign(float(x), float(y)))


@overload(math.fmod)
def fmod(x, y):
    return float(primitives.fmod(float(x), float(y)))


@overload(math.pow)
def pow(x, y):
    return float(primitives.power(float(x), float(y)))


@overload(math.hypot)
def hypot(x, y):
    return float(primitives.hypot(float(x), float(y)))


@overload(math.degrees)
def degrees(x):
    return float(x) * (180 / 3.141592653589793)


@overload(math.radians)
def radians(x):
    return float(x) * (3.141592653589793 / 180)
