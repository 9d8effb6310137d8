"""Row by row: a reduction of each row, and an element-wise pass that uses it."""

import numpy as np
from workload import Workload


def softmax(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def layer_norm(x, gain, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gain + bias


def make_rows(random, rows, columns):
    return (random.standard_normal((rows, columns)).astype(np.float32),)


def make_layer(random, rows, columns):
    gain, bias = (random.standard_normal(columns).astype(np.float32) for _ in range(2))
    return *make_rows(random, rows, columns), gain, bias


def softmax_cpp(library, x):
    out = np.empty_like(x)
    library.softmax(x, out, *x.shape)
    return out


def layer_norm_cpp(library, x, gain, bias):
    out = np.empty_like(x)
    library.layer_norm(x, gain, bias, out, *x.shape)
    return out


# Sums of a thousand float32 in another order.
WORKLOADS = [
    Workload("softmax", softmax, make_rows, (4096, 1024), (5, 19), 1e-5,
             flops=lambda a, r: 15 * a[0].size, cpp=softmax_cpp, against_cpp=1.0),
    Workload("layer_norm", layer_norm, make_layer, (4096, 1024), (5, 19), 1e-5,
             flops=lambda a, r: 8 * a[0].size, cpp=layer_norm_cpp, against_cpp=1.0),
]  # fmt: skip
