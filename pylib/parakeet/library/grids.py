"""Grids: the coordinates of every point of a product of axes."""

import math

import numpy as np

from parakeet.library import intrinsics
from parakeet.library.intrinsics import (
    asarray,
    broadcast_to,
    expand_dims,
    normalize_axes,
    reshape,
    result_type,
)
from parakeet.library.registry import overload, subscript


@overload(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    axes = tuple([reshape(asarray(x), -1) for x in xi])
    is_turned = indexing == "xy" and rank > 1
    places = normalize_axes(None, rank)
    if is_turned:
        places = (1, 0) + places[2:]
    others = tuple([normalize_axes(None, rank)[:k] + normalize_axes(None, rank)[k + 1 :]
                    for k in places])
    grids = tuple([expand_dims(axes[k], others[k]) for k in normalize_axes(None, rank)])
    if not sparse:
        shape = tuple([axes[place].shape[0] for place in places])
        grids = tuple([broadcast_to(grid, shape) for grid in grids])
    return tuple([intrinsics.copy(grid, "C") for grid in grids]) if copy else grids


@overload(np.indices)
def indices(dimensions, dtype=int, sparse=False):
    if len(dimensions) == 0:
        return () if sparse else np.empty(0, dtype)
    axes = tuple([np.arange(n, dtype=dtype) for n in dimensions])
    grids = meshgrid(*axes, indexing="ij", sparse=sparse)
    return grids if sparse else np.stack(grids)


def points_of(key):
    """The coordinates that a slice names: a complex step says how many, both ends among them."""
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if isinstance(step, complex):
        count = int(abs(step))
        return np.arange(count) * ((key.stop - start) / max(count - 1, 1)) + start
    count = max(int(math.ceil((key.stop - start) / step)), 0)
    return np.arange(count) * step + start


def points_alone(key):
    """Of one slice, which NumPy leaves to arange."""
    if isinstance(key.step, complex):
        return points_of(key)
    return np.arange(0 if key.start is None else key.start, key.stop,
                     1 if key.step is None else key.step)


def require_lengths(index):
    for key in index:
        if not isinstance(key.step, complex):
            start = 0 if key.start is None else key.start
            if (key.stop - start) / (1 if key.step is None else key.step) <= -1:
                raise ValueError("negative dimensions are not allowed")


def axes_of(index):
    """The coordinates along each axis, in one dtype."""
    axes = tuple([points_of(key) for key in index])
    dtype = result_type(*axes)
    return tuple([asarray(axis, dtype) for axis in axes])


@subscript(np.mgrid)
def mgrid(index):
    if isinstance(index, slice):
        return points_alone(index)
    require_lengths(index)
    return np.stack(meshgrid(*axes_of(index), indexing="ij"))


@subscript(np.ogrid)
def ogrid(index):
    if isinstance(index, slice):
        return points_alone(index)
    return meshgrid(*axes_of(index), indexing="ij", sparse=True)


@subscript(np.s_)
def s_(index):
    return index


@subscript(np.index_exp)
def index_exp(index):
    return index if isinstance(index, tuple) else (index,)


def pieces_of(index):
    """What stands between the brackets of np.r_, as arrays; slices are ranges."""
    keys = index if isinstance(index, tuple) else (index,)
    made = ()
    for key in keys:
        if isinstance(key, slice):
            made = made + (points_alone(key),)
        else:
            made = made + (asarray(key),)
    return made


@subscript(np.r_)
def r_(index):
    return np.concatenate(tuple([np.atleast_1d(piece) for piece in pieces_of(index)]))


def as_columns(piece):
    if piece.ndim > 1:
        return piece
    return reshape(piece, (-1, 1))


@subscript(np.c_)
def c_(index):
    return np.concatenate(tuple([as_columns(piece) for piece in pieces_of(index)]), -1)
