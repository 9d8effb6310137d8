"""What tests of jitted functions are written with, as in the original Parakeet.

Every check runs the function on each target in TARGETS, on fresh copies of the arguments.
"""

import sys
import time
import traceback
import types

import numpy as np

from parakeet.comparison import _copy
from parakeet.inspection import ArrayType
from parakeet.jit import jit

TARGETS = ("interpreter", "serial", "parallel")

# Relative and absolute tolerance for floats, by bytes of a real number: a few hundred roundings.
_TOLERANCES = {2: (1e-2, 1e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}
# What `eq` takes for equal, as the original did.
_LOOSE = (1e-3, 1e-4)


def expect(fn, args, expected, msg=None, valid_types=None):
    """Asserts that a function gives `expected` (value, dtype, shape) on every target.

    fn           a function, jitted or not, or a primitive such as parakeet.add and np.exp
    args         its arguments, a sequence
    msg          what a failure says first
    valid_types  classes of which the result must be an instance; None allows any

    A dtype that only promotion made, which no argument has, may also be what the function gives
    as plain Python: tests write down the results of other versions of NumPy and Python, where
    np.exp of a bool is a float64, or one bool divided by another a bool.
    """
    function = _jitted(fn)
    for target in TARGETS:
        result = function(*_copy(tuple(args)), target=target)
        label = f"{msg or function.__name__} on {target}"
        if valid_types is not None:
            classes = valid_types if isinstance(valid_types, type) else tuple(valid_types)
            assert isinstance(result, classes), f"{label}: a result of type {type(result)}"
        expect_eq(result, expected, label)
        got, wanted = _dtypes(result), _dtypes(expected)
        same = got == wanted or _is_promoted(function, args, got)
        assert same, f"{label}: dtype {_listed(got)}, not {_listed(wanted)}"


def expect_each(fn, pyfn, inputs):
    """Asserts that `fn` gives what the Python function gives, on each of `inputs`."""
    for value in inputs:
        expect(fn, [value], pyfn(*_copy((value,))), f"{_name(fn)}({value!r})")


def expect_allpairs(fn, pyfn, inputs):
    """Asserts that `fn` gives what the Python function gives, on each pair of `inputs`."""
    for x in inputs:
        for y in inputs:
            expected = pyfn(*_copy((x, y)))
            expect(fn, [x, y], expected, f"{_name(fn)}({x!r}, {y!r})")


def expect_eq(actual, expected, test_name=None):
    """Asserts that two results have the same values and shapes and, of tuples, lengths.

    Values agree within the rounding of the less precise of the two; dtypes may differ.
    """
    if isinstance(expected, (tuple, list)):
        assert isinstance(actual, (tuple, list, np.ndarray)), _fail(test_name, actual, expected)
        assert len(actual) == len(expected), _fail(test_name, actual, expected)
        for x, y in zip(actual, expected, strict=True):
            expect_eq(x, y, test_name)
    elif isinstance(expected, (np.ndarray, np.generic, int, float, complex)):
        label = f"{test_name}: " if test_name else ""
        shape, wanted = np.shape(actual), np.shape(expected)
        assert shape == wanted, f"{label}shape {shape}, not {wanted}"
        assert _agree(actual, expected), _fail(test_name, actual, expected)
    else:
        assert actual == expected, _fail(test_name, actual, expected)


def eq(x, y):
    """Whether two results have the same shapes and, within 0.1 %, values; dtypes may differ."""
    if isinstance(x, (tuple, list)) or isinstance(y, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(eq, x, y))
    if x is None or y is None or np.shape(x) != np.shape(y):
        return x is y
    return bool(np.allclose(x, y, *_LOOSE, equal_nan=True))


def assert_eq_arrays(numpy_result, result, test_name=None):
    """Asserts that `result` is what NumPy gave: dtype, shape, and values within rounding."""
    expected, actual = np.asarray(numpy_result), np.asarray(result)
    label = f"{test_name}: " if test_name else ""
    assert actual.dtype == expected.dtype, f"{label}dtype {actual.dtype}, not {expected.dtype}"
    expect_eq(actual, expected, test_name)


def expect_type(fn, input_types, output_type):
    """Asserts what type a function gives for arguments of certain types.

    A type is a dtype or a class of numbers (a scalar), or an `array_type` (an array).
    """
    function = _jitted(fn)
    for target in TARGETS:
        result = function(*map(_example, input_types), target=target)
        label = f"{function.__name__} on {target}"
        if isinstance(output_type, ArrayType):
            got = ArrayType(np.asarray(result).dtype, np.ndim(result))
            assert got == output_type, f"{label}: {got!r}, not {output_type!r}"
            continue
        dtype = np.dtype(output_type)
        assert np.ndim(result) == 0, f"{label}: an array, not a scalar"
        assert np.asarray(result).dtype == dtype, f"{label}: {type(result)}, not {dtype}"


def timed_test(fn, args, pyfn, python_args=None, min_speedup=None):
    """Prints how long a function and its Python counterpart take; asserts that their results are
    `eq`, and that the second call of `fn` is faster by the factor `min_speedup`, where given."""
    _, first = _timed(fn, args)
    expected, python = _timed(pyfn, args if python_args is None else python_args)
    result, second = _timed(fn, args)
    print(f"first call {first:.4f} s, second call {second:.4f} s, Python {python:.4f} s")
    assert eq(result, expected), _fail(None, result, expected)
    fast = min_speedup is None or python > min_speedup * second
    assert fast, f"{python / second:.2f} times as fast as Python, not {min_speedup}"


timed_test.__test__ = False  # Not a test itself, though pytest would take it for one.


def run_local_tests(locals_dict=None):
    """Runs every function called test... of the caller's (or in `locals_dict`), in their order.

    Prints what failed; raises SystemExit(1) if something did.
    """
    if locals_dict is None:
        frame = sys._getframe(1)
        locals_dict = {**frame.f_globals, **frame.f_locals}
    tests = [(name, test) for name, test in locals_dict.items()
             if name.startswith("test") and callable(test)]  # fmt: skip
    failed = [name for name, test in tests if not _passes(name, test)]
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    if failed:
        raise SystemExit(1)


def _passes(name, test):
    try:
        test()
    except Exception:
        print(f"{name} failed:\n{traceback.format_exc()}")
        return False
    return True


def _timed(function, args):
    start = time.perf_counter()
    result = function(*args)
    return result, time.perf_counter() - start


def _jitted(fn):
    if hasattr(fn, "_specializations"):
        return fn
    from parakeet.library.registry import lookup

    is_users = isinstance(fn, types.FunctionType) and lookup(fn) is None
    return jit(fn if is_users else _calling(fn))


def _calling(fn):
    """A function of what is none of the user's: a primitive of ours, or of NumPy's."""

    def call(*args):
        return fn(*args)

    call.__name__ = call.__qualname__ = _name(fn)
    return call


def _name(fn):
    return getattr(fn, "__name__", repr(fn))


def _agree(actual, expected):
    """Whether values of one shape agree: floats within rounding, others exactly."""
    both = [np.asarray(actual), np.asarray(expected)]
    sizes = [a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
             for a in both if a.dtype.kind in "fc"]  # fmt: skip
    if not sizes:
        return np.array_equal(*both)
    return np.allclose(*both, *_TOLERANCES[min(*sizes, 8)], equal_nan=True)


def _dtypes(value):
    """The dtypes of a result's numbers, in order, in one flat list."""
    if isinstance(value, (tuple, list)):
        return [dtype for item in value for dtype in _dtypes(item)]
    return [np.asarray(value).dtype]


def _is_promoted(function, args, dtypes):
    """Whether these are the result's dtypes as plain Python, and no argument has one of them."""
    given = [dtype for arg in args if isinstance(arg, (np.ndarray, np.generic, tuple, list))
             for dtype in _dtypes(arg)]  # fmt: skip
    if set(given) & set(dtypes):
        return False
    return _dtypes(function(*_copy(tuple(args)), target="python")) == dtypes


def _listed(dtypes):
    return ", ".join(map(str, dtypes))


def _example(kind):
    """A value of a type: arrays have two elements an axis."""
    if isinstance(kind, ArrayType):
        return np.ones((2,) * kind.ndim, kind.dtype)
    if kind in (bool, int, float, complex):
        return kind(1)
    return np.dtype(kind).type(1)


def _fail(msg, actual, expected):
    return f"{msg + ': ' if msg else ''}expected {expected!r}, got {actual!r}"
