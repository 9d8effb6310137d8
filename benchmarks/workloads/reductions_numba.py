"""Loops that reduce, for Numba."""

import numpy as np
from numba import get_num_threads, prange


def regression(njit):
    @njit
    def kernel(x, y):
        n = x.size
        sx, sy, xy, xx = 0.0, 0.0, 0.0, 0.0
        for i in prange(n):
            sx += x[i]
            sy += y[i]
        mx, my = sx / n, sy / n
        for i in prange(n):
            dx = x[i] - mx
            xy += dx * (y[i] - my)
            xx += dx * dx
        slope = xy / xx
        return slope, my - slope * mx

    return kernel


def mean_and_variance(njit):
    @njit
    def kernel(x):
        total, squares = 0.0, 0.0
        for i in prange(x.size):
            total += x[i]
        mean = total / x.size
        for i in prange(x.size):
            squares += (x[i] - mean) * (x[i] - mean)
        return mean, squares / x.size

    return kernel


def sum_all(njit):
    @njit
    def kernel(x):
        flat, total = x.ravel(), 0.0
        for i in prange(flat.size):
            total += flat[i]
        return total

    return kernel


def sum_rows(njit):
    @njit
    def kernel(x):
        out = np.empty(x.shape[0])
        for i in prange(x.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += x[i, j]
            out[i] = total
        return out

    return kernel


def sum_columns(njit):
    @njit
    def kernel(x):
        parts = get_num_threads()
        sums = np.zeros((parts, x.shape[1]))
        for t in prange(parts):
            for i in range(t * x.shape[0] // parts, (t + 1) * x.shape[0] // parts):
                for j in range(x.shape[1]):
                    sums[t, j] += x[i, j]
        return sums.sum(axis=0)

    return kernel
