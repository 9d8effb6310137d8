"""Sorted arrays and what is found by sorting. NumPy's kernels sort the rows, or, where these are
known to be short, the compiler writes what does (passes/sort_by_network.cc)."""

import builtins

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    copy,
    library_call,
    moveaxis,
    normalize_axes,
    reshape,
)
from parakeet.library.one_axis import along_one_axis, require_axis, require_strict_axis
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
from parakeet.operators import map


def sorted_row(row):
    values = copy(row, "C")
    library_call("sort", values)
    return values


def stably_sorted_row(row):
    values = copy(row, "C")
    if library_call("stable_sort", values) != 0:
        raise MemoryError("no memory to sort")
    return values


def order_of_row(row):
    """The indexes that sort it; equal elements keep their order."""
    places = np.arange(row.shape[0])
    if library_call("argsort", copy(row, "C"), places) != 0:
        raise MemoryError("no memory to sort")
    return places


def of_each(f, x, rest):
    """`f` of each part of the array behind as many axes as `rest` has."""
    if len(rest) == 0:
        return f(x)
    return map(lambda part: of_each(f, part, rest[1:]), x)


def along_rows(f, x, axis):
    """`f` of each row along the axis, which gives as many elements."""
    require_axis(axis)
    (axis,) = normalize_axes(axis, x.ndim)
    rows = moveaxis(x, axis, -1)
    made = of_each(f, rows, rows.shape[:-1])
    return moveaxis(reshape(made, rows.shape), -1, axis)  # Of no rows, too.


def sorter(kind, stable, order):
    """What sorts a row: stably where equal elements are to keep their order."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if stable is not None and kind is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. "
                         "Use only one of them.")
    if kind is not None and kind not in ("quicksort", "heapsort", "mergesort", "stable"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")
    if stable or kind == "stable" or kind == "mergesort":
        return stably_sorted_row
    return sorted_row


@overload(np.sort)
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    x = asarray(a)
    row = sorter(kind, stable, order)
    if axis is None:
        return row(reshape(x, -1))
    return along_rows(row, x, axis)


@overload(method="sort")
def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    a[...] = sort(a, axis, kind, order, stable=stable)


@overload(np.argsort, method="argsort")
def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    require_strict_axis(axis)
    x = along_one_axis(asarray(a), axis)
    sorter(kind, stable, order)
    if axis is None:
        return order_of_row(reshape(x, -1))
    return along_rows(order_of_row, x, axis)


@overload(builtins.sorted)
def sorted(iterable, key=None, reverse=False):
    x = asarray(iterable)
    if key is not None:
        raise NotImplementedError("sorted with a key: np.argsort of the keys gives the order")
    if x.ndim != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use a.any() or a.all()")
    return stably_sorted_row(x[::-1])[::-1] if reverse else stably_sorted_row(x)


@overload(np.lexsort)
def lexsort(keys, axis=-1):
    """By the last key first. Rows are sorted by one key after the other, stably."""
    if isinstance(keys, tuple):
        keys = np.stack(keys)
    x = asarray(keys)
    if x.ndim == 1:
        return astype(np.zeros(()), np.int64)
    (axis,) = normalize_axes(axis, x.ndim - 1)
    rows = moveaxis(x, axis + 1, -1)
    if x.ndim == 2:
        return order_by(rows)
    count = count_of(rows.shape[1:-1])
    stacked = moveaxis(reshape(rows, (rows.shape[0], count, rows.shape[-1])), 0, 1)
    return moveaxis(reshape(map(order_by, stacked), rows.shape[1:]), -1, axis)


def order_by(keys):
    """The order of the columns of `keys` by its last row, equal ones by the row before, and so
    on."""
    places = np.arange(keys.shape[1])
    for k in range(keys.shape[0]):
        places = places[order_of_row(keys[k][places])]
    return places
