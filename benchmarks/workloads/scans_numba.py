"""Loops that scan, for Numba: two passes over a block a thread, or one pass by one thread."""

import numpy as np
from numba import get_num_threads, prange


def cumsum(njit):
    @njit
    def kernel(x, out):
        parts, n = get_num_threads(), x.size
        before = np.zeros(parts + 1)
        for t in prange(parts):
            total = 0.0
            for i in range(t * n // parts, (t + 1) * n // parts):
                total += x[i]
            before[t + 1] = total
        for t in range(parts):
            before[t + 1] += before[t]
        for t in prange(parts):
            running = before[t]
            for i in range(t * n // parts, (t + 1) * n // parts):
                running += x[i]
                out[i] = running

    def call(x):
        out = np.empty_like(x)
        kernel(x, out)
        return out

    return call


def running_logsumexp(njit):
    @njit
    def kernel(x, out):
        running = x[0]
        out[0] = running
        for i in range(1, x.size):
            larger = max(running, x[i])
            running = larger + np.log1p(np.exp(-abs(running - x[i])))
            out[i] = running

    def call(x):
        out = np.empty_like(x)
        kernel(x, out)
        return out

    return call
