"""The keywords of NumPy's functions and the methods of its element-wise ones, as rows of
library_rows.py: `out`, `where`, `dtype`, `casting`, `order`, `initial`, what they refuse."""

import numpy as np
from agreement import REDUCED, TRANSCENDENTAL
from layouts import values
from library_rows import BOOL, C128, CUBE, F32, F64, I8, I64, U8, Group, of_each

INTO = np.zeros((5, 7))
ROW = np.zeros(5)
WHOLE = np.zeros(5, int)

GROUPS = {
    "into_of_one": Group(
        "x, z", {"float64": (F64, INTO), "int8": (I8, INTO.astype("f4")), "int": (I64, INTO)},
        """
            np.square(x, z); np.square(x, out=(z,)); np.square(x, out=z, where=x > 0)
            np.square(x, out=z[:4]); np.square(x, out=z.astype(int)); np.square(2.5, z)
            np.square(x, dtype=np.float32); np.square(x, dtype=int); np.square(x, casting='no')
            np.square(x, casting='safe', order='F', subok=False); np.square(x, casting='bad')
            np.reciprocal(x, x); np.negative(x, out=z, casting='unsafe'); np.fabs(x, x)
            np.sqrt(x, dtype=int); np.isnan(x, dtype=int); np.isnan(x, dtype=bool)
            np.rad2deg(x, out=z, where=[True]); np.degrees(x, dtype=float)
            np.trunc(x[0], z, where=x > 0); np.sign(x, where=True); np.sqrt(x, order='Z')
            np.logical_not(x, dtype=int); np.abs(x, where=1)
        """,
        TRANSCENDENTAL),
    "into_of_two": Group(
        "x, z", {"float64": (F64, INTO), "int8": (I8, INTO.astype("f4")), "bool": (BOOL, INTO)},
        """
            np.add(x, x[0], out=(z,)); np.add(x, x[::-1], z, where=x > 0); np.add(x, 1, z[0])
            np.add(x, 1.5, dtype=np.float32); np.add(x, x, out=x, casting='unsafe')
            np.add(x, x[:4]); np.add([1, 2], [3, 4]); np.logaddexp(x, x[0], z)
            np.logaddexp2(x, x, out=x); np.heaviside(x, 0.5, out=z, where=x[0] > 0)
            np.heaviside(x, 1, dtype='f8'); np.float_power(x, 2, z); np.less(x, 1, dtype=float)
            np.less(x, 1, dtype=bool); np.logical_and(x, 1.5, dtype=np.float32)
            np.divide(x, 2, dtype=int); np.divide(x, 2, dtype='f4', casting='unsafe')
            np.equal(x, x[0], z); np.maximum(x, 1, casting='same_kind', order='C')
            np.add(x, 1, out=3); np.add(x); np.add(x, 1, axis=0)
        """,
        TRANSCENDENTAL),
    "reduced_into": Group(
        "x, z, s, k", {
            "float64": (F64, INTO, ROW, WHOLE), "int8": (I8, INTO.astype("f4"), ROW, WHOLE),
            "int64": (I64, INTO.astype("i4"), ROW.astype("i4"), WHOLE.astype("i4")),
        },
        "\n".join(f"""
            np.{f}(x, axis=1, out=s); np.{f}(x, axis=1, out=s[:4]); np.{f}(x, axis=1, out=z)
            np.{f}(x, axis=1, out=s, keepdims=True); np.{f}(x, axis=1, keepdims=True, out=z[:, :1])
            np.{f}(x, out=z[0]); x.{f}(1, out=k)
        """ for f in ("sum", "max", "mean", "argmin", "all", "var")) + """
            np.cumsum(x, 0, None, z); np.cumsum(x, axis=0, out=z[:4]); np.cumprod(x, 1, out=x)
            np.ptp(x, axis=1, out=k); np.std(x, axis=1, out=k); np.ptp(x, axis=1, out=s)
        """,
        REDUCED),
    "reduced_where": Group(
        "x", of_each("F64", "F32", "I8", "CUBE") | {"empty": (F64[:0],)},
        """
            np.sum(x, where=x > 0, initial=2); np.sum(x, where=True); np.max(x, where=True)
            np.max(x, axis=1, where=x > 0, initial=-9); np.min(x, axis=0, where=x[:1] > 0)
            np.mean(x, axis=1, where=x > 0); np.mean(x, dtype=int); np.mean(x, where=x > 99)
            np.var(x, where=x > 0, axis=0); np.std(x, where=x > 0); np.var(x, correction=1)
            np.std(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)); np.var(x, ddof=0.5)
            np.all(x, axis=1, where=x > 0); np.prod(x, axis=0, initial=2, where=x > 0)
            np.argmax(x, axis=(0, 1)); np.argmin(x, axis=None, keepdims=True)
            np.cumulative_sum(x, axis=0); np.cumulative_sum(x, axis=1, include_initial=True)
            np.cumulative_prod(x, axis=-1, dtype=float); np.sum(x[..., 0, 0], keepdims=True)
        """,
        REDUCED),
    "without_nan": Group(
        "x", {
            "float64": (F64,), "int64": (I64,), "nan": (np.where(F64 > 0.5, np.nan, F64),),
            "rows_of_nan": (np.where(np.arange(7) > 2, np.nan, F64[:2]),), "cube": (CUBE,),
        },
        """
            np.nansum(x, 1, keepdims=True, initial=1, where=x > 0); np.nanprod(x, axis=0, initial=2)
            np.nanmean(x, where=x > 0); np.nanmean(x, axis=(0, 1), keepdims=True); np.nanvar(x)
            np.nanvar(x, axis=0, ddof=1); np.nanstd(x, axis=1, keepdims=True)
            np.nanmax(x, axis=1, initial=1, where=x > 0); np.nanmin(x, axis=0)
            np.nanargmin(x); np.nanargmax(x, axis=0); np.nanargmin(x, axis=1, keepdims=True)
            np.nancumsum(x, axis=0); np.nancumprod(x); np.nan_to_num(x); np.nan_to_num(x, nan=1.5)
            np.nan_to_num(x / 0, posinf=1, neginf=2); np.nan_to_num(x, copy=False)
        """,
        REDUCED),
    "methods_of_functions": Group(
        "x, y", {
            "float64": (F64, F64[0]), "int64": (abs(I64), abs(I64[0])), "int8": (I8, I8[0]),
            "bool": (BOOL, BOOL[0]), "cube": (CUBE, CUBE[0, 0]), "empty": (F64[:0], F64[0, :0]),
        },
        "\n".join(f"""
            np.{f}.reduce(x); np.{f}.reduce(x, axis=None); np.{f}.accumulate(x)
            np.{f}.accumulate(x, axis=1); np.{f}.outer(x, y); np.{f}.reduce(x, axis=(0, 1))
            np.{f}.reduce(x, initial=2); np.{f}.reduce(x, dtype=np.float64)
        """ for f in ("add", "multiply", "subtract", "maximum", "logical_and", "bitwise_xor",
                      "less", "floor_divide", "hypot", "fmin")) + """
            np.add.reduce(x, axis=-1, keepdims=True); np.divide.reduce(x, axis=1)
            np.add.reduce(x, 0, None, None, True, 1, x > 0); np.add.reduce(x, axis=3)
            np.subtract.reduce(x, axis=1, where=x > 0, initial=1); np.maximum.reduce(x, where=x > 0)
            np.add.reduce([1, 2, 3]); np.add.reduce((x, x)); np.multiply.outer([1, 2], [3, 4])
            np.add.outer(1, 2); np.add.outer(y, 3, dtype=float); np.exp.reduce(x); np.add.reduce(3)
            np.add.at(x, [0, 0], 1); np.multiply.at(x, (0, 1), 3); np.negative.at(x, 0)
            np.subtract.at(x, slice(0, 2), y); np.add.at(x, x[:, 0] > 0, 1); np.add.accumulate(3)
            np.add.accumulate(x, 0, None, np.zeros(x.shape)); np.logaddexp.reduce(x); np.add.nin
        """,
        REDUCED),
    "divisors": Group(
        "x, y", {
            "int64": (I64 * 6, I64.T[:7, :5].T * 4), "uint8": (U8 * 6, U8[::-1] * 4),
            "scalar": (I8, 6), "numbers": (12, 18), "float64": (F64, 2),
            "lists": ([12, 0], [18, 0]), "mixed": (U8, I8),
            "large": (values(1000, "int64") * 15, 35),
        },
        """
            np.gcd(x, y); np.lcm(x, y); np.gcd.reduce(x); np.gcd(x, y, dtype=np.int32)
        """),
    "parts": Group(
        "x", {
            "float64": (F64,), "int8": (I8,), "complex128": (C128,), "float": (2.5,), "int": (3,),
            "inf": (np.array([np.inf, -np.inf, np.nan, -2.5, -0.0]),),
        },
        """
            np.real(x); np.imag(x); np.angle(x); np.angle(x, deg=True); np.isreal(x); np.sinc(x)
            np.iscomplex(x); np.modf(x.real); np.isposinf(x.real); np.isneginf(x.real)
        """,
        TRANSCENDENTAL),
    "limits": Group(
        "x", {"float32": (F32,), "float": (1.5,)},
        "; ".join(f"np.finfo(np.float32).{name}" for name in (
            "eps", "tiny", "max", "min", "smallest_normal", "resolution", "bits", "nmant")) + """
            np.iinfo(np.int8).min; np.iinfo(np.uint64).max; np.iinfo('i4').bits
            np.finfo(float).eps; np.iinfo(int).max; np.finfo(int).eps; np.iinfo(float).max
            np.finfo(np.float16).tiny * x; np.can_cast(np.int8, np.int16); np.euler_gamma
            np.can_cast(np.float64, 'f4', 'same_kind'); np.can_cast(np.float64, int)
        """),
}
