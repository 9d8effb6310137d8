"""Every program of programs.py on plain Python with NumPy and on every target."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import programs as p
import pytest
from agreement import EXACT, REDUCED, TRANSCENDENTAL, Tolerance, bits, check_agreement, run
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMBERS, SIZES, WRITABLE_LAYOUTS, lay_out, values

from parakeet import jit

# The interpreter is for trust, not for size.
MOST_INTERPRETED = 1000
LAYOUT_SIZE = 64

# Inputs: from a size, a dtype and a layout to arguments, fresh at each call.


def plane(n: int) -> tuple[int, int]:
    """The shape of a matrix of about n elements; of none for 0, of one row for 2 and 3."""
    rows = math.isqrt(n)
    return rows, n // max(rows, 1)


def vectors(count: int, *rest, at_least: int = 0):
    def make(n, dtype, layout):
        arrays = (lay_out(values(max(n, at_least), dtype, seed), layout) for seed in range(count))
        return (*arrays, *rest)

    return make


def matrix(*rest, at_least: int = 0):
    def make(n, dtype, layout):
        return (lay_out(values(plane(max(n, at_least)), dtype), layout), *rest)

    return make


def two_matrices(n, dtype, layout):
    rows, columns = plane(n)
    return (lay_out(values((rows, columns), dtype, 1), layout),
            lay_out(values((columns, rows + 1), dtype, 2), layout))


def image_and_weights(n, dtype, layout):
    rows, columns = plane(n)
    return (lay_out(values((rows + 2, columns + 2), dtype), layout),
            lay_out(values((3, 3), dtype, 1), layout))


def rows_of(width: int):
    """Few rows, since all pairs of them are looked at."""
    def make(n, dtype, layout):
        return (lay_out(values((min(n, 100), width), dtype), layout),)

    return make


def slice_arguments(n, dtype, layout):
    """x[2:-3:k] has the length of the rows of y[2:, 4:]."""
    rows, columns = plane(n)
    length = len(range(2, columns + 9 - 3, 2))
    y = np.abs(values((rows + 3, length + 4), dtype, 2)) + 1
    return (3, lay_out(values(columns + 9, dtype, 1), layout), 2,
            lay_out(y.astype(dtype), layout), 2)


def growing(n, dtype, layout):
    return 1.0, lay_out((np.abs(values(n, dtype)) + 1).astype(dtype), layout)


def scalars(*cases):
    """Arguments that have no layout: the size picks a case."""
    return lambda n, dtype, layout: cases[n % len(cases)]


@dataclass(frozen=True)
class Case:
    """A row of the table; what is not given is the default of most."""

    program: Callable
    inputs: Callable
    tolerance: Tolerance = EXACT
    dtypes: tuple[str, ...] = NUMBERS
    layouts: tuple[str, ...] = tuple(LAYOUTS)
    sizes: tuple[int, ...] = SIZES
    reference: Callable | None = None
    label: str = ""

    @property
    def name(self) -> str:
        return self.program.__name__ + (f"-{self.label}" if self.label else "")

    @property
    def plain(self) -> Callable:
        return self.reference or getattr(p, f"{self.program.__name__}_reference", self.program)


SMALL = tuple(n for n in SIZES if n <= 1000)
TINY = tuple(n for n in SIZES if n <= 64)
NOT_EMPTY = tuple(n for n in SIZES if n > 0)
SIGNED = FLOATS + tuple(t for t in INTEGERS if not t.startswith("u"))
INNER = (64,)
STORED = {"layouts": WRITABLE_LAYOUTS}
SCALAR = {"layouts": ("C",), "dtypes": ("float64",)}
FLOAT_STEPS = Tolerance("a float32 dot adds in another order than BLAS", ulps=4.0, of_sum=8.0)

CASES = [
    Case(p.now_faster, vectors(1)),
    Case(p.fast, vectors(1), TRANSCENDENTAL, dtypes=(*NUMBERS, "bool")),
    Case(p.fast, vectors(1, 2, np.float32(0.25)), TRANSCENDENTAL, label="given"),
    Case(p.fast, matrix(), TRANSCENDENTAL, dtypes=FLOATS, label="matrix"),
    Case(p.loopy, vectors(1), TRANSCENDENTAL),
    # NumPy's empty list is float64, whatever the element would have been.
    Case(p.comprehension, vectors(1), TRANSCENDENTAL, sizes=NOT_EMPTY),
    Case(p.matmult, two_matrices, FLOAT_STEPS, sizes=(1, 2, 3, 7, 64, 1000)),
    Case(p.conv_3x3_trim, image_and_weights, REDUCED, sizes=(1, 2, 7, 64, 1000, 10000)),
    Case(p.fit_simple_regression, vectors(2), REDUCED, dtypes=FLOATS + ("int64",),
         sizes=(7, 64, 1000, 100003), layouts=tuple(n for n in LAYOUTS if n != "zero_stride")),
    Case(p.prod, vectors(1), REDUCED, sizes=TINY),
    Case(p.prod, matrix(0), REDUCED, sizes=TINY, label="axis0"),
    Case(p.prod, matrix(-1), REDUCED, sizes=TINY, dtypes=FLOATS, label="axis-1"),

    Case(p.strided_expression, slice_arguments),
    Case(p.negative_steps, vectors(1, 2)),
    Case(p.polynomial, vectors(2)),
    Case(p.nested_arithmetic, vectors(2)),
    Case(p.comparisons, vectors(2)),
    Case(p.integer_arithmetic, vectors(2), dtypes=INTEGERS),
    Case(p.chosen, vectors(2)),
    Case(p.extremes, vectors(1)),
    Case(p.reductions, vectors(1), REDUCED),
    Case(p.reductions_by_axis, matrix(), REDUCED),
    Case(p.normalised_rows, matrix(), REDUCED, dtypes=FLOATS),
    Case(p.outer_broadcast, vectors(2), sizes=SMALL),
    Case(p.transposed, matrix()),
    Case(p.ranges, scalars((0, 1.0, 2.0), (1, 1.0, 2.0), (5, -1, 1), (1000, 0.5, 7)),
         Tolerance("linspace multiplies where NumPy's may add", ulps=4.0, of_sum=1.0), **SCALAR),

    Case(p.tuple_of_constants, scalars(()), **SCALAR),
    Case(p.swapped, vectors(2), dtypes=("float64", "int32")),
    Case(p.starred, scalars((1,), (2.5,)), **SCALAR),

    # A Python scalar that no iteration makes NumPy's would be Python's; it is NumPy's in ours.
    Case(p.grown, growing, REDUCED, dtypes=FLOATS, sizes=(1, 2, 7, 64)),
    Case(p.clipped, vectors(1, -1, 2), dtypes=SIGNED),
    Case(p.asserted, scalars((1,), (-1,)), **SCALAR),
    Case(p.asserted_bare, scalars((1,), (-1,)), **SCALAR),
    Case(p.first_above, vectors(1, 1), sizes=SMALL),
    Case(p.first_above, vectors(1, 100), sizes=SMALL, dtypes=("float64",), label="none"),
    Case(p.collatz_steps, scalars((1,), (7,), (27,)), **SCALAR),
    Case(p.running_total, vectors(1), REDUCED),
    # Where nothing is added the result is Python's 0.0 there; zero strides have one number only.
    Case(p.sum_of_positive, vectors(1), REDUCED, dtypes=FLOATS, sizes=(7, 64, 1000),
         layouts=tuple(layout for layout in LAYOUTS if layout != "zero_stride")),

    Case(p.scaled_in_place, vectors(1, 2), **STORED),
    Case(p.fill_diagonal_band, matrix(3), dtypes=SIGNED, **STORED),
    Case(p.smoothed, vectors(1, 3), sizes=SMALL, **STORED),
    Case(p.reversed_in_place, vectors(1), **STORED),

    Case(p.keywords, vectors(1), dtypes=SIGNED),
    Case(p.nested_function, vectors(1, 2), dtypes=SIGNED),
    Case(p.closure_of_an_array, vectors(2), sizes=NOT_EMPTY, dtypes=("float64", "int32")),
    Case(p.lambdas, vectors(1, 2), dtypes=SIGNED),
    Case(p.factorial, scalars((0,), (1,), (20,)), **SCALAR),
    Case(p.is_even, scalars((0,), (7,), (100,)), **SCALAR),
    Case(p.from_math, scalars((2.0,), (0.0,), (3,)), **SCALAR),

    Case(p.map_three, vectors(3)),
    Case(p.map_rows, matrix(), sizes=NOT_EMPTY),
    Case(p.map_columns_to_pairs, matrix(), sizes=NOT_EMPTY),
    Case(p.map_elements, vectors(2)),
    Case(p.map_elements, lambda n, t, layout: (*matrix()(n, t, layout), 2), label="scalar"),
    Case(p.reduce_rows, matrix(), REDUCED),
    Case(p.reduce_all, matrix(), REDUCED),
    Case(p.reduce_without_init, vectors(1)),
    Case(p.reduce_pairs, vectors(1), sizes=NOT_EMPTY),
    Case(p.scanned, vectors(1), REDUCED),
    Case(p.scanned, matrix(), REDUCED, sizes=SMALL, label="rows"),
    Case(p.scanned_with_init, vectors(1)),
    Case(p.imapped, matrix(), dtypes=("float64", "int64")),
    Case(p.imapped_tuple, matrix()),
    Case(p.outer, vectors(2), sizes=SMALL, dtypes=("float64", "float32", "int8")),
    Case(p.all_distances, rows_of(3), REDUCED, dtypes=FLOATS),
    Case(p.ireduced, vectors(1), Tolerance("a sum of elements times up to 100003", of_sum=1e6),
         dtypes=("float64", "int64")),
    Case(p.ireduced_plane, matrix(), dtypes=("float64", "int64")),
]
IDS = [case.name for case in CASES]
JITTED = {case.program: jit(case.program) for case in CASES}


def check(case: Case, size: int, dtype: str, layout: str, tolerance=None) -> None:
    targets = ["interpreter"] if size <= MOST_INTERPRETED else []
    check_agreement(JITTED[case.program], case.plain,
                    lambda: case.inputs(size, dtype, layout), tolerance or case.tolerance,
                    targets=[*targets, "serial", "parallel"])


def test_names_are_told_apart():
    assert len(set(IDS)) == len(IDS)


def test_every_program_is_run():
    written = {name for name, f in vars(p).items()
               if getattr(f, "__module__", "") == "programs" and not name.endswith("_reference")}
    assert written - {f.__name__ for f in JITTED} == {"covariance", "below", "scaled", "is_odd"}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_size(case):
    for size in case.sizes:
        check(case, size, case.dtypes[0], "C")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_dtype(case):
    size = next(size for size in reversed(case.sizes) if size <= LAYOUT_SIZE)
    for dtype in case.dtypes[1:]:
        check(case, size, dtype, "C")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_layout(case):
    size = next(size for size in reversed(case.sizes) if size <= LAYOUT_SIZE)
    for layout in case.layouts[1:]:
        check(case, size, case.dtypes[0], layout)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_combination(case):
    for size in case.sizes:
        # NumPy scans, and adds up what is not contiguous, one after the other: its own error grows.
        sums = max(case.tolerance.of_sum, size / 8 if case.tolerance.of_sum else 0.0)
        tolerance = replace(case.tolerance, of_sum=sums)
        for dtype in case.dtypes:
            for layout in case.layouts:
                check(case, size, dtype, layout, tolerance)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_two_runs_in_parallel_give_the_same_bits(case):
    """Whatever thread took which block."""
    size = case.sizes[-1]
    jitted = JITTED[case.program]
    outcomes = [run(jitted, lambda: case.inputs(size, case.dtypes[0], "C"), target="parallel")
                for _ in range(3)]
    results = [bits(outcome.result) for outcome in outcomes]
    assert results[0] == results[1] == results[2]


def text_without_names(program, stage, *arguments) -> str:
    """The program's code at a stage, its values numbered in order and unused sites left out."""
    numbers: dict[str, str] = {}
    code = jit(program).ir(*arguments, stage=stage)
    lines = [line for line in code.splitlines() if line and not line.startswith("site ")]
    numbered = re.sub(r"%[\w.]+", lambda name: numbers.setdefault(name[0], f"%{len(numbers)}"),
                      "\n".join(lines))
    return numbered.replace("@" + program.__name__, "@f")


@pytest.mark.parametrize("stage", ["fuse-vertically", "scheduled"])
def test_a_loop_a_comprehension_and_an_expression_become_one_text(stage):
    x = np.linspace(0.0, 1.0, 100)
    programs = (p.fast, p.loopy, p.comprehension)
    texts = {text_without_names(program, stage, x) for program in programs}
    assert len(texts) == 1
    assert "check" not in texts.pop()


def test_a_loop_into_an_array_keeps_the_dtype_of_the_array():
    x = np.linspace(0.0, 1.0, 100, dtype=np.float32)
    assert jit(p.fast)(x).dtype == np.float32
    assert jit(p.loopy)(x).dtype == np.float64
