"""What users of NumPy expect beside the original's table, as rows of library_rows.py."""

import numpy as np
from agreement import REDUCED, Tolerance
from layouts import values
from library_rows import BOOL, C128, CUBE, F32, F64, I8, I64, ROUNDED, U8, Group, of_each

PAIRS = {
    "float64": (F64[0], F64[1]), "int64": (I64[0], I64[1]), "float32": (F32[0], F32[1]),
    "int8": (I8[0], I8[1]), "large": (values(1000), values(1000, seed=2)),
    "strided": (F64[::-1, 2], F64[::-1, 3]), "empty": (F64[0, :0], F64[0, :0]),
    "one": (F64[0, :1], F64[0, :1]),
}
MATRICES = of_each("F64", "I8", "CUBE", "C128", "BOOL") | {
    "fortran": (np.asfortranarray(CUBE),), "reversed": (CUBE[::-1, :, ::-2],), "empty": (F64[:0],),
}

GROUPS = {
    "new_arrays": Group(
        "x", of_each("F64", "I8") | {"fortran": (np.asfortranarray(CUBE),)},
        """
            np.arange(stop=5); np.arange(start=1, stop=5); np.arange(); np.arange(dtype=int)
            np.arange(np.inf); np.arange(-np.inf); np.arange(0, 1, np.nan); np.arange(1e19)
            np.arange(0, 1e300, 1e300); np.arange(0, 1, 0.0)
            np.linspace(x[0], x[1], num=4, axis=-1)
            np.linspace(x[0], 1, 4, axis=1, endpoint=False); np.linspace(0, 1, 5, device=None)
            np.copy(a=x, order='C', subok=False); np.ravel(x, order='K'); np.ravel(x, order='A')
            x.flatten('K'); x.reshape(-1, order='A'); np.array(x, subok=True, ndmin=4)
            np.asarray(x, copy=True); np.ascontiguousarray(2.5); np.asfortranarray(2)
            np.ascontiguousarray(x.T, dtype=np.float32); np.asarray(x, order='F')
            np.asfortranarray(x[::2]); np.atleast_1d(x[0, 0]); np.atleast_2d(x[0])
            np.eye(3, order='F')
            np.full_like(x, 3, shape=3); np.full((2,) + x.shape, x); np.full_like([1, 2], 2.5)
        """),
    "diagonals": Group(
        "x", MATRICES,
        """
            np.diagonal(x); np.diagonal(a=x, offset=-1, axis1=1, axis2=0); x.diagonal(1)
            np.diagonal(x[0, 0]) if x.size else 0; np.diagonal(x, 0, 0, 0); np.diagflat(x[:1], 1)
            np.diag(x); np.diag(2.5); np.trace(x, 1, 1, 0); np.tril(x); np.triu(x, -1)
            np.linalg.diagonal(x); np.linalg.trace(x, offset=1)
            np.tril(m=x, k=1); np.triu(x[:, 0]); np.tri(2, 4, 1, dtype=int); np.fliplr(x[0, 0])
        """,
        REDUCED),
    "grids": Group(
        "n", {"int": (3,), "zero": (0,)},
        """
            np.meshgrid(np.arange(n), [3, 4], [5.5, 6]); np.meshgrid([1, 2]); np.meshgrid(2, [1, n])
            np.meshgrid([1, 2], [n, 4], sparse=True); np.meshgrid([1, 2], [n], indexing='xx')
            np.mgrid[0:n]
            np.indices((n, 3)); np.indices((2, n, 4), dtype=float); np.indices((2, n), sparse=True)
            np.mgrid[0:n, 0:4]; np.mgrid[1:9:2]; np.mgrid[0:1:5j]; np.mgrid[0:1:5j, 0:n]
            np.ogrid[0:n, 0:4]; np.ogrid[0:1:3j]; np.mgrid[0:1:0.25, :n]; np.ogrid[-1:1:3j, 0:n]
        """,
        ROUNDED),
    "borders": Group(
        "x", MATRICES,
        """
            np.pad(x, 1); np.pad(x, (1, 2), 'edge'); np.pad(x, ((1, 2),) * x.ndim); np.pad(x, 0)
            np.pad(array=x, pad_width=((1,),) * x.ndim, mode='constant', constant_values=1)
            np.pad(x, 2, constant_values=(3, 4)); np.pad(x, 1, constant_values=((1, 0),) * x.ndim)
            np.pad(x, 3, 'wrap'); np.pad(x, (9, 4), mode='reflect'); np.pad(x, 11, 'symmetric')
            np.pad(x, -1); np.pad(x, 1, 'bad'); np.pad(x[:1], 2, 'reflect')
            np.pad([1, 2], (2, 1), 'edge')
        """),
    "joined": Group(
        "x", of_each("F64", "I8", "CUBE"),
        """
            np.concatenate(x); np.concatenate(x, axis=-1); np.stack(x); np.stack(x, axis=1)
            np.vstack(x); np.hstack(x); np.dstack((x, x)); np.dstack(([1, 2], [3, 4]))
            np.concatenate((x, x), dtype=np.int8); np.concatenate(()); np.stack(())
            np.concatenate((x, x), 0, dtype='i1', casting='unsafe'); np.concatenate((2, 3))
            np.stack((x, x), dtype='f4', casting='same_kind'); np.append(x, 2)
            np.append(x, x, axis=0)
            np.hstack((x, x), dtype=float); np.vstack((x, x), casting='bad', dtype=float)
            np.roll(x, (1, 1), 0); np.repeat(x[0, :3], np.array([1, 0, 2]), axis=0)
            np.repeat(x, [1, 2], axis=0); np.repeat(x, [2], axis=1)
            np.take(x, [50, -50], mode='clip')
            np.take(x, [50, -50], mode='wrap', axis=0); np.take(x, [1], mode='bad')
            np.where(x > 0, x); np.moveaxis(a=x, source=0, destination=-1); np.nonzero(a=x)
            np.broadcast_to(array=x, shape=x.shape, subok=False); np.flatnonzero(x > 0)
            np.argwhere(x > 0); np.argwhere(3); np.argwhere(x[:0]); np.flatnonzero(a=x)
        """),
    "products": Group(
        "x", of_each("F64", "I8", "CUBE", "C128", "BOOL"),
        """
            np.tensordot(x, x); np.tensordot(x, x.T, axes=1); np.tensordot(x, x, axes=(0, 0))
            np.tensordot(x, x, axes=([0, 1], [0, 1])); np.tensordot(x, x, axes=((0,), (1,)))
            np.tensordot(x[:2, :2], x[:2, :2], 0); np.kron(x, x[0]); np.kron(2, x); np.kron(x[0], x)
            np.linalg.matrix_power(x[:3, :3], 3) if x.ndim == 2 else 0
            np.linalg.matrix_power(x[:3, :3], 0) if x.ndim == 2 else 0
            np.linalg.matrix_power(x[:3, :3], 8) if x.ndim == 2 else 0
            np.dot(x, np.ones((2,) + x.shape[::-1][:1] + (3,))); np.inner(x, x); np.vdot(x, x)
            np.ones((2, 3, x.shape[-2])) @ x[..., None, :, :]; x @ np.ones(x.shape[-1]); x @ x
            np.matmul(np.ones((1, 3, 4)), np.ones((5, 1, 4, 2))) + x[0, 0]
        """,
        Tolerance("sums of products of sums", ulps=64.0, of_sum=64.0)),
    "crosses": Group(
        "x", of_each("F64", "I8", "CUBE"),
        """
            np.cross(x[..., :3], x[..., 1:4]); np.cross(x[:3], x[:3] * 2, axis=0)
            np.cross(x[:3], x[:3], axisa=0, axisb=0, axisc=0); np.cross(x[..., :3], x[0, ..., :3])
            np.cross(x[..., :4], x[..., :3]); np.cross([1, 2, 3], [4, 5, 6])
        """,
        ROUNDED),
    "searches": Group(
        "x, y", PAIRS,
        """
            np.searchsorted(np.arange(10), x); np.searchsorted(np.arange(-3, 3), x, side='right')
            np.searchsorted([1, 2, 2, 3], 2, 'right'); np.arange(9).searchsorted(x)
            np.searchsorted([0., 1., np.nan], [np.nan, 0.5, np.inf]); np.searchsorted([1], x, 'up')
            np.searchsorted([3, 1, 2], x, sorter=[1, 2, 0]); np.digitize(x, [-1, 0, 1], right=True)
            np.digitize(x, [1, 0, -1]); np.digitize(0.5, [0, 1]); np.digitize(x, [1, 3, 2])
            np.interp(x, np.arange(y.size), y); np.interp(0.5, np.arange(y.size), y, left=5.0)
            np.interp(x, [0, 1, 2], [3, 4.5, 9], right=7, left=-1); np.interp(x, [0, 1], [1, 2, 3])
            np.interp(x, np.arange(y.size), y * 1j); np.interp(1, [1.], [3.])
            np.interp([[0.5, np.nan], [1, 2]], [0., 1., 2.], [1., 2., 4.])
        """,
        ROUNDED),
    "counts": Group(
        "x, y", PAIRS,
        """
            np.bincount(np.abs(np.int64(x))); np.bincount(np.abs(np.int64(x)), minlength=9)
            np.bincount([1, 2, 2], [0.5, 1, 2], 6); np.bincount(np.int64(x)); np.bincount([[1, 2]])
            np.bincount(x * 0.5); np.bincount([1, 2], minlength=-1); np.bincount([1], [1, 2])
            np.bincount(np.array([1, 2, 2], np.uint8))
            np.histogram(x); np.histogram(x, 5)[0]; np.histogram(x, bins=4, range=(-1, 1))
            np.histogram(x, bins=[-1, 0, 0.5, 2]); np.histogram(x, 4, density=True, range=(-1, 1))
            np.histogram(x, 4, weights=y); np.histogram(x, [-1., 0, 1], weights=y)
            np.histogram(x, 5, (1, 1)); np.histogram(x, 5, (2, 1)); np.histogram(x, 0)
            np.histogram(x, [1, 0]); np.histogram_bin_edges(x, 4)
            np.histogram2d(x, y); np.histogram2d(x, y, 4, weights=y); np.histogram2d(x, x, [-1, 2])
            np.histogram2d(x, y, (3, 5), [[-1, 1], [0, 2]]); np.histogram2d(x, x, 3, density=True)
            np.histogram2d(x, x, ([-1, 0, 0.5, 2], 3)); np.histogram2d(x, x, (2, [1, 0]))
            np.histogram2d(x, x, 0)
        """,
        REDUCED),
    "slopes": Group(
        "x, y", PAIRS,
        """
            np.ediff1d(x); np.ediff1d(ary=x, to_end=[1, 2], to_begin=0); np.ediff1d(x, 0.5)
            np.gradient(x); np.gradient(x, 2.0); np.gradient(x, 0.5, edge_order=2)
            np.gradient(x[:6], np.arange(6) ** 2.0)
            np.gradient(x[:6], np.arange(6) ** 2.0, edge_order=2)
            np.gradient(x, edge_order=3); np.gradient(x, 1, 2); np.trapezoid(x, y)
            np.trapezoid(x, dx=2)
            np.diff(x, prepend=0); np.diff(x, append=y); np.diff(x, n=2, prepend=y[:1], append=1)
        """,
        Tolerance("differences of rounded quotients", ulps=16.0, of_sum=64.0)),
    "slopes_along": Group(
        "x", of_each("F64", "F32", "I64", "CUBE", "C128"),
        """
            np.gradient(x); np.gradient(x, axis=0); np.gradient(x, 1., 2., axis=(0, 1))
            np.gradient(x, np.arange(x.shape[0]) ** 2., axis=0)
            np.gradient(x, axis=-1, edge_order=2)
            np.trapezoid(x, axis=0); np.trapezoid(x, x, axis=1); np.diff(x, axis=0, prepend=x[:1])
        """,
        Tolerance("differences of rounded quotients", ulps=16.0, of_sum=64.0)),
    "signals": Group(
        "x, y", PAIRS | {"complex128": (C128[0], C128[1]), "uint8": (U8[0], U8[1])},
        """
            np.convolve(x, y); np.convolve(a=x, v=[1, 2, 3], mode='same'); np.convolve(x, 2)
            np.convolve(x, y[:3], mode='valid'); np.convolve([1, 2], x, 'same')
            np.convolve(x, y, 'x')
            np.convolve([1, 2], x, 'valid'); np.correlate(x, y); np.correlate(x, y[:3], 'full')
            np.correlate(a=x, v=[1, 2, 3], mode='same'); np.correlate([1, 2], x, 'full')
            np.correlate([1, 2], x, 'same'); np.correlate(x, y[:2] * 1j, 'full')
            np.polyval([1, 2, 3], x); np.polyval(x, y); np.polyval((1.5, 2), [1, 2])
        """,
        REDUCED),
    "covariances": Group(
        "x, y", {name: PAIRS[name] for name in ("float64", "int64", "float32", "large", "strided")},
        """
            np.cov(x); np.cov(x, y); np.cov(np.stack((x, y)))
            np.cov(np.stack((x, y)), rowvar=False)
            np.cov(m=x, y=y, rowvar=True, bias=True, ddof=None); np.cov(x, y, ddof=0)
            np.cov([[x, y]])
            np.cov(x, fweights=np.arange(x.size)); np.cov(x, aweights=np.arange(1., x.size + 1))
            np.corrcoef(x, y); np.corrcoef(np.stack((x, y))); np.corrcoef(x)
            np.average(x, weights=x - x)
        """,
        Tolerance("sums of products of differences from a mean that rounds", ulps=256.0,
                  of_sum=64.0)),
    "equality": Group(
        "x, y", {"float64": (F64[0], F64[1]), "bool": (BOOL[0], BOOL[1])},
        """
            np.isclose([1, 2], [1, 3]); np.allclose(x, x) if x.dtype != bool else True
            np.isclose(3, 4)
        """),
    "numbers_of_one_axis": Group(
        "x, k", {"number": (3, 0), "last": (2.5, -1), "array": (np.array(True), 0), "none": (3, 1)},
        """
            np.repeat(x, 3, axis=k); np.repeat(x, [2], axis=k); np.take(x, 0, axis=k)
            np.take(x, [0, -1], axis=k); np.compress([True], x, axis=k); np.cumsum(x, axis=k)
            np.cumprod(x, axis=k); np.nancumsum(x, axis=k); np.argmax(x, axis=k)
            np.argsort(x, axis=k); np.argpartition(x, 0, axis=k); np.packbits(x > 2, axis=k)
            np.unpackbits(np.uint8(x), axis=k); np.add.reduce(x, axis=k); np.squeeze(x, axis=k)
            np.linalg.norm(x, axis=k); np.kron(x, x); np.sum(x, axis=k)
        """),
    "rows_of_nothing": Group(
        "x", {"rows": (np.zeros((0, 3)),), "columns": (np.zeros((3, 0)),), "all": (np.zeros(0),),
              "small": (np.zeros((2, 0), "f4"),), "integers": (np.zeros((2, 0), int),)},
        """
            np.nanpercentile(x, 50); np.nanpercentile(x, 30, axis=-1)
            np.nanquantile(x, 0.3, axis=0); np.nanquantile(x, 0.3, axis=0, keepdims=True)
            np.nanquantile(x, 0.5, method='hazen')
            np.nanmedian(x, axis=-1); np.packbits(x > 0, axis=-1); np.packbits(x > 0, axis=0)
            np.unpackbits(x.astype('u1'), axis=-1); np.unpackbits(x.astype('u1'), axis=0)
            np.unpackbits(x.astype('u1'), axis=-1, count=-1); np.trim_zeros(x); np.indices(())
            np.indices((), dtype='f4'); np.indices((), sparse=True); np.indices(x.shape)
        """),
    "zeros_around": Group(
        "x", {"some": (np.pad(values((2, 3)), ((1, 0), (2, 1))),), "none": (np.zeros((3, 2)),),
              "cube": (np.pad(values((2, 2, 1)) > 0, 1),), "vector": (np.pad(I8[0], 2),)},
        """
            np.trim_zeros(x); np.trim_zeros(x, 'f'); np.trim_zeros(x, 'B'); np.trim_zeros(x, 'fB')
            np.trim_zeros(x, axis=0); np.trim_zeros(x, 'b', axis=-1); np.trim_zeros(x, axis=(-1, 0))
            np.trim_zeros(x, 'x'); np.trim_zeros(x[0, ..., 0]); np.trim_zeros(x, axis=())
        """),
    "copied_to": Group(
        "x, y", {"float64": (F64.copy(), F64[0]), "number": (np.array(1.5), np.array([[7]])),
                 "int8": (I8.copy(), F64[0])},
        """
            np.copyto(x, y); np.copyto(x, y[:1]); np.copyto(x, y, where=y > 0); np.copyto(x, y[:0])
            np.copyto(x, y, where=[True, False]); np.copyto(x, [y, y], 'unsafe'); np.copyto(x, 1.5)
            np.copyto(x, y[:2], 'unsafe', [True]); np.copyto(x, y, 'no'); np.copyto(x, [[[2]]])
            np.copyto(x, 2, where=False); np.copyto(x, 2, where=[[[True]]])
        """),
}
