"""What objects from outside mean inside jitted code.

The front end asks `lookup` about every object that a name leads to. An entry is a Primitive, an
Operator, an Intrinsic, or a Python function that is compiled in the object's place.
"""

import importlib
import operator

import numpy as np

# Entries by the identity of the object; the object is kept, so that its identity stays its own.
_entries = {}
# Entries by NumPy's name, for the operators and builtins that the front end maps to them.
functions = {}
# Functions of the index, by the identity of what is indexed (`np.mgrid`); the object is kept.
_subscripts = {}
# The functions behind the element-wise functions that are no primitives, by NumPy's name.
composed = {}
# Entries of the methods of element-wise functions (`np.add.reduce`); they take the function first.
ufunc_methods = {}
# Entries of the methods of arrays and NumPy scalars; they take the array first.
methods = {}
# The modules, by name, that register what is not registered yet: for tables of names, and by the
# identity of objects. Where nothing is known, everything is imported.
_places = {"methods": {}, "functions": {}, "composed": {}, "ufunc_methods": {}}
_object_places = {}
# These objects, in one list: as many tuples would make Python look for garbage.
_kept = []


def expect(places):
    """Lets what `places` lists be imported when it is looked up (tools/index_library.py)."""
    for table in _places:
        _places[table] = places[table]
    holders = {}
    for path, module in {**places["objects"], **places["subscripts"]}.items():
        home, _, name = path.rpartition(".")
        if home not in holders:
            holders[home] = _members(home)
        # What a module makes when it is asked for is a deprecated name; and some NumPys have less.
        obj = holders[home].get(name)
        if obj is not None:
            _object_places[id(obj)] = module
            _kept.append(obj)


def _members(home):
    """By name, what a dotted name's object itself has; the first part is a module."""
    root, _, inner = home.partition(".")
    holder = importlib.import_module(root)
    return vars(operator.attrgetter(inner)(holder) if inner else holder)


def _find(table, key, module):
    """What a table has, once the module that registers it is imported."""
    if key not in table and module is not None:
        importlib.import_module(f"parakeet.library.{module}")
    return table.get(key)


def named(table, name):
    """The entry of that name in a table by its name, or None."""
    return _find(globals()[table], name, _places[table].get(name))


def _by_identity(table, obj):
    found = _find(table, id(obj), _object_places.get(id(obj)))
    return None if found is None else found[1]


def register(entry, *objects):
    """Lets `entry` stand for each of `objects`; None is what this NumPy has not."""
    for obj in objects:
        if obj is not None:
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


class Composed:
    """An element-wise function made of primitives: to the front end a primitive by another name,
    which knows of `out`, `where`, `dtype` and the other keywords of NumPy's."""

    parakeet_kind = "primitive"

    def __init__(self, name):
        self.name = self.__name__ = name

    def __repr__(self):
        return f"<element-wise function {self.name}>"


def ufunc(*objects):
    """Decorates what NumPy's element-wise functions `objects` give of numbers and arrays. It takes
    the operands alone."""

    def decorate(function):
        name = objects[0].__name__
        entry = Composed(name)
        composed[name] = function
        functions[name] = entry
        register(entry, *objects)
        return entry

    return decorate


def lookup(obj):
    """The entry for an object, or None where it has no meaning of its own."""
    if getattr(type(obj), "parakeet_kind", None) is not None:
        return obj
    return _by_identity(_entries, obj)


def subscript(obj):
    """Decorates the function that is called with the index in `obj[index]`."""

    def decorate(function):
        _subscripts[id(obj)] = (obj, function)
        return function

    return decorate


def lookup_subscript(obj):
    """The function of the index, or None where an object is not indexed."""
    return _by_identity(_subscripts, obj)
