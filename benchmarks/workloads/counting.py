"""What depends on data: counts, selection, order."""

import numpy as np
from workload import Workload


def histogram(keys, bins):
    return np.bincount(keys, minlength=bins)


def compaction(x):
    return x[x > 0.5]


def sort(x):
    return np.sort(x)


def make_keys(random, n, bins):
    return random.integers(0, bins, n).astype(np.int32), bins


def make_singles(random, n):
    return (random.random(n).astype(np.float32),)


def histogram_cpp(library, keys, bins):
    out = np.zeros(bins, np.int64)
    library.histogram(keys, out, keys.size, bins)
    return out


def compaction_cpp(library, x):
    out = np.empty_like(x)
    return out[: int(library.compaction(x, out, x.size))]


def sort_cpp(library, x):
    out = np.empty_like(x)
    library.sort(x, out, x.size)
    return out


WORKLOADS = [
    Workload("histogram", histogram, make_keys, (10_000_000, 256), (257, 7), 0.0,
             portable=("numba", "pythran"), cpp=histogram_cpp, against_cpp=1.0),
    Workload("compaction", compaction, make_singles, (10_000_000,), (257,), 0.0,
             portable=("numba", "pythran"), cpp=compaction_cpp, against_cpp=2.0),
    Workload("sort", sort, make_singles, (10_000_000,), (257,), 0.0, cpp=sort_cpp,
             against_cpp=1.0),
]  # fmt: skip
