"""The functions of Python's `math`: Python numbers in and out.

Outside their domain they give nan or inf, where Python raises.
"""

import math

import numpy as np

from parakeet import primitives
from parakeet.library import special
from parakeet.library.intrinsics import bitcast
from parakeet.library.registry import functions, overload
from parakeet.library.ufuncs import common_divisor, common_multiple


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


@overload(math.nextafter)
def nextafter(x, y, *, steps=None):
    start, end = float(x), float(y)
    if steps is None:
        return float(primitives.nextafter(start, end))
    if steps < 0:
        raise ValueError("steps must be a non-negative integer")
    if steps == 0 or start != start:
        return start
    if end != end:
        return end
    first, last = place_of(start), place_of(end)
    if first == last:
        return end
    most = 0x7FFFFFFFFFFFFFFF
    if first < last:
        place = last if steps > most - max(first, 0) else min(first + steps, last)
    else:
        place = last if steps > most + min(first, 0) else max(first - steps, last)
    if place == last:
        return end
    number = float(bitcast(abs(place), np.float64))
    return math.copysign(number, start if place == 0 else float(place))


def place_of(x):
    """How many floats lie between 0 and x, less than 0 where x is."""
    bits = bitcast(x, np.int64)
    return int(bits) if bits >= 0 else -int(bits & 0x7FFFFFFFFFFFFFFF)


@overload(math.ulp)
def ulp(x):
    size = abs(float(x))
    if size != size or size == math.inf:
        return size
    above = float(primitives.nextafter(size, math.inf))
    if above == math.inf:
        return size - float(primitives.nextafter(size, 0.0))
    return above - size


@overload(math.remainder)
def remainder(x, y):
    a = float(x)
    size = abs(float(y))
    if a != a or size != size:
        return a + size
    if size == math.inf:
        return math.nan if abs(a) == math.inf else a
    # Exact: a remainder towards zero, and what is beyond half of y turned to the other side.
    rest = float(primitives.fmod(abs(a), size))
    other = size - rest
    if rest > other:
        rest = -other
    elif rest == other:
        rest = rest - 2.0 * float(primitives.fmod(0.5 * (abs(a) - rest), size))
    return float(primitives.copysign(1.0, a)) * rest


@overload(math.isclose)
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    apart = abs(float(a) - float(b))
    return bool(apart <= rel_tol * max(abs(float(a)), abs(float(b))) or apart <= abs_tol)


@overload(math.modf)
def modf(x):
    given = float(x)
    whole = float(primitives.trunc(given))
    part = 0.0 if isinf(given) else given - whole
    return float(primitives.copysign(part, given)), whole


@overload(math.ldexp)
def ldexp(x, i):
    steps = max(min(int(i), 5000), -5000)
    return float(special.scaled(np.float64(x), np.int64(steps)))


@overload(math.frexp)
def frexp(x):
    fraction, exponent = special.parts_of(np.float64(x))
    return float(fraction), int(exponent)


@overload(math.dist)
def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    total = 0.0
    for k, a in enumerate(p):
        total = hypot(total, float(a) - float(q[k]))
    return total


@overload(math.prod)
def prod(iterable, /, *, start=1):
    total = start
    for x in iterable:
        total = total * x
    return total


# Of whole numbers, which have 64 bits here.


def require_int(x):
    if not isinstance(x, int) and np.result_type(x).kind not in ("i", "u", "b"):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return int(x)


@overload(math.gcd)
def gcd(*integers):
    total = 0
    for one in integers:
        total = int(common_divisor(total, abs(require_int(one))))
    return total


@overload(math.lcm)
def lcm(*integers):
    total = 1
    for one in integers:
        total = int(common_multiple(total, abs(require_int(one))))
    return total


@overload(math.isqrt)
def isqrt(n):
    given = require_int(n)
    if given < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(primitives.sqrt(float(given)))
    while root * root > given or root > 3037000499:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= given:
        root += 1
    return root


@overload(math.factorial)
def factorial(n):
    given = require_int(n)
    if given < 0:
        raise ValueError("factorial() not defined for negative values")
    return perm(given, given)


@overload(math.perm)
def perm(n, k=None):
    given = require_int(n)
    count = given if k is None else require_int(k)
    if given < 0 or count < 0:
        raise ValueError("n and k must be non-negative integers")
    total = 1
    for i in range(count):
        total = total * (given - i)
    return total


@overload(math.comb)
def comb(n, k):
    given = require_int(n)
    count = require_int(k)
    if given < 0 or count < 0:
        raise ValueError("n and k must be non-negative integers")
    if count > given:
        return 0
    total = 1
    for i in range(min(count, given - count)):
        total = total * (given - i) // (i + 1)
    return total


def product_modulo(a, b, size):
    if size <= 3037000499:  # Its square has 63 bits.
        return a * b % size
    total = 0
    while b > 0:
        if b & 1:
            total = total - (size - a) if total >= size - a else total + a
        a = a - (size - a) if a >= size - a else a + a
        b >>= 1
    return total


def inverse_modulo(a, size):
    """By Euclid, with the multiple of `a` that each remainder is."""
    rest, remainder = size, a
    before, multiple = 0, 1
    while remainder != 0:
        quotient = rest // remainder
        rest, remainder = remainder, rest - quotient * remainder
        before, multiple = multiple, before - quotient * multiple
    if rest != 1:
        raise ValueError("base is not invertible for the given modulus")
    return before % size


def power_modulo(base, exp, mod):
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = abs(int(mod))
    factor = int(base) % size
    exponent = int(exp)
    if exponent < 0:
        factor = inverse_modulo(factor, size)
        exponent = -exponent
    power = 1 % size
    while exponent > 0:
        if exponent & 1:
            power = product_modulo(power, factor, size)
        factor = product_modulo(factor, factor, size)
        exponent >>= 1
    return power - size if mod < 0 and power != 0 else power


functions.update(power_modulo=power_modulo)
