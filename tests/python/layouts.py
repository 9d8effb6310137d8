"""Arrays of every dtype, size and layout that tests are run on.

A layout changes how an array lies in memory, and nothing of what it holds, except that one of
stride zero holds its first element everywhere.
"""

from collections.abc import Callable

import numpy as np

FLOATS = ("float64", "float32")
INTEGERS = ("int64", "int32", "int8", "uint8", "uint32")
NUMBERS = FLOATS + INTEGERS
SIZES = (0, 1, 2, 3, 7, 64, 1000, 100003)
# Nothing around an array may be read: it would show.
GARBAGE = 77


def values(shape, dtype="float64", seed=0) -> np.ndarray:
    """Numbers of both signs around zero, zero and repeats among them; the same every time.

    Floats are no multiples of a power of two, so that sums round. Integers stay small enough for
    sums and products of a few to fit every width.
    """
    random = np.random.default_rng([seed, *np.atleast_1d(shape)])
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind == "u":
        return random.integers(0, 9, shape).astype(dtype)
    if dtype.kind == "i":
        return random.integers(-4, 5, shape).astype(dtype)
    x = random.normal(size=shape)
    x = np.where(random.random(shape) < 0.05, 0.0, x)
    if dtype.kind == "c":
        x = x + 1j * random.normal(size=shape)
    return x.astype(dtype)


def _embed(x: np.ndarray, step: int) -> np.ndarray:
    """A view of every step-th element of a larger buffer, from its end for a negative step."""
    around = np.full(tuple(abs(step) * n + 3 for n in x.shape), GARBAGE, x.dtype)
    view = around[tuple(slice(1, 1 + abs(step) * n, abs(step)) for n in x.shape)]
    view = view[(slice(None, None, -1),) * x.ndim] if step < 0 else view
    view[...] = x
    return view


def _zero_stride(x: np.ndarray) -> np.ndarray:
    first = x[(slice(0, 1),) * x.ndim].copy()
    return np.lib.stride_tricks.as_strided(first, x.shape, (0,) * x.ndim)


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x: np.ndarray) -> np.ndarray:
    """Data one byte past where its type may lie."""
    place = np.zeros(x.nbytes + 1, np.uint8)[1:]
    view = np.ndarray(x.shape, x.dtype, buffer=place)
    view[...] = x
    return view


def _broken_stride(x: np.ndarray) -> np.ndarray:
    """Strides that are no multiple of the item, as a field of a packed record has."""
    records = np.zeros(x.shape, np.dtype([("tag", np.uint8), ("value", x.dtype)]))
    records["value"] = x
    return records["value"]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: np.array(x, order="C"),
    "Fortran": lambda x: np.array(x, order="F"),
    "strided": lambda x: _embed(x, 2),
    "reversed": lambda x: _embed(x, -1),
    "reversed_strided": lambda x: _embed(x, -3),
    "zero_stride": _zero_stride,
    "read_only": _read_only,
    "unaligned": _unaligned,
    "broken_stride": _broken_stride,
}
# Those that can be stored to, element by element, without a store showing elsewhere.
WRITABLE_LAYOUTS = tuple(name for name in LAYOUTS if name not in ("zero_stride", "read_only"))


def lay_out(x: np.ndarray, layout: str) -> np.ndarray:
    """x in that layout, its own memory. A Fortran vector is a C vector."""
    return LAYOUTS[layout](x)
