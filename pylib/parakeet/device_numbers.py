"""Device arrays without axes as numbers: whatever is asked of one is asked of its item, a NumPy
scalar, which comes down for it. What a call has returned is a number that nobody stores to: its
item comes down once."""

import builtins
import math
import operator

import numpy as np

from parakeet import _core, device_refusals

item = _core.device_item

_BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": pow, "matmul": operator.matmul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift,
    "rshift": operator.rshift, "divmod": divmod,
}  # fmt: skip
_OTHERS = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq,
    "ne": operator.ne, "neg": operator.neg, "pos": operator.pos, "abs": abs,
    "invert": operator.invert, "round": round, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc,
}  # fmt: skip


def _operators():
    table = {f"__{name}__": operate for name, operate in {**_BINARY, **_OTHERS}.items()}
    for name, operate in _BINARY.items():
        table[f"__i{name}__"] = operate  # the name is another number's then
        table[f"__r{name}__"] = lambda x, other, operate=operate: operate(other, x)
    return table


def _asking_the_item(operate, refuse):
    def method(self, *others):
        return refuse(self, *others) if self.ndim else operate(item(self), *others)

    return method


class _HasAxes(Exception):
    """A device array that is no number is among the values."""


def _down(value):
    """The value with the items of numbers, in tuples and lists too."""
    if isinstance(value, _core.DeviceArray):
        if value.ndim:
            raise _HasAxes
        return item(value)
    if type(value) in (tuple, list):
        return type(value)(map(_down, value))
    return value


def _array_ufunc(self, ufunc, method, *inputs, **options):
    try:
        inputs = _down(inputs)
        options = {name: _down(value) for name, value in options.items()}
    except _HasAxes:
        return device_refusals.array_ufunc(self, ufunc, method, *inputs, **options)
    return getattr(ufunc, method)(*inputs, **options)


def _array_function(self, function, types, args, kwargs):
    if function in device_refusals.OF_ADDRESSES:
        return device_refusals.array_function(self, function, types, args, kwargs)
    try:
        args, kwargs = _down(args), {name: _down(value) for name, value in kwargs.items()}
    except _HasAxes:
        return device_refusals.array_function(self, function, types, args, kwargs)
    return function(*args, **kwargs)


def _getattr(self, name):
    if not name.startswith("_") and not self.ndim and hasattr(self.dtype.type, name):
        return getattr(item(self), name)
    return device_refusals.get_attribute(self, name)


def _format(self, spec):
    return object.__format__(self, spec) if self.ndim else format(item(self), spec)


def _str(self):
    return repr(self) if self.ndim else str(item(self))


def _hash(self):
    return object.__hash__(self) if self.ndim else hash(item(self))


def _conversion(convert):
    def method(self):
        if not self.ndim:
            return convert(item(self))
        # What NumPy says of arrays of another length, without their elements.
        return convert(self.to_host() if self.size == 1 else np.broadcast_to(0, self.shape))

    return method


def _index(self):
    if self.ndim or self.dtype.kind not in "iu":
        raise TypeError("only integer arrays without axes are an index")
    return operator.index(item(self))


def methods():
    """By name, what device arrays take."""
    refused = device_refusals.methods()
    asked = {
        name: _asking_the_item(operate, refused[name]) for name, operate in _operators().items()
    }
    converted = {
        f"__{name}__": _conversion(getattr(builtins, name))
        for name in ("int", "float", "complex", "bool")
    }
    return {
        **refused, **asked, **converted, "__index__": _index, "__format__": _format,
        "__str__": _str, "__hash__": _hash, "__getattr__": _getattr,
        "__array_ufunc__": _array_ufunc, "__array_function__": _array_function,
    }  # fmt: skip
