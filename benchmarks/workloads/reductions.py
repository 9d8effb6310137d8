"""Reductions of whole arrays and along axes, alone and one behind another."""

import numpy as np
from workload import Workload


def regression(x, y):
    mean_x, mean_y = x.mean(), y.mean()
    dx = x - mean_x
    slope = (dx * (y - mean_y)).sum() / (dx * dx).sum()
    return slope, mean_y - slope * mean_x


def mean_and_variance(x):
    return x.mean(), x.var()


def sum_rows(x):
    return x.sum(axis=1)


def sum_columns(x):
    return x.sum(axis=0)


def sum_all(x):
    return x.sum()


def make_line(random, n):
    x = random.random(n)
    return x, 3.0 * x + 2.0 + random.normal(scale=0.1, size=n)


def make_vector(random, n):
    return (random.random(n),)


def make_matrix(random, rows, columns):
    return (random.random((rows, columns)),)


def regression_cpp(library, x, y):
    out = np.empty(2)
    library.regression(x, y, out, x.size)
    return out[0], out[1]


def mean_and_variance_cpp(library, x):
    out = np.empty(2)
    library.mean_and_variance(x, out, x.size)
    return out[0], out[1]


def sum_rows_cpp(library, x):
    out = np.empty(x.shape[0])
    library.sum_rows(x, out, *x.shape)
    return out


def sum_columns_cpp(library, x):
    out = np.empty(x.shape[1])
    library.sum_columns(x, out, *x.shape)
    return out


SUMMED = dict(size=(4000, 4000), tiny=(7, 19), tolerance=1e-12,
              flops=lambda a, r: a[0].size, against_cpp=0.9)  # fmt: skip
WORKLOADS = [
    Workload("regression", regression, make_line, (10_000_000,), (257,), 1e-10,
             flops=lambda a, r: 8 * a[0].size, cpp=regression_cpp, against_cpp=1.0),
    Workload("mean_and_variance", mean_and_variance, make_vector, (10_000_000,), (257,), 1e-10,
             flops=lambda a, r: 4 * a[0].size, cpp=mean_and_variance_cpp, against_cpp=1.0),
    Workload("sum_columns", sum_columns, make_matrix, cpp=sum_columns_cpp, **SUMMED),
    Workload("sum_rows", sum_rows, make_matrix, cpp=sum_rows_cpp, **SUMMED),
    Workload("sum_all", sum_all, make_matrix, **SUMMED,
             cpp=lambda library, x: library.sum_all(x, x.size)),
]  # fmt: skip
