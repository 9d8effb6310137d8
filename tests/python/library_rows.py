"""NumPy's functions, as rows: expressions over named arguments, compiled for every set of them."""

import re
from dataclasses import dataclass

import numpy as np
from agreement import EXACT, REDUCED, TRANSCENDENTAL, Tolerance
from layouts import values

ROUNDED = Tolerance("NumPy rounds a step more, or in another order", ulps=4.0)

F64 = values((5, 7), "float64")
F32 = values((5, 7), "float32")
F16 = values((5, 7), "float16")
C128 = values((5, 7), "complex128")
I64 = values((5, 7), "int64")
I8 = values((5, 7), "int8")
U8 = values((5, 7), "uint8")
BOOL = values((5, 7), "bool")
CUBE = values((3, 4, 5), "float64")
SPECIAL = np.array([1.5, -0.0, 0.0, np.nan, np.inf, -np.inf, -2.5, 2.5, 0.5, -0.5, 1e300])
LARGE = values(100003, "float64")


@dataclass(frozen=True)
class Group:
    """Expressions over arguments of the same names, each on several sets of arguments."""

    names: str
    arguments: dict[str, tuple]
    text: str  # expressions, apart by semicolons and line ends
    tolerance: Tolerance = EXACT

    def expressions(self) -> list[str]:
        return [row.strip() for row in re.split("[;\n]", self.text) if row.strip()]


def of_each(*names):
    """Sets of one argument, by the names of arrays above."""
    return {name: (globals()[name],) for name in names}


