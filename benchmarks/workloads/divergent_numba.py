"""Divergent loops for Numba, a point at a time."""

import numpy as np
from numba import prange

from workloads.divergent import collatz_steps, mandelbrot_steps


def julia(njit):
    @njit
    def kernel(xs, ys, cr, ci, most):
        out = np.empty((ys.size, xs.size), np.int64)
        for i in prange(ys.size):
            for j in range(xs.size):
                x, y, steps = xs[j], ys[i], 0
                while steps < most and x * x + y * y <= 4.0:
                    x, y = x * x - y * y + cr, 2.0 * x * y + ci
                    steps += 1
                out[i, j] = steps
        return out

    return lambda xs, ys, c, most: kernel(xs, ys, c.real, c.imag, most)


def mandelbrot(njit):
    steps = njit(mandelbrot_steps)

    @njit
    def kernel(xs, ys, most):
        out = np.empty((ys.size, xs.size), np.int64)
        for i in prange(ys.size):
            for j in range(xs.size):
                out[i, j] = steps(xs[j], ys[i], most)
        return out

    return kernel


def collatz(njit):
    steps = njit(collatz_steps)

    @njit
    def kernel(numbers):
        out = np.empty(numbers.size, np.int64)
        for i in prange(numbers.size):
            out[i] = steps(numbers[i])
        return out

    return kernel


def collatz__bits(njit):
    @njit
    def kernel(numbers):
        out = np.empty(numbers.size, np.int64)
        for i in prange(numbers.size):
            n, steps = numbers[i], 0
            while n != 1:
                n = 3 * n + 1 if n & 1 else n >> 1
                steps += 1
            out[i] = steps
        return out

    return kernel
