"""What the functions of NumPy that are written in C take for one axis."""

import numpy as np


def require_axis(axis):
    """An integer or None: no sequence, which others read as several axes."""
    if isinstance(axis, (tuple, list)):
        raise TypeError("a sequence cannot be interpreted as an integer")


def require_strict_axis(axis):
    """No bool either."""
    require_axis(axis)
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")
