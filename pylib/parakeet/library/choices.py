"""Elements chosen by conditions and by numbers."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    moveaxis,
    reshape,
    result_type,
    select,
    strong,
)
from parakeet.library.one_axis import along_one_axis
from parakeet.library.place_numbers import require_castable
from parakeet.library.rearrangements import placed
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give


@overload(np.select)
def select_(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    dtype = result_type(*choicelist, default)
    made = astype(default, dtype)
    for k, condition in reversed(tuple(enumerate(condlist))):
        if strong(condition).dtype != bool:
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        made = select(condition, astype(choicelist[k], dtype), made)
    return asarray(made)


def require_choice(places, count, mode):
    if mode == "raise":
        if np.any((places < 0) | (places >= count)):
            raise ValueError("invalid entry in choice array")


@overload(np.choose)
def choose(a, choices, out=None, mode="raise"):
    count = len(choices)
    require_castable(a, "safe")
    given = strong(a)
    require_choice(given, count, mode)
    places = placed(given, count, mode)
    dtype = result_type(*choices)
    made = astype(choices[0], dtype)
    for k, choice in enumerate(choices):
        if k > 0:
            made = select(places == k, astype(choice, dtype), made)
    return give(broadcast_like(made, places), out)


def broadcast_like(x, y):
    """x in the shape that it has beside y."""
    return select(y == y, x, x)


@overload(method="choose")
def choose_by(x, choices, out=None, mode="raise"):
    return choose(x, choices, out, mode)


@overload(np.compress)
def compress(condition, a, axis=None, out=None):
    mask = asarray(condition, bool)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    x = along_one_axis(asarray(a), axis)
    rows = reshape(x, -1) if axis is None else moveaxis(x, axis, 0)
    taken = rows[np.flatnonzero(mask)]
    return give(taken if axis is None else moveaxis(taken, 0, axis), out)


@overload(method="compress")
def compress_by(x, condition, axis=None, out=None):
    return compress(condition, x, axis, out)


@overload(np.extract)
def extract(condition, arr):
    return np.take(reshape(asarray(arr), -1), np.flatnonzero(condition))


@overload(np.piecewise)
def piecewise(x, condlist, funclist, *args):
    """Each number or function where its condition is the last that holds; one more for the rest."""
    given = asarray(x)
    conditions = condlist if isinstance(condlist, (tuple, list)) else (condlist,)
    count = len(conditions)
    if len(funclist) != count and len(funclist) != count + 1:
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are "
                         "expected")
    made = np.zeros_like(given)
    if len(funclist) == count + 1:
        made[...] = value_at(funclist[count], given, args)
    for k, condition in enumerate(conditions):
        made = select(condition, astype(value_at(funclist[k], given, args), made.dtype), made)
    return asarray(made)


def value_at(piece, x, args):
    """A number, or a function of the places."""
    if isinstance(piece, (bool, int, float, complex)):
        return piece
    return piece(x, *args)
