"""Transforms and filters of one dimension."""

import numpy as np


def fft(x):
    """Cooley and Tukey's, of complex x whose length is a power of two, in place by loops."""
    n = len(x)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
    size = 2
    while size <= n:
        half = size // 2
        for start in range(0, n, size):
            for k in range(half):
                w = np.exp(-2j * np.pi * k / size)
                even = x[start + k]
                odd = w * x[start + half + k]
                x[start + k] = even + odd
                x[start + half + k] = even - odd
        size *= 2


def fft_of_halves(x):
    """The same by recursion, as slices."""
    n = len(x)
    if n <= 1:
        return x.copy()
    even = fft_of_halves(x[::2])
    odd = fft_of_halves(x[1::2])
    t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    out = np.empty(n, dtype=np.complex128)
    out[:n // 2] = even + t
    out[n // 2:] = even - t
    return out


def fourier_by_product(x):
    """The whole matrix: (n,) complex from (n,)."""
    k = np.arange(len(x))
    return np.exp(-2j * np.pi * k[:, None] * k / len(x)) @ x


def convolved(x, w):
    """The full convolution (n + m - 1,) by slices."""
    out = np.zeros(len(x) + len(w) - 1)
    for k in range(len(w)):
        out[k:k + len(x)] += w[k] * x
    return out


def haar(x):
    """The wavelets of x, whose length is a power of two, in place."""
    n = len(x)
    while n > 1:
        even = x[:n:2].copy()
        odd = x[1:n:2].copy()
        x[:n // 2] = (even + odd) / 2
        x[n // 2:n] = (even - odd) / 2
        n //= 2


def low_pass(x, a, b):
    """A filter of second order, out of direct form II: (n,) from (n,)."""
    out = np.zeros(len(x))
    z1 = z2 = 0.0
    for i in range(len(x)):
        out[i] = b[0] * x[i] + z1
        z1 = b[1] * x[i] - a[1] * out[i] + z2
        z2 = b[2] * x[i] - a[2] * out[i]
    return out


def without_high(x, keep):
    """x (n,) with no more than the lowest frequencies."""
    spectrum = np.fft.fft(x)
    spectrum[keep:len(x) - keep + 1] = 0
    return np.fft.ifft(spectrum).real


def smoothed(x, width):
    return np.convolve(x, np.ones(width) / width, mode="same")
