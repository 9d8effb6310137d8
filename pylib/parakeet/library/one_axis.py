"""What the functions of NumPy that are written in C take for one axis."""

import numpy as np

from parakeet.library.intrinsics import normalize_axes, reshape


def require_axis(axis):
    """An integer or None: no sequence, which others read as several axes."""
    if isinstance(axis, (tuple, list)):
        raise TypeError("a sequence cannot be interpreted as an integer")


def require_strict_axis(axis):
    """No bool either."""
    require_axis(axis)
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")


def along_one_axis(x, axis):
    """A number is a vector of one element to whom asks for an axis."""
    if axis is None or x.ndim > 0:
        return x
    normalize_axes(axis, 1)
    return reshape(x, 1)
