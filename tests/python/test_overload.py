"""parakeet.overload: users' functions in the place of others."""

import copy
import math
import pickle
import zlib

import numpy as np
import pytest
from from_source import define

import parakeet
from parakeet import jit, overload, overloading

x = np.array([3.0, 1.0, 2.0])


@pytest.fixture(autouse=True)
def registrations():
    """Each test leaves behind what it found."""
    kept = {name: copy.copy(getattr(overloading, name)) for name in ("_functions", "_methods")}
    yield
    for name, table in kept.items():
        getattr(overloading, name).clear()
        getattr(overloading, name).update(table)
    parakeet._core.overloads_changed()


def run(function, *args):
    return jit(function, target="interpreter")(*args)


def test_a_function_that_the_library_has_not():
    """Compiled; what has no meaning of its own gets one, and plain Python stays as it was."""

    def one_more(x):
        return zlib.crc32(x) + 1

    with pytest.raises(parakeet.Limitation, match="zlib.crc32 is not among the functions"):
        run(one_more, 1.0)

    @overload(zlib.crc32)
    def largest(x):
        return np.abs(x).max()

    assert jit(one_more)(x) == 4
    assert largest(x) == 3
    assert zlib.crc32(b"") == 0


def test_builtins_in_c_and_functions_of_the_users():
    def halved(x):
        raise OSError("plain Python alone calls this")

    @overload(math.lgamma, halved)
    def half(x):
        return x / 2

    def both(x):
        return math.lgamma(x) + halved(x)

    assert run(both, 3.0) == 3


def test_it_wins_over_the_library_and_the_last_one_wins():
    @jit(target="interpreter")
    def f(x):
        return np.flip(x)

    assert f(x).tolist() == [2, 1, 3]

    @overload(np.flip)
    def same(a):
        return a + 0

    assert f(x).tolist() == [3, 1, 2]

    @overload(np.flip)
    def doubled(a):
        return a * 2

    assert f(x).tolist() == [6, 2, 4]


def test_compiled_code_is_never_stale():
    """However the object is reached: by name, as an argument, by another function, by a method."""

    def apply(g, x):
        return g(x)

    def helper(x):
        return np.negative(x)

    def through(x):
        return helper(x)

    def method(x):
        return x.round()

    callers = [(jit(apply, target="interpreter"), (np.negative, x)),
               (jit(through, target="interpreter"), (x,)),
               (jit(method, target="interpreter"), (x,))]  # fmt: skip
    assert [f(*args)[0] for f, args in callers] == [-3, -3, 3]

    @overload(np.negative, method="round")
    def ten_times(x):
        return x * 10

    assert [f(*args)[0] for f, args in callers] == [30, 30, 30]

    @overload(helper)
    def zero(x):
        return x * 0

    assert callers[1][0](x)[0] == 0


def test_what_does_not_concern_a_function_does_not_compile_it_again():
    @jit(target="interpreter")
    def f(x):
        return np.floor(x)

    f(x)

    @overload(np.fix)
    def fix(x):
        return x

    f(x)
    assert [timing.calls for timing in f.timings()] == [2]


def test_it_reads_its_own_surroundings():
    """Globals, closure cells, defaults and captured arrays, as any helper does."""
    step = 1.0
    table = np.array([10.0, 20.0])

    @overload(np.sinc)
    def shifted(x, factor=2.0):
        return x * factor + step + table[0]

    @jit(target="interpreter")
    def f(x):
        return np.sinc(x)

    assert f(1.0) == 13
    step = 5.0
    table[0] = 0
    assert f(1.0) == 7
    table = np.array([100.0])
    assert f(1.0) == 107


def test_one_made_again_reads_its_new_surroundings():
    """The same code object with another closure is another function."""

    def make(table):
        @overload(np.sinc)
        def look_up(x):
            return x + table[0]

    @jit(target="interpreter")
    def f(x):
        return np.sinc(x)

    make(np.array([1.0]))
    assert f(0.0) == 1
    make(np.array([2.0]))
    assert f(0.0) == 2


def test_within_itself_it_may_call_what_it_stands_for():
    @overload(np.clip, method="clip")
    def clip(a, low, high):
        return np.clip(a, low, high) + a.clip(low, high)

    def f(x):
        return np.clip(x, 1, 2), x.clip(1, 2)

    by_function, by_method = run(f, x)
    assert by_function.tolist() == by_method.tolist() == [4, 2, 4]


