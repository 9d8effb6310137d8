"""Which calls share compiled code, which compile anew, and which arguments are refused."""

import collections
import functools
import gc
import sys
import weakref

import numpy as np
import pytest

import parakeet
from parakeet import jit

TARGETS = ("interpreter", "serial", "parallel")


def specializations(function):
    return len(function.signatures)


def double(x):
    return x * 2


def add(x, y):
    return x + y


def pick(x, axis=None):
    return x.sum(axis=axis)


def test_equal_kinds_of_arguments_share_code():
    f = jit(double)
    for n in (3, 5, 1000):
        f(np.ones(n))
    f(1.0), f(2.5)
    assert specializations(f) == 2


@pytest.mark.parametrize("other", [
    np.ones(3, np.float32), np.ones((3, 1)), np.ones(1), np.ones((2, 2)), np.ones(6)[::2],
    np.asfortranarray(np.ones((3, 2))), 1, 1.0, True, 1j, np.float64(1), np.int32(1), [1.0, 2.0],
], ids=lambda value: f"{type(value).__name__}-{getattr(value, 'shape', '')}")
def test_another_kind_of_argument_compiles_anew(other):
    f = jit(double)
    f(np.ones(3))
    expected = np.asarray(other) * 2 if isinstance(other, list) else other * 2
    result = f(other)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert type(result) is type(expected)
    assert specializations(f) == 2


def test_alignment_and_writability_are_part_of_the_key():
    f = jit(double)
    x = np.arange(4.0)
    frozen = x.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    for argument in (x, frozen, unaligned):
        np.testing.assert_array_equal(f(argument), x * 2)
    assert specializations(f) == 3


def test_targets_do_not_share_code():
    f = jit(double)
    assert [f(2.0, target=target) for target in TARGETS] == [4.0] * 3
    assert f.signatures == [f"{target} (float)" for target in TARGETS]


@pytest.mark.parametrize("call", [
    lambda f: f(1, 2), lambda f: f(1, y=2), lambda f: f(y=2, x=1), lambda f: f(*(1, 2)),
    lambda f: f(**{"x": 1, "y": 2}), lambda f: f(1, **{"y": 2}), lambda f: f(1, 2, target="serial"),
    lambda f: f(1, target="serial", y=2), lambda f: f(1, 2, _backend="c"),
])
def test_every_way_to_pass_arguments(call):
    assert call(jit(lambda x, y: x * 10 + y)) == 12


def test_defaults_keyword_only_and_star_arguments():
    @jit
    def f(a, b=2, *rest, c=3, d):
        return a, b, len(rest), c, d

    assert f(1, d=4) == (1, 2, 0, 3, 4)
    assert f(1, 5, 6, 7, d=4, c=8) == (1, 5, 2, 8, 4)


def test_positional_only_parameters():
    @jit
    def f(a, /, b):
        return a - b

    assert f(5, b=3) == 2
    with pytest.raises(TypeError, match="positional-only"):
        f(a=5, b=3)


def by_plain_python(call, function):
    with pytest.raises(TypeError) as caught:
        call(function)
    return str(caught.value)


@pytest.mark.parametrize("call", [
    lambda f: f(), lambda f: f(1, 2, 3, 4), lambda f: f(1, z=3), lambda f: f(1, x=2),
    lambda f: f(1, 2, 3, c=1, q=4),
])
def test_binding_errors_read_as_plain_python(call):
    def f(x, y=2, z=3):
        return x

    def g(x, y, *, c):
        return x

    for function in (f, g):
        try:
            call(function)
        except TypeError:
            assert by_plain_python(call, jit(function)) == by_plain_python(call, function)


def test_a_parameter_called_target_is_the_functions_own():
    @jit
    def f(x, target):
        return x + target

    with parakeet.target("serial"):
        assert f(1, target=2) == 3