GROUPS = {
    "transcendental": Group(
        "x", of_each("F64", "F32", "I8", "SPECIAL"),
        """
            np.sqrt(x); np.exp(x); np.exp2(x); np.expm1(x); np.log(x); np.log2(x); np.log10(x)
            np.log1p(x); np.sin(x); np.cos(x); np.tan(x); np.sinh(x); np.cosh(x); np.tanh(x)
            np.arcsin(x); np.arccos(x); np.arctan(x); np.arcsinh(x); np.arctanh(x); np.rad2deg(x)
            np.deg2rad(x); np.radians(x); np.degrees(x); np.cbrt(x); np.sinc(x); np.arccosh(x + 5)
        """,
        TRANSCENDENTAL),
    "transcendental_of_integers": Group(
        "x", of_each("I64", "BOOL", "F16"),
        """
            np.sqrt(x); np.exp(x); np.tanh(x)
        """,
        TRANSCENDENTAL),
    "transcendental_of_complex": Group(
        "x", of_each("C128"),
        """
            np.sqrt(x); np.exp(x); np.sin(x); np.log(x)
        """,
        TRANSCENDENTAL),
    "transcendental_of_two": Group(
        "x, y", {
            "float64": (F64, F64[::-1] + 1), "float32": (F32, F32[::-1] + 1),
            "int8": (I8, I8[::-1]),
        },
        """
            np.arctan2(x, y); np.hypot(x, y); np.logaddexp(x, y); np.logaddexp2(x, y)
            np.power(np.abs(x), np.abs(y))
        """,
        TRANSCENDENTAL),
    "unary": Group(
        "x", of_each("F64", "F16", "I64", "U8"),
        """
            np.abs(x); np.absolute(x); np.negative(x); np.positive(x); np.square(x); np.sign(x)
            np.real(x); np.imag(x); np.conjugate(x); np.isnan(x); np.isinf(x); np.isfinite(x)
            np.logical_not(x)
        """),
    "unary_of_complex": Group(
        "x", of_each("C128"),
        """
            np.abs(x); np.square(x); -x; np.real(x); x.imag; np.conj(x); x.conj(); np.isnan(x)
            np.isfinite(x); np.rint(x); np.reciprocal(x); x == x.real
        """,
        ROUNDED),
    "unary_of_bool": Group(
        "x", of_each("BOOL"),
        """
            np.abs(x); np.square(x); np.logical_not(x); np.invert(x); ~x; np.floor(x); np.isnan(x)
        """),
    "real_only": Group(
        "x", of_each("F64", "F32", "I64", "U8", "SPECIAL"),
        """
            np.floor(x); np.ceil(x); np.trunc(x); np.rint(x); np.round(x); np.fix(x); np.fabs(x)
            x.round(); np.clip(x, 1, 2); x.clip(0, 1); np.maximum(x, 1)
        """),
    "rounding_to_decimals": Group(
        "x", {
            "float64": (F64 * 1000,), "float32": (F32 * 1000,), "int64": (I64 * 1000 + 77,),
        },
        """
            np.round(x, 2); np.round(x, -2); np.around(x, 1); x.round(1)
        """),
    "float_only": Group(
        "x", of_each("F64", "F32", "SPECIAL"),
        """
            np.signbit(x); np.reciprocal(x); np.heaviside(x, 0.5); np.copysign(x, -1.0)
            np.nextafter(x, 0.0); np.clip(x, -0.5, 0.25); np.clip(x, None, 0.0); -x; abs(x)
        """),
    "binary": Group(
        "x, y", {
            "float64": (F64, F64[::-1] * 1.5), "int8": (I8, I8[::-1]),
            "bool": (BOOL, BOOL.T[:5, :1]), "mixed": (I64, F32), "small": (U8, I8),
            "rows": (F64, F64[0]), "specials": (SPECIAL, SPECIAL[::-1].copy()),
            "scalar": (F32, 2.5),
        },
        """
            np.add(x, y); np.multiply(x, y); np.minimum(x, y); np.maximum(x, y); np.fmin(x, y)
            np.fmax(x, y); np.less(x, y); np.less_equal(x, y); np.equal(x, y); np.not_equal(x, y)
            np.greater(x, y); np.greater_equal(x, y); np.logical_and(x, y); np.logical_or(x, y)
            np.logical_xor(x, y)
        """),
    "arithmetic": Group(
        "x, y", {
            "float64": (F64, F64[::-1] * 1.5), "int64": (I64, I64[::-1]), "uint8": (U8, U8[::-1]),
            "mixed": (I64, F32), "scalar": (F32, 2.5),
            "specials": (SPECIAL, SPECIAL[::-1].copy()),
        },
        """
            np.subtract(x, y); np.divide(x, y); np.true_divide(x, y); np.mod(x, y)
            np.remainder(x, y); np.floor_divide(x, y); np.fmod(x, y); divmod(x, y)
            np.divmod(x, y)
        """),
    "bits": Group(
        "x, y", {"int64": (I64, I64[::-1]), "uint8": (U8, U8[::-1]), "scalar": (I8, 3)},
        """
            np.bitwise_and(x, y); np.bitwise_or(x, y); np.bitwise_xor(x, y); np.invert(x)
            np.left_shift(x, abs(y)); np.right_shift(x, abs(y)); x & y; x | y; x ^ y
        """),
    "element_wise_into": Group(
        "x, y, z", {"float64": (F64, F64[::-1].copy(), np.zeros_like(F64))},
        """
            np.add(x, y, out=z); np.add(x, y, z); np.multiply(x, x, x); np.sqrt(y, out=z)
            np.add(x, y, out=z, where=x > y); np.square(x, out=z); np.add(x, y, dtype=np.float32)
            np.clip(x, -1, 1, out=z)
        """),
    "sums": Group(
        "x", of_each("F64", "F32", "F16", "C128", "I64", "I8", "U8", "BOOL", "CUBE", "LARGE"),
        """
            np.sum(x); np.prod(x); np.mean(x); x.sum(); x.prod(); x.mean(); np.sum(x, axis=0)
            np.mean(x, axis=-1); np.sum(x, keepdims=True); np.sum(x, axis=0, keepdims=True)
            np.prod(x, axis=-1); np.sum(x, dtype=np.float64); np.mean(x, dtype=np.float32)
        """,
        REDUCED),
    "sums_of_many_axes": Group(
        "x", {
            "cube": (CUBE,), "fortran": (np.asfortranarray(CUBE),), "int32": (CUBE.astype("i4"),),
        },
        """
            np.sum(x, axis=1); np.sum(x, axis=(0, 2)); np.sum(x, axis=(-1, 0), keepdims=True)
            x.sum(0); x.mean((0, 1)); np.mean(x, axis=(0, 1, 2)); np.sum(x, axis=())
            x.sum(axis=True); np.prod(x, axis=1, keepdims=True); np.sum(x, where=x > 0)
            np.sum(x, initial=3); np.mean(x, axis=1, where=x > -1)
            np.sum(x, axis=1, dtype=np.float32)
        """,
        REDUCED),
    "spread": Group(
        "x", of_each("F64", "F32", "I64", "C128", "CUBE"),
        """
            np.var(x); np.std(x); x.var(); x.std(ddof=1); np.var(x, axis=0)
            np.std(x, axis=-1, keepdims=True); np.var(x, axis=0, ddof=1)
        """,
        Tolerance("squares of differences from a mean that rounds", ulps=16.0, of_sum=64.0)),
    "extremes": Group(
        "x", of_each("F64", "F32", "I64", "I8", "U8", "BOOL", "CUBE", "SPECIAL", "LARGE"),
        """
            np.min(x); np.max(x); np.amin(x); np.amax(x); x.min(); x.max(); np.argmin(x)
            np.argmax(x); x.argmin(); x.argmax(); np.all(x); np.any(x); x.all(); x.any()
            np.count_nonzero(x); np.min(x, axis=0); np.max(x, axis=-1)
            np.max(x, axis=0, keepdims=True); np.argmax(x, axis=0); np.argmin(x, axis=-1)
            np.all(x, axis=0); np.any(x, axis=-1, keepdims=True)
            np.argmax(x, axis=0, keepdims=True)
        """),
    "extremes_of_many_axes": Group(
        "x", {
            "cube": (CUBE,), "fortran": (np.asfortranarray(CUBE),),
            "uint16": (abs(CUBE * 3).astype("u2"),),
        },
        """
            np.max(x, axis=(0, 2)); np.min(x, axis=(1, 2), keepdims=True); np.argmax(x, axis=1)
            np.all(x > 0, axis=(0, 1)); np.max(x, initial=100.0); np.argmin(x, axis=None)
            np.ptp(x, axis=1); np.count_nonzero(x > 1, axis=1); np.any(x, axis=(2, 0))
        """),
    "of_numbers": Group(
        "x", {"int": (3,), "float": (-2.5,), "float32": (np.float32(2.5),), "bool": (True,)},
        """
            np.sum(x); np.mean(x); np.max(x); np.argmax(x); np.all(x); np.square(x); np.floor(x)
            np.round(x); np.abs(x); np.zeros_like(x); np.ndim(x); np.size(x); np.shape(x)
            np.asarray(x); np.array(x); np.where(x > 1, x, 0); np.cumsum(x); np.reciprocal(x)
            np.logical_not(x); np.sign(np.float64(x)); np.clip(x, 0, 1)
        """),
    "of_tuples_and_lists": Group(
        "x", {"int": (3,), "float": (2.5,)},
        """
            np.sum([x, 2 * x]); np.max((x, 1)); np.mean([[x, 1], [2, 3]], axis=0)
            np.array([x, 1]); np.array([[x, 1], [2, 3]], dtype=np.float32); np.asarray((x, 2.0))
            np.dot([x, 1], [2, 3]); np.sqrt([4.0, x]); np.cumsum([x, x, 1]); np.array([])
        """),
    "scans": Group(
        "x", of_each("F64", "F32", "I64", "I8", "U8", "BOOL", "CUBE", "LARGE"),
        """
            np.cumsum(x); x.cumsum(); np.cumsum(x, axis=0); np.cumsum(x, axis=-1)
            np.cumsum(x, dtype=np.float64)
        """,
        REDUCED),
    "products_of_prefixes": Group(
        "x", of_each("F64", "F32", "I64", "U8", "CUBE"),
        """
            np.cumprod(x); np.cumprod(x, axis=0); x.cumprod(axis=1)
        """,
        TRANSCENDENTAL),
    "differences": Group(
        "x", of_each("F64", "I64", "BOOL", "CUBE"),
        """
            np.diff(x); np.diff(x, axis=0); np.diff(x, n=2); np.diff(x, n=0)
        """),
    "constructors": Group(
        "n", {"int": (5,), "zero": (0,), "numpy": (np.int32(4),)},
        """
            np.zeros(n); np.ones(n); np.zeros((n, 3), dtype=np.int8); np.ones([2, n], np.float32)
            np.full(n, 7); np.full((n, 2), 2.5); np.full(n, 1, dtype=np.float32)
            np.zeros((2, n), dtype=bool); np.empty((n, n)).shape
            np.empty(n, np.int16).dtype == np.int16; np.zeros(n, 'float32')
            np.zeros(n, dtype=int); np.zeros(()); np.arange(n); np.arange(1, n)
            np.arange(n, 1, -1); np.arange(0, 10 * n, 3); np.arange(n, dtype=np.float32)
            np.arange(2.5); np.arange(0, n, 0.3); np.arange(n + 0.5); np.arange(1.5, -3.0, -0.25)
            np.arange(3, n, 2, dtype=np.uint8); np.arange(0.1, n, 0.7)
            np.arange(0, n, 0.3, dtype=np.float32)
        """),
    "linspace": Group(
        "n", {"int": (5,), "zero": (0,), "one": (1,), "many": (1001,)},
        """
            np.linspace(0, 1, n); np.linspace(2.5, -1.5, n); np.linspace(0, 10, n, endpoint=False)
            np.linspace(0, 10, n, dtype=np.float32); np.linspace(0, 10, num=n, dtype=int)
            np.linspace(np.float32(0), np.float32(1), n)
        """,
        ROUNDED),
    "linspace_with_step": Group(
        "n", {"int": (5,)},
        """
            np.linspace(-3, 3, n, retstep=True); np.linspace(0, 1, n, False, True)
        """,
        ROUNDED),
    "constructors_like": Group(
        "x", of_each("F64", "F32", "I8", "BOOL", "C128"),
        """
            np.zeros_like(x); np.ones_like(x); np.full_like(x, 1)
            np.zeros_like(x, dtype=np.int32); np.ones_like(x, np.float32); np.empty_like(x).shape
            np.empty_like(x, dtype=float).dtype == float; np.zeros_like(x, shape=(2, 3))
            np.copy(x); x.copy(); np.array(x); np.asarray(x); np.ascontiguousarray(x.T)
            np.array(x, dtype=np.complex128); np.asarray(x, np.complex128); x.astype(np.complex64)
            x.astype(complex); x.astype(x.dtype)
        """),
    "casts": Group(
        "x", of_each("F64", "I64", "U8", "BOOL"),
        """
            x.astype(np.float32); x.astype(np.int16); x.astype(bool); x.astype(float)
            x.astype('i4'); np.float32(x); np.int64(x); np.asarray(x, dtype=np.uint8)
        """),
    "views": Group(
        "x", of_each("F64", "I8", "CUBE"),
        """
            x.T; np.transpose(x); x.transpose(); np.ravel(x); x.ravel(); x.flatten()
            np.reshape(x, -1); x.reshape(-1); np.swapaxes(x, 0, 1); x.swapaxes(-1, 0)
            np.moveaxis(x, 0, -1); np.expand_dims(x, 0); np.expand_dims(x, (0, -1))
            np.squeeze(x[None]); np.squeeze(x[:, None], axis=1); x[:1].squeeze(0)
            np.broadcast_to(x, (2,) + x.shape); np.shape(x); np.ndim(x); np.size(x); np.size(x, 1)
            (x.shape, x.ndim, x.size, x.itemsize, x.nbytes); len(x); x.reshape(x.shape[::-1])
            x.reshape((x.shape[0], -1)); x.ravel().reshape(*x.shape)
        """),
    "views_of_cubes": Group(
        "x", {"cube": (CUBE,), "fortran": (np.asfortranarray(CUBE),)},
        """
            np.transpose(x, (1, 0, 2)); x.transpose(2, 0, 1); x.transpose((2, 0, 1))
            np.moveaxis(x, [0, 1], [-1, -2]); np.moveaxis(x, 2, 0); np.swapaxes(x, 1, -1)
            x.reshape(12, 5); x.reshape((4, -1)); x.reshape(2, -1, 5, order='C'); x.T.reshape(-1)
            np.ravel(x, order='F'); x.flatten('F'); x.reshape((5, -1), order='F')
        """),
    "rearrangements": Group(
        "x", {"cube": (CUBE,), "fortran": (np.asfortranarray(CUBE),), "int8": (I8,)},
        """
            np.flip(x); np.flip(x, 0); np.flip(x, (0, -1)); np.flipud(x); np.fliplr(x)
            np.rot90(x); np.rot90(x, 2); np.rot90(x, -1); np.roll(x, 2); np.roll(x, -1, axis=1)
            np.lib.stride_tricks.sliding_window_view(x, 2, axis=-1)
            np.lib.stride_tricks.sliding_window_view(x, (2, 1), axis=(1, 1)).sum(axis=-2)
            np.roll(x, (1, 2), (0, 1)); np.repeat(x, 3); np.repeat(x, 2, axis=1); x.repeat(2)
            np.tile(x, 2); np.tile(x, (2, 3)); np.tile(x, (2, 1, 1, 3)); np.concatenate((x, x))
            np.concatenate([x, x * 2.5], axis=1); np.concatenate((x, x[:1]))
            np.concatenate((x, x), axis=None); np.concatenate((x, x[0]))
            np.concatenate((x, x[:, :1]))
        """),
    "stacks": Group(
        "x", {"cube": (CUBE,), "int8": (CUBE.astype("i1"),)},
        """
            np.stack((x, x * 2)); np.stack([x, x], axis=1); np.stack((x, x), -1)
            np.vstack((x[0, 0], x[0])); np.hstack((x[0, 0], x[1, 1])); np.hstack((x, x))
            np.column_stack((x[0, 0], x[1, 1])); np.column_stack((x[0, :, 0], x[0]))
            np.vstack((1.0, 2.0)); np.hstack((1, x[0, 0])); np.take(x, [0, 5, 2])
            np.take(x, np.array([1, 0, 1]), axis=1); x.take(2, axis=0); np.array(x, ndmin=5)
            np.take(x, np.array([[0, 1], [1, 0]]), axis=-1); np.array(2.0, ndmin=1)
        """),
    "matrices_with_structure": Group(
        "n, x", {"float64": (3, F64), "int8": (4, I8)},
        """
            np.eye(n); np.eye(n, 4, 1, dtype=np.int8); np.eye(n, k=-1); np.identity(n)
            np.tri(n, 4); np.tri(n, k=1); np.tril(x); np.triu(x, 1); np.tril(x, -1); np.diag(x[0])
            np.diag(x[0], -1); np.diag(x[0], 2); np.diag(x); np.diag(x, 1)
            np.meshgrid(x[0], x[:, 0])[0]; np.meshgrid(x[0], x[:, 0], indexing='ij')[1]
        """),
    "grids_by_slices": Group(
        "n, m", {"int": (3, 4), "none": (0, 2), "negative": (-2, 3)},
        """
            np.ogrid[:n, :m]; np.mgrid[:n, 1:m]; np.ogrid[n:-5:-2]; np.mgrid[-1:1:5j, 0:m]
            np.ogrid[0:1:4j]; np.mgrid[:n]; np.mgrid[0:1:1j, :m:0.5, n:9]; np.ogrid[0.1:m:0.3]
            np.mgrid[0.1:m:0.3, :n]; np.ogrid[0:m:3.7j, :2]
            np.arange(9)[np.s_[1:n]]; np.eye(5)[np.s_[::2, None, 1]]; np.eye(5)[np.index_exp[n:]]
        """),
    "traces": Group(
        "x", of_each("F64", "CUBE", "I8"),
        """
            np.trace(x); x.trace(); np.trace(x, 1, 1, 0); np.trace(x, offset=-1)
        """,
        REDUCED),
    "choices": Group(
        "x, y", {
            "float64": (F64, F64[::-1].copy()), "mixed": (F32, I64), "rows": (F64, F64[0]),
        },
        """
            np.where(x > y, x, y); np.where(x > 0, x, 0); np.where(x > 0, 1, 0); np.where(x > y)
            np.nonzero(x > y); np.where(x, 1.5, y); np.where(True, x, y)
        """),
    "nearness": Group(
        "x, y", {
            "float64": (F64, F64 + 1e-9), "rows": (F64, F64[0]), "float32": (F32, F32 * 1.1),
            "specials": (SPECIAL, SPECIAL.copy()), "int64": (I64, I64.copy()),
            "shapes": (F64[0], F64[0, :3]), "ranks": (F64, CUBE),
        },
        """
            np.isclose(x, y); np.allclose(x, y); np.array_equal(x, y)
            np.allclose(x, y, rtol=1e-12); np.isclose(x, y, equal_nan=True)
            np.array_equal(x, y, equal_nan=True)
        """),
    "statistics": Group(
        "x", {
            "float64": (F64,), "int64": (I64,), "nan": (np.where(F64 > 0.5, np.nan, F64),),
        },
        """
            np.average(x); np.average(x, axis=1); np.average(x, weights=x * x + 1)
            np.average(x, axis=0, weights=np.arange(1.0, 6.0)); np.nansum(x); np.nansum(x, axis=0)
            np.nanmean(x); np.nanmean(x, axis=1); np.nanmin(x); np.nanmax(x, axis=0)
            np.nanprod(x, axis=1)
        """,
        REDUCED),
    "refused": Group(
        "x, y", {"float64": (F64, CUBE)},
        """
            np.sum(x, axis=2); np.max(x, axis=-3); np.cumsum(x, axis=2); np.sum(x, axis=(0, 0))
            np.max(x[:0]); np.min(x[:0], axis=0); np.argmax(x[:0]); np.argmin(x[:, :0], axis=1)
            np.dot(x, x); x @ x; np.dot(x[0], x[:, 0]); x[0] @ 2; np.matmul(x, x[:, 0])
            np.reshape(x, (4, 9)); x.reshape(-1, 4); x.reshape((-1, -1)); x + x[:, 0]
            np.add(x, x[:, :3]); np.add(x, 1, out=x[0]); np.sqrt(x, out=np.zeros(35, int))
            np.squeeze(x, axis=0); np.expand_dims(x, 5); np.transpose(x, (0, 0)); x.transpose(1)
            np.lib.stride_tricks.sliding_window_view(x, 2)
            np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=1)
            np.lib.stride_tricks.sliding_window_view(x, -1, axis=0)
            np.lib.stride_tricks.sliding_window_view(x, 99, axis=0)
            np.broadcast_to(x, (2, 7)); np.zeros(-1); np.zeros((2, -3)); np.arange(0, 3, 0)
            np.linspace(0, 1, -1); np.concatenate((x, x[:, 1:])); np.concatenate((x, y))
            np.concatenate((x, x), axis=2); np.swapaxes(x, 0, 2); np.moveaxis(x, 0, 3)
            np.diff(x, n=-1); np.diff(2.5); np.left_shift(x, 1); ~x; -(x > 0); (x > 0) - (x > 1)
            np.floor(x * 1j); np.max(x, where=x > 0); x.item(); np.nonzero(2.0); np.sum(x, 0, bad=1)
        """),
    "norms": Group(
        "x", of_each("F64", "F32", "I64", "C128"),
        """
            np.linalg.norm(x); np.linalg.norm(x, axis=0); np.linalg.norm(x[0], 1)
            np.linalg.norm(x[0], np.inf); np.linalg.norm(x[0], -np.inf); np.linalg.norm(x[0], 3)
            np.linalg.norm(x[0], 0); np.linalg.norm(x, 'fro'); np.linalg.norm(x, 1)
            np.linalg.norm(x, np.inf); np.linalg.norm(x, axis=(0, 1), keepdims=True)
            np.linalg.norm(x, 2, axis=1, keepdims=True)
        """,
        Tolerance("a power of a sum of powers", ulps=16.0, of_sum=8.0)),
    "vectors": Group(
        "x, y", {
            "float64": (LARGE[:1000], LARGE[1000:2000]), "float32": (F32[0], F32[1]),
            "int32": (I64[0].astype("i4"), I64[1].astype("i4")), "bool": (BOOL[0], BOOL[1]),
            "mixed": (I64[0], F32[0]), "complex128": (C128[0], C128[1]),
            "empty": (F64[0, :0], F64[0, :0]), "strided": (F64[:, 1], F64[::-1, 2]),
        },
        """
            np.dot(x, y); x.dot(y); x @ y; np.matmul(x, y); np.vdot(x, y); np.inner(x, y)
            np.outer(x[:7], y[:5])
        """,
        REDUCED),
    "matrices": Group(
        "x, y", {
            "float64": (F64, F64.T), "float32": (F32, F32.T.copy()), "int64": (I64, I64.T),
            "uint8": (U8, U8.T), "complex128": (C128, C128.T), "mixed": (F32, I8.T),
            "fortran": (np.asfortranarray(F64), F64.T),
            "large": (values((70, 130)), values((130, 45))),
        },
        """
            np.dot(x, y); x @ y; np.matmul(x, y); x.dot(y); np.inner(x, y.T)
        """,
        REDUCED),
    "matrix_and_vector": Group(
        "x, y", {"float64": (F64, F64[0]), "float32": (F32, F32[0]), "mixed": (I8, F32[0])},
        """
            np.dot(x, y); x @ y; np.dot(y, x.T); y @ x.T; np.matmul(x, y); np.inner(x, y)
            np.dot(x, 2); np.dot(2.0, y); np.outer(x[0], y)
        """,
        REDUCED),
}
