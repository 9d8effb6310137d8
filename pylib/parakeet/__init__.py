"""A compiler for numeric Python: one core, all cores or a GPU, by a flag at the call.

    from parakeet import jit

    @jit
    def fast(x, alpha=0.5, beta=0.3):
        return np.tanh(x * alpha) + beta

    fast(x)                          # all cores
    fast(x, target="serial")         # one core, the same bits

Everything but `jit` and the settings is imported when it is first used.
"""

import importlib

from parakeet.config import config, get_num_threads, set_num_threads, show_config
from parakeet.errors import Limitation
from parakeet.jit import jit
from parakeet.targets import devices, target

__version__ = "0.1.0"

# What lives in a module that is imported at first use. Names that are not here are looked for
# among the primitives and operators.
_MODULES = {
    "DeviceArray": "parakeet.device_array",
    "array_type": "parakeet.inspection",
    "asarray": "parakeet.device_array",
    "cache_info": "parakeet.config",
    "clear_cache": "parakeet.config",
    "compare": "parakeet.comparison",
    "memory_info": "parakeet.device_memory",
    "overload": "parakeet.overloading",
    "profile": "parakeet.profiling",
    "set_memory_limit": "parakeet.device_memory",
    "to_gpu": "parakeet.device_array",
    "trim_memory": "parakeet.device_memory",
}
_SUBMODULES = (
    "c_backend", "errors", "inspection", "library", "operators", "primitives", "testing_helpers",
)  # fmt: skip
_FALLBACKS = ("parakeet.operators", "parakeet.primitives", "parakeet.library")

__all__ = [
    "DeviceArray",
    "Limitation",
    "array_type",
    "asarray",
    "cache_info",
    "clear_cache",
    "compare",
    "config",
    "devices",
    "get_num_threads",
    "jit",
    "memory_info",
    "overload",
    "profile",
    "set_memory_limit",
    "set_num_threads",
    "show_config",
    "target",
    "to_gpu",
    "trim_memory",
]


def __getattr__(name):
    if name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    elif name in _SUBMODULES:
        return importlib.import_module(f"parakeet.{name}")
    elif name.startswith("_"):
        raise AttributeError(f"module 'parakeet' has no attribute {name!r}")
    else:
        value = _find_public(name)
    globals()[name] = value
    return value


def _find_public(name):
    for module in _FALLBACKS:
        public = importlib.import_module(module)
        if name in getattr(public, "__all__", ()):
            return getattr(public, name)
    raise AttributeError(f"module 'parakeet' has no attribute {name!r}")


def __dir__():
    names = set(globals()) | set(_MODULES) | set(_SUBMODULES)
    for module in _FALLBACKS:
        names.update(getattr(importlib.import_module(module), "__all__", ()))
    return sorted(names)
