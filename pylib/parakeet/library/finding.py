"""Where an array is not zero."""

import numpy as np

from parakeet.library.intrinsics import asarray, nonzero, reshape
from parakeet.library.registry import overload


@overload(np.flatnonzero)
def flatnonzero(a):
    return nonzero(reshape(asarray(a), -1))[0]


@overload(np.argwhere)
def argwhere(a):
    x = asarray(a)
    if x.ndim == 0:
        return argwhere(reshape(x, 1))[:, :0]
    return np.stack(nonzero(x), axis=1)


@overload(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    """Of a vector."""
    x = asarray(filt)
    if x.ndim != 1:
        raise NotImplementedError("trim_zeros of a vector")
    places = np.flatnonzero(x)
    if places.shape[0] == 0:
        return x[:0]
    start = places[0] if trim in ("f", "fb", "F", "FB", "bf") else 0
    stop = places[-1] + 1 if trim in ("b", "fb", "B", "FB", "bf") else x.shape[0]
    return x[start:stop]
