"""Whether arrays are equal, or nearly."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    on_device,
    reshape,
    result_type,
    select,
    strong,
)
from parakeet.library.registry import overload
from parakeet.operators import map, reduce
from parakeet.primitives import absolute, isfinite, logical_or


@overload(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a = strong(a)
    b = strong(b)
    if b.dtype.kind == "b":
        b = astype(b, np.float64)  # Of bools there are no differences.
    near = absolute(a - b) <= atol + rtol * absolute(b)
    close = (a == b) | (isfinite(b) & near)
    if equal_nan:
        return close | ((a != a) & (b != b))
    return close


@overload(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def is_same_shape(x, y):
    for k in range(x.ndim):
        if x.shape[k] != y.shape[k]:
            return False
    return True


@overload(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    x = asarray(a1)
    y = asarray(a2)
    if x.ndim != y.ndim:
        return False
    if not is_same_shape(x, y):
        return False
    same = x == y
    if equal_nan:
        same = same | ((x != x) & (y != y))
    return bool(np.all(same))


@overload(np.array_equiv)
def array_equiv(a1, a2):
    """Whether they are equal where they broadcast; False where they do not."""
    x = asarray(a1)
    y = asarray(a2)
    rank = max(x.ndim, y.ndim)
    x = x[(None,) * (rank - x.ndim)]
    y = y[(None,) * (rank - y.ndim)]
    for k in range(rank):
        if x.shape[k] != y.shape[k] and x.shape[k] != 1 and y.shape[k] != 1:
            return False
    return bool(np.all(x == y))


def is_among(value, values):
    return reduce(logical_or, values == value, init=False)


# How much longer than the arrays a table of integers may be, as NumPy has it.
TABLE_FACTOR = 6


def found_in_table(x, values, least, apart):
    """Of integers that lie close together."""
    table = np.zeros(apart + 1, bool)
    for value in astype(values, np.int64) - least:
        table[value] = True
    places = astype(x, np.int64) - least
    inside = (places >= 0) & (places <= apart)
    return inside & table[select(inside, places, 0)]


def found_among(x, values):
    """Whether each element is one of the values: by a table, a sort, or complex ones one by one."""
    if x.dtype.kind == "c":
        return asarray(map(lambda value: is_among(value, values), x, axis=None))
    if values.shape[0] == 0:
        return np.zeros(x.shape, bool)
    if x.dtype.kind in ("i", "u") and x.dtype != np.uint64 and not on_device():
        least = int(np.min(values))
        apart = int(np.max(values)) - least
        # Where the difference wraps it is negative.
        if apart >= 0 and apart <= TABLE_FACTOR * (x.size + values.size):
            return asarray(found_in_table(x, values, least, apart))
    return found_by_sort(x, values)


def found_by_sort(x, values):
    ordered = np.sort(values)
    places = np.minimum(np.searchsorted(ordered, x), values.shape[0] - 1)
    return asarray(ordered[places] == x)


@overload(np.isin, getattr(np, "in1d", None))
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """`kind` and `assume_unique` say how NumPy looks, not what it finds."""
    if kind is not None and kind != "sort" and kind != "table":
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    x = asarray(element)
    values = reshape(asarray(test_elements), -1)
    dtype = result_type(x.dtype, values.dtype)
    found = asarray(found_among(astype(x, dtype), astype(values, dtype)))
    return ~found if invert else found
