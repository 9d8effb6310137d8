"""Functions: keywords, defaults, closures, lambdas, functions as arguments, nesting."""

import inspect
import pickle

import numpy as np
import pytest
from agreement import Tolerance, check_agreement
from from_source import define
from tested_targets import TARGETS

import parakeet
from parakeet import jit

X = np.array([1.0, -2.0, 3.5])
SCALE = 3
TABLE = np.array([10.0, 20.0, 30.0])
READ_BEFORE = np.maximum.accumulate


def polynomial(x, a, b=2, *, c=3):
    return a * x + b - c


def variadic(x, *rest):
    return x + len(rest) + sum(rest)


@jit
def jitted_inner(x, k=2):
    return x * k


def plain_inner(x):
    return jitted_inner(x, k=5) + SCALE


PROGRAMS = {
    "positions": lambda x: polynomial(x, 1, 2),
    "keywords": lambda x: polynomial(b=1, a=2, x=x),
    "keyword_only": lambda x: polynomial(x, 1, c=x.sum()),
    "starred_call": lambda x: polynomial(*(x, 4), c=1),
    "variadic": lambda x: variadic(x, 1, 2.5),
    "variadic_none": lambda x: variadic(x),
    "a_jitted_function": lambda x: jitted_inner(x) + jitted_inner(x, k=x[0]),
    "through_a_plain_function": lambda x: plain_inner(x),
    "a_global": lambda x: x * SCALE,
    "a_global_array": lambda x: x + TABLE,
    "an_immediate_lambda": lambda x: (lambda y, k=2: y * k)(x),
    "lambdas_on_one_line": lambda x: (lambda a: a + 1)(x) * (lambda a: a - 1)(x),
    "lambda_in_a_loop": lambda x: np.array([(lambda y: y * v)(v) for v in x]),
    "a_numpy_function_by_name": lambda x: apply(np.sqrt, abs(x)),
    "a_method_read_before": lambda x: READ_BEFORE(x),
    "a_method_by_name": lambda x: apply(np.multiply.reduce, x),
    "a_builtin_by_name": lambda x: apply(abs, x),
    "a_function_of_functions": lambda x: compose(lambda y: y + 1, lambda y: y * 2)(x),
    "no_result": lambda x: nothing(x),
    "a_nested_tuple": lambda x: (1, (x, (2.5, None))),
}


def apply(f, x):
    return f(x)


def compose(f, g):
    return lambda y: f(g(y))


def nothing(x):
    x + 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_call(name):
    # NumPy's square root is exact, so these all are.
    check_agreement(jit(PROGRAMS[name]), PROGRAMS[name], lambda: (X.copy(),))


CALLS = {
    "positions": ((X, 1, 2), {}),
    "default": ((X, 1), {}),
    "keywords": ((), {"x": X, "a": 2, "c": 1}),
    "arrays_and_scalars": ((X, X), {"b": np.float32(1)}),
    "missing": ((X,), {}),
    "too_many": ((X, 1, 2, 3), {}),
    "unknown": ((X, 1), {"d": 1}),
    "twice": ((X, 1), {"x": X}),
}


@pytest.mark.parametrize("name", CALLS)
def test_python_binds_arguments(name):
    """Arguments bind as Python binds them, and what does not bind fails in Python's words."""
    positional, keywords = CALLS[name]
    try:
        expected = polynomial(*positional, **keywords)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            jit(polynomial)(*positional, **keywords)
        assert str(caught.value) == str(error)
        return
    for target in TARGETS:
        result = jit(polynomial)(*positional, **keywords, target=target)
        np.testing.assert_array_equal(result, expected, strict=True)


def test_functions_are_arguments():
    applied = jit(apply)
    for target in TARGETS:
        assert (applied(lambda y: y * 2, X, target=target) == X * 2).all()
        assert (applied(lambda y: y + X, X, target=target) == X + X).all()
        assert (applied(jitted_inner, X, target=target) == X * 2).all()
        assert (applied(np.abs, X, target=target) == abs(X)).all()
        assert (applied(np.subtract.accumulate, X, target=target) == [1, 3, -0.5]).all()


def test_a_method_read_anew_is_not_compiled_again():
    """`np.maximum.reduce` is another object each time it is read; methods of others are others."""
    applied = jit(apply)
    for _ in range(3):
        assert applied(np.maximum.reduce, X) == 3.5
    assert len(applied.signatures) == 1
    assert applied(np.minimum.reduce, X) == -2
    assert (applied(np.maximum.accumulate, X) == [1, 1, 3.5]).all()


def test_a_fresh_lambda_of_the_same_code_is_not_compiled_again():
    applied = jit(apply)
    for _ in range(5):
        applied(lambda y: y * 2, X)
    assert len(applied.signatures) == 1


