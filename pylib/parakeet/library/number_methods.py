"""Methods of numbers."""

import numpy as np

from parakeet.library.intrinsics import asarray
from parakeet.library.registry import overload


def require_number(x, name):
    if isinstance(x, np.ndarray):
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")


@overload(method="is_integer")
def is_integer(x):
    require_number(x, "is_integer")
    if asarray(x).dtype.kind == "f":
        return bool(np.isfinite(x) and np.floor(x) == x)
    return True


@overload(method="bit_count")
def bit_count(x):
    require_number(x, "bit_count")
    return int(np.bitwise_count(x))


@overload(method="bit_length")
def bit_length(x):
    """Of numbers of Python's alone."""
    if not isinstance(x, int):
        raise AttributeError("'numpy' integers have no attribute 'bit_length'")
    rest = abs(int(x))
    length = 0
    while rest > 0:
        rest >>= 1
        length += 1
    return length
