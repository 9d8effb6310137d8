"""What arrays on a device do not do outside jitted functions, unless they are numbers
(device_numbers.py): each way to ask for it is a TypeError that points at `parakeet.jit`."""

import numpy as np

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
    "divmod()": "divmod",
}  # fmt: skip
_PLAIN = {
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne", "~": "invert",
    "unary -": "neg", "unary +": "pos", "abs()": "abs", "item assignment": "setitem",
    "item deletion": "delitem", "round()": "round", "math.floor": "floor", "math.ceil": "ceil",
    "math.trunc": "trunc", "in": "contains",
}  # fmt: skip
# NumPy's functions that need no element.
OF_ADDRESSES = {np.shape, np.ndim, np.size}


def _text(what):
    return (
        f"device arrays have no {what} of their own: write it in a function under parakeet.jit, "
        "which runs on their device, or take .to_host()"
    )


def _refusing(symbol):
    def operate(self, *others):
        raise TypeError(_text(symbol))

    return operate


def array_ufunc(self, ufunc, method, *inputs, **options):
    raise TypeError(_text(f"np.{ufunc.__name__}"))


def array_function(self, function, types, args, kwargs):
    if function in OF_ADDRESSES and args and isinstance(args[0], type(self)):
        return function(args[0]._addresses, *args[1:], **kwargs)
    raise TypeError(_text(f"np.{function.__name__}"))


def get_attribute(self, name):
    if not name.startswith("_") and hasattr(np.ndarray, name):
        raise AttributeError(_text(name), name=name, obj=self)
    raise AttributeError(f"'DeviceArray' object has no attribute {name!r}", name=name, obj=self)


def methods():
    """By name, what refuses all this."""
    refused = {f"__{name}__": _refusing(symbol) for symbol, name in _PLAIN.items()}
    for symbol, name in _OPERATORS.items():
        refused.update({f"__{prefix}{name}__": _refusing(symbol) for prefix in ("", "r", "i")})
    return refused
