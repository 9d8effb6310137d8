"""Functions of numbers by parts of their representation, and the Bessel function of order 0."""

import numpy as np

from parakeet import primitives
from parakeet.library.intrinsics import (
    astype,
    bitcast,
    can_cast,
    float_type,
    popcount,
    select,
    strong,
)
from parakeet.library.registry import overload, ufunc
from parakeet.library.ufuncs import unsigned_type, widened
from parakeet.operators import map

# Chebyshev coefficients of exp(-x) I0(x) on [0, 8], and of exp(-x) sqrt(x) I0(x) above (Cephes).
I0_NEAR = (
    -4.41534164647933937950E-18, 3.33079451882223809783E-17, -2.43127984654795469359E-16,
    1.71539128555513303061E-15, -1.16853328779934516808E-14, 7.67618549860493561688E-14,
    -4.85644678311192946090E-13, 2.95505266312963983461E-12, -1.72682629144155570723E-11,
    9.67580903537323691224E-11, -5.18979560163526290666E-10, 2.65982372468238665035E-9,
    -1.30002500998624804212E-8, 6.04699502254191894932E-8, -2.67079385394061173391E-7,
    1.11738753912010371815E-6, -4.41673835845875056359E-6, 1.64484480707288970893E-5,
    -5.75419501008210370398E-5, 1.88502885095841655729E-4, -5.76375574538582365885E-4,
    1.63947561694133579842E-3, -4.32430999505057594430E-3, 1.05464603945949983183E-2,
    -2.37374148058994688156E-2, 4.93052842396707084878E-2, -9.49010970480476444210E-2,
    1.71620901522208775349E-1, -3.04682672343198398683E-1, 6.76795274409476084995E-1,
)  # fmt: skip
I0_FAR = (
    -7.23318048787475395456E-18, -4.83050448594418207126E-18, 4.46562142029675999901E-17,
    3.46122286769746109310E-17, -2.82762398051658348494E-16, -3.42548561967721913462E-16,
    1.77256013305652638360E-15, 3.81168066935262242075E-15, -9.55484669882830764870E-15,
    -4.15056934728722208663E-14, 1.54008621752140982691E-14, 3.85277838274214270114E-13,
    7.18012445138366623367E-13, -1.79417853150680611778E-12, -1.32158118404477131188E-11,
    -3.14991652796324136454E-11, 1.18891471078464383424E-11, 4.94060238822496958910E-10,
    3.39623202570838634515E-9, 2.26666899049817806459E-8, 2.04891858946906374183E-7,
    2.89137052083475648297E-6, 6.88975834691682398426E-5, 3.36911647825569408990E-3,
    8.04490411014108831608E-1,
)  # fmt: skip


def chebyshev(x, coefficients):
    last = 0.0
    before = 0.0
    now = coefficients[0]
    for one in coefficients[1:]:
        before = last
        last = now
        now = x * last - before + one
    return 0.5 * (now - before)


def bessel(x):
    size = primitives.absolute(x)
    if size <= 8.0:
        return primitives.exp(size) * chebyshev(size / 2.0 - 2.0, I0_NEAR)
    return primitives.exp(size) * chebyshev(32.0 / size - 2.0, I0_FAR) / primitives.sqrt(size)


@overload(np.i0)
def i0(x):
    given = strong(x)
    if given.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    values = given if given.dtype.kind == "f" else astype(given, np.float64)
    return np.asarray(astype(map(bessel, values, axis=None), values.dtype))


@ufunc(np.spacing)
def spacing(x):
    given = astype(x, float_type(x))
    above = astype(np.inf, given.dtype)
    # NumPy's float16 goes upwards from negative numbers too.
    away = above if given.dtype == np.float16 else select(given < 0, -above, above)
    step = primitives.nextafter(given, away) - given
    return select(primitives.isinf(given), astype(np.nan, given.dtype), step)


@ufunc(getattr(np, "bitwise_count", None) or np.positive)
def bitwise_count(x):
    given = strong(x)
    if given.dtype == bool:
        return astype(given, np.uint8)
    if given.dtype.kind != "i" and given.dtype.kind != "u":
        raise TypeError("ufunc 'bitwise_count' not supported for the input types")
    # Of a negative number those of its absolute value, which every unsigned dtype holds.
    sizes = astype(primitives.absolute(given), unsigned_type(given.dtype))
    return astype(popcount(sizes), np.uint8)


def layout_of(dtype):
    """Of float32 and float64: the integers as wide, where the exponent begins, what it is of
    numbers in [0.5, 1), the most it may be, and how many bits the fraction has."""
    if dtype == np.float32:
        return np.int32, 23, 126, 255, 24
    return np.int64, 52, 1022, 2047, 53


def power_of_two(n):
    """The float64, exact for an n between -1022 and 1023."""
    return bitcast((strong(n) + 1023) << 52, np.float64)


def parts_of(x):
    """The fraction in [0.5, 1) of a float32 or float64 and its exponent, as an integer as wide; of
    zeros, infinities and nan themselves and 0."""
    whole, begin, of_half, most, digits = layout_of(x.dtype)
    # What is below the normal numbers has no exponent of its own: it is lifted there.
    is_small = primitives.absolute(x) < 2.0 ** (2 - of_half)
    normal = select(is_small, x * 2.0**digits, x)
    bits = bitcast(normal, whole)
    field = (bits >> begin) & most
    has_none = (field == most) | (x == 0)
    exponent = field - select(is_small, of_half + digits, of_half)
    fraction = bitcast((bits & ~(most << begin)) | (of_half << begin), x.dtype)
    return select(has_none, x, fraction), select(has_none, 0, exponent)


def scaled(x, steps):
    """A float64 times 2 to an int64, rounded once: what the first two products are is exact, or the
    last makes it 0 or infinite."""
    last = np.clip(steps, -1022, 1023)
    rest = np.clip(steps - last, -1022, 1023)
    first = np.clip(steps - last - rest, -1022, 1023)
    return x * power_of_two(first) * power_of_two(rest) * power_of_two(last)


def scaled_narrow(x, steps):
    """A number of fewer bits as a float64, times 2 to an int64: exact, or beyond its dtype."""
    return astype(x, np.float64) * power_of_two(np.clip(steps, -400, 400))


@ufunc(np.ldexp)
def ldexp(x, i):
    given = astype(x, float_type(x))
    steps = strong(i)
    if not can_cast(steps.dtype, np.int64, "safe"):
        raise TypeError("ufunc 'ldexp' not supported for the input types")
    steps = astype(steps, np.int64)
    if given.dtype == np.float64:
        return scaled(given, steps)
    return astype(scaled_narrow(given, steps), given.dtype)


@ufunc(np.frexp)
def frexp(x):
    given = astype(x, float_type(x))
    fraction, exponent = parts_of(widened(given, given.dtype))
    return astype(fraction, given.dtype), astype(exponent, np.int32)
