"""The data-parallel operators, inside jitted code and directly from Python.

    map(f, *arrays, axis=0)           f on the slices along `axis`; axis=None: element by element
    each(f, *arrays, axis=0)          another name of map
    imap(f, shape)                    f on every index
    outer_map(f, *arrays, axis=0)     f on the cartesian product of slices; so is allpairs(f, x, y)
    filter(pred, *arrays, axis=0)     the slices that `pred` accepts, in order
    reduce(f, *arrays, axis=None, init=None)     slices combined by the associative f
    scan(f, *arrays, axis=0, init=None)          every prefix combined
    ireduce(f, combine, shape, init=None)        f on every index, combined
    filter_reduce(f, pred, *arrays, init=None)   what `pred` accepts, combined by f

Shapes, `init` and empty inputs: see "Operators" in the documentation. Called from Python, they
compile the call as a jitted function of it would be.
"""

import functools


class Operator:
    """A data-parallel operator. Inside jitted code the compiler knows it by its name."""

    parakeet_kind = "operator"

    def __init__(self, name):
        self.name = self.__name__ = name

    def __call__(self, *args, target=None, **kwargs):
        from parakeet import plain_operators

        if plain_operators.is_asked_for(target):
            return plain_operators.run_operator(self.name, args, kwargs)
        if target is not None:
            kwargs["target"] = target
        return _jitted(self.name)(*args, **kwargs)

    def __repr__(self):
        return f"parakeet.{self.name}"

    def __reduce__(self):
        return self.name


map = Operator("map")
each = Operator("each")
imap = Operator("imap")
outer_map = Operator("outer_map")
allpairs = Operator("allpairs")
filter = Operator("filter")
reduce = Operator("reduce")
scan = Operator("scan")
ireduce = Operator("ireduce")
filter_reduce = Operator("filter_reduce")

__all__ = [
    "map", "each", "imap", "outer_map", "allpairs", "filter", "reduce", "scan", "ireduce",
    "filter_reduce",
]  # fmt: skip


# What runs where an operator is called from Python: functions with its signature, jitted.


def _call_map(f, *arrays, axis=0):
    return map(f, *arrays, axis=axis)


def _call_imap(f, shape):
    return imap(f, shape)


def _call_outer_map(f, *arrays, axis=0):
    return outer_map(f, *arrays, axis=axis)


def _call_filter(pred, *arrays, axis=0):
    return filter(pred, *arrays, axis=axis)


def _call_reduce(f, *arrays, axis=None, init=None):
    return reduce(f, *arrays, axis=axis, init=init)


def _call_scan(f, *arrays, axis=0, init=None):
    return scan(f, *arrays, axis=axis, init=init)


def _call_ireduce(f, combine, shape, init=None):
    return ireduce(f, combine, shape, init=init)


def _call_filter_reduce(f, pred, *arrays, init=None):
    return filter_reduce(f, pred, *arrays, init=init)


_CALLS = {
    "map": _call_map,
    "each": _call_map,
    "imap": _call_imap,
    "outer_map": _call_outer_map,
    "allpairs": _call_outer_map,
    "filter": _call_filter,
    "reduce": _call_reduce,
    "scan": _call_scan,
    "ireduce": _call_ireduce,
    "filter_reduce": _call_filter_reduce,
}


@functools.cache
def _jitted(name):
    from parakeet.jit import jit  # Here, since the compiler's library imports this module.

    return jit(_CALLS[name], name=name)
