"""How results lie in memory: in NumPy's order "K" where they are element-wise, else in C order."""

import numpy as np
import pytest
from from_source import define
from hypothesis import given, settings
from hypothesis import strategies as st
from tested_targets import TARGETS

from parakeet import jit


def _wide(x):
    """x with room for another element after each."""
    return np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "sliced C": lambda x: _wide(np.ascontiguousarray(x))[::2, ::2],
    "sliced F": lambda x: np.asfortranarray(_wide(x))[::2, ::2],
    "reversed F": lambda x: np.asfortranarray(x[::-1])[::-1],
}


def helper(x):
    return x * 2.0


def carried(x):
    for _ in range(3):
        x = x * 0.5 + 1.0
    return x


def returned_early(x):
    if x[0, 0] > 1e9:
        return x + 1.0
    return x * 2.0


def filled(x):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] + 1.0
    return y


def stored(x):
    y = x + 1.0
    y[0] = 7.0
    y[:, 1:] *= 2.0
    return y


def flat_copy_of_a_result(x):
    """NumPy copies what is not contiguous in C order, so that the store does not show in y."""
    y = x * 2.0
    flat = y.reshape(-1)
    flat[0] = 100.0
    return y, flat


ONE = {
    "exp": lambda x: np.exp(x) + x,
    "scalar": lambda x: 2.0 - x,
    "negative": lambda x: -x,
    "positive": lambda x: +x,
    "power": lambda x: x**2,
    "comparison": lambda x: x > 1,
    "transposed": lambda x: x.T + 1.0,
    "transposed twice": lambda x: (x.T + 1.0).T * 2.0,
    "with its transpose's transpose": lambda x: x + (x.T * 2.0).T,
    "rows of it": lambda x: x[1:] * 2.0,
    "every second column": lambda x: x[:, ::2] + 1.0,
    "backwards": lambda x: x[::-1] + x[:, ::-1],
    "new axis": lambda x: x[:, None] + 1.0,
    "row": lambda x: x + x[0],
    "column": lambda x: x[:, :1] * x,
    "outer": lambda x: x[:, :1] * x[0],
    "outer with it": lambda x: x[:, :1] * x[0] + x,
    "where": lambda x: np.where(x > 1, x, -x),
    "clip": lambda x: np.clip(x, 1.0, 3.0),
    "round": lambda x: np.round(x),
    "isnan": lambda x: np.isnan(x),
    "helper": helper,
    "helper of a view": lambda x: helper(x.T) + x.T,
    "loop": carried,
    "branch": returned_early,
    "filled": filled,
    "stored": stored,
    "flat": flat_copy_of_a_result,
    "copy": lambda x: np.copy(x),
    "method copy": lambda x: x.copy(),
    "method copy K": lambda x: x.copy(order="K"),
    "copy F": lambda x: np.copy(x, order="F"),
    "array": lambda x: np.array(x),
    "array of a dtype": lambda x: np.array(x, dtype=np.float32),
    "array C": lambda x: np.array(x, order="C"),
    "list": lambda x: np.array([[1.0, 2.0], [3.0, 4.0]], order="F") + x[0, 0],
    "astype": lambda x: x.astype(np.float32),
    "astype itself": lambda x: x.astype(np.float64),
    "astype C": lambda x: x.astype(np.float32, order="C"),
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like of a transpose": lambda x: np.ones_like(x.T),
    "full_like": lambda x: np.full_like(x, 3.0),
    "full_like C": lambda x: np.full_like(x, 3.0, order="C"),
    "zeros_like in another shape": lambda x: np.zeros_like(x, shape=(5, 6)),
    "zeros_like of another rank": lambda x: np.zeros_like(x, shape=(2, 3, 4)),
    "zeros": lambda x: np.zeros(x.shape) + x[0, 0],
    "zeros F": lambda x: np.zeros(x.shape, order="F"),
    "ones F": lambda x: np.ones((3, 4), order="F") * 2.0,
    "full F": lambda x: np.full((3, 2), 1.5, order="f"),
    "into zeros": lambda x: np.zeros(x.shape) + x,
    "product": lambda x: x @ x.T,
    "product's transpose copied": lambda x: np.copy((x @ x.T).T),
    "parts": lambda x: (x + 1j).imag * 2.0,
    "sum": lambda x: x.sum(axis=0),
    "a view": lambda x: x.T,
    "stack": lambda x: np.stack((x[0], x[1])),
    "rows taken": lambda x: x[np.array([0, 1])],
    "two results": lambda x: (x + 1.0, x.T + 2.0, x.copy()),
}

