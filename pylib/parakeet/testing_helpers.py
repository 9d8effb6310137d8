"""What tests of jitted functions are written with, as in the original Parakeet.

Every check runs the function on each target in TARGETS, on fresh copies of the arguments.
"""

import sys
import traceback
import types

import numpy as np

from parakeet.comparison import _copy
from parakeet.inspection import ArrayType
from parakeet.jit import jit

TARGETS = ("interpreter", "serial", "parallel")

# Relative and absolute tolerance for floats, by bytes of a real number: a few hundred roundings.
_TOLERANCES = {2: (1e-2, 1e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}


def expect(fn, args, expected, msg=None, valid_types=None):
    """Asserts that a function gives `expected` (value, dtype, shape) on every target.

    fn           a function, jitted or not, or a primitive such as parakeet.add and np.exp
    args         its arguments, a sequence
    msg          what a failure says first
    valid_types  classes of which the result must be an instance; None allows any
    """
    function = _jitted(fn)
    for target in TARGETS:
        result = function(*_copy(tuple(args)), target=target)
        label = f"{msg or function.__name__} on {target}"
        if valid_types is not None:
            classes = valid_types if isinstance(valid_types, type) else tuple(valid_types)
            assert isinstance(result, classes), f"{label}: a result of type {type(result)}"
        expect_eq(result, expected, label)


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


def expect_eq(actual, expected, msg=None):
    """Asserts that two results are the same: value, dtype, shape and, of tuples, length."""
    if isinstance(expected, (tuple, list)):
        assert isinstance(actual, (tuple, list, np.ndarray)), _fail(msg, actual, expected)
        assert len(actual) == len(expected), _fail(msg, actual, expected)
        for x, y in zip(actual, expected, strict=True):
            expect_eq(x, y, msg)
    elif isinstance(expected, (np.ndarray, np.generic, int, float, complex)):
        assert_eq_arrays(expected, actual, msg)
    else:
        assert actual == expected, _fail(msg, actual, expected)


def assert_eq_arrays(numpy_result, result, test_name=None):
    """Asserts that `result` is what NumPy gave: dtype, shape, and values within rounding."""
    expected, actual = np.asarray(numpy_result), np.asarray(result)
    label = f"{test_name}: " if test_name else ""
    assert actual.dtype == expected.dtype, f"{label}dtype {actual.dtype}, not {expected.dtype}"
    assert actual.shape == expected.shape, f"{label}shape {actual.shape}, not {expected.shape}"
    if expected.dtype.kind not in "fc":
        assert np.array_equal(actual, expected), _fail(test_name, result, numpy_result)
        return
    size = expected.dtype.itemsize // (2 if expected.dtype.kind == "c" else 1)
    relative, absolute = _TOLERANCES[min(size, 8)]
    same = np.allclose(actual, expected, relative, absolute, equal_nan=True)
    assert same, _fail(test_name, result, numpy_result)


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


def _jitted(fn):
    if hasattr(fn, "_specializations"):
        return fn
    return jit(fn if isinstance(fn, types.FunctionType) else _calling(fn))


def _calling(fn):
    """A function of what is none of Python's: a primitive of ours, or of NumPy's."""

    def call(*args):
        return fn(*args)

    call.__name__ = call.__qualname__ = _name(fn)
    return call


def _name(fn):
    return getattr(fn, "__name__", repr(fn))


def _example(kind):
    """A value of a type: arrays have two elements an axis."""
    if isinstance(kind, ArrayType):
        return np.ones((2,) * kind.ndim, kind.dtype)
    if kind in (bool, int, float, complex):
        return kind(1)
    return np.dtype(kind).type(1)


def _fail(msg, actual, expected):
    return f"{msg + ': ' if msg else ''}expected {expected!r}, got {actual!r}"
