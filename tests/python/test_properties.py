"""Element-wise expressions and reductions over random shapes, strides and dtypes, against NumPy."""

import numpy as np
import pytest
from agreement import EXACT, REDUCED, TRANSCENDENTAL, check_agreement
from from_source import define
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import values
from tested_targets import COMPILED

from parakeet import jit

DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "uint16", "uint64")
NAMES = ("x", "y", "z")


@st.composite
def strided(draw, shape, dtype, seed=0):
    """Makes, at each call, the same array: axes in any order in memory, any steps, some zero."""
    order = draw(st.permutations(range(len(shape))))
    steps = draw(st.lists(st.sampled_from((1, 1, 2, -1, -3, 0)), min_size=len(shape),
                          max_size=len(shape)))

    def make():
        # A buffer whose axes lie in `order`; garbage where no element is.
        lengths = [abs(step) * max(n - 1, 0) + 1 for n, step in zip(shape, steps, strict=True)]
        buffer = values([lengths[axis] for axis in order], dtype, seed + 1)
        view = buffer.transpose(np.argsort(order))
        view = view[tuple(_steps(n, step) for n, step in zip(shape, steps, strict=True))]
        return np.broadcast_to(view, shape)

    def writable():
        view = make()
        return np.lib.stride_tricks.as_strided(view, view.shape, view.strides, writeable=True)

    return writable


def _steps(n: int, step: int) -> slice:
    if step == 0:
        return slice(0, 1 if n else 0)
    return slice(0, step * n, step) if step > 0 else slice(-1, -1 + step * n, step)


# Expressions as text. Every operation is rounded once, so that nothing may differ.
LEAVES = st.sampled_from((*NAMES, "2", "0.5", "-1", "k"))


def _compound(inner):
    binary = st.builds("({} {} {})".format, inner,
                       st.sampled_from(("+", "-", "*", "+", "-", "*", "/", "//", "%")), inner)
    chosen = st.builds("np.where({} {} {}, {}, {})".format, inner,
                       st.sampled_from(("<", "<=", "==", "!=")), inner, inner, inner)
    called = st.builds("{}({})".format, st.sampled_from(("abs", "-", "np.square", "np.floor")),
                       inner)
    paired = st.builds("{}({}, {})".format, st.sampled_from(("np.minimum", "np.maximum")),
                       inner, inner)
    return st.one_of(binary, binary, chosen, called, paired)


EXPRESSIONS = st.recursive(LEAVES, _compound, max_leaves=6)
TRANSCENDENTALS = ("np.tanh", "np.exp", "np.sin", "np.cos", "np.log1p", "np.arctan")


@st.composite
def operands(draw, sides=st.integers(0, 6), most_axes=3):
    """Three arrays whose shapes broadcast, with layouts and dtypes of their own."""
    shapes = draw(npst.mutually_broadcastable_shapes(
        num_shapes=3, min_dims=1, max_dims=most_axes, min_side=0, max_side=6)).input_shapes
    dtypes = draw(st.lists(st.sampled_from(DTYPES), min_size=3, max_size=3))
    return [draw(strided(shape, dtype, seed))
            for seed, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))]


def expression(text: str):
    return define(f"def f(x, y, z, k):\n    return {text}\n")


@given(EXPRESSIONS, operands(), st.sampled_from((3, -2, 1.5)))
def test_an_elementwise_expression(text, arrays, k):
    f = expression(f"({text}) + x * 0")
    check_agreement(jit(f), f, lambda: (*(make() for make in arrays), k), EXACT)


@given(EXPRESSIONS, operands(), st.sampled_from((3, -2, 1.5)))
def test_an_expression_stored_through_a_slice(text, arrays, k):
    """Into an array that is also read: what is stored is what the right side was before."""
    f = define("def f(x, y, z, k):\n"
               "    out = np.zeros((x + y + z).shape)\n"
               f"    out[...] = ({text}) + out\n"
               f"    out[1:] = out[:-1] + ({text} + out)[1:]\n"
               "    return out\n")
    check_agreement(jit(f), f, lambda: (*(make() for make in arrays), k), EXACT)


@given(st.sampled_from(TRANSCENDENTALS), operands(most_axes=2))
def test_a_transcendental_function(function, arrays):
    f = expression(f"{function}(np.float64(1) * abs(x) + z * 0) * y")
    check_agreement(jit(f), f, lambda: (*(make() for make in arrays), 1), TRANSCENDENTAL)


