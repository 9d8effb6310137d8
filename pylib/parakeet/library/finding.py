"""Where an array is not zero."""

import numpy as np

from parakeet.library.intrinsics import asarray, nonzero, normalize_axes, reshape
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
    """The box around what is not zero, along the axes."""
    if trim not in ("f", "b", "fb", "bf", "F", "B", "FB", "BF", "Fb", "fB", "Bf", "bF"):
        raise ValueError(f"unexpected character(s) in `trim`: '{trim}'")
    made = asarray(filt)
    is_set = made != 0
    every = normalize_axes(None, made.ndim)
    for k in normalize_axes(axis, made.ndim):
        others = every[:k] + every[k + 1 :]
        places = np.flatnonzero(np.any(is_set, axis=others) if len(others) > 0 else is_set)
        start, stop = 0, 0
        if places.shape[0] > 0:
            start = places[0] if trim not in ("b", "B") else 0
            stop = places[-1] + 1 if trim not in ("f", "F") else is_set.shape[k]
        made = made[(slice(None),) * k + (slice(start, stop),)]
    return made