def test_values_that_decide_a_type_are_part_of_the_key():
    f = jit(pick)
    x = np.arange(600.0).reshape(20, 30)
    for axis in (None, 0, 1, 0, None):
        np.testing.assert_array_equal(f(x, axis), x.sum(axis=axis), strict=True)
    assert specializations(f) == 3


def test_numbers_that_decide_no_type_are_not():
    f = jit(add)
    assert [f(1, y) for y in (2, 3, 4)] == [3, 4, 5]
    assert specializations(f) == 1


def test_a_static_number_is_told_by_type_and_bits():
    @jit
    def f(x, k):
        return np.flip(x, k), 1.0 / (k + 1)

    x = np.ones((2, 2))
    assert f(x, 0)[1] == 1.0 and f(x, 1)[1] == 0.5
    assert f(x, True)[1] == 0.5
    assert specializations(f) == 3


KINDS = {
    "float64": lambda: np.arange(6.0),
    "one element": lambda: np.ones(1),
    "strided": lambda: np.arange(12.0)[::2],
    "read-only": lambda: np.frombuffer(np.arange(6.0).tobytes()),
    "rows": lambda: np.ones((2, 3)),
    "columns": lambda: np.ones((2, 3), order="F"),
    "float": lambda: 2.5,
    "int": lambda: 3,
    "np.float64": lambda: np.float64(2.5),
}


def test_calls_in_any_order_find_their_code():
    """A call is compared with those before it: what any of them was says nothing of the next."""
    f = jit(double, target="serial")
    order = [*KINDS, *np.random.default_rng(5).choice(list(KINDS), 300)]
    for kind in order:
        value = KINDS[kind]()
        result = f(value)
        assert type(result) is type(value)
        np.testing.assert_array_equal(result, value * 2, strict=True)
    assert [timing.calls for timing in f.timings()] == [order.count(kind) for kind in KINDS]


def test_what_reads_alike_and_is_not_the_same_finds_other_code():
    class Number(float):
        pass

    f = jit(double, target="serial")
    like_floats = [2.5, Number(2.5)]
    for x in (*like_floats, *like_floats, 2, True, 2, True):
        assert f(x) == x * 2
    assert specializations(f) == 3
    big_endian = np.arange(3, dtype=">i8")
    for x in (np.arange(3), np.arange(3, dtype=np.longlong), np.arange(3)):
        np.testing.assert_array_equal(f(x), x * 2)
        with pytest.raises(TypeError, match="byte"):
            f(big_endian)
    assert specializations(f) == 4
    for _ in range(2):
        with pytest.raises(OverflowError, match="does not fit 64 bits"):
            f(2**63)


def test_a_parameter_that_becomes_static_later():
    @jit(target="serial")
    def f(x, k):
        return x + k if x.ndim == 1 else np.flip(x, k)

    line, square = np.arange(3), np.arange(4).reshape(2, 2)
    for k in (0, 1, 0, 1):
        np.testing.assert_array_equal(f(line, k), line + k)
    for k in (0, 1, 0, 1):
        np.testing.assert_array_equal(f(square, k), np.flip(square, k))
        np.testing.assert_array_equal(f(line, k), line + k)


def test_calls_of_numbers_raise_are_timed_and_are_told_apart():
    """Numbers that give a number have a way of their own from the second call on."""
    f = jit(divide, target="serial")
    for b in (2, 0, 3, 0):
        if b == 0:
            with pytest.raises(ZeroDivisionError):
                f(7.0, b)
        else:
            assert f(7.0, b) == 7.0 // b
    with parakeet.profile(show=False) as profile:
        f(7.0, 2), f(7.0, 2)
    assert [row.calls for row in profile.functions] == [2]
    for target in ("interpreter", "parallel", "serial"):
        assert [f(-7.0, 2, target=target) for _ in range(2)] == [-4.0, -4.0]
        with parakeet.target(target):
            assert [g(a, 2) for g in [jit(divide)] for a in (7, -7, 7.0, 7)] == [3, -4, 3.0, 3]
    assert f.timings()[0].calls == 6


def divide(a, b):
    return a // b