@pytest.mark.parametrize("function", TRANSCENDENTALS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_value_does_not_depend_on_its_position(function, dtype):
    """In the body of a vector loop, in its tail, alone: the same bits."""
    f = jit(define(f"def f(x):\n    return {function}(x)\n"))
    x = np.full(1003, 0.7, dtype)
    for target in COMPILED:
        results = f(x, target=target)
        assert len(set(results.tolist())) == 1
        assert f(x[:1], target=target)[0] == results[0]
        assert f(x[::-2], target=target)[0] == results[0]


# Reductions.
SHAPES = st.one_of(npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9),
                   st.sampled_from([(1000,), (40, 300), (300, 40), (8, 20, 33), (20001,)]))
METHODS = ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax")


@st.composite
def reductions(draw):
    method = draw(st.sampled_from(METHODS))
    shape = draw(SHAPES)
    axis = draw(st.sampled_from((None, *range(-len(shape), len(shape)))))
    keep = ", keepdims=True" if not method.startswith("arg") and draw(st.booleans()) else ""
    dtype = draw(st.sampled_from(DTYPES if method != "prod" else DTYPES[2:]))
    element = draw(st.sampled_from(("x", "x", "(x * 2 + 1)", "x.T", "x[::-1]", "(x * x[:1])")))
    return f"{element}.{method}(axis={axis}{keep})", draw(strided(shape, dtype))


@given(reductions())
def test_a_reduction(reduction):
    text, make = reduction
    f = define(f"def f(x):\n    return {text}\n")
    check_agreement(jit(f), f, lambda: (make(),), REDUCED)


@given(st.sampled_from(("np.add", "np.maximum", "np.minimum")), SHAPES, st.data())
def test_a_scan(function, shape, data):
    make = data.draw(strided(shape, data.draw(st.sampled_from(("float64", "int32")))))
    axis = data.draw(st.integers(0, len(shape) - 1))
    f = define(f"def f(x):\n    return parakeet.scan({function}, x, axis={axis})\n")
    # A thousand equal floats that are added one after the other may all be rounded to one side: by
    # NumPy further than is allowed here.
    numpys = define("def f(x):\n"
                    "    dtype = np.longdouble if x.dtype.kind == 'f' else x.dtype\n"
                    f"    made = {function}.accumulate(x, axis={axis}, dtype=dtype)\n"
                    "    return made.astype(x.dtype)\n")
    check_agreement(jit(f), numpys, lambda: (make(),), REDUCED)


@given(st.sampled_from(("add", "maximum")), SHAPES, st.data())
def test_a_reduction_by_an_operator(function, shape, data):
    make = data.draw(strided(shape, data.draw(st.sampled_from(("float64", "float32", "int16")))))
    axis = data.draw(st.sampled_from((None, *range(len(shape)))))
    f = define(f"def f(x):\n    return parakeet.reduce(np.{function}, x, axis={axis}, init=-3)\n")
    numpys = define(f"def f(x):\n    return np.{function}.reduce(x, axis={axis}, dtype=x.dtype, "
                    "initial=-3)\n")
    check_agreement(jit(f), numpys, lambda: (make(),), REDUCED)


@given(operands(most_axes=2), st.lists(st.sampled_from(
    (None, 0, 1, 2, 3, -1, -2, 5, -7, 100, -100)), min_size=3, max_size=3))
def test_slices_read_and_written(arrays, bounds):
    start, stop, step = bounds
    f = define("def f(x, start, stop, step):\n"
               "    y = x * 2\n"
               "    part = x[start:stop:step]\n"
               "    y[start:stop:step] = part + 1\n"
               "    y[start:stop:step] -= part[::-1]\n"
               "    return y, part[::-1], part.sum()\n")
    check_agreement(jit(f), f, lambda: (arrays[0](), start, stop, step), REDUCED)


@pytest.mark.parametrize("wanted", [
    lambda x: 0 in x.strides, lambda x: min(x.strides) < 0, lambda x: x.flags.c_contiguous,
    lambda x: x.flags.f_contiguous, lambda x: x.strides[0] == 2 * x.itemsize])
def test_every_layout_is_drawn(wanted):
    arrays = strided((4, 3), "float64").map(lambda make: make())
    assert wanted(find(arrays, wanted, settings=settings(derandomize=True, max_examples=1000)))
