"""What objects from outside mean inside jitted code.

The front end asks `lookup` about every object that a name leads to. An entry is a Primitive, an
Operator, an Intrinsic, or a Python function that is compiled in the object's place.
"""

import numpy as np

# Entries by the identity of the object; the object is kept, so that its identity stays its own.
_entries = {}
# Entries by NumPy's name, for the operators and builtins that the front end maps to them.
functions = {}
# Entries of the methods of arrays and NumPy scalars; they take the array first.
methods = {}


def register(entry, *objects):
    """Lets `entry` stand for each of `objects`."""
    for obj in objects:
        _entries[id(obj)] = (obj, entry)


def overload(*objects, method=None):
    """Decorates the function that is compiled in the place of `objects`, and of the array method
    called `method`."""

    def decorate(function):
        register(function, *objects)
        if any(getattr(np, function.__name__, None) is obj for obj in objects):
            functions[function.__name__] = function
        if method is not None:
            methods[method] = function
        return function

    return decorate


def lookup(obj):
    """The entry for an object, or None where it has no meaning of its own."""
    if getattr(type(obj), "parakeet_kind", None) is not None:
        return obj
    found = _entries.get(id(obj))
    return None if found is None else found[1]