def test_a_number_that_is_static_for_arrays():
    """The value decides where the other argument is an array, and not where it is a number."""
    f = jit(lambda x, k: x + k if np.ndim(x) == 0 else np.flip(x, k), target="serial")
    x = np.arange(3)
    for k in (0, 0, 5):
        assert f(2, k) == 2 + k
    np.testing.assert_array_equal(f(x, 0), x[::-1])
    for k in (0, 7, 0, 8):
        assert f(2, k) == 2 + k
        np.testing.assert_array_equal(f(x, 0), x[::-1])


def test_arguments_that_share_memory_after_some_that_do_not():
    @jit(target="serial")
    def shift(x, y):
        for i in range(len(x)):
            x[i] = y[i] + 1

    for offset in (-6, -6, -1, -6, 1, -1, 6):
        actual, expected = np.arange(20.0), np.arange(20.0)
        shift(actual[7:12], actual[7 + offset:12 + offset])
        shift.__wrapped__(expected[7:12], expected[7 + offset:12 + offset])
        np.testing.assert_array_equal(actual, expected)


def test_a_fresh_lambda_at_each_call_neither_compiles_nor_leaks():
    f = jit(lambda function, x: function(x))
    last = None
    for k in range(3):
        function = lambda x: x + 1  # noqa: E731
        assert f(function, k) == k + 1
        last = weakref.ref(function)
        del function
    assert specializations(f) == 1
    assert last() is None


def test_functions_are_told_by_what_they_close_over():
    f = jit(lambda function, x: function(x))
    make = lambda k: lambda x: x + k  # noqa: E731
    assert [f(make(k), 1) for k in (1, 2, 1)] == [2, 3, 2]
    assert specializations(f) == 2


def test_arrays_in_the_closure_of_an_argument_are_read_anew():
    f = jit(lambda function, x: function(x))
    make = lambda table: lambda x: x + table[0]  # noqa: E731
    assert f(make(np.array([1.0])), 1.0) == 2.0
    assert f(make(np.array([5.0])), 1.0) == 6.0
    assert specializations(f) == 1
    assert f(make(np.array([5], np.int8)), 1.0) == 6.0
    assert specializations(f) == 2


SCALE = 2
OFFSETS = np.array([1.0, 2.0])


def helper(x):
    return x * SCALE


def test_a_global_that_changes_respecializes(monkeypatch):
    f = jit(lambda x: x * SCALE)
    module = globals()
    assert f(3) == 6
    monkeypatch.setitem(module, "SCALE", 5)
    assert f(3) == 15
    assert f(3) == 15
    monkeypatch.setitem(module, "SCALE", 2.5)
    assert f(3) == 7.5


def test_a_global_of_a_callee_that_changes_respecializes(monkeypatch):
    f = jit(lambda x: helper(x))
    assert f(3) == 6
    monkeypatch.setitem(globals(), "SCALE", 7)
    assert f(3) == 21


def test_a_function_that_is_replaced_respecializes(monkeypatch):
    f = jit(lambda x: helper(x))
    assert f(3) == 6
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert f(3) == 2


def test_a_global_of_equal_content_does_not(monkeypatch):
    f = jit(lambda x: x * SCALE)
    monkeypatch.setitem(globals(), "SCALE", 10**6)
    assert f(3) == 3 * 10**6
    monkeypatch.setitem(globals(), "SCALE", int("1000000"))
    assert f(3) == 3 * 10**6
    assert [timing.calls for timing in f.timings()] == [2]


def test_a_captured_array_is_read_at_each_call(monkeypatch):
    f = jit(lambda: OFFSETS.sum())
    assert f() == 3.0
    OFFSETS[0] = 10.0
    assert f() == 12.0
    monkeypatch.setitem(globals(), "OFFSETS", np.array([4.0, 5.0, 6.0]))
    assert f() == 15.0
    assert specializations(f) == 1
    monkeypatch.setitem(globals(), "OFFSETS", np.array([4, 5]))
    assert f() == 9
    OFFSETS[:] = 1, 2


