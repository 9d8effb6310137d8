"""Reductions for CuPy that read their arrays once."""

import cupy as cp

_PRODUCT = cp.ReductionKernel(
    "float64 x, float64 y, float64 mx, float64 my", "float64 out", "(x - mx) * (y - my)", "a + b",
    "out = a", "0", "product_of_deviations")  # fmt: skip
_SQUARE = cp.ReductionKernel("float64 x, float64 mx", "float64 out", "(x - mx) * (x - mx)",
                             "a + b", "out = a", "0", "square_of_deviation")  # fmt: skip


def regression(x, y):
    mean_x, mean_y = x.mean(), y.mean()
    slope = _PRODUCT(x, y, mean_x, mean_y) / _SQUARE(x, mean_x)
    return slope, mean_y - slope * mean_x


def mean_and_variance(x):
    mean = x.mean()
    return mean, _SQUARE(x, mean) / x.size
