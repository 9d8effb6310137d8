"""Rounding to decimals."""

import numpy as np

from parakeet.library.intrinsics import astype, strong
from parakeet.library.registry import functions, overload
from parakeet.library.ufuncs import give
from parakeet.primitives import absolute, copysign, floor, rint


@overload(np.round, np.around, method="round")
def round(a, decimals=0, out=None):
    x = strong(a)
    decimals = int(decimals)
    is_integer = x.dtype.kind == "i" or x.dtype.kind == "u"
    if is_integer:
        if decimals >= 0:
            return give(np.copy(x)[()], out)
        unit = 10.0**-decimals
        return give(astype(rint(x / unit) * unit, x.dtype), out)
    if x.dtype == bool and decimals != 0:
        raise TypeError("Cannot cast ufunc 'multiply' output from dtype('float64') to "
                        "dtype('bool') with casting rule 'same_kind'")
    if x.dtype == bool or decimals == 0:
        return give(rint(x), out)
    if decimals > 0:
        unit = 10.0**decimals
        return give(rint(x * unit) / unit, out)
    unit = 10.0**-decimals
    return give(rint(x / unit) * unit, out)


def rest_of_product(x, y, product):
    """What rounding `product`, that of x and y, has lost: Dekker's sum of the parts."""
    a = x * 134217729.0
    high_x = a - (a - x)
    b = y * 134217729.0
    high_y = b - (b - y)
    low_x = x - high_x
    low_y = y - high_y
    return ((high_x * high_y - product) + high_x * low_y + low_x * high_y) + low_x * low_y


def round_float(x, ndigits):
    """Python's own: rounded as the decimals of x would be, to the even one of two as near."""
    x = strong(x)
    digits = int(ndigits)
    unit = strong(1.0)
    for _ in range(min(abs(digits), 22)):
        unit = unit * 10.0
    scaled = x * unit if digits >= 0 else x / unit
    if not absolute(scaled) < 9007199254740992.0 or digits > 22:
        return float(x)
    if digits >= 0:
        lost = rest_of_product(x, unit, scaled)
    else:
        product = scaled * unit
        lost = (x - product) - rest_of_product(scaled, unit, product)
    whole = rint(scaled)
    below = floor(scaled)
    if scaled - below == 0.5 and lost != 0.0:
        whole = below + 1.0 if lost > 0.0 else below
    whole = copysign(whole, x)
    return float(whole / unit if digits >= 0 else whole * unit)


functions.update(round_float=round_float)


@overload(np.fix)
def fix(x, out=None):
    return give(np.trunc(x), out)
