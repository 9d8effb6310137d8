"""What users' own functions stand for inside jitted code.

`overload` is public. The front end asks `lookup` about every object that a name of the user's leads
to, before it asks the library (`parakeet.library.registry`); the library's own code is not asked
for, so that it keeps calling what it was written over.
"""

import sys
import types
import weakref

import numpy as np

from parakeet import _core

# The function for an object, by the object's identity; the object is kept, so that its identity
# stays its own.
_functions = {}
# The functions behind methods of arrays and NumPy scalars; they take the array first.
_methods = {}
# What a function has been registered for, the latest or not: identities, and names of methods.
_stands_for = weakref.WeakKeyDictionary()


def overload(*functions, method=None):
    """Decorates a function that jitted code compiles in the place of others.

        @parakeet.overload(scipy.special.expit)
        def expit(x):
            return 1 / (1 + np.exp(-x))

    functions  what it stands for: functions of NumPy, of another library (written in C or not), of
               the user's own, or classes that jitted code calls; with the same parameters
    method     the name of an array method that it stands for too; it takes the array first

    What is decorated is a Python function in the language of jitted code, or a jitted function. It
    is returned as it was: called from plain Python it runs as ever, and so do the functions that it
    stands for. Calls of them in jitted code are calls of it, from now on: what has been compiled
    with an older meaning is compiled again. The last function registered wins, and it wins over
    ours: `overload(np.clip)` replaces the library's `np.clip`, where users' code calls it.

    Only those objects are replaced: operators (`a @ b` is not np.matmul), builtins, methods, what
    the library's functions call, and attributes (np.add.reduce) keep their meaning. Inside the
    function itself, what it stands for means what it would without it, so that it may call that.
    A registration is the process's own, and does not travel with pickled functions.

    TypeError for what cannot be compiled (no Python function) or cannot be replaced (not callable,
    a type of the language, a method that is made anew each time it is read); ValueError for a
    method that arrays do not have.
    """
    if not functions and method is None:
        raise TypeError("overload takes the functions to stand for, or method=")
    for replaced in functions:
        _check_replaced(replaced)
    if method is not None:
        _check_method(method)

    def decorate(function):
        _register(_plain(function), functions, method)
        return function

    return decorate


def lookup(obj, home):
    """The user's function for an object, or None. `home` is the function that reads it, or None."""
    return _meaning(_functions.get(id(obj), (None, None))[1], id(obj), home)


def lookup_method(name, home):
    """The user's function behind a method, or None."""
    return _meaning(_methods.get(name), name, home)


def _meaning(function, what, home):
    within = home is not None and what in _stands_for.get(home, ())
    return None if within else function


def _register(function, functions, method):
    stands_for = _stands_for.setdefault(function, set())
    for replaced in functions:
        _functions[id(replaced)] = (replaced, function)
        stands_for.add(id(replaced))
    if method is not None:
        _methods[method] = function
        stands_for.add(method)
    _core.overloads_changed()


def _plain(function):
    if isinstance(function, _core.Function):
        function = function.__wrapped__
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"overload decorates a Python function, not {_name_kind(function)}")
    return function


def _name_kind(obj):
    if isinstance(obj, type):
        return f"the class {obj.__name__}"
    if isinstance(obj, types.MethodType):
        return f"the bound method {obj.__name__}"
    if isinstance(obj, types.BuiltinFunctionType):
        return f"the builtin {obj.__name__}, which has no source"
    if isinstance(obj, np.ufunc):
        return f"the ufunc {obj.__name__}, which has no source"
    return f"an object of type {type(obj).__name__}"


def _check_replaced(obj):
    if not callable(obj):
        raise TypeError(f"overload takes what jitted code calls, not {_name_kind(obj)}")
    if isinstance(obj, type) and _is_type_of_the_language(obj):
        raise TypeError(f"{obj.__name__} is a type inside jitted code, and stays one")
    if _is_passing_method(obj):
        raise TypeError(
            f"{obj.__qualname__} is made anew each time it is read; name a function, or method="
        )


def _is_type_of_the_language(cls):
    from parakeet.library import registry  # Only here: this imports the whole library.

    is_known = registry.lookup(cls) is not None
    return is_known or issubclass(cls, (np.generic, np.dtype, BaseException))


def _is_passing_method(obj):
    """Whether `obj` is a method of some object, and no module holds it, as np.random's does."""
    if not isinstance(obj, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
        return False
    if obj.__self__ is None or isinstance(obj.__self__, types.ModuleType):
        return False
    holders = [vars(module) for module in list(sys.modules.values()) if hasattr(module, "__dict__")]
    return not any(names.get(obj.__name__) is obj for names in holders)


def _check_method(name):
    if not isinstance(name, str):
        raise TypeError(f"method is a name, not {_name_kind(name)}")
    if not hasattr(np.ndarray, name):
        raise ValueError(f"arrays have no method {name!r}")
    if not callable(getattr(np.ndarray, name)):
        raise ValueError(f"{name!r} is an attribute of arrays, not a method")
