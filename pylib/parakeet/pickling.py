"""Jitted functions as bytes.

One that its module has under its own name is pickled as that name, as Python does with functions.
Any other (a lambda, a nested function, one of `__main__`) is pickled by content: code object,
source lines, defaults, closure and the globals that it reads. Python's code objects are read only
by the Python version that wrote them, and such pickles with them.
"""

import importlib
import linecache
import marshal
import sys
import types


def reduce_function(function):
    """What `pickle` stores of a jitted function."""
    plain = function.__wrapped__
    module, name = plain.__module__, plain.__qualname__
    if module != "__main__" and _find(module, name) is function:
        return _find, (module, name)
    return _make_jitted, (_skeleton(plain), function._options), _contents(plain), None, None, _fill


def _find(module, name):
    """The object that a module has under a qualified name, or None."""
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


class _Plain:
    """A plain Python function inside a pickle."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        function = self.function
        if function.__module__ != "__main__":
            if _find(function.__module__, function.__qualname__) is function:
                return _find, (function.__module__, function.__qualname__)
        return _make_plain, (_skeleton(function),), _contents(function), None, None, _fill


class _Module:
    """A module inside a pickle."""

    def __init__(self, module):
        self.name = module.__name__

    def __reduce__(self):
        return importlib.import_module, (self.name,)


def _skeleton(function):
    """What makes a function without its surroundings: code, source, names and defaults."""
    code = function.__code__
    # The decorator's line may come before the function's.
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = max(code.co_firstlineno - 1, 0)
    last = max((line for *_, line in code.co_lines() if line is not None), default=first)
    return {
        "python": sys.implementation.cache_tag,
        "code": marshal.dumps(code),
        "lines": lines[first : max(last, first + 1)],
        "module": function.__module__,
        "doc": function.__doc__,
        "defaults": _wrap(function.__defaults__),
        "kwdefaults": _wrap(function.__kwdefaults__),
    }


def _contents(function):
    """What may refer back to the function: filled in once it exists."""
    names = _names_read(function.__code__)
    cells = function.__closure__ or ()
    return {
        "globals": {
            name: _wrap(value) for name, value in function.__globals__.items() if name in names
        },
        "cells": [_wrap(cell.cell_contents) for cell in cells],
    }


def _names_read(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_read(constant)
    return names


def _wrap(value):
    if isinstance(value, types.FunctionType):
        return _Plain(value)
    if isinstance(value, types.ModuleType):
        return _Module(value)
    if type(value) is tuple:
        return tuple(map(_wrap, value))
    if type(value) is dict:
        return {name: _wrap(item) for name, item in value.items()}
    return value


def _make_plain(skeleton):
    if skeleton["python"] != sys.implementation.cache_tag:
        raise ValueError(
            f"this function was pickled by {skeleton['python']}, not {sys.implementation.cache_tag}"
        )
    code = _with_source(marshal.loads(skeleton["code"]), skeleton["lines"])
    cells = tuple(types.CellType() for _ in code.co_freevars)
    namespace = {"__builtins__": __builtins__, "__name__": skeleton["module"]}
    function = types.FunctionType(code, namespace, code.co_name, skeleton["defaults"], cells)
    function.__kwdefaults__ = skeleton["kwdefaults"]
    function.__qualname__ = code.co_qualname
    function.__doc__ = skeleton["doc"]
    return function


def _make_jitted(skeleton, options):
    from parakeet.jit import jit

    return jit(_make_plain(skeleton), **options)


def _fill(function, contents):
    plain = getattr(function, "__wrapped__", function)
    plain.__globals__.update(contents["globals"])
    for cell, value in zip(plain.__closure__ or (), contents["cells"], strict=True):
        cell.cell_contents = value


def _with_source(code, lines):
    """The code under a file name whose lines linecache has."""
    first = code.co_firstlineno - 1
    here = linecache.getlines(code.co_filename)
    if not lines or here[first : first + len(lines)] == lines:
        return code
    name = f"<pickled {code.co_name} {hash((code, *lines)) & 0xFFFFFFFF:08x}>"
    padded = ["\n"] * first + lines
    linecache.cache[name] = (sum(map(len, padded)), None, padded, name)
    return _renamed(code, name)


def _renamed(code, name):
    constants = tuple(_renamed(c, name) if isinstance(c, types.CodeType) else c
                      for c in code.co_consts)  # fmt: skip
    return code.replace(co_filename=name, co_consts=constants)