TWO = {
    "sum": lambda x, y: x + y,
    "into the second": lambda x, y: x * 2.0 + y,
    "transposed": lambda x, y: x.T * y.T,
    "one transposed": lambda x, y: x[:2, :2].T + y[:2, :2],
    "where": lambda x, y: np.where(x > y, x, y),
    "rows of the second": lambda x, y: x + y[0],
    "columns of the second": lambda x, y: x + y[:, 1:2],
    "in place": lambda x, y: np.multiply(x, y, out=np.empty_like(y)),
    "either": lambda x, y: (x + 1.0) * (y + 1.0) + x,
}


def table(shape=(3, 4), layout="C"):
    return LAYOUTS[layout](np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))


def steps(array):
    """Strides that can be told: an axis of one element has none, and an empty array neither."""
    return [s if n > 1 and array.size else 0
            for n, s in zip(array.shape, array.strides, strict=True)]


def check(function, *arguments):
    expected = function(*arguments)
    for target in TARGETS:
        result = jit(function)(*arguments, target=target)
        pairs = zip(result, expected, strict=True) if isinstance(expected, tuple) else [
            (result, expected)]
        for got, wanted in pairs:
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
            assert got.flags.c_contiguous == wanted.flags.c_contiguous, target
            assert got.flags.f_contiguous == wanted.flags.f_contiguous, target
            assert steps(got) == steps(wanted), target


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ONE)
def test_of_one_array(name, layout):
    check(ONE[name], table(layout=layout))


@pytest.mark.sampled(6, "name", "first", "second")
@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("name", TWO)
def test_of_two_arrays(name, first, second):
    check(TWO[name], table(layout=first), table(layout=second))


@pytest.mark.parametrize("shape", [(1, 4), (3, 1), (0, 4), (3, 0), (1, 1)])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_of_axes_that_say_nothing(shape, layout):
    check(lambda x: x * 2.0, table(shape, layout))
    check(lambda x: x.T + 1.0, table(shape, layout))
    check(lambda x, y: x + y, table(shape, layout), table((3, 4), "F")[:1, :1])


@pytest.mark.parametrize("layout", ["C", "F", "sliced C", "sliced F"])
def test_of_three_axes(layout):
    x = table((3, 4, 5), layout)
    check(lambda x: np.sqrt(x) + x, x)
    check(lambda x: x.T * 2.0, x)
    check(lambda x: x[1] + 1.0, x)
    check(lambda x: x[:, :, 2].T + 1.0, x)
    check(lambda x: x + x[0, 0, 0], x)
    check(lambda x: np.zeros_like(x), x)
    check(lambda x: x.copy(), x)


def test_order_of_captured_arrays():
    y = np.asfortranarray(table())
    check(lambda x: x + y, table(layout="F"))
    check(lambda x: y + x[0], table())


def test_order_that_is_no_order():
    for order, message in (("X", r"order must be one of 'C', 'F', 'A', or 'K' \(got 'X'\)"),
                           ("K", "only 'C' or 'F' order is permitted")):
        with pytest.raises(ValueError, match=message):
            jit(lambda x: np.zeros(x.shape, order=order))(table())


def test_first_error_is_that_of_program_order():
    """Loops in the order of memory would meet the other one first."""
    def inverted(x, k):
        y = np.empty_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for h in range(x.shape[2]):
                    y[i, j, h] = x[k[i, j, h], j, h]
        return y

    k = np.zeros((3, 4, 5), int)
    k[2, 0, 0] = 100
    k[0, 3, 4] = 50
    for target in TARGETS:
        with pytest.raises(IndexError, match="^index 50 is out of bounds"):
            jit(inverted)(table((3, 4, 5), "F"), k, target=target)


def test_recursion():
    def halved(x, n):
        if n == 0:
            return x + 1.0
        return halved(x * 0.5, n - 1)

    check(halved, table(layout="F"), 3)
    check(halved, table(), 3)


LEAVES = st.sampled_from(("x", "y", "2.0", "x[:1]", "y[:, :1]", "y[0]", "x[::-1]"))
# What a function gives is added to x: it does not say that a slice of one row has one row.
EXPRESSIONS = st.recursive(LEAVES, lambda inner: st.one_of(
    st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    st.builds("np.where({} > 1.0, {} + x, {})".format, inner, inner, inner),
    st.builds("np.copy({} + x)".format, inner),
    st.builds("np.{}({})".format, st.sampled_from(("abs", "negative")), inner),
), max_leaves=6)


@settings(max_examples=40, deadline=None)
@given(text=EXPRESSIONS, layouts=st.tuples(*[st.sampled_from(tuple(LAYOUTS))] * 2),
       transposed=st.booleans())
def test_of_random_expressions(text, layouts, transposed):
    x, y = (table(layout=layout) for layout in layouts)
    source = f"import numpy as np\ndef f(x, y):\n    return ({text} + x){'.T * 1.0' * transposed}\n"
    function = define(source)
    expected = function(x, y)
    for target in TARGETS:
        assert steps(jit(function)(x, y, target=target)) == steps(expected), source