def test_a_call_lets_go_of_what_it_captured():
    table = np.array([1.0, 2.0])
    f = jit(lambda x: (table + x)[0])
    references = []
    for _ in range(3):
        assert f(1.0) == 2.0
        references.append(sys.getrefcount(table))
    assert references[1:] == references[:2]


def test_a_closure_cell_that_changes_respecializes():
    k = 1

    @jit
    def f(x):
        return x + k

    assert f(1) == 2
    k = 2
    assert f(1) == 3


def test_a_name_that_hides_a_builtin_respecializes(monkeypatch):
    f = jit(lambda x: abs(x))
    assert f(-2) == 2
    monkeypatch.setitem(globals(), "abs", lambda x: x + 100)
    assert f(-2) == 98


def test_a_default_of_a_callee_that_changes_respecializes():
    def callee(x, k=1):
        return x + k

    f = jit(lambda x: callee(x))
    assert f(1) == 2
    callee.__defaults__ = (10,)
    assert f(1) == 11


@pytest.mark.parametrize("target", TARGETS)
def test_arguments_that_share_memory(target):
    @jit
    def shift(x, y):
        for i in range(len(x)):
            x[i] = y[i] + 1

    for offset in (-2, -1, 0, 1, 2):
        actual, expected = np.arange(9.0), np.arange(9.0)
        shift(actual[2:7], actual[2 + offset:7 + offset], target=target)
        shift.__wrapped__(expected[2:7], expected[2 + offset:7 + offset])
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_an_argument_that_shares_memory_with_itself(target):
    @jit
    def number(x):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] + i + j

    strides = (8, 8)
    actual, expected = np.zeros(6), np.zeros(6)
    for base, function in ((actual, lambda x: number(x, target=target)),
                           (expected, number.__wrapped__)):
        function(np.lib.stride_tricks.as_strided(base, (3, 4), strides))
    np.testing.assert_array_equal(actual, expected)


def test_overlap_counts_only_where_something_is_written():
    f = jit(add)
    x = np.arange(4.0)
    f(x, x), f(x[:3], x[1:])
    assert specializations(f) == 1


Pair = collections.namedtuple("Pair", "first second")


def test_tuples_slices_and_named_tuples():
    @jit
    def f(pair, window, x):
        a, (b, c) = pair
        return x[window] * a + b - c

    x = np.arange(6.0)
    assert f((2, (3, 4)), slice(1, 2), x) == [1.0]
    assert f(Pair(2, (3, 4)), slice(1, 2), x) == [1.0]
    assert specializations(f) == 1
    np.testing.assert_array_equal(f((2, (3, 4)), slice(None, None, 2), x), x[::2] * 2 - 1)
    assert specializations(f) == 2


def test_lists_become_arrays():
    f = jit(lambda x: x)
    values = [1, 2, 3]
    assert f(values) is values
    np.testing.assert_array_equal(jit(double)([[1, 2], [3, 4]]), [[2, 4], [6, 8]])
    np.testing.assert_array_equal(jit(double)([np.float32(1), np.float32(2)]),
                                  np.array([2, 4], np.float32), strict=True)


def test_an_int_beyond_64_bits():
    f = jit(double)
    with pytest.raises(OverflowError):
        f(2**63)
    assert f(-2**63) is not None
    assert f(np.uint64(2**63 - 1)) == np.uint64(2**64 - 2)


