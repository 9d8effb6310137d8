"""Stencils as loops for Numba."""

import numpy as np
from numba import prange


def convolution(njit):
    @njit
    def kernel(image, weights, out):
        for i in prange(out.shape[0]):
            for j in range(out.shape[1]):
                total = 0.0
                for p in range(weights.shape[0]):
                    for q in range(weights.shape[1]):
                        total += image[i + p, j + q] * weights[p, q]
                out[i, j] = total

    return _convolve_with(kernel)


def convolution__unrolled(njit):
    """The window's width is a constant of the closure, which unrolls the inner loops."""

    def of_width(width):
        @njit
        def kernel(image, weights, out):
            for i in prange(out.shape[0]):
                for j in range(out.shape[1]):
                    total = 0.0
                    for p in range(width):
                        for q in range(width):
                            total += image[i + p, j + q] * weights[p, q]
                    out[i, j] = total

        return kernel

    kernels = {width: of_width(width) for width in (3, 5)}
    return lambda image, weights: _convolve_with(kernels[weights.shape[0]])(image, weights)


def _convolve_with(kernel):
    def call(image, weights):
        width = weights.shape[0]
        out = np.empty((image.shape[0] - width + 1, image.shape[1] - width + 1))
        kernel(image, weights, out)
        return out

    return call


def hdiff(njit):
    @njit(inline="always")
    def laplacian(f, i, j, k):
        return 4.0 * f[i, j, k] - (f[i + 1, j, k] + f[i - 1, j, k] + f[i, j + 1, k]
                                   + f[i, j - 1, k])

    @njit(inline="always")
    def flux(f, i, j, p, q, k):
        change = laplacian(f, p, q, k) - laplacian(f, i, j, k)
        return 0.0 if change * (f[p, q, k] - f[i, j, k]) > 0 else change

    @njit
    def kernel(f, c, out):
        for a in prange(out.shape[0]):
            i = a + 2
            for b in range(out.shape[1]):
                j = b + 2
                for k in range(out.shape[2]):
                    out[a, b, k] = f[i, j, k] - c[a, b, k] * (
                        flux(f, i, j, i + 1, j, k) - flux(f, i - 1, j, i, j, k)
                        + flux(f, i, j, i, j + 1, k) - flux(f, i, j - 1, i, j, k))

    def call(field, coefficient):
        out = np.empty_like(coefficient)
        kernel(field, coefficient, out)
        return out

    return call


def jacobi(njit):
    @njit
    def sweep(u, v):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.2 * (u[i, j] + u[i, j - 1] + u[i, j + 1] + u[i + 1, j] + u[i - 1, j])

    return _sweep_with(njit, sweep)


def heat(njit):
    @njit
    def sweep(u, v):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                for k in range(1, u.shape[2] - 1):
                    v[i, j, k] = 0.25 * u[i, j, k] + 0.125 * (
                        u[i + 1, j, k] + u[i - 1, j, k] + u[i, j + 1, k] + u[i, j - 1, k]
                        + u[i, j, k + 1] + u[i, j, k - 1])

    return _sweep_with(njit, sweep)


def _sweep_with(njit, sweep):
    @njit
    def call(u, sweeps):
        u = u.copy()
        v = u.copy()
        for _ in range(sweeps // 2):
            sweep(u, v)
            sweep(v, u)
        return u

    return call


def fdtd(njit):
    @njit
    def electric(ex, ey, hz, value):
        for j in range(ey.shape[1]):
            ey[0, j] = value
        for i in prange(ex.shape[0]):
            if i > 0:
                for j in range(ey.shape[1]):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, ex.shape[1]):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])

    @njit
    def magnetic(ex, ey, hz):
        for i in prange(hz.shape[0] - 1):
            for j in range(hz.shape[1] - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])

    @njit
    def call(ex, ey, hz, source):
        ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
        for t in range(source.size):
            electric(ex, ey, hz, source[t])
            magnetic(ex, ey, hz)
        return ex, ey, hz

    return call
