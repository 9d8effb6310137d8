"""Values at the edges of every dtype, the functions that meet them, and what each may be off by."""

import itertools

import numpy as np
from agreement import EXACT, TRANSCENDENTAL, Tolerance

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128")
FEW_ULPS = Tolerance("a few roundings, in another order or fused", ulps=8.0)

INVERSES = Tolerance("as the others, but of complex numbers a GPU has none", TRANSCENDENTAL.ulps,
                     of_one=TRANSCENDENTAL.of_one)
LEAST_AND_MOST = Tolerance("a GPU's instruction takes 0 of float32 for more than -0")
POWERS = Tolerance("of real powers, as of the others", TRANSCENDENTAL.ulps,
                   of_one=TRANSCENDENTAL.of_one)


def of_complex_powers(x, y) -> Tolerance:
    """exp(y log x) multiplies an error of y log x by its size: log x is within some units in its
    last place, which are so much of 1 as log x and y are larger than it. Each element has its own
    bound: (16 + 4 |y log x|) units."""
    with np.errstate(all="ignore"):
        size = np.abs(y * np.log(np.asarray(x, complex)))
    ulps = POWERS.ulps + 4 * np.where(np.isfinite(size), size, 0)
    return Tolerance("an error of y log x counts by its size", ulps, of_one=POWERS.of_one)


def edges(dtype) -> np.ndarray:
    """Extremes, zeros of both signs, the smallest numbers, what is no number, and a few others."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, 0, 1, 2, 7, limits.max // 2 + 1,
                         *((-1, -3, limits.min + 1) if dtype.kind == "i" else ())], dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5,
                         limits.max, limits.min, limits.tiny, -limits.tiny / 4], dtype)
    parts = (1.5, -2.0, 0.0, -0.0, np.inf, np.nan)
    return np.array([complex(a, b) for a, b in itertools.product(parts, parts)], dtype)


def every_pair(first, second) -> tuple[np.ndarray, np.ndarray]:
    """The edges of two dtypes, each with each."""
    x, y = np.broadcast_arrays(edges(first)[:, None], edges(second)[None])
    return x.ravel().copy(), y.ravel().copy()


# Element-wise functions of NumPy's by what ours may be off by.
BINARY = {
    EXACT: """
        add subtract multiply divide floor_divide remainder fmod fmin fmax less less_equal equal
        not_equal greater greater_equal logical_and logical_or logical_xor bitwise_and
        bitwise_or bitwise_xor copysign nextafter heaviside gcd
    """.split(),
    LEAST_AND_MOST: "minimum maximum".split(),
    TRANSCENDENTAL: "arctan2 hypot logaddexp logaddexp2".split(),
    POWERS: "power float_power".split(),
}
UNARY = {
    EXACT: """
        negative positive absolute sign square floor ceil trunc rint sqrt isnan isinf isfinite
        signbit conjugate invert logical_not fabs reciprocal real imag spacing modf bitwise_count
        isreal nan_to_num
    """.split(),
    TRANSCENDENTAL: """
        exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh cbrt rad2deg deg2rad angle
    """.split(),
    INVERSES: "arcsin arccos arctan arcsinh arccosh arctanh".split(),
}