class Duck:
    """What a data frame of another library looks like from here."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)


Series = type("Series", (Duck,), {"__module__": "pandas.core.series"})
Tensor = type("Tensor", (Duck,), {"__module__": "torch"})

REFUSED = {
    "matrix": (np.ones((1, 1)).view(np.matrix), "np.asarray(x)"),
    "masked array": (np.ma.zeros(3), "x.filled(value)"),
    "subclass": (np.zeros(3).view(type("Mine", (np.ndarray,), {})), "np.asarray(x)"),
    "byte order": (np.zeros(3, ">f8"), "x.astype"),
    "objects": (np.array([None]), "dtype object"),
    "strings": (np.array(["a"]), "dtype <U1"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
    "fields": (np.zeros(2, [("a", float)]), "dtype"),
    "long doubles": (np.zeros(2, np.longdouble), "x.astype(np.float64)"),
    "a long double": (np.longdouble(1), "longdouble"),
    "a ragged list": ([[1], [2, 3]], "no array of numbers"),
    "a list of strings": (["a"], "no array of numbers"),
    "dict": ({}, "dict"),
    "set": ({1}, "np.array(list(x))"),
    "bytes": (b"abc", "bytes"),
    "generator": ((i for i in range(3)), "np.array(list(x))"),
    "pandas": (Series(), "x.to_numpy()"),
    "torch": (Tensor(), "x.numpy(force=True)"),
    "another library's array": (Duck(), "np.asarray(x)"),
    "too deep a tuple": (functools.reduce(lambda inner, _: (inner,), range(100), ()), "tuple"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_argument_is_named_with_its_place(kind):
    value, words = REFUSED[kind]

    @jit
    def refuses(first,
                x=None):
        return first

    with pytest.raises(TypeError) as caught:
        refuses(1, x=value)
    message = str(caught.value)
    line = refuses.__wrapped__.__code__.co_firstlineno + 2
    assert message.startswith(f"{__file__}:{line}:17: cannot take ")
    assert "'x'" in message and words in message
    assert message.endswith("\n    x=None):\n    ^")
    assert refuses.signatures == []


def test_a_refusal_leaves_nothing_behind():
    f = jit(double)
    with pytest.raises(TypeError):
        f(np.zeros(2, ">f8"))
    np.testing.assert_array_equal(f(np.ones(2)), [2.0, 2.0])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "c16", "?"])
def test_strides_of_every_sign(dtype, order):
    base = np.arange(48).reshape(6, 8).astype(dtype)
    f = jit(lambda x: x)
    g = jit(lambda x: x + x)
    for view in (base[::order, ::2], base.T[::order], base[:, ::-2], base[2:2]):
        assert f(view) is view
        np.testing.assert_array_equal(g(view), view + view, strict=True)


def test_views_into_fields_have_odd_strides():
    record = np.zeros(4, [("a", "u1"), ("b", "f8")])
    record["b"] = 1, 2, 3, 4
    np.testing.assert_array_equal(jit(double)(record["b"]), [2, 4, 6, 8])


def test_many_specializations_are_all_found_again():
    f = jit(lambda *shape: shape)
    for _ in range(2):
        for n in range(20):
            assert f(*range(n)) == tuple(range(n))
    assert specializations(f) == 20
    assert all(timing.calls == 2 for timing in f.timings())


def distances_from_the_first(points):
    apart = points[:, :] - points[0]
    return np.sqrt(np.sum(apart * apart, axis=1))


def times(a, b):
    return a @ b


@pytest.mark.parametrize("target", ["serial", "emulated_gpu"])
@pytest.mark.parametrize(("program", "arguments"), [
    (distances_from_the_first, (np.ones((40, 3)),)),
    (times, (np.ones((64, 64)), np.ones((64, 2)))),
], ids=["short-axis", "short-side"])
def test_texts_before_any_call_are_of_the_code_that_it_runs(program, arguments, target):
    f = jit(program)
    before = f.ir(*arguments, stage="scheduled", target=target)
    f(*arguments, target=target)
    assert f.ir(stage="scheduled") == before


def test_clear_cache_forgets():
    f = jit(double)
    f(1.0)
    parakeet.clear_cache()
    assert specializations(f) == 0
    assert f(1.0) == 2.0


def test_a_function_frees_what_it_holds():
    class Held:
        pass

    def make():
        def f(x):
            return x

        f.held = Held()
        jitted = jit(f)
        jitted(1.0)
        return jitted, weakref.ref(f.held)

    jitted, held = make()
    assert held() is not None
    del jitted
    gc.collect()
    assert held() is None
