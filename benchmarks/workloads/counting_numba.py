"""Loops that count and select, for Numba."""

import numpy as np
from numba import get_num_threads, prange


def histogram(njit):
    @njit
    def kernel(keys, bins):
        parts, n = get_num_threads(), keys.size
        counts = np.zeros((parts, bins), np.int64)
        for t in prange(parts):
            for i in range(t * n // parts, (t + 1) * n // parts):
                counts[t, keys[i]] += 1
        return counts.sum(axis=0)

    return kernel


def compaction(njit):
    @njit
    def kernel(x, out, kept):
        parts, n = kept.size, x.size
        for t in prange(parts):
            to = t * n // parts
            for i in range(t * n // parts, (t + 1) * n // parts):
                if x[i] > 0.5:
                    out[to] = x[i]
                    to += 1
            kept[t] = to - t * n // parts
        total = 0
        for t in range(parts):
            begin = t * n // parts
            for i in range(kept[t]):
                out[total + i] = out[begin + i]
            total += kept[t]
        return total

    parts = get_num_threads()

    def call(x):
        out = np.empty_like(x)
        return out[: kernel(x, out, np.zeros(parts, np.int64))]

    return call
