"""Numbers that stay on a device (agreement.py says which): what calls leave there, and for how
little the host waits; what such a number does outside jitted functions and as an argument of
others."""

import copy
import gc
import json
import math
import operator
import pickle
import warnings

import numpy as np
import pytest
from agreement import HERE, IS_EMULATED
from hypothesis import given, settings
from hypothesis import strategies as st

import parakeet
from parakeet import jit


def there(x):
    return parakeet.to_gpu(x, HERE)


@pytest.fixture(autouse=True)
def memory_comes_back():
    before = parakeet.memory_info(HERE)
    yield
    gc.collect()
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


def bytes_down():
    return parakeet.memory_info(HERE).down


def without_waiting(call, *args, launches=None):
    before = parakeet.memory_info(HERE)
    result = call(*args)
    after = parakeet.memory_info(HERE)
    assert after.down == before.down, "the host has waited for the device"
    if launches is not None:
        assert after.launches - before.launches == launches
    return result


def check(function, *args, launches=None, rtol=1e-12):
    """On device arrays: numbers, without a wait; on the host's: NumPy's scalars."""
    expected = function(*[np.array(x) if isinstance(x, np.ndarray) else x for x in args])
    f = jit(function)
    moved = [there(x) if isinstance(x, np.ndarray) else x for x in args]
    f.compile(*moved, target=HERE)
    result = without_waiting(f, *moved, launches=launches)
    on_host = f(*args, target=HERE)
    for each, plain, wanted in zip(_parts(result), _parts(on_host), _parts(expected), strict=True):
        assert type(each) is parakeet.DeviceArray and each.shape == ()
        assert each.dtype == np.asarray(wanted).dtype and type(plain) is type(wanted)
        np.testing.assert_allclose([complex(each), complex(plain)], [wanted] * 2, rtol=rtol)
        assert each.item() == plain.item()
    return result


def _parts(result):
    return result if isinstance(result, tuple) else (result,)


X = np.linspace(-1, 3, 10_001)


# --- what stays ---

def mean_and_variance(x):
    m = x.mean()
    return m, ((x - m) ** 2).mean()


def slope(x, y):
    mx, my = x.mean(), y.mean()
    return ((x - mx) * (y - my)).sum() / ((x - mx) ** 2).sum()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "?", "c8", "c16", "f2"])
def test_sums_of_every_type(dtype):
    check(lambda x: x.sum(), (np.arange(5000) % 7).astype(dtype), rtol=2e-3)


def test_numbers_of_one_kernel_go_into_the_next():
    """Two kernels a traversal: blocks, and one that combines them and does the rest. Before a sum
    of singles that is centred there is one for its samples; behind it are those of the sum as
    written, which look at the condition."""
    check(lambda x: x.sum(), X, launches=2)
    check(lambda x: np.sqrt((x * x).sum()) / len(x), X, launches=2)
    check(mean_and_variance, X, launches=2)
    check(slope, X, X ** 2, launches=2, rtol=1e-9)
    check(mean_and_variance, X.astype("f4"), launches=5, rtol=1e-6)
    check(lambda x: (x.min(), x.max(), x.argmax()), X)
    check(lambda x: x.sum() + (x * 2).max(), X)


def test_empty_sums():
    check(lambda x: (x.sum(), x.prod(), x.sum() + 1), np.zeros(0))


def test_elements_of_arguments():
    check(lambda x: x[3], X)
    check(lambda x: x[0] * x[-1] + 1, X)


def test_branches_and_loops_of_the_host():
    def branch(x, k):
        if k > 3:
            s = x.sum()
        else:
            s = x[0] * 2
        return s + 1, s * x.max()

    check(branch, X, 5)
    check(branch, X, 2)

    def powers(x, n):
        norm = np.float64(1.0)
        for _ in range(n):
            norm = np.sqrt((x * x).sum())
            x = x / norm + 1
        return norm

    check(powers, X, 4)
    check(powers, X, 0)

    def swapped(x, n):
        a, b = x.min(), x.max()
        for _ in range(n):
            a, b = b, a + (x * b).sum()
        return a, b

    check(swapped, X, 5)

    def nested(x, n):
        s = x[0]
        for i in range(n):
            if i % 2 == 0:
                s = s + (x + s).mean()
            else:
                t = s
                for _ in range(2):
                    t = t * 0.5 + (x * t).mean()
                s = t
        return s

    check(nested, X, 5)


def test_numbers_are_stored_without_the_host():
    @jit
    def filled(x, out):
        for i in range(3):
            out[i] = (x * i).sum()
        out[3] = out[1] + out[2]
        return out[3]

    out = there(np.zeros(5))
    filled.compile(there(X), out, target=HERE)
    last = without_waiting(filled, there(X), out)
    s = X.sum()
    np.testing.assert_allclose(out.to_host(), [0, s, 2 * s, 3 * s, 0])
    assert last == out.to_host()[3]


