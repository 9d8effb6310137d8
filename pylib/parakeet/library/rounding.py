"""Rounding to decimals."""

import numpy as np

from parakeet.library.intrinsics import astype, strong
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.primitives import rint


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


@overload(np.fix)
def fix(x, out=None):
    return give(np.trunc(x), out)
