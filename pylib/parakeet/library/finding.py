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
