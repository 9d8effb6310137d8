"""Convolutions and correlations of vectors."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, reshape
from parakeet.library.registry import overload
from parakeet.operators import imap, reduce
from parakeet.primitives import add


def vector_of(x, name):
    given = asarray(x)
    if given.ndim > 1:
        raise ValueError("object too deep for desired array")
    vector = reshape(given, -1)
    if vector.shape[0] == 0:
        raise ValueError(f"{name} cannot be empty")
    return vector


def sum_of_products(a, v, first, other, count):
    """Of `count` elements of `a` from `first` on with those of `v` from `other` on."""
    zero = astype(0, np.result_type(a, v))
    return reduce(add, imap(lambda k: a[first + k] * v[other + k], count), init=zero)


def overlaps(a, v, before, count):
    """So many overlaps, of which `before` begin before `a` does: those of all of `v` by themselves,
    since each of them is as long as the others."""
    n = a.shape[0]
    m = v.shape[0]
    inside = n - m + 1
    made = np.empty(count, np.result_type(a, v))
    for i in range(before):
        made[i] = sum_of_products(a, v, 0, before - i, m - before + i)
    for i in range(inside):
        made[before + i] = sum_of_products(a, v, i, 0, m)
    for i in range(count - before - inside):
        made[before + inside + i] = sum_of_products(a, v, inside + i, 0, m - 1 - i)
    return made


def slide(a, v, mode):
    """The overlaps of `a` with a `v` that is no longer, from left to right."""
    n = a.shape[0]
    m = v.shape[0]
    if mode == "full":
        return overlaps(a, v, m - 1, n + m - 1)
    if mode == "same":
        return overlaps(a, v, m // 2, n)
    if mode == "valid":
        return overlaps(a, v, 0, n - m + 1)
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")


@overload(np.convolve)
def convolve(a, v, mode="full"):
    x = vector_of(a, "a")
    y = vector_of(v, "v")
    if y.shape[0] > x.shape[0]:
        return slide(y, x[::-1], mode)
    return slide(x, y[::-1], mode)


@overload(np.correlate)
def correlate(a, v, mode="valid"):
    x = vector_of(a, "first array argument")
    y = vector_of(v, "second array argument")
    if y.dtype.kind == "c":
        y = np.conjugate(y)
    if y.shape[0] > x.shape[0]:
        return slide(y, x, mode)[::-1]
    return slide(x, y, mode)
