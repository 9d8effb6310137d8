"""The exceptions of this package, and those that `_core` raises on behalf of compiled code.

`_core` calls the functions here by name.
"""

import ast
import builtins
import inspect
import linecache
import types


class Limitation(NotImplementedError):
    """What the compiler does not take. The message has the place and says what works instead."""

    __module__ = "parakeet"  # Where users find it.


class CompilerBug(RuntimeError):
    """A mistake of ours. The message names the step and a file that runs it again."""


class DeviceError(RuntimeError):
    """A device that is not there, cannot be used, or has failed. The message says which and why."""


def __getattr__(name):
    """NumPy's own exceptions, which the compiler raises by name."""
    import numpy as np

    if name == "AxisError":
        return getattr(np, "exceptions", np).AxisError
    if name == "LinAlgError":
        return np.linalg.LinAlgError
    raise AttributeError(f"module 'parakeet.errors' has no attribute {name!r}")


def error_at_site(exception, template, scalars, file, function, *place):
    """What a check in compiled code found: the exception, and a function that raises it from the
    user's line."""
    kind = getattr(builtins, exception, None) or globals().get(exception) or __getattr__(exception)
    error = kind(*_arguments(template, scalars))
    return error, _thrower(file, function, *place) if file else _throw


# The types of NumPy's scalars that come as Python's.
_OF_NUMPY = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def _arguments(template, scalars):
    """What an exception is raised with: a scalar by itself (frontend/statements.cc), or a text."""
    if template == "{0}":
        return scalars
    if template == "{0:numpy}":
        import numpy as np

        [scalar] = scalars
        return (np.dtype(_OF_NUMPY.get(type(scalar), type(scalar))).type(scalar),)
    message = template.format(*scalars)
    return (message,) if message else ()


def _throw(error):
    try:
        raise error
    finally:
        del error  # As below.


def _thrower(file, function, line, column, end_line, end_column):
    """A function that raises its argument from a place in the user's source.

    Its frame is in the traceback of the error: where it kept the error, both would stay until
    Python looks for circles, and with them the arguments of the call, on whatever device.
    """
    place = {
        "lineno": line,
        "col_offset": column,
        "end_lineno": end_line,
        "end_col_offset": end_column,
    }
    parameter = ast.arg("error", **place)
    arguments = ast.arguments([], [parameter], None, [], [], None, [])
    throw = ast.Raise(ast.Name("error", ast.Load(), **place), None, **place)
    forget = ast.Delete([ast.Name("error", ast.Del(), **place)], **place)
    body = ast.Try([throw], [], [], [forget], **place)
    definition = ast.FunctionDef("thrower", arguments, [body], [], **place)
    definition.type_params = []  # Python 3.12 asks for it
    module = compile(ast.Module([definition], []), file, "exec")
    code = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return types.FunctionType(code.replace(co_name=function, co_qualname=function), {})


def raise_binding_error(function, args, kwargs):
    """Raises the TypeError that Python raises when it cannot bind these arguments."""
    kinds = inspect.Parameter
    parameters, has_star = [], False
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        name = parameter.name
        if parameter.default is not kinds.empty:
            name += "=None"
        if parameter.kind is kinds.KEYWORD_ONLY and not has_star:
            parameters.append("*")
            has_star = True
        if parameter.kind is kinds.VAR_POSITIONAL:
            name, has_star = "*" + name, True
        if parameter.kind is kinds.VAR_KEYWORD:
            name = "**" + name
        parameters.append(name)
    _mark_positional_only(function, parameters)
    namespace = {}
    exec(f"def stand_in({', '.join(parameters)}): pass", namespace)
    stand_in = namespace["stand_in"]
    stand_in.__name__ = function.__name__
    stand_in.__qualname__ = function.__qualname__
    stand_in(*args, **kwargs)
    raise TypeError(f"{function.__qualname__}() does not take these arguments")


def _mark_positional_only(function, parameters):
    count = function.__code__.co_posonlyargcount
    if count:
        parameters.insert(count, "/")


def refuse_argument(function, index, value):
    """Raises the TypeError for an argument of a kind that compiled code does not take."""
    code = function.__code__
    name = _parameter_names(code)[index]
    message = f"cannot take {_describe(value)} as parameter {name!r}{_advice(name, value)}"
    line, column, text = _find_parameter(code, name)
    where = f"{code.co_filename}:{line}:{column + 1}: "
    caret = f"\n    {text.strip()}\n    {' ' * (column - _indent(text))}{'^' * len(name)}"
    raise TypeError(where + message + (caret if text else ""))


def _parameter_names(code):
    """The parameters in the order written."""
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames)
    star = []
    if code.co_flags & inspect.CO_VARARGS:
        star = [names[positional + keyword_only]]
    return names[:positional] + star + names[positional : positional + keyword_only]


def _indent(text):
    return len(text) - len(text.lstrip())


def _find_parameter(code, name):
    """The line, column and text where a function's header names a parameter."""
    import re

    first = code.co_firstlineno
    lines = [linecache.getline(code.co_filename, first + i).rstrip("\n") for i in range(40)]
    in_header = False
    for number, text in enumerate(lines):
        start = re.search(r"\b(def|lambda)\b", text)
        if not in_header and start is None:
            continue  # a decorator
        match = re.compile(rf"\b{re.escape(name)}\b").search(text, 0 if in_header else start.end())
        if match:
            return first + number, match.start(), text
        in_header = True
    return first, 0, ""


def _describe(value):
    import numpy as np

    kind = type(value)
    if kind is np.ndarray:
        if not value.dtype.isnative:
            return f"an array of dtype {value.dtype.str!r}, whose byte order is not this machine's"
        if value.ndim > 32:
            return f"an array of {value.ndim} dimensions, more than 32"
        return f"an array of dtype {value.dtype}"
    if kind is list:
        return "a list that is no array of numbers"
    module = kind.__module__
    name = kind.__qualname__ if module == "builtins" else f"{module.split('.')[0]}.{kind.__name__}"
    return f"an object of type {name}"


def _advice(name, value):
    """What to write instead, or what there is to choose from."""
    conversion = _conversion(name, value)
    if conversion:
        return f"; pass {conversion}"
    return (
        "; it takes numbers and arrays of bool, int, float or complex dtypes, tuples and slices of "
        "them, None, strings, dtypes and functions"
    )


def _conversion(name, value):
    """The expression that makes an acceptable argument of this one, or an empty string."""
    import numpy as np

    kind = type(value)
    package = kind.__module__.split(".")[0]
    if isinstance(value, np.ma.MaskedArray):
        return f"{name}.filled(value)"
    if isinstance(value, np.ndarray) and kind is not np.ndarray:
        return f"np.asarray({name})"
    if isinstance(value, (np.ndarray, np.generic)):
        return _dtype_conversion(name, value.dtype)
    if package == "pandas":
        return f"{name}.to_numpy()"
    if package == "torch":
        return f"{name}.numpy(force=True)"
    if package == "cupy":
        return f"{name}.get()"
    if hasattr(value, "__array__"):
        return f"np.asarray({name})"
    if isinstance(value, (set, frozenset, range)) or hasattr(value, "__next__"):
        return f"np.array(list({name}))"
    return ""


def _dtype_conversion(name, dtype):
    if not dtype.isnative:
        return f"{name}.astype({name}.dtype.newbyteorder('='))"
    if dtype.kind in "fO":
        return f"{name}.astype(np.float64)"
    return f"{name}.astype(np.complex128)" if dtype.kind == "c" else ""
