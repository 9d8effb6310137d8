"""What LAPACK is called for, as rows of library_rows.py."""

import numpy as np
from agreement import Tolerance
from layouts import values
from library_rows import Group

FACTORED = Tolerance("LAPACK is backward stable; its own bits depend on how memory lies",
                     ulps=512.0, of_one=64.0)


def square(n, dtype="float64", seed=1):
    """Well conditioned."""
    return (values((n, n), dtype, seed=seed) + 4 * n * np.eye(n)).astype(dtype)


def definite(n, dtype="float64"):
    a = values((n, n), dtype)
    return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


DTYPES = ("float64", "float32", "complex128", "complex64")
SQUARE = {dtype: (square(5, dtype),) for dtype in DTYPES} | {
    "int64": (square(4, "int64"),), "stack": (np.stack([square(3, seed=s) for s in range(4)]),),
    "fortran": (np.asfortranarray(square(4)),), "empty": (np.zeros((0, 0)),),
    "singular": (np.zeros((3, 3)),), "oblong": (np.zeros((3, 2)),),
    "half": (np.eye(2, dtype="f2"),),
    "vector": (np.zeros(3),), "none": (np.zeros((0, 3, 3)),),
    "large": (square(60),),
}
DEFINITE = {dtype: (definite(5, dtype),) for dtype in DTYPES} | {
    "stack": (np.stack([definite(3), 2 * definite(3)]),), "indefinite": (-np.eye(3),),
    "int64": (2 * np.eye(3, dtype=int),), "empty": (np.zeros((0, 0)),),
}
OBLONG = {dtype: (values((7, 4), dtype),) for dtype in DTYPES} | {
    "wide": (values((3, 6)),), "stack": (values((2, 4, 3)),), "empty": (np.zeros((0, 3)),),
    "reversed": (values((6, 4))[::-1, ::2],), "vector": (np.zeros(3),),
}

GROUPS = {
    "equations": Group(
        "a", SQUARE,
        """
            np.linalg.inv(a); np.linalg.det(a); np.linalg.slogdet(a)[0]; np.linalg.slogdet(a)[1]
            np.linalg.solve(a, np.ones(a.shape[-1])); np.linalg.solve(a, a + 1)
            np.linalg.solve(a, np.ones((2, 3))); np.linalg.solve(a, a[..., :2])
            np.linalg.cond(a); np.linalg.cond(a, -2); np.linalg.norm(a, 2); np.linalg.norm(a, 'nuc')
            np.linalg.norm(a, -2, (-2, -1), True); np.linalg.matrix_power(a + 0.5, -2)
            np.linalg.matrix_power(a, 3)
        """,
        FACTORED),
    "definite": Group(
        "a", DEFINITE,
        """
            np.linalg.cholesky(a); np.linalg.eigvalsh(a); np.linalg.eigvalsh(a, 'U')
            np.linalg.eigh(a)[0]; np.abs(np.linalg.eigh(a, UPLO='U')[1]); np.linalg.eigh(a, 'x')
        """,
        FACTORED),
    "oblong": Group(
        "a", OBLONG,
        """
            np.linalg.svd(a)[1]; np.linalg.svd(a, compute_uv=False)
            np.abs(np.linalg.svd(a, False)[0]); np.abs(np.linalg.qr(a)[0]); np.linalg.qr(a)[1]
            np.linalg.qr(a, 'r'); np.linalg.qr(a, mode='complete')[1]; np.linalg.pinv(a)
            np.linalg.matrix_rank(a)
            np.linalg.qr(a, 'q'); np.linalg.pinv(a, 0.1); np.linalg.matrix_rank(a, tol=0.5)
        """,
        FACTORED),
    "least_squares": Group(
        "a, b", {dtype: (values((7, 4), dtype), values((7, 2), dtype)) for dtype in DTYPES} | {
            "wide": (values((3, 5)), values((3, 1))), "square": (square(3), values((3, 2))),
            "deficient": (np.ones((5, 2)), values((5, 1))),
            "empty": (values((4, 2)), np.ones((4, 0))),
        },
        """
            np.linalg.lstsq(a, b); np.linalg.lstsq(a, b[:, 0]); np.linalg.lstsq(a, b, rcond=0.5)
            np.linalg.lstsq(a, b[:2]); np.linalg.lstsq(a[0], b)
        """,
        FACTORED),
    "fitted_polynomials": Group(
        "x, y", {
            "float64": (np.linspace(-1, 2, 9), values((9,))),
            "float32": (np.linspace(-1, 2, 9, dtype="f4"), values((9,), "float32")),
            "int64": (np.arange(9), np.arange(9)[::-1] ** 2),
            "columns": (np.arange(9.0), values((9, 2))),
            "lists": ([0, 1, 2, 4], [1.5, 2, 0, 3]), "one": ([2.0], [3.0]),
        },
        """
            np.polyfit(x, y, 1); np.polyfit(x, y, 2)[0]; np.polyfit(x, y, 0)
            np.polyfit(x, y, 2, full=True)[2:]; np.polyfit(x, y, 1, rcond=1e-3)
            np.polyfit(x, y, 1, w=np.arange(1.0, 1 + len(x))); np.polyfit(x, y, -1)
            np.polyfit(x, y[1:], 1); np.polyfit(x, y, 1, w=[1.0]); np.polyfit([[1]], y, 1)
            np.polyfit([], [], 1); np.polyfit(x, 3, 1)
        """,
        FACTORED),
}
