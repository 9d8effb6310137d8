"""Which target a call runs on, by name.

A call's own `target=` wins, then `with parakeet.target(...)`, then the decorator's, then the
configuration's. `_core` asks here for names, and reads the innermost `with` from `_innermost`; the
numbers are those of pylib/key.h.
"""

import contextlib
import contextvars

from parakeet import _core

_NUMBERS = {
    "serial": 0, "parallel": 1, "interpreter": 2, "python": 3, "gpu": 4, "emulated_gpu": 5,
}  # fmt: skip
_FIRST_WITH_DEVICE = _NUMBERS["gpu"]
# A number holds that of its device above these bits.
_DEVICE_SHIFT = 8
# Names of the original Parakeet.
_ALIASES = {"c": "serial", "openmp": "parallel", "interp": "interpreter", "cuda": "gpu"}
# Stands for no target.
NONE = 255

_innermost = contextvars.ContextVar("parakeet_target")
_core.set_target_variable(_innermost)


def canonical(name):
    """The name of a target, aliases resolved; "gpu:1" keeps its device. ValueError for others."""
    if not isinstance(name, str):
        raise TypeError(f"a target is named by a string, not by {type(name).__name__}")
    base, colon, device = name.partition(":")
    base = _ALIASES.get(base, base)
    if base in _NUMBERS and not colon:
        return base
    if base == "gpu" and device.isascii() and device.isdecimal() and len(device) <= 4:
        return f"gpu:{int(device)}"
    raise ValueError(f"no target is called {name!r}; there are {', '.join(_NUMBERS)}")


def number_of(name):
    """The number of a target, with that of its device, which need not be there."""
    base, _, device = canonical(name).partition(":")
    return _NUMBERS[base] | int(device or 0) << _DEVICE_SHIFT


def has_device(number):
    """Whether the target's kernels run on a device: a GPU, or the emulated one."""
    return number & 0xFF >= _FIRST_WITH_DEVICE


def name_of(number):
    """The name of the target that `number_of` gives `number` for: "gpu" for the first."""
    device = number >> _DEVICE_SHIFT
    name = next(name for name, value in _NUMBERS.items() if value == number & 0xFF)
    return f"{name}:{device}" if device else name


def number_in_context():
    """The number of the innermost `with target(...)`, or NONE."""
    return _innermost.get(NONE)


@contextlib.contextmanager
def target(name):
    """Runs every call inside the block on a target, in this thread or asyncio task.

    Raises ValueError for a name that is no target. A device that is not there is an error of the
    calls.
    """
    token = _innermost.set(number_of(name))
    _core.count_target_blocks(1)
    try:
        yield
    finally:
        _core.count_target_blocks(-1)
        _innermost.reset(token)


def devices():
    """The targets that calls may name on this machine, each GPU by itself."""
    count, _ = _core.count_gpus()
    hosts = [name for name in _NUMBERS if name != "gpu"]
    return hosts + [f"gpu:{number}" for number in range(count)]
