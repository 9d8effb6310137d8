"""The decorator. What it makes is a `_core.Function`; this module gives that type its methods."""

import functools
import os
import types
import weakref

from parakeet import _core
from parakeet.targets import number_of

# LLVM's names of fast-math flags.
_FASTMATH_FLAGS = {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"}

_living = weakref.WeakSet()


def jit(f=None, *, target=None, fastmath=False, boundscheck=True, cache=True, name=None):
    """Compiles a numeric Python function to native code, at the first call for each kind of
    arguments.

    f            a Python function; without it, gives a decorator with these options
    target       where its calls run that say nothing else: "serial", "parallel", "interpreter",
                 "python"; None leaves it to `parakeet.config.target`
    fastmath     True, or a set of LLVM's names of fast-math flags
    boundscheck  False leaves out the checks of indexes; a wrong index then does anything
    cache        False keeps its code off the disk (see `parakeet.config.cache`)
    name         what `__name__` says instead of the function's own

    The result is called as the function is, with `target=` as a further keyword, from any number
    of threads. TypeError for what is no Python function.
    """
    options = {
        "target": target,
        "fastmath": fastmath,
        "boundscheck": bool(boundscheck),
        "cache": bool(cache),
        "name": name,
    }
    if f is None:
        return functools.partial(jit, **options)
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(jit(f.__func__, **options))
    if isinstance(f, _core.Function):
        f = f.__wrapped__
    if not isinstance(f, types.FunctionType):
        raise TypeError(f"jit takes a Python function, not {_name_kind(f)}")
    return _make(f, options)


def _make(f, options):
    target = -1 if options["target"] is None else number_of(options["target"])
    fastmath = _fastmath_flags(options["fastmath"])
    made = _core.Function(f, target, fastmath, options["boundscheck"], options["cache"])
    functools.update_wrapper(made, f)
    if options["name"] is not None:
        made.__name__ = options["name"]
    made._options = options
    _living.add(made)
    return made


def _fastmath_flags(fastmath):
    if isinstance(fastmath, bool):
        return ("fast",) if fastmath else ()
    flags = {fastmath} if isinstance(fastmath, str) else set(fastmath)
    unknown = flags - _FASTMATH_FLAGS
    if unknown:
        known = ", ".join(sorted(_FASTMATH_FLAGS))
        raise ValueError(f"no fast-math flag is called {min(unknown)!r}; there are {known}")
    return tuple(sorted(flags))


def _name_kind(f):
    """What someone tried to jit, in words."""
    if isinstance(f, type):
        return f"the class {f.__name__}; decorate its methods"
    if type(f).__name__ == "ufunc":
        return f"the ufunc {f.__name__}; call it inside a jitted function"
    if isinstance(f, types.BuiltinFunctionType):
        return f"the builtin {f.__name__}; call it inside a jitted function"
    if isinstance(f, types.MethodType):
        return f"the bound method {f.__name__}; decorate it in its class"
    if isinstance(f, types.GeneratorType):
        return "a generator"
    return f"an object of type {type(f).__name__}"


def living_functions():
    """The jitted functions that still exist."""
    return list(_living)


def _inspecting(name):
    """A method that parakeet.inspection has; that module is imported at its first use."""

    def method(self, *args, **kwargs):
        from parakeet import inspection

        return getattr(inspection, name)(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Function.{name}"
    return method


def _reduce(self):
    from parakeet import pickling

    return pickling.reduce_function(self)


def _repr(self):
    return f"<jitted function {self.__qualname__} at {id(self):#x}>"


def _signatures(self):
    from parakeet import inspection

    return inspection.signatures(self)


for _name in ("asm", "compile", "explain", "ir", "llvm", "ptx", "timings"):
    setattr(_core.Function, _name, _inspecting(_name))
_core.Function.signatures = property(_signatures, doc="what it is compiled for, one text each")
_core.Function.__reduce__ = _reduce
_core.Function.__repr__ = _repr
_core.Function.__copy__ = lambda self: self
_core.Function.__deepcopy__ = lambda self, memo: self

os.register_at_fork(after_in_child=_core._after_fork_in_child)
