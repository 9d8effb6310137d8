"""Windows for signals: weights that fall off to both ends."""

import numpy as np

from parakeet.library.registry import overload
from parakeet.library.special import bessel
from parakeet.operators import map

PI = 3.141592653589793


def cosines(M, factors):
    """The sum of factors[k] * cos(k * pi * n / (M - 1)) over odd n from 1 - M on."""
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    places = np.arange(1.0 - M, M, 2)
    total = np.zeros(places.shape[0])
    for k, factor in enumerate(factors):
        total = total + factor * np.cos(k * PI * places / (M - 1))
    return total


@overload(np.hanning)
def hanning(M):
    return cosines(M, (0.5, 0.5))


@overload(np.hamming)
def hamming(M):
    return cosines(M, (0.54, 0.46))


@overload(np.blackman)
def blackman(M):
    return cosines(M, (0.42, 0.5, 0.08))


@overload(np.bartlett)
def bartlett(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    places = np.arange(1.0 - M, M, 2)
    return np.where(places <= 0, 1 + places / (M - 1), 1 - places / (M - 1))


@overload(np.kaiser)
def kaiser(M, beta):
    if M == 1:
        return np.ones(1)
    alpha = (M - 1) / 2.0
    places = (np.arange(0.0, M) - alpha) / alpha
    return map(bessel, beta * np.sqrt(1 - places**2), axis=None) / bessel(np.float64(beta))
