"""The gamma function and its logarithm, by Lanczos' approximation with 13 terms."""

import math

import numpy as np

from parakeet.library.registry import overload

# Of the quotient of two polynomials, from the constant term on.
ABOVE = (23531376880.41076, 42919803642.6491, 35711959237.35567, 17921034426.037209,
         6039542586.352028, 1439720407.3117216, 248874557.86205417, 31426415.585400194,
         2876370.6289353725, 186056.26539522351, 8071.672002365816, 210.82427775157935,
         2.5066282746310002)
BELOW = (0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0,
         2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0)
SHIFT = 6.024680040776729583740234375


def quotient(x):
    above = 0.0
    below = 0.0
    if x < 5.0:
        for a, b in zip(reversed(ABOVE), reversed(BELOW), strict=True):
            above = above * x + a
            below = below * x + b
    else:
        for a, b in zip(ABOVE, BELOW, strict=True):
            above = above / x + a
            below = below / x + b
    return above / below


def sine_of_turns(x):
    """sin(pi * x) for x >= 0, exact at whole numbers."""
    y = math.fmod(x, 2.0)
    n = round(2.0 * y)
    if n == 0:
        return math.sin(math.pi * y)
    if n == 1:
        return math.cos(math.pi * (y - 0.5))
    if n == 2:
        return math.sin(math.pi * (1.0 - y))
    if n == 3:
        return -math.cos(math.pi * (y - 1.5))
    return math.sin(math.pi * (y - 2.0))


@overload(math.gamma)
def gamma(x):
    x = float(x)
    if math.isnan(x) or math.isinf(x):
        return x if x != -np.inf else np.nan
    size = abs(x)
    if size < 1e-20:
        return 1.0 / x if x != 0 else math.copysign(np.inf, x)
    if math.floor(x) == x:
        if x < 0:
            return np.nan
        if x <= 23:
            product = 1.0
            for k in range(2, int(x)):
                product *= k
            return product
    if size > 200:
        if x > 0:
            return np.inf
        return 0.0 / sine_of_turns(x)
    y = size + (SHIFT - 0.5)
    # What rounding y has lost.
    lost = (y - size) - (SHIFT - 0.5) if size > SHIFT - 0.5 else (y - (SHIFT - 0.5)) - size
    lost = lost * SHIFT / y
    half = math.pow(y, size / 2.0 - 0.25)
    if x < 0:
        made = -math.pi / sine_of_turns(size) / size * math.exp(y) / quotient(size)
        made -= lost * made
        return made / math.pow(y, size - 0.5) if size < 140 else made / half / half
    made = quotient(size) / math.exp(y)
    made += lost * made
    return made * math.pow(y, size - 0.5) if size < 140 else made * half * half


@overload(math.lgamma)
def lgamma(x):
    x = float(x)
    if math.isnan(x):
        return x
    if math.isinf(x):
        return np.inf
    if math.floor(x) == x and x <= 2:
        return np.inf if x <= 0 else 0.0
    size = abs(x)
    if size < 1e-20:
        return -math.log(size)
    made = math.log(quotient(size)) - SHIFT
    made += (size - 0.5) * (math.log(size + SHIFT - 0.5) - 1)
    if x < 0:
        made = math.log(math.pi) - math.log(abs(sine_of_turns(size))) - math.log(size) - made
    return made