def test_a_closure_sees_what_it_captured():
    def make(k):
        return jit(lambda x: x * k)

    two, three = make(2), make(3)
    for target in TARGETS:
        assert (two(X, target=target) == X * 2).all()
        assert (three(X, target=target) == X * 3).all()


def test_a_changed_closure_cell_is_seen():
    k = 2

    @jit
    def scaled(x):
        return x * k

    assert (scaled(X) == X * 2).all()
    k = 5
    assert (scaled(X) == X * 5).all()
    k = 2.5
    assert (scaled(X) == X * 2.5).all()


def test_a_changed_global_is_seen(monkeypatch):
    scaled = jit(PROGRAMS["a_global"])
    assert (scaled(X) == X * 3).all()
    monkeypatch.setitem(globals(), "SCALE", 7)
    assert (scaled(X) == X * 7).all()
    monkeypatch.setitem(globals(), "SCALE", np.float32(0.5))
    assert (scaled(X) == X * np.float32(0.5)).all()


class _Settings:
    gain = 5.0
    limits = (0.0, 9.0)

    def __init__(self):
        self.offset = 1

    @property
    def twice(self):
        return self.offset * 2.0

    def scaled(self, x):
        return x * self.gain + self.twice


def test_attributes_that_change_are_seen():
    settings = _Settings()

    @jit
    def adjusted(x):
        return x * settings.gain + settings.offset + settings.twice + settings.limits[1]

    @jit
    def of_class(x):
        return x + _Settings.limits[0]

    for _ in range(2):
        assert adjusted(2.0) == 22.0
    settings.gain = 6.0
    assert adjusted(2.0) == 24.0
    settings.offset = 2
    assert adjusted(2.0) == 27.0
    del settings.gain
    assert adjusted(2.0) == 25.0
    settings.limits = (1.0, 10.0)
    assert adjusted(2.0) == 26.0
    before = parakeet.cache_info()["specializations"]
    settings.limits = (1.0, 20.0 / 2)
    assert adjusted(2.0) == 26.0
    assert parakeet.cache_info()["specializations"] == before
    assert of_class(1.0) == 1.0


def test_attributes_of_an_argument_that_change_are_seen():
    settings = _Settings()

    @jit
    def adjusted(x, given):
        return x * given.gain

    assert adjusted(2.0, settings) == 10.0
    settings.gain = 6.0
    assert adjusted(2.0, settings) == 12.0


def test_a_global_array_is_read_at_each_call(monkeypatch):
    added = jit(PROGRAMS["a_global_array"])
    monkeypatch.setitem(globals(), "TABLE", np.zeros(3))
    assert (added(X) == X).all()
    TABLE[:] = 1.0
    assert (added(X) == X + 1).all()


def test_a_changed_callee_is_seen(monkeypatch):
    call = jit(PROGRAMS["positions"])
    assert (call(X) == X + 2 - 3).all()
    monkeypatch.setitem(globals(), "polynomial", lambda x, a, b: x - a - b)
    assert (call(X) == X - 3).all()


def test_a_callee_of_the_same_code_reads_its_own_closure(monkeypatch):
    """What captured arrays and cells hold is read from the function that is called now."""

    def make(array, factor=1):
        def callee(x):
            return x * factor + array[0]

        def set_factor(value):
            nonlocal factor
            factor = value

        return callee, set_factor

    callee, _ = make(np.array([1.0]))
    monkeypatch.setitem(globals(), "_callee", callee)
    f = jit(lambda x: _callee(x), target="interpreter")  # noqa: F821
    assert f(1.0) == 2
    callee, set_factor = make(np.array([2.0]))
    monkeypatch.setitem(globals(), "_callee", callee)
    assert f(1.0) == 3
    set_factor(5)
    assert f(1.0) == 7


def test_a_method_is_compiled():
    class Model:
        scale = 2.0

        @staticmethod
        @jit
        def doubled(x):
            return x * 2

    assert (Model.doubled(X) == X * 2).all()
    assert (Model().doubled(X) == X * 2).all()


def test_a_jitted_function_looks_like_the_function():
    """A docstring that is kept."""
    def documented(x, alpha=0.5):
        """What it does."""
        return x * alpha

    f = jit(documented)
    assert f.__name__ == "documented"
    assert f.__doc__ == "What it does."
    assert f.__wrapped__ is documented
    assert inspect.signature(f) == inspect.signature(documented)
    assert {f: 1}[f] == 1


def test_a_jitted_function_can_be_pickled():
    again = pickle.loads(pickle.dumps(jitted_inner))
    assert (again(X, k=3) == X * 3).all()


def test_the_decorator_takes_options():
    @jit(target="serial", fastmath=True)
    def total(x):
        return x.sum()

    @jit()
    def double(x):
        return x * 2

    assert total(X) == X.sum()
    assert (double(X) == X * 2).all()


