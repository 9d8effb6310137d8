"""Numbers of elements, as the functions of NumPy take them that are written in C."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, can_cast, strong


def require_castable(given, rule):
    dtype = strong(given).dtype
    if not can_cast(dtype, np.int64, rule):
        raise TypeError(f"Cannot cast array data from dtype('{dtype}') to dtype('int64') "
                        f"according to the rule '{rule}'")


def as_places(indices, rule):
    """Integers as they are; an array of another dtype where the rule casts it, a number or a list
    in any case."""
    if isinstance(indices, np.ndarray):
        require_castable(indices, rule)
    given = asarray(indices) if isinstance(indices, (tuple, list)) else indices
    kind = strong(given).dtype.kind
    return given if kind == "i" or kind == "u" else astype(given, np.int64)


def as_coordinates(indices):
    """Integers or bools, as int64."""
    if isinstance(indices, (tuple, list)) and len(indices) == 0:
        raise TypeError("indices must be integral: the provided empty sequence was inferred as "
                        "float. Wrap it with 'np.array(indices, dtype=np.intp)'")
    given = asarray(indices)
    if given.dtype.kind not in ("i", "u", "b"):
        raise TypeError("only int indices permitted")
    return astype(given, np.int64)[()]


def require_index(k):
    """What Python takes for an integer: no bool of NumPy's, and no float."""
    range(k)
