"""Which target a call runs on, by name.

A call's own `target=` wins, then `with parakeet.target(...)`, then the decorator's, then the
configuration's. `_core` asks here for names and for the innermost `with`; the numbers are those of
pylib/key.h.
"""

import contextlib
import contextvars

from parakeet import _core

_NUMBERS = {"serial": 0, "parallel": 1, "interpreter": 2, "python": 3}
# Names of the original Parakeet.
_ALIASES = {"c": "serial", "openmp": "parallel", "interp": "interpreter", "cuda": "gpu"}
_NOT_IN_CONTEXT = len(_NUMBERS)

_innermost = contextvars.ContextVar("parakeet_target")


def canonical(name):
    """The name of a target, aliases resolved; "gpu:1" keeps its device. ValueError for others."""
    if not isinstance(name, str):
        raise TypeError(f"a target is named by a string, not by {type(name).__name__}")
    base, colon, device = name.partition(":")
    base = _ALIASES.get(base, base)
    if base == "gpu" and (not colon or device.isdigit()):
        return base + colon + device
    if not colon and (base in _NUMBERS or base == "emulated_gpu"):
        return base
    known = ", ".join([*_NUMBERS, "gpu", "emulated_gpu"])
    raise ValueError(f"no target is called {name!r}; there are {known}")


def number_of(name):
    """The number of a target that this build runs. NotImplementedError for a GPU."""
    name = canonical(name)
    if name in _NUMBERS:
        return _NUMBERS[name]
    from parakeet.errors import Limitation

    raise Limitation(f"target {name!r} is not in this version; use 'parallel' or 'serial'")


def name_of(number):
    """The name of the target that `number_of` gives `number` for."""
    return next(name for name, value in _NUMBERS.items() if value == number)


def number_in_context():
    """The number of the innermost `with target(...)`, or one that stands for no target."""
    return _innermost.get(_NOT_IN_CONTEXT)


@contextlib.contextmanager
def target(name):
    """Runs every call inside the block on a target, in this thread or asyncio task.

    Raises ValueError for a name that is no target, NotImplementedError for one that this version
    does not have.
    """
    token = _innermost.set(number_of(name))
    _core.count_target_blocks(1)
    try:
        yield
    finally:
        _core.count_target_blocks(-1)
        _innermost.reset(token)


def devices():
    """The targets that calls may name on this machine."""
    return list(_NUMBERS)