def test_what_was_stored_before_an_error_stays():
    @jit
    def stored(x, out, n):
        out[0] = x.sum()
        return x[n]

    out = there(np.zeros(2))
    assert stored(there(X), out, 1) == X[1]
    out = there(np.zeros(2))
    with pytest.raises(IndexError):
        stored(there(X), out, 20_000)
    np.testing.assert_allclose(out[0].item(), X.sum())


def test_what_the_host_must_know():
    def halvings(x, tol):
        err = np.abs(x).max()
        steps = 0
        while err > tol:
            x = x / 2
            err = np.abs(x).max()
            steps += 1
        return err, steps

    f = jit(halvings)
    err, steps = f(there(X), 0.1)
    expected = halvings(X, 0.1)
    assert type(err) is parakeet.DeviceArray and type(steps) is int
    before = bytes_down()
    assert (err, steps) == expected
    assert bytes_down() == before  # the host has had it

    @jit
    def pythons(x):
        return float(x.sum()), int(x.max()), len(x), x.shape

    total, largest, length, shape = pythons(there(X))
    assert (type(total), type(largest), type(length)) == (float, int, int)
    assert (largest, length, shape) == (3, 10_001, (10_001,))

    @jit
    def sized(x):
        return np.zeros(int(x.max())), x[x > 2.5].size

    made, kept = sized(there(X))
    assert made.shape == (3,) and kept == (X > 2.5).sum()


def test_functions_that_a_device_lacks_stay_with_the_host():
    x = X[5000:5001] * 1j
    result = jit(lambda x: np.arcsin(x.sum()))(there(x))
    assert type(result) is parakeet.DeviceArray and result == pytest.approx(np.arcsin(x[0]))


def test_one_number_twice_and_beside_arrays():
    @jit
    def both(x):
        s = x.sum()
        return s, s, x + s, (s * 2, x)

    x = there(X)
    first, second, shifted, (double, same) = both(x)
    assert first == second == double / 2 and same is x
    np.testing.assert_allclose(shifted.to_host(), X + X.sum())


def test_an_array_without_axes_is_none_of_them():
    @jit
    def made(x):
        z = np.zeros(())
        z[()] = x.sum()
        return z, z[()]

    z, number = made(there(X))
    jit(lambda z: z.fill(5))(z)
    assert z.item() == 5 and number == pytest.approx(X.sum())


# --- numbers ---

NUMBERS = st.one_of(
    st.floats(allow_nan=False, width=32).map(np.float32),
    st.floats(allow_nan=False).map(np.float64),
    st.integers(-100, 100).map(np.int64), st.integers(0, 255).map(np.uint8),
    st.booleans().map(np.bool_),
    st.complex_numbers(max_magnitude=1e6).map(np.complex128),
)  # fmt: skip
OTHERS = st.one_of(NUMBERS, st.floats(), st.integers(-100, 100), st.booleans())

_made = {}


def number(value):
    """A number on the device that has not come down."""
    value = np.asarray(value)
    f = _made.setdefault(value.dtype, jit(lambda x: x[0]))
    return f(there(value.reshape(1)))


def outcome(call):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except Exception as error:
            return type(error)
    return type(result), repr(result)


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
          operator.mod, operator.and_, operator.lshift, operator.lt, operator.ge, operator.eq,
          operator.ne, operator.iadd, operator.imul, divmod, np.add, np.maximum, np.arctan2,
          np.isclose]  # fmt: skip
UNARY = [operator.neg, operator.pos, abs, operator.invert, round, lambda x: round(x, 1), bool, int,
         float, complex, hash, str, operator.index, math.sqrt, math.floor, math.trunc, np.exp,
         np.isfinite,
         "{:.3f}".format, "{}".format, "{:5}".format, lambda x: [10, 20, 30][x], lambda x: x.real,
         lambda x: x.item(), lambda x: x.tolist(), lambda x: x.astype("f4"), lambda x: x.mean(),
         np.array, np.sum, lambda x: np.array([x, x]), lambda x: np.stack([x, x]),
         lambda x: np.where(True, x, 0), json.dumps,
         lambda x: x.is_integer(), lambda x: {x: 1}[x.item()], lambda x: range(x), np.zeros,
         lambda x: np.arange(3.0) * x, lambda x: x + np.arange(3),
         lambda x: sum([x, x])]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(value=NUMBERS, other=OTHERS)
def test_numbers_do_what_numpys_do(value, other):
    for operate in BINARY:
        expected = outcome(lambda operate=operate: operate(value, other))
        assert outcome(lambda operate=operate: operate(number(value), other)) == expected
        reflected = outcome(lambda operate=operate: operate(other, value))
        assert outcome(lambda operate=operate: operate(other, number(value))) == reflected
        if isinstance(other, np.generic):
            both = outcome(lambda operate=operate: operate(number(value), number(other)))
            assert both == expected