def test_only_those_objects_are_replaced():
    """Neither operators, nor builtins, nor attributes, nor what the library calls."""

    @overload(np.add, np.sum, np.matmul, np.absolute, np.cumsum)
    def nothing(*args):
        return 0

    def f(x):
        return (x + x)[0], sum(x), x.sum(), x @ x, abs(-x)[0], np.add.reduce(x), np.nancumsum(x)[2]

    assert run(f, x) == (6, 6, 6, 14, 3, 6, 6)
    assert run(lambda x: np.add(x, x) + np.sum(x), x) == 0


def test_jitted_functions_on_both_sides():
    @jit
    def slow(x):
        return x + 1

    @overload(slow)
    @jit
    def quick(x):
        return x + 2

    assert isinstance(quick, type(slow))
    assert run(lambda x: slow(x), 1) == 3
    assert slow(1) == 2


def test_a_class_that_is_called():
    class Point:
        def __init__(self, x, y):
            self.x, self.y = x, y

    @overload(Point)
    def pair(x, y):
        return x, y

    assert run(lambda x: Point(x, 2 * x), 1.5) == (1.5, 3.0)


def test_errors_lead_to_the_users_own_line():
    source = """
import math

@parakeet.overload(math.gamma)
def gamma(x):
    assert x > 0, "gamma of no positive number"
    return x

@parakeet.overload(math.dist)
def dist(p, q):
    return {}

def f(x):
    return math.gamma(x)

def g(x):
    return math.dist(x, x)
"""
    f = jit(define(source, "f"), target="interpreter")
    with pytest.raises(AssertionError, match="gamma of no positive number") as raised:
        f(-1.0)
    assert [(entry.name, entry.lineno + 1) for entry in raised.traceback][-1] == ("gamma", 6)
    with pytest.raises(parakeet.Limitation, match=r"(?s):11:12: .*return \{\}"):
        jit(define(source, "g"), target="interpreter")(1.0)


def test_pickles_of_callers_mean_what_is_registered_where_they_are_read():
    pickled = pickle.dumps(jit(lambda x: np.i0(x), target="interpreter"))

    @overload(np.i0)
    def one_more(x):
        return x + 1

    assert pickle.loads(pickled)(1.0) == 2


class Thing:
    def method(self):
        """Made anew at each `thing.method`."""


@pytest.mark.parametrize(
    ("functions", "options", "error", "message"),
    [
        ((), {}, TypeError, "overload takes the functions to stand for, or method="),
        ((3.0,), {}, TypeError, "overload takes what jitted code calls, not an object of type flo"),
        ((np.float32,), {}, TypeError, "float32 is a type inside jitted code, and stays one"),
        ((range,), {}, TypeError, "range is a type inside jitted code, and stays one"),
        ((ValueError,), {}, TypeError, "ValueError is a type inside jitted code, and stays one"),
        ((Thing().method,), {}, TypeError, "Thing.method is made anew each time it is read; name"),
        ((np.add.reduce,), {}, TypeError, "ufunc.reduce is made anew each time it is read; name a"),
        ((), {"method": "relu"}, ValueError, "arrays have no method 'relu'"),
        ((), {"method": "shape"}, ValueError, "'shape' is an attribute of arrays, not a method"),
        ((), {"method": 3}, TypeError, "method is a name, not an object of type int"),
    ],
)
def test_what_cannot_be_replaced(functions, options, error, message):
    with pytest.raises(error, match=message):
        overload(*functions, **options)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (math.sin, "not the builtin sin, which has no source"),
        (np.add, "not the ufunc add, which has no source"),
        (Thing, "not the class Thing"),
        (Thing().method, "not the bound method method"),
        (None, "not an object of type NoneType"),
    ],
)
def test_what_cannot_be_compiled(function, message):
    with pytest.raises(TypeError, match="overload decorates a Python function, " + message):
        overload(np.i0)(function)


def test_what_a_module_holds_may_be_a_method():
    @overload(np.random.rand)
    def certainly():
        return 0.5

    assert run(lambda: np.random.rand()) == 0.5
