"""NumPy's functions, written in the language that is compiled, over the primitives and operators.

Each module registers its functions for the objects whose place they take (`registry.overload`).
Outside jitted code `parakeet.sum` and its like are NumPy's own functions; those that NumPy has not
are jitted.
"""

import importlib

import numpy as np

from parakeet.library import registry

_MODULES = """
    intrinsics ufuncs reductions ufunc_methods constructors views spread scans differences logic
    rounding linear_algebra math_functions rearrangements matrices grids padding products
    comparisons finding searching counting signals statistics without_nan norms einsum choices
    stores indexes splitting kinds shapes along_axes special tapers polynomials stacked bit_packing
""".split()
_TYPES = """
    int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128
    bool_ intp
""".split()

for _name in _MODULES:
    importlib.import_module(f"parakeet.library.{_name}")

# Functions of ours, called from Python as any jitted function is.
_OURS = {
    "alen": "old_names",
    "pmap1": "windows",
    "pmap2": "windows",
    "pmap2_trim": "windows",
    "rank": "old_names",
}

_PUBLIC = {name: getattr(np, name) for name in registry.functions if hasattr(np, name)}
_PUBLIC |= {name: getattr(np, name) for name in _TYPES}
_PUBLIC["overload"] = registry.overload

__all__ = [*_PUBLIC, *_OURS]


def __getattr__(name):
    if name in _OURS:
        from parakeet.jit import jit  # Here, since tests of the front end have no such module.

        module = importlib.import_module(f"parakeet.library.{_OURS[name]}")
        _PUBLIC.setdefault(name, jit(getattr(module, name)))
    if name in _PUBLIC:
        return _PUBLIC[name]
    raise AttributeError(f"module 'parakeet.library' has no attribute {name!r}")
