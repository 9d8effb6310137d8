"""What is asked of a device alone: other sizes and element types, and further reductions."""

import numpy as np
from workload import Workload

from workloads.products import make_singles, matmul
from workloads.scans import cumsum
from workloads.stencils import jacobi, make_grid


def argmax(x):
    return np.argmax(x)


def largest_of_rows(x):
    return x.max(axis=1)


def sum_singles(x):
    return x.sum()


def product_of_matrices(X, Y):
    return X @ Y


def moved(x):
    return x.T.copy()


def transposed_like(x, rows):
    """`transposed` with an argument that is on the device, where its result then stays."""
    return np.arange(x.shape[0]).reshape(rows, -1).T * 2


def add_one(x):
    return x + 1.0


def make_vector(random, n):
    return (random.random(n),)


def make_single_vector(random, n):
    return (random.random(n, dtype=np.float32),)


def make_matrix(random, rows, columns):
    return (random.random((rows, columns)),)


def of_product(a, r):
    return 2.0 * r[0].size * a[0].shape[1]


def cumsum_of_doubles(x):
    return np.cumsum(x, dtype=np.float64).astype(np.float32)


def sum_of_doubles(x):
    return np.float32(x.sum(dtype=np.float64))


WORKLOADS = [
    # What a call costs the host, which goes on while the device works.
    Workload("small_call", add_one, make_vector, (16,), (16,), 0.0),
    Workload("small_steps", jacobi, make_grid, ((16, 16), 20), ((16, 16), 20), 1e-13,
             portable=("numba", "pythran")),
    Workload("matmul 4096", matmul, make_singles, ((4096, 4096), (4096, 4096)), ((7, 19), (19, 5)),
             1e-5, flops=of_product, numpy=product_of_matrices, portable=()),
    Workload("product float64", product_of_matrices,
             lambda random, n: (random.random((n, n)), random.random((n, n))), (4096,), (9,),
             1e-12, flops=of_product),
    Workload("transposed_like", transposed_like,
             lambda random, n, rows: (np.zeros(n, np.int8), rows), (10_000_000, 1000), (60, 5),
             0.0),
    Workload("transpose", moved, make_matrix, (8000, 8000), (7, 9), 0.0),
    Workload("argmax", argmax, make_vector, (40_000_000,), (257,), 0.0),
    Workload("largest_of_rows", largest_of_rows, make_matrix, (8000, 8000), (7, 19), 0.0),
    # Sums of many float32, judged by what float64 gives.
    Workload("sum_singles", sum_singles, make_single_vector, (100_000_000,), (257,), 1e-5,
             numpy=sum_of_doubles),
    Workload("cumsum float32", cumsum, make_single_vector, (40_000_000,), (257,), 1e-4,
             numpy=cumsum_of_doubles),
]  # fmt: skip
