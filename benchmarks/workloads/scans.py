"""Prefixes: nobody's peers run them in parallel well."""

import numpy as np
from workload import Workload


def cumsum(x):
    return np.cumsum(x)


def running_logsumexp(x):
    return np.logaddexp.accumulate(x)


def make_vector(random, n):
    return (random.random(n),)


def call_cpp(name):
    def call(library, x):
        out = np.empty_like(x)
        getattr(library, name)(x, out, x.size)
        return out

    return call


WORKLOADS = [
    Workload("cumsum", cumsum, make_vector, (10_000_000,), (257,), 1e-10,
             flops=lambda a, r: a[0].size, cpp=call_cpp("cumsum"), against_cpp=1.5),
    Workload("running_logsumexp", running_logsumexp, make_vector, (1_000_000,), (257,), 1e-10,
             flops=lambda a, r: 20 * a[0].size, portable=(), cpp=call_cpp("running_logsumexp"),
             against_cpp=1.5),
]  # fmt: skip
