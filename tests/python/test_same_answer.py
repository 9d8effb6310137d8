"""The same answer as NumPy: every dtype and pair of dtypes at the edges of their values, axes
without elements and of one, every layout, arguments that share memory.

One function a dtype, or a pair of them, returns what all functions give. All run in the
interpreter, and a fixed sample of them compiled; `--long` compiles every one.
"""

import itertools
import re
import warnings
import zlib

import numpy as np
import pytest
from agreement import (
    AS_ELSEWHERE,
    EXACT,
    TRANSCENDENTAL,
    Tolerance,
    check_agreement,
    deep_copies,
    run,
)
from edge_values import (
    BINARY,
    DTYPES,
    FEW_ULPS,
    INVERSES,
    LEAST_AND_MOST,
    POWERS,
    UNARY,
    edges,
    every_pair,
    of_complex_powers,
)
from from_source import define
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import LAYOUTS, lay_out, values

from parakeet import jit

SUMMED = Tolerance("sums and their quotients in another order", ulps=16.0, of_sum=16.0)
SHAPES = ((), (0,), (1,), (0, 3), (3, 0), (1, 4), (2, 1, 3), (2, 3))


def is_accepted(call: str, names: str, arguments: tuple) -> bool:
    """Whether NumPy gives something for it."""
    plain = define(f"def f({names}):\n    return {call}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(plain, lambda: arguments).error is None


def check_calls(request, calls: list[str], names: str, arguments: tuple, tolerance: Tolerance,
                compiled_of: int, on_device: Tolerance | None = AS_ELSEWHERE) -> None:
    """All that NumPy gives by one function, and each that it refuses by one of its own; compiled
    for one test in so many, or none where that is 0."""
    accepted = [call for call in calls if is_accepted(call, names, arguments)]
    is_compiled = compiled_of and zlib.crc32(request.node.name.encode()) % compiled_of == 0
    is_compiled = is_compiled or (compiled_of and request.config.getoption("--long"))
    targets = ("interpreter", "serial", "parallel") if is_compiled else ("interpreter",)
    if accepted:
        plain = define(f"def f({names}):\n    return ({', '.join(accepted)},)\n")
        check_agreement(jit(plain), plain, deep_copies(arguments), tolerance, targets=targets,
                        on_device=on_device)
    for call in sorted(set(calls) - set(accepted)):
        plain = define(f"def f({names}):\n    return {call}\n")
        check_agreement(jit(plain), plain, deep_copies(arguments), targets=("interpreter",))


def tolerance_for(tolerance: Tolerance, *dtypes: str) -> Tolerance:
    """A product or quotient of complex numbers is several operations."""
    is_complex = any(dtype.startswith("complex") for dtype in dtypes)
    if tolerance is LEAST_AND_MOST:
        return EXACT
    return FEW_ULPS if tolerance is EXACT and is_complex else tolerance


def tolerance_on_device(tolerance: Tolerance, *dtypes: str) -> Tolerance | None:
    """None where devices refuse the function."""
    is_float32 = np.result_type(*dtypes) == np.float32
    if tolerance is LEAST_AND_MOST and is_float32:
        return LEAST_AND_MOST
    is_refused = tolerance is INVERSES and dtypes[0].startswith("complex")
    return None if is_refused else AS_ELSEWHERE


@pytest.mark.parametrize(("first", "second"), itertools.product(DTYPES, DTYPES))
def test_functions_of_two(request, first, second):
    x, y = every_pair(first, second)
    for tolerance, functions in BINARY.items():
        calls = [f"np.{function}(x, y)" for function in functions]
        on_device = tolerance_on_device(tolerance, first, second)
        tolerance = tolerance_for(tolerance, first, second)
        if tolerance is POWERS and "c" in x.dtype.kind + y.dtype.kind:
            tolerance = of_complex_powers(x, y)
        check_calls(request, calls, "x, y", (x, y), tolerance, 40, on_device)


@pytest.mark.parametrize(("first", "second"),
                         itertools.product(DTYPES[1:9], DTYPES[1:9]))
def test_shifts_and_multiples(request, first, second):
    x, y = every_pair(first, second)
    calls = ["np.left_shift(x, y)", "np.right_shift(x, y)"]
    check_calls(request, [*calls, "np.ldexp(1.0, y)"], "x, y", (x, np.abs(y) // 2), EXACT, 20)
    check_calls(request, ["np.lcm(x, y)"], "x, y", (x, y), EXACT, 20)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one(request, dtype):
    for tolerance, functions in UNARY.items():
        calls = [f"np.{function}(x)" for function in functions]
        check_calls(request, calls, "x", (edges(dtype),), tolerance_for(tolerance, dtype), 5,
                    tolerance_on_device(tolerance, dtype))


CASTS = [f"x.astype(np.{dtype})" for dtype in DTYPES]


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts(request, dtype):
    """Of what fits: what a number beyond an integer's range becomes is the processor's affair."""
    x = np.array([0, 1, 2, 7, 100]).astype(dtype)
    check_calls(request, CASTS, "x", (x,), EXACT, 5)
    if np.dtype(dtype).kind == "f":
        floats = [call for call in CASTS if re.search("float|complex|bool", call)]
        check_calls(request, floats, "x", (edges(dtype),), EXACT, 5)


EXTREMES = """
    min max argmin argmax any all ptp count_nonzero nanmin nanmax nanargmin nanargmax fmax.reduce
    minimum.accumulate logical_xor.reduce
""".split()
SUMS = """
    sum prod mean var std cumsum cumprod nansum nanprod nanmean nanvar nanstd nancumsum add.reduce
    multiply.accumulate average
""".split()
# What NumPy says first of an empty array of bools, of which there are no differences either.
OTHER_ERRORS = {("ptp", "bool")}


@pytest.mark.sampled(3, "dtype", "shape")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(request, dtype, shape):
    size = int(np.prod(shape))
    extremes = np.resize(edges(dtype)[1:], max(size, 1))[:size].reshape(shape)
    plain = np.resize([1, 0, 3, 2, 5], max(size, 1))[:size].reshape(shape).astype(dtype)
    for names, x, tolerance in ((EXTREMES, extremes, EXACT), (SUMS, plain, SUMMED)):
        calls = [f"np.{name}(x{axis})" for name in names if (name, dtype) not in OTHER_ERRORS
                 for axis in ("", ", axis=0", ", axis=-1", ", axis=0, keepdims=True")
                 if "keepdims" not in axis or not re.search("cum|accumulate", name)]
        check_calls(request, calls, "x", (x,), tolerance, 100)


# Expressions over two arrays of one shape, with stores; each rounds once.
EXPRESSIONS = (
    "np.add(x, y)", "np.where(x > y, x, y)", "x[::-1] - y", "np.maximum(x.T, 1).T", "(x * 2).T + 0",
    "np.stack((x, y))", "np.concatenate((x, y), axis=-1)", "np.flip(x, 0) * y", "x.copy() * y",
    "np.roll(x, 1, 0) + y", "np.diff(x, axis=0)", "np.repeat(x, 2, axis=-1)", "x.ravel() + 1",
    "np.take(x, [0, -1], axis=0)", "x[x > 0]", "np.pad(y, 1, 'wrap')", "np.argmax(x, axis=0)",
    "np.einsum('...i->i...', x) * 2", "np.broadcast_to(x, (2,) + x.shape) + y",
    "x.reshape(-1)[::2]",
)
NOT_EMPTY = ("np.take", "np.pad", "np.argmax")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1,), (4,), (0, 2), (3, 1), (3, 4), (2, 3, 4)], ids=str)
def test_layouts(request, layout, shape):
    x, y = lay_out(values(shape), layout), lay_out(values(shape, seed=1), "strided")
    calls = [call for call in EXPRESSIONS if 0 not in shape or not call.startswith(NOT_EMPTY)]
    names, texts = "x, y", f"({', '.join(calls)},)"
    plain = define(f"def f({names}):\n    return {texts}\n")
    is_compiled = zlib.crc32(request.node.name.encode()) % 10 == 0
    targets = ("interpreter", "serial", "parallel") if is_compiled else ("interpreter",)
    check_agreement(jit(plain), plain, lambda: (lay_out(x, layout), y), targets=targets)


