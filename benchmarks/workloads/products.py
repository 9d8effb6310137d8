"""Products of matrices, of the usual ring and of others, as comprehensions over rows."""

import numpy as np
from workload import Workload


def matmul(X, Y):
    return np.array([[np.dot(row, col) for col in Y.T] for row in X])


def dense_layer(A, B, bias):
    return np.tanh(A @ B + bias)


def tropical(A, B):
    return np.array([[np.min(row + col) for col in B.T] for row in A])


def distances(X, Y):
    return np.array([[np.sum((a - b) ** 2) for b in Y] for a in X])


def tropical_numpy(A, B):
    return np.stack([np.min(row[:, None] + B, axis=0) for row in A])


def distances_numpy(X, Y):
    out = X @ Y.T
    out *= -2.0
    out += np.sum(X * X, axis=1)[:, None]
    out += np.sum(Y * Y, axis=1)
    return out


def make_singles(random, *shapes):
    return tuple(random.standard_normal(shape).astype(np.float32) for shape in shapes)


def make_doubles(random, *shapes):
    return tuple(random.random(shape) for shape in shapes)


def of_product(per_element):
    return lambda a, r: per_element * r[0].size * a[0].shape[1]


def new(a, b, dtype):
    return np.empty((a.shape[0], b.shape[1]), dtype)


def matmul_cpp(library, X, Y):
    out = new(X, Y, np.float32)
    library.matmul(X, Y, out, *X.shape, Y.shape[1])
    return out


def dense_layer_cpp(library, A, B, bias):
    out = new(A, B, np.float32)
    library.dense_layer(A, B, bias, out, *A.shape, B.shape[1])
    return out


def tropical_cpp(library, A, B):
    out = new(A, B, np.float64)
    library.tropical(A, B, out, *A.shape, B.shape[1])
    return out


def distances_cpp(library, X, Y):
    out = np.empty((X.shape[0], Y.shape[0]))
    library.distances(X, Y, out, *X.shape, Y.shape[0])
    return out


WORKLOADS = [
    # Sums of a thousand float32 in another order.
    Workload("matmul", matmul, make_singles, ((1200, 1200), (1200, 1200)), ((7, 19), (19, 5)),
             1e-5, flops=of_product(2), numpy=lambda X, Y: X @ Y, portable=(), cpp=matmul_cpp,
             against_cpp=0.95),
    Workload("dense_layer", dense_layer, make_singles, ((1024, 784), (784, 1024), (1024,)),
             ((7, 19), (19, 5), (5,)), 1e-4, flops=of_product(2), cpp=dense_layer_cpp,
             against_cpp=1.1),
    Workload("tropical", tropical, make_doubles, ((500, 500), (500, 500)), ((7, 19), (19, 5)),
             0.0, flops=of_product(2), numpy=tropical_numpy, portable=(), cpp=tropical_cpp,
             against_cpp=1.2),
    # NumPy's best form subtracts large numbers.
    Workload("distances", distances, make_doubles, ((2000, 10), (2000, 10)), ((7, 10), (5, 10)),
             1e-13, flops=of_product(3), numpy=distances_numpy, portable=(), cpp=distances_cpp,
             against_cpp=1.2),
]  # fmt: skip