@settings(max_examples=25, deadline=None)
@given(value=NUMBERS)
def test_numbers_convert_as_numpys_do(value):
    for ask in UNARY:
        expected = outcome(lambda ask=ask: ask(value))
        if ask is json.dumps:  # which asks for Python's own classes
            expected = TypeError
        assert outcome(lambda ask=ask: ask(number(value))) == expected, ask


def test_an_item_comes_down_once():
    x = number(2.5)
    before = bytes_down()
    assert x + 1 == 3.5 and float(x) == 2.5 and f"{x:.1f}" == "2.5" and np.asarray(x) == 2.5
    assert hash(x) == hash(2.5) and x.item() == 2.5 and x < 3
    assert bytes_down() == before + 8
    element = there(np.array([1.0, 2.0]))[1]  # which others may store to
    assert element * 2 == 4 and element == 2
    assert bytes_down() == before + 8 + 16


def test_a_loop_of_the_callers():
    @jit
    def step(x):
        x = x / 2
        return x, np.abs(x).max()

    x, err, steps = there(X), math.inf, 0
    while err > 0.1:
        x, err = step(x)
        steps += 1
    assert steps == 5 and err == pytest.approx(3 / 32)
    losses = [step(x)[1] for _ in range(3)]
    assert min(losses) == max(losses) == sum(losses) / 3 and sorted(losses) == losses


def test_numbers_are_not_stored_to():
    x = number(1.5)
    with pytest.raises(ValueError, match="read-only"):
        jit(lambda x: x.fill(2))(x[...])
    with pytest.raises(TypeError, match="item assignment"):
        x[()] = 2
    y = x
    y += 1
    assert (x, y) == (1.5, 2.5) and type(y) is np.float64


def test_copies_pickles_and_other_libraries():
    x = number(1.5)
    for copied in (copy.copy(x), copy.deepcopy(x), x.copy(), pickle.loads(pickle.dumps(x))):
        assert type(copied) is parakeet.DeviceArray and copied == 1.5
    assert x.reshape(1).to_host().tolist() == [1.5]
    if IS_EMULATED:  # NumPy takes memory of the host alone
        assert np.from_dlpack(x) == 1.5
    assert x.__dlpack__() is not None  # of the version that cannot say read-only
    assert repr(x) == f"DeviceArray(1.5, dtype=float64, device={HERE!r})"
    assert (x.shape, x.ndim, x.dtype, np.shape(x)) == ((), 0, np.float64, ())


# --- arguments ---

def test_numbers_are_taken_as_numpys_scalars():
    @jit
    def scaled(x, k):
        k *= 2
        return x * k, k

    x = there(X.astype("f4"))
    for k in (np.float32(1.5), np.float64(1.5), np.complex64(1.5j), np.float16(2)):
        taken, back = scaled(x, k)
        moved = number(k)
        scaled.compile(x, moved, target=HERE)
        result, doubled = without_waiting(scaled, x, moved)
        assert result.dtype == taken.dtype and doubled.dtype == back.dtype
        np.testing.assert_array_equal(result.to_host(), taken.to_host())
        assert doubled == back and moved == k


def test_counts_and_indices_come_down():
    @jit
    def picked(x, i, axis):
        return x[i], x.sum(axis=axis), np.zeros(i)

    x = np.arange(6.0).reshape(2, 3)
    at = number(np.int64(1))
    row, sums, zeros = picked(there(x), at, at)
    assert (row.to_host().tolist(), sums.to_host().tolist()) == ([3, 4, 5], [3, 12])
    assert zeros.shape == (1,)


def test_numbers_do_not_say_where_a_call_runs():
    @jit
    def scaled(x, k):
        return (x * k).sum()

    k = number(2.5)
    for x in (np.ones(3), np.float64(3), [1.0, 2.0]):
        result = scaled(x, k)
        assert type(result) is np.float64 and result == (np.asarray(x) * 2.5).sum()
    assert all(text.startswith("parallel") for text in scaled.signatures)
    for target in ("serial", "interpreter", HERE, "python"):
        result = scaled(np.ones(3), k, target=target)
        assert type(result) is np.float64 and result == 7.5
    assert scaled((there(np.ones(3))), k).shape == ()
    nested = jit(lambda pair: pair[0] * pair[1][0])
    assert nested((there(np.ones(2)), (k, 1))).to_host().tolist() == [2.5, 2.5]
    assert "parallel" in str(scaled.explain(np.ones(3), k))


def test_a_number_goes_from_call_to_call_without_a_wait():
    @jit
    def step(x, m):
        x = x - m
        return x, np.sqrt((x * x).mean())

    x, m = there(X), number(np.float64(0.5))
    step.compile(x, m, target=HERE)
    before = bytes_down()
    y, on_host, k = x, X, 0.5
    for _ in range(4):
        y, m = step(y, m)
        on_host = on_host - k
        k = np.sqrt((on_host * on_host).mean())
    assert bytes_down() == before
    assert m == pytest.approx(k)