# What stores into memory that it also reads.
STORES = (
    "x[...] = x + y", "x[1:] = x[:-1]", "x[:-1] += x[1:]", "np.add(x, y, out=x)",
    "np.multiply(x, x, x)", "np.subtract(y, x, out=y)", "np.cumsum(x, axis=0, out=y)",
    "np.copyto(x, y)", "np.copyto(x, y[::-1])", "x[::-1] = x", "y[...] = x[::-1] * 2",
    "np.clip(x, -1, 1, out=y)", "np.putmask(x, x > 0, y)", "np.sqrt(np.abs(x), out=x, where=y > 0)",
    "np.divmod(x, 2, out=(y, None))", "np.add.at(x, [0, 0], 1)", "np.maximum.accumulate(x, out=x)",
)


@st.composite
def sharing(draw):
    """Two arrays of one shape in one buffer: the same elements, shifted, turned round, crossing.
    Their steps are of one length: of two lengths NumPy stores what it has overwritten."""
    rank = draw(st.integers(1, 2))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))
    places = []
    length = draw(st.sampled_from((1, 1, 2)))
    for _ in range(2):
        step = draw(st.sampled_from((length, length, -length)))
        first = draw(st.integers(0, 3))
        axis = tuple(slice(first + (-step * (n - 1) if step < 0 else 0), None, step) for n in shape)
        places.append((axis, draw(st.booleans()) and len(set(shape)) == 1))
    dtype = draw(st.sampled_from(("float64", "float32", "int32")))

    def make():
        buffer = values((16,) * len(shape), dtype)
        views = [buffer[axis][tuple(slice(0, n) for n in shape)] for axis, _ in places]
        return tuple(view.T if turned else view
                     for view, (_, turned) in zip(views, places, strict=True))

    return make


@given(sharing(), st.lists(st.sampled_from(STORES), min_size=1, max_size=3))
def test_arguments_that_share_memory(make, stores):
    text = "\n    ".join(stores)
    plain = define(f"def f(x, y):\n    {text}\n    return x.sum(), y.copy()\n")
    check_agreement(jit(plain), plain, make, TRANSCENDENTAL, targets=("interpreter",))


OPERATIONS = ("add", "subtract", "multiply", "minimum", "maximum", "less", "equal", "copysign",
              "divide", "logical_xor")


@given(npst.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=3, min_side=0,
                                          max_side=4),
       st.sampled_from(OPERATIONS), st.lists(st.sampled_from(DTYPES[:12]), min_size=2, max_size=2),
       st.lists(st.sampled_from(sorted(LAYOUTS)), min_size=2, max_size=2))
def test_broadcasting(shapes, operation, dtypes, layouts):
    arrays = tuple(lay_out(np.resize(edges(dtype), shape).astype(dtype), layout)
                   for shape, dtype, layout in zip(shapes.input_shapes, dtypes, layouts,
                                                   strict=True))
    plain = define(f"def f(x, y):\n    return np.{operation}(x, y)\n")
    check_agreement(jit(plain), plain, lambda: arrays, targets=("interpreter",))
