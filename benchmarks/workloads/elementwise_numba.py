"""Element-wise loops for Numba, which write into memory of NumPy's."""

from math import exp, fabs, log, sqrt
from math import tanh as tanh_of

import numpy as np
from numba import prange


def chain(njit):
    @njit
    def kernel(x, y, z, out):
        for i in prange(x.size):
            t = x[i] * 2.5 + y[i]
            u = t * t - z[i]
            out[i] = max(u, t) / (1.0 + abs(z[i])) - 0.5 * x[i]

    def call(x, y, z):
        out = np.empty_like(x)
        kernel(x, y, z, out)
        return out

    return call


def tanh(njit):
    @njit
    def kernel(x, a, b, out):
        for i in prange(x.size):
            out[i] = tanh_of(x[i] * a) + b

    def call(x, a, b):
        out = np.empty_like(x)
        kernel(x, x.dtype.type(a), x.dtype.type(b), out)
        return out

    return call


def black_scholes(njit):
    normal = njit(inline="always")(_normal)

    @njit
    def kernel(price, strike, years, rate, volatility, call, put):
        for i in prange(price.size):
            root = volatility * sqrt(years[i])
            d1 = (log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i])
            d1 = d1 / root
            discounted = strike[i] * exp(-rate * years[i])
            n1 = normal(d1)
            n2 = normal(d1 - root)
            call[i] = price[i] * n1 - discounted * n2
            put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)

    def run(price, strike, years, rate, volatility):
        call, put = np.empty_like(price), np.empty_like(price)
        kernel(price, strike, years, rate, volatility, call, put)
        return call, put

    return run


def _normal(d):
    k = 1.0 / (1.0 + 0.2316419 * fabs(d))
    tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978
                + k * 1.330274429))))  # fmt: skip
    tail = tail * 0.3989422804014327 * exp(-0.5 * d * d)
    return 1.0 - tail if d > 0 else tail


def transposed(njit):
    @njit
    def kernel(out):
        for i in prange(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = 2 * (j * out.shape[0] + i)

    def call(n, rows):
        out = np.empty((n // rows, rows), np.int64)
        kernel(out)
        return out

    return call
