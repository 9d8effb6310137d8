"""Counts, selection and order of CUB."""

import numpy as np


def histogram(library, keys, bins):
    functions = library("cub")
    out = functions.new("histogram", bins, np.int32)
    functions.histogram(keys, out, keys.size, bins)
    return out


def compaction(library, x):
    """The number of those kept must come down, since it is the shape of the result."""
    functions = library("cub")
    out, count = functions.new("kept", x.shape, np.float32), functions.new("count", (), np.int64)
    functions.compaction(x, out, count, x.size)
    return out.first(int(count.to_host()))


def sort(library, x):
    functions = library("cub")
    out = functions.new("sorted", x.shape, np.float32)
    functions.sort(x, out, x.size)
    return out
