"""NumPy's functions, written in the language that is compiled, over the primitives and operators.

Each module registers its functions for the objects whose place they take (`registry.overload`).
Outside jitted code `parakeet.sum` and its like are NumPy's own functions; those that NumPy has not
are jitted.
"""

import functools
import importlib
import os

import numpy as np

from parakeet.library import registry

_MODULES = """
    intrinsics ufuncs reductions ufunc_methods constructors views spread scans differences logic
    rounding linear_algebra math_functions rearrangements matrices grids padding products
    comparisons finding sorting selection searching quantiles sets counting signals statistics
    without_nan norms linear_equations decompositions least_squares einsum choices stores indexes
    splitting kinds shapes along_axes special tapers polynomials stacked bit_packing
""".split()
_TYPES = """
    int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128
    bool_ intp
""".split()

# Functions of ours, called from Python as any jitted function is.
_OURS = {
    "alen": "old_names",
    "pmap1": "windows",
    "pmap2": "windows",
    "pmap2_trim": "windows",
    "rank": "old_names",
}


def _import_modules(names):
    for name in names:
        importlib.import_module(f"parakeet.library.{name}")


def _read_places():
    """Where a wheel says that each function stands; None in a checkout, or after an edit."""
    try:
        from parakeet.library import places

        sizes = {name: os.stat(os.path.join(__path__[0], name)).st_size for name in places.SIZES}
    except (ImportError, OSError):
        return None
    return places if sizes == places.SIZES else None


# A module costs a fifth of a millisecond, and most programs use a few: where it is known what a
# module registers, it is imported when that is looked up.
if (_places := _read_places()) is None:
    _import_modules(_MODULES)
else:
    _import_modules(name for name in _MODULES if name in _places.ALWAYS)
    registry.expect(_places.PLACES)


@functools.cache
def _public():
    _import_modules(_MODULES)
    public = {name: getattr(np, name) for name in registry.functions if hasattr(np, name)}
    return public | {name: getattr(np, name) for name in _TYPES}


@functools.cache
def _ours(name):
    from parakeet.jit import jit  # Here, since tests of the front end have no such module.

    return jit(getattr(importlib.import_module(f"parakeet.library.{_OURS[name]}"), name))


def __getattr__(name):
    if name == "__all__":
        return [*_public(), *_OURS]
    if name in _OURS:
        return _ours(name)
    if not name.startswith("_") and name in _public():
        return _public()[name]
    raise AttributeError(f"module 'parakeet.library' has no attribute {name!r}")
