"""Further functions of NumPy's, as rows of library_rows.py: sums by subscripts, choices, stores,
indexes, parts, padding, polynomials, bits."""

import numpy as np
from agreement import REDUCED, TRANSCENDENTAL, Tolerance
from layouts import values
from library_rows import C128, CUBE, F32, F64, I8, I64, SPECIAL, U8, Group, of_each

SQUARE = values((4, 4))
STACK = values((2, 4, 3))
VECTOR = values(4)
TINY = np.array([5e-324, 2.2e-308, -1e-310, 1.0, -0.0, 1.7e308, np.inf, -np.inf, np.nan, 0.75])
SUMMED = Tolerance("sums of products of sums", ulps=64.0, of_sum=64.0)

GROUPS = {
    "einsum_of_two": Group(
        "a, b", {
            name: (SQUARE.astype(name), SQUARE[::-1].astype(name))
            for name in ("float64", "float32", "int64", "int8", "bool", "complex128")
        } | {"mixed": (SQUARE.astype("i4"), SQUARE.T), "empty": (SQUARE[:, :0], SQUARE[:0])},
        "\n".join(f"np.einsum('{text}', a, b)" for text in (
            "ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->i", "ij,jk->", "...j,j...", "ij,jk->ijk",
            " i j , jk-> i k")),
        SUMMED),
    "einsum_of_squares": Group(
        "a, v, c", {
            "float64": (SQUARE, VECTOR, STACK), "int32": tuple(
                (x * 3).astype("i4") for x in (SQUARE, VECTOR, STACK)),
            "fortran": (np.asfortranarray(SQUARE), VECTOR[::-1], STACK[:, ::-1]),
        },
        "\n".join(f"np.einsum({text})" for text in (
            "'ii', a", "'ii->i', a", "'ij->ji', a", "'ij', a", "'ji', a", "'ij->', a", "'ij->j', a",
            "'bij->jb', c", "'...j->...', c", "'i...->...', c", "'...', c", "'ij,kj->ik', a, a",
            "'ij,ij->i', a, a", "'ij,ij', a, a", "'i,j->ji', v, v", "'bij,bik->bjk', c, c",
            "'bij,bik', c, c", "'...ij,i->...j', c, v", "'ii,i->i', a, v", "'ii,jj->ij', a, a",
            "'bij,bij->b', c, c", "'i,ij,jk,k->', v, a, a, v", "'i,j,k->kij', v, v, v",
            "'ij,jk', a, c", "'ij', c", "'ijk', a", "'i', a", "'ij->ii', a", "'ij->k', a",
            "'i.j', a", "'i1', a", "'...i->i', a", "'ii', c[0]", "'ij'", "'ij->ij->', a",
            "'ij,jk->ik', a, a, out=a", "'ij->ji', a, dtype='c16'", "'ij->i', a, dtype='f4'",
            "'ij->i', a, dtype='f4', casting='same_kind'", "'ij,jk->ik', a, a, optimize=True",
            "'ij,jk->ik', a, a, order='F'", "'i,->i', v, 2.0", "',->', 2.0, 3", "'i->', [1, 2]",
            "'i,i->i', v, v, out=np.zeros(4, bool)")),
        SUMMED),
    "chosen": Group(
        "x, y, k", {
            "float64": (F64, F64[::-1].copy(), np.array([0, 2, 1, 0, 1])),
            "int8": (I8, I8[::-1] * 2, np.array([2, -1, 7, 0, 1], "i1")),
            "mixed": (F32, I64, np.array([0, 1, 1, 0, 2], "u1")),
        },
        """
            np.select([x > 1, x < -1], [x, y]); np.select((x > 0, y > 0), (x, 2.5), default=y)
            np.select([x > 0], [1]); np.select([x > 0], [x, y]); np.select([x], [x])
            np.choose(k, (x[:, 0], y[:, 0], x[:, 1])); np.choose(k, (x[:, 0], 2, 3), mode='wrap')
            np.choose(k, (x[:, 0], 2, 3), mode='clip'); k.choose([1, 2, 3]); np.choose(1, (x, y))
            np.choose(k[:, None] % 2, (x, y)); np.compress(x[:, 0] > 0, x, axis=0)
            np.compress(x > 0, x); np.compress([True, False, True], x); x.compress(k > 0, axis=0)
            np.compress([0, 1, 2], x, axis=1); np.extract(x > 0, x); np.extract(x > 0, y)
            np.piecewise(x, [x < 0, x > 1], [-1, 1]); np.piecewise(x, [x < 0], [np.negative, 5])
            np.piecewise(x, [x < 0, x > 1], [lambda v: v * 2, lambda v: v - 1, 7])
            np.isin(x, [0, 1, 2]); np.isin(k, [0, 2], invert=True); np.isin(x, y[0]); np.isin(1, k)
            np.isin(x, []); np.isin(k, k, assume_unique=True, kind='table'); np.isin(k, k, kind='x')
            np.isin([np.nan, 1, np.inf], [np.nan, np.inf, 0.0]); np.isin([1j, 2], [2, 1j, 3])
            np.isin([True, False], [1, 2]); np.isin([[1.5], [2]], x)
            np.array_equiv(x, x[0]); np.array_equiv(x, x.copy()); np.array_equiv(x, k)
        """),
    "stored": Group(
        "x, k, v", {
            "float64": (F64, np.array([3, 0, -1]), F64[0, :2]),
            "int8": (I8, np.array([34, 7, 7]), I8[0]),
            "fortran": (np.asfortranarray(F64), np.array([[1, 8], [15, -35]]), [1.5, 2.5]),
            "far": (F64, np.array([3, 99, -99]), F64[0, :2]),
        },
        """
            np.put(x, k, v); np.put(x, k, 7, mode='wrap'); x.put(k, v, mode='clip'); np.put(x, 0, 3)
            np.put(x, [1, 2], [3, 4, 5]); np.place(x, x > 0, v); np.place(x, x > 0, [])
            np.place(x, x > 99, []); np.putmask(x, x > 0, v); np.putmask(x, x > 0, x[::-1] * 2)
            np.putmask(x, x[0] > 0, 1); np.copyto(x, x[0]); np.copyto(x, 2, where=x > 0)
            np.copyto(x, x[:, ::-1]); np.copyto(x, x * 1j); np.copyto(x, 1.5, casting='unsafe')
            np.copyto(x, x[:2]); np.fill_diagonal(x, 7); np.fill_diagonal(x, v)
            np.fill_diagonal(x.T, 3, wrap=True); np.fill_diagonal(x[0], 1)
            np.put_along_axis(x, np.int64(x > 0), 9, 0); np.put_along_axis(x, k, 5, None)
        """),
    "diagonals_filled": Group(
        "x", {"tall": (np.zeros((11, 3)),), "cube": (np.zeros((3, 3, 3)),),
              "int8": (np.zeros((4, 6), "i1"),)},
        """
            np.fill_diagonal(x, 4, wrap=True); np.fill_diagonal(x, [1, 2]); np.fill_diagonal(x, 3.5)
        """),
    "indexes": Group(
        "n, x", {"int": (4, F64), "one": (1, I8), "zero": (0, F64)},
        """
            np.diag_indices(n); np.diag_indices(n, 3); np.diag_indices_from(x[:5, :5])
            np.diag_indices_from(x); np.tril_indices(n); np.tril_indices(n, -1, 6)
            np.triu_indices(n, 1); np.triu_indices(n, m=2); np.tril_indices_from(x, 1)
            np.triu_indices_from(x); np.triu_indices_from(x[0]); np.mask_indices(n, np.triu, 1)
            np.ix_([0, 1], [1, 2]); x[np.ix_([0, 1], x[0] > 0)]; np.ix_([[1]])
            np.unravel_index(n, (3, 4)); np.unravel_index([n, 5], (3, 2, 2), order='F')
            np.unravel_index([[1, n]], 9); np.unravel_index(12, (3, 4)); np.unravel_index(-1, (3,))
            np.ravel_multi_index((1, n % 3), (3, 4)); np.ravel_multi_index(([1, 2], [0, n]), (3, 5))
            np.ravel_multi_index((1, 9), (3, 4)); np.ravel_multi_index((4, 9), (3, 4), mode='clip')
            np.ravel_multi_index((4, -1), (3, 4), mode=('wrap', 'clip'))
            np.ravel_multi_index((2, 3), (3, 4), order='F'); np.argmax(np.eye(3), axis=1) + n
            np.take_along_axis(x, np.int64(x > 0), 0); np.take_along_axis(x, np.array([0, 1]), None)
            np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1)
            np.take_along_axis(x, np.array([[0, 1]]), axis=-1); np.take_along_axis(x, x, 0)
            np.take_along_axis(x, np.array([1, 2]), 0)
        """),
    "parts_of_arrays": Group(
        "x", of_each("F64", "I8", "CUBE"),
        """
            tuple(np.split(x, 1)); tuple(np.array_split(x, 3)); tuple(np.array_split(x, 2, axis=1))
            tuple(np.array_split(x, 9, -1)); tuple(np.split(x, [1, 3])); tuple(np.split(x, [2], 1))
            tuple(np.array_split(x, [1, 9], axis=-1)); tuple(np.vsplit(x, [2]))
            tuple(np.hsplit(x, [1])); np.array_split(x, 0)
            tuple(np.vsplit(x, 1))
            tuple(np.hsplit(x.ravel(), 1))
            np.split(x, [-1])[0]
            np.broadcast_arrays(x, x[0]); np.broadcast_arrays(x, x[:, :3]); np.rollaxis(x, 1)
            np.broadcast_shapes((2, 1), (3,), 1); np.rollaxis(x, 0, x.ndim); np.rollaxis(x, -1, -1)
            np.rollaxis(x, 0, 9)
            np.atleast_3d(x); np.atleast_3d(x[0], 2, [1]); np.atleast_1d(1, x); np.atleast_2d(x, 1)
            np.resize(x, (2, 3)); np.resize(x, 70); np.resize(x[:0], 3); np.resize(x, -1)
            np.delete(x, 1); np.delete(x, 1, axis=0); np.delete(x, slice(0, 2), 1); np.delete(x, 99)
            np.delete(x, [0, 2], axis=-1); np.delete(x, x.ravel()[:x.shape[0]] > 0, 0)
            np.insert(x, 1, 5); np.insert(x, 0, 5, axis=0); np.insert(x, -1, x[0], axis=0)
            np.insert(x, 2, 1.5, 1); np.insert(x, 99, 0)
            np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]))
            np.trim_zeros(np.array([0, 1, 0]), 'f'); np.trim_zeros(np.array([0., 0]))
            np.trim_zeros(np.array([0, 1, 0]), 'b'); np.unwrap(x[0]); np.unwrap(x * 9.5, axis=0)
            np.unwrap(x, period=2.5, discont=2); np.apply_along_axis(np.sum, 0, x)
            np.apply_along_axis(np.cumsum, -1, x)
            np.apply_along_axis(lambda r, k: r[k] * 2, 1, x, 1)
            np.apply_along_axis(np.outer, 0, x, [1, 2]); np.apply_over_axes(np.sum, x, (0, -1))
            np.apply_along_axis(lambda r: r[:2], 0, x); np.apply_over_axes(np.max, x, 0)
            np.vectorize(lambda p: p + 1)(x); np.vectorize(lambda p, q: p / 3 > q)(x, x[0])
            np.vectorize(lambda p, q=2: (p * q, p == q), [np.float32, np.int8])(x)
            np.vectorize(lambda p: p * 2)(5); np.vectorize(lambda p: p)(x[:0])
            np.vectorize(lambda p: p * 1.5, (np.float64,))(x[:0])
        """,
        REDUCED),
    "bordered": Group(
        "x", of_each("F64", "I8", "CUBE", "C128") | {"one": (F64[:1],), "empty": (F64[:0],)},
        """
            np.pad(x, 3, 'linear_ramp'); np.pad(x, (2, 4), 'linear_ramp', end_values=(5, -3))
            np.pad(x, 2, 'reflect', reflect_type='odd'); np.pad(x, 1, 'mean')
            np.pad(x, 2, 'symmetric', reflect_type='odd')
        """,
        SUMMED),
    "bordered_by_extremes": Group(
        "x", of_each("F64", "I8", "CUBE") | {"one": (F64[:1],), "empty": (F64[:0],)},
        """
            np.pad(x, 2, 'maximum'); np.pad(x, (1, 0), 'minimum', stat_length=((2, 1),))
            np.pad(x, 1, 'maximum', stat_length=0); np.pad(x, 1, 'minimum', stat_length=-1)
        """),
    "reduced_between": Group(
        "x", of_each("F64", "I64", "BOOL", "CUBE"),
        "\n".join(f"""
            np.{f}.reduceat(x, [0, 2, 1]); np.{f}.reduceat(x, [0, 3], axis=1)
            np.{f}.reduceat(x, [1], -1, dtype=np.float64)
        """ for f in ("add", "multiply", "maximum", "logical_or", "subtract")) + """
            np.add.reduceat(x, [9]); np.add.reduceat(x, [-1]);
            np.add.reduceat(x, [0, 1], out=np.zeros((2,) + x.shape[1:])); np.exp.reduceat(x, [0])
            np.subtract.reduceat(x[:, 0], [0, 0, 2])
        """,
        REDUCED),
    "several_results": Group(
        "x, y, z, w", {
            "float64": (F64, F64[::-1] + 3, np.zeros((5, 7)), np.zeros((5, 7))),
            "int8": (I8, abs(I8) + 1, np.zeros((5, 7)), np.zeros((5, 7))),
        },
        """
            np.divmod(x, y); np.divmod(x, y, z, w)
            np.divmod(x, y, out=(x, w)); np.divmod(x, y, dtype=np.float32, casting='same_kind')
            np.modf(x); np.modf(x, out=(z, w)); np.modf(x, z); np.modf(x, order='F')
            np.modf(x, where=x > 0, out=(z, w)); np.divmod(x, y, out=(z, w, z)); np.add(x, y, z, w)
            np.frexp(x); np.frexp(x, out=(z, None))
        """),
    "representations": Group(
        "x", {"special": (SPECIAL,), "tiny": (TINY,), "float32": (TINY.astype("f4"),),
              "float16": (np.array([1e-7, 3, 65504, -0.0, np.nan], "f2"),), "int": (I64,)},
        """
            np.spacing(x); np.frexp(x); np.ldexp(x, 3); np.ldexp(x, -1); np.ldexp(x, -1060)
            np.ldexp(x, 1100); np.ldexp(np.frexp(x)[0], np.frexp(x)[1]); np.modf(x)
            np.ldexp(1.0, [3, -1074, 1023, 1024, -1075, 100000]); np.ldexp(x, 1.5)
        """),
    "counted_bits": Group(
        "x", of_each("I64", "U8", "BOOL", "I8"),
        """
            np.bitwise_count(x); np.packbits(x); np.packbits(x, axis=0); np.unpackbits(np.uint8(x))
            np.packbits(x, axis=-1, bitorder='little'); np.unpackbits(np.uint8(x), axis=1)
            np.unpackbits(np.uint8(x), count=-3); np.unpackbits(np.uint8(x), axis=0, count=99)
            np.unpackbits(np.uint8(x), bitorder='little'); np.packbits(x, bitorder='x')
            np.packbits(x * 1.5); np.unpackbits(x * 1.5)
        """),
    "extreme_bits": Group(
        "x", {"int64": (np.array([-2**63, 2**63 - 1, -1, 0]),),
              "uint64": (np.array([2**64 - 1, 2**63, 1], "u8"),), "int": (37,),
              "float": (1.5,)},
        """
            np.bitwise_count(x)
        """),
    "bessel": Group(
        "x", of_each("F64", "F32", "I8") | {"far": (F64 * 40,)},
        """
            np.i0(x); np.kaiser(5, 2.5); np.hanning(6); np.hamming(5); np.blackman(7)
            np.bartlett(6); np.bartlett(5); np.hanning(1); np.hanning(0); np.kaiser(1, 3)
        """,
        TRANSCENDENTAL),
    "series": Group(
        "n", {"int": (5,), "one": (1,), "zero": (0,)},
        """
            np.logspace(0, 2, n); np.logspace(0, 2, num=n, base=2.0, endpoint=False)
            np.logspace(1, 3, n, dtype=int); np.geomspace(1, 256, n); np.geomspace(-4, -1, n)
            np.geomspace(1, 100, num=n, endpoint=False); np.geomspace(0, 1, n)
            np.geomspace(1, 8, n, dtype=np.float32); np.vander(np.arange(n)); np.vander([1, 2], n)
            np.vander([1.5, 2], n, increasing=True); np.vander([[1]])
            np.fromfunction(lambda i, j: i * 10 + j, (n, 3))
            np.fromfunction(np.add, (2, n), dtype=int)
            np.block([[np.eye(2), np.ones((2, n))], [np.zeros((1, 2 + n))]]); np.block([n, 2])
            np.block([np.eye(2), np.ones((2, n))]); np.block(n); np.block([[1, n], [2, 3]])
        """,
        TRANSCENDENTAL),
    "rows_and_columns": Group(
        "n, x", {"int": (4, np.arange(3)), "float": (2.5, np.arange(4.0))},
        """
            np.r_[x, 0, n]; np.r_[1:n, x]; np.r_[0:1:5j, x]; np.r_[x, [1, 2]]; np.c_[x, x]
            np.c_[x, x * 2.5, x]; np.c_[np.ones((2, 2)), [3, 4]]; np.r_[np.eye(2), np.eye(2)]
            np.iscomplexobj(x); np.isrealobj(x * 1j); np.isscalar(n); np.isscalar(x)
            np.isscalar([1]); np.isscalar(None)
            np.common_type(np.float32(1), x * 1j) == np.complex128
            np.issubdtype(x.dtype, np.floating); np.issubdtype(x.dtype, np.integer)
            np.issubdtype(x.dtype, float); np.issubdtype(np.float32, float)
            np.issubdtype(np.int64, int); np.issubdtype(np.int8, int); np.issubdtype(bool, bool)
            np.issubdtype('u1', np.unsignedinteger); np.issubdtype(np.bool_, np.number)
            np.issubdtype(x.dtype, np.float64); np.issubdtype(complex, np.complexfloating)
            np.iterable(x); np.iterable(n); np.iterable((1, 2)); np.argmin(x[:0])
        """),
    "polynomials": Group(
        "p, q", {
            "float64": (F64[0], F64[1, :3]), "int64": (np.array([0, 3, 0, 1]), np.array([2, -1])),
            "one": (np.array([2.0]), np.array([0.0, 0.0])),
        },
        """
            np.polyval(p, 2); np.polyval(p, q); np.polyval(p, 2.5); np.polyval(p, [[1, 2], [3, 4]])
            np.polyadd(p, q); np.polysub(p, q); np.polymul(p, q)
            np.polyder(p); np.polyder(p, 2)
            np.polyder(p, -1); np.polyint(p); np.polyint(p, 2, [1, 2]); np.polyint(p, 2)
            np.polyint(p, m=1, k=3); np.polyadd(3, q); np.polyval([], p); np.polyval([], 2)
        """,
        SUMMED),
    "stacked_products": Group(
        "x, y", {
            "float64": (F64, F64[::-1]), "complex128": (C128, C128[::-1]), "int8": (I8, U8),
            "stacks": (CUBE, CUBE[::-1]), "rows": (F64, F64[0]),
        },
        """
            np.vecdot(x, y); np.vecdot(x, y, axis=0) if x.ndim == y.ndim else 0
            np.linalg.vecdot(x, x * 2); np.vecdot(x, y, dtype=np.complex128)
            np.matvec(x, x[..., 0, :]); np.vecmat(x[..., 0], x); np.matvec(x, x[..., 0])
            np.matmul(x, np.swapaxes(x, -1, -2), dtype=np.complex128)
            np.matmul(x, np.swapaxes(x, -1, -2), dtype=np.int8, casting='no')
            np.linalg.matrix_transpose(x); x.mT; np.matrix_transpose(x); x[..., 0, 0].mT
            np.linalg.vector_norm(x); np.linalg.vector_norm(x, axis=(0, 1), keepdims=True, ord=1)
            np.linalg.vector_norm(x, axis=-1, ord=3); np.linalg.matrix_norm(x)
            np.linalg.matrix_norm(x, keepdims=True, ord=1); np.linalg.vector_norm(x, ord=np.inf)
        """,
        SUMMED),
    "chains": Group(
        "x, y", {"float64": (F64, F64[0])},
        """
            np.linalg.multi_dot((x, x.T, x)); np.linalg.multi_dot((y, x.T, x, y))
            np.linalg.multi_dot([x.T, x]); np.linalg.multi_dot((y, x.T, x[:, 0]))
            np.linalg.multi_dot((x,))
        """,
        SUMMED),
}