class TestTargets:
    def test_the_original_s_names(self):
        f = jit(lambda x: x + 1)
        for name in ("c", "openmp", "interp"):
            assert (f(X, target=name) == X + 1).all()
            assert (f(X, _backend=name) == X + 1).all()

    def test_plain_python(self):
        seen = []
        f = jit(lambda x: seen.append(1) or x)
        assert f(X, target="python") is X
        assert seen == [1]

    def test_a_context(self):
        f = jit(lambda x: x + 1)
        with parakeet.target("serial"):
            assert (f(X) == X + 1).all()

    def test_an_unknown_name(self):
        with pytest.raises(ValueError, match="quantum"):
            jit(lambda x: x)(X, target="quantum")

    def test_a_parameter_of_that_name_is_the_user_s(self):
        def aim(x, target):
            return x - target

        assert (jit(aim)(X, target=2.0) == X - 2.0).all()
        with parakeet.target("serial"):
            assert (jit(aim)(X, 3.0) == X - 3.0).all()


def last_axis(x):
    return x.ndim - 1


def halves(x, parts):
    """A number that is passed through, and one that the function knows."""
    return parts, (x, parts[0])[0].ndim


def nested_depth(x, depth):
    """Asks only within its own call that `depth` be known."""
    return x.sum(axis=depth) if x.ndim == 3 else nested_depth(x[None], depth)


STATIC_RESULTS = {
    "a_constant": lambda x: x.sum(axis=last_axis(x)),
    "passed_through": lambda x: x.sum(axis=halves(x, (0, 1))[0][1]),
    "inside_a_tuple": lambda x: (x, 2.5)[halves(x, (0, 1))[1] - 1],
    "of_a_function_that_calls_itself": lambda x: nested_depth(x, 1),
    "a_list_of_nothing_with_a_dtype": lambda x: np.array([], int),
}


@pytest.mark.parametrize("name", STATIC_RESULTS)
def test_what_a_callee_knows_at_compile_time_its_caller_knows(name):
    program = STATIC_RESULTS[name]
    check_agreement(jit(program), program, lambda: (np.arange(6.0).reshape(2, 3),))


def reads_where_asked(x, n):
    def factor(k):
        if k > 3:
            return weight
        return x[1]

    if n > 5:
        weight = x[0] + n
    return factor(n), np.array([factor(k) for k in range(n - 1)])


def fails_of_its_own(x, n):
    def grow(k):
        total += k  # noqa: F821
        return total + weight

    if n > 5:
        weight = 1.0
    return grow(n)


def captures_an_array(x, n):
    if n > 2:
        rows = x * 2.0
    scale = lambda k: rows[0] * k if n > 2 else float(k)  # noqa: E731
    again = lambda k: scale(k) + 1.0  # noqa: E731
    return np.array([again(k) for k in range(3)])


# For n of 2 and 4 the variable is unbound; Python asks where it is read.
@pytest.mark.parametrize("program", [reads_where_asked, fails_of_its_own, captures_an_array])
@pytest.mark.parametrize("n", [2, 4, 7])
def test_a_captured_variable_may_be_unbound_until_it_is_read(program, n):
    check_agreement(jit(program), program, lambda: (X.copy(), n))


IN_ANOTHER_ORDER = Tolerance("sums in another order", ulps=64.0, of_sum=4096.0)


def define_chain(levels, body):
    """f0, which calls f1 twice, which calls f2 twice, and so on: 2 to the power of `levels` calls
    of the last one."""
    lines = [f"def f{levels}(x):\n    {body}"]
    lines += [f"def f{k}(x):\n    return f{k + 1}(x) - f{k + 1}(x * 0.5 + {k})"
              for k in reversed(range(levels))]
    return define("\n".join(lines) + "\n", "f0")


@pytest.mark.parametrize("body", [
    "return x * 0.25 + 1", "return np.sum(x) + x", "return x[1:3].mean() + x",
    "if np.max(x) > 1e9:\n        raise ValueError('large')\n    return np.sin(x)",
])  # fmt: skip
def test_functions_that_call_one_another_twice(body):
    check_chain(body)


def check_chain(body):
    """Each level would double the program: what is long and often called stays a call."""
    chain = define_chain(12, body)
    made = lambda: (np.array([0.5, -1.0, 2.0, 0.25]),)
    # What is inlined is the same for all of them.
    check_agreement(jit(chain), chain, made, IN_ANOTHER_ORDER, ["interpreter", "serial"])
    assert len(str(jit(chain).ir(*made(), stage="inline-calls")).splitlines()) < 60_000


def test_a_chain_of_calls_that_raises():
    chain = define_chain(11, "if x[0] > 3000:\n        raise ValueError('large')\n    return x + 1")
    for first in (0.5, 5000.0):
        check_agreement(jit(chain), chain, lambda first=first: (np.array([first, 1.0]),))
