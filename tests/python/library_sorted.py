"""What is found by sorting, as rows of library_rows.py."""

import numpy as np
from agreement import REDUCED, TRANSCENDENTAL
from layouts import values
from library_rows import BOOL, CUBE, F32, F64, I8, I64, SPECIAL, U8, Group, of_each

TIES = values(40, "int64") % 5
KINDS = of_each("F64", "F32", "F16", "C128", "I64", "I8", "U8", "BOOL", "CUBE", "SPECIAL")
LAYOUTS = {
    "fortran": (np.asfortranarray(CUBE),), "reversed": (CUBE[::-1, :, ::-2],),
    "repeated": (np.broadcast_to(F64[0], (3, 7)),), "empty": (F64[:, :0],), "none": (F64[:0],),
    "one": (F64[:1, :1],), "ties": (TIES,),
}
METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "hazen", "weibull",
           "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
           "median_unbiased", "normal_unbiased")

# Which of two zeros comes first is no promise of NumPy's, whose registers decide.
ONE_ZERO = {"SPECIAL": (np.where(SPECIAL == 0, 0.0, SPECIAL),)}

GROUPS = {
    "sorted": Group(
        "x", KINDS | LAYOUTS | ONE_ZERO, "np.sort(x); np.sort(x, axis=0); np.sort(x, axis=None)"),
    "sorted_stably": Group(
        "x", KINDS | LAYOUTS,
        """
            np.sort(x, kind='stable')
            np.sort(x, -1, 'mergesort'); np.sort(x, stable=True); np.argsort(x, kind='stable')
            np.argsort(x, axis=0, stable=True); np.argsort(x, axis=None, kind='stable')
            x.argsort(kind='stable'); np.unique(x); np.unique(x, return_counts=True)
        """),
    "sorted_vector": Group(
        "x", {"ties": (TIES,), "floats": (F64[0],), "empty": (F64[0, :0],), "bytes": (U8[0],)},
        """
            np.unique(x, return_index=True); np.unique(x, return_inverse=True)
            np.unique(x, True, True, True); np.lexsort((x,)); np.lexsort((x, x[::-1]))
            np.lexsort(np.stack((x, -x))); np.union1d(x, x[:3]); np.intersect1d(x, x[::2])
            np.setdiff1d(x, x[::2]); np.setxor1d(x, x[::2])
            np.partition(x, 0)[:1]; np.sort(x, kind='heapsort'); np.sort(x, axis=1)
            np.partition(x, 400); x.argpartition(-400); np.sort(x, order='name')
        """),
    "unique_slices": Group(
        "x", {"bits": (BOOL[:, :2],), "numbers": (TIES.reshape(20, 2),), "empty": (I8[:0],)},
        """
            np.unique(x, axis=0); np.unique(x, axis=1); np.unique(x, axis=-1, return_counts=True)
            np.unique(x, axis=0, return_index=True); np.unique(x, axis=0, return_inverse=True)
        """),
    "medians": Group(
        "x", of_each("F64", "F32", "F16", "C128", "I64", "U8", "CUBE") | LAYOUTS
        | {"nan": (np.where(BOOL, np.nan, F64),)},
        """
            np.median(x); np.median(x, axis=0); np.median(x, axis=(0, 1)); np.nanmedian(x, axis=0)
            np.median(x, -1, keepdims=True); np.nanmedian(x)
        """,
        REDUCED),
    "quantiles": Group(
        "x", of_each("F64", "F32", "I64", "CUBE") | {
            "nan": (np.where(BOOL, np.nan, F64),), "fortran": (np.asfortranarray(F64),)},
        """
            np.percentile(x, 50); np.percentile(x, [0, 25, 100], axis=0); np.quantile(x, 0.3, -1)
            np.percentile(x, 30.5, axis=(0, 1), keepdims=True); np.nanpercentile(x, 20, axis=0)
            np.quantile(x, np.array([[0.1, 0.2], [0.3, 1]]), axis=1); np.nanquantile(x, 0.75)
            np.percentile(x, 101); np.quantile(x, -0.1); np.quantile(x, np.float32(0.25))
        """ + "\n".join(f"np.quantile(x, [0, 0.3, 0.5, 0.9], 0, method='{m}')" for m in METHODS),
        REDUCED),
    "periodic": Group(
        "x", {"float64": (np.linspace(-10, 10, 21),), "float32": (F32[0],), "int64": (I64[0],)},
        """
            np.interp(x, [0.0, 3, 5], [1.0, 2, 3], period=6); np.interp(x, [1.0], [2.0], period=-2)
            np.interp(x, [0.0, 3], [1.0, 2], period=0)
        """,
        TRANSCENDENTAL),
}
