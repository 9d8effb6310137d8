"""The data-parallel operators: what f is given, axes, init, tuples, no elements, from Python."""

import functools

import numpy as np
import pytest
from agreement import REDUCED, bound_for, check_same
from layouts import values
from tested_targets import COMPILED, TARGETS

import parakeet
from parakeet import jit

X = values(7, seed=1)
Y = values(7, seed=2)
M = values((3, 4), seed=3)
N = values((5, 4), seed=4)
I = np.array([3, -1, 4, 1, -5], dtype=np.int32)
P = values((6, 2, 2), seed=5)
COLUMNS = values((9, 70), seed=6)  # More than the lanes of several registers.


def tuple_sum(a, b):
    return a[0] + b[0], a[1] + b[1]


def product_of(planes):
    return functools.reduce(np.matmul, planes)


def mirrored(rows):
    return functools.reduce(lambda a, b: a + b[::-1], rows)


# Program, arguments, and what NumPy gives for it.
CASES = {
    "map_of_one": (lambda x: parakeet.map(lambda a: a * 2, x), (X,), X * 2),
    "map_with_a_scalar": (lambda x: parakeet.map(lambda a, k: a * k, x, 3), (X,), X * 3),
    "map_of_rows_to_scalars": (lambda m: parakeet.map(lambda r: r[0] - r[-1], m), (M,),
                               M[:, 0] - M[:, -1]),
    "map_of_columns": (lambda m: parakeet.map(lambda c: c[::-1], m, axis=1), (M,), M[::-1].T),
    "map_of_negative_axis": (lambda m: parakeet.map(lambda c: c[0], m, axis=-1), (M,), M[0]),
    "map_stacks_longer_rows": (lambda m: parakeet.map(lambda r: r[1:] - r[:-1], m), (M,),
                               np.diff(M)),
    "map_to_a_tuple": (lambda x: parakeet.map(lambda a: (a, a * 2), x), (X,), (X, X * 2)),
    "map_to_a_nested_tuple": (lambda x: parakeet.map(lambda a: (a, (a > 0, a)), x), (X,),
                              (X, (X > 0, X))),
    "map_of_elements": (lambda m, x: parakeet.map(lambda a, b: a + b, m, x, axis=None),
                        (M, M[0]), M + M[0]),
    "each_is_map": (lambda x: parakeet.each(lambda a: -a, x), (X,), -X),
    "bare_map": (lambda x: map(lambda a: a + 1, x), (X,), X + 1),
    "map_of_a_primitive": (lambda x: parakeet.map(parakeet.sqrt, x), (abs(X),), np.sqrt(abs(X))),
    "map_in_a_map": (lambda m: parakeet.map(lambda r: parakeet.map(lambda a: a * 2, r), m), (M,),
                     M * 2),
    "map_with_a_capture": (lambda m, x: parakeet.map(lambda r: r + x, m), (M, M[0]), M + M[0]),
    "map_calls_numpy": (lambda m: parakeet.map(lambda r: np.max(r), m), (M,), M.max(axis=1)),
    "reduce_all": (lambda m: parakeet.reduce(parakeet.add, m), (M,), M.sum()),
    "reduce_axis_0": (lambda m: parakeet.reduce(np.add, m, axis=0), (M,), M.sum(axis=0)),
    "reduce_axis_1": (lambda m: parakeet.reduce(np.minimum, m, axis=1), (M,), M.min(axis=1)),
    "reduce_negative_axis": (lambda m: parakeet.reduce(np.maximum, m, axis=-1), (M,),
                             M.max(axis=-1)),
    "reduce_with_init": (lambda x: parakeet.reduce(np.add, x, init=100.0), (X,), X.sum() + 100),
    "reduce_rows_with_a_row": (lambda m: parakeet.reduce(lambda r, s: r * s, m, axis=0,
                                                         init=np.ones(4)), (M,), M.prod(axis=0)),
    "reduce_rows_with_a_primitive_and_a_row": (
        lambda m: parakeet.reduce(np.add, m, axis=0, init=m[1]), (M,), M.sum(axis=0) + M[1]),
    "reduce_columns_with_a_primitive_and_a_column": (
        lambda m: parakeet.reduce(np.maximum, m, axis=1, init=m[:, 0] * 2), (M,),
        np.maximum(M.max(axis=1), M[:, 0] * 2)),
    "reduce_from_an_array_of_another_shape": (
        lambda m: parakeet.reduce(np.add, m, axis=0, init=np.ones((2, 1))), (M,),
        np.broadcast_to(M.sum(axis=0) + 1, (2, 4))),
    "reduce_narrow_rows_from_a_row": (
        lambda x, y: parakeet.reduce(np.add, x.reshape(7, 1), axis=0, init=y), (X, Y),
        X.sum() + Y),
    "reduce_all_from_an_array": (lambda i, m: parakeet.reduce(np.add, i, init=m), (I, M),
                                 I.sum() + M),
    "reduce_planes_with_a_primitive_and_a_plane": (
        lambda p: parakeet.reduce(np.add, p, axis=0, init=p[0]), (P,), P.sum(axis=0) + P[0]),
    "reduce_nothing_from_a_row": (lambda m: parakeet.reduce(np.add, m[:0], axis=0, init=m[2]),
                                  (M,), M[2]),
    "reduce_from_a_list": (lambda m: parakeet.reduce(np.add, m, axis=0, init=[1, 2, 3, 4]), (M,),
                           M.sum(axis=0) + np.arange(1, 5)),
    "reduce_rows_element_by_element": (lambda m: parakeet.reduce(lambda r, s: r + s, m, axis=0),
                                       (COLUMNS,), COLUMNS.sum(axis=0)),
    "reduce_rows_from_a_number": (lambda m: parakeet.reduce(lambda r, s: np.maximum(r, s), m,
                                                            axis=0, init=0.0), (COLUMNS,),
                                  np.maximum(COLUMNS.max(axis=0), 0.0)),
    "reduce_columns": (lambda m: parakeet.reduce(lambda r, s: r + s, m, axis=1), (COLUMNS,),
                       COLUMNS.sum(axis=1)),
    "reduce_rows_with_a_captured_row": (
        lambda m: parakeet.reduce(lambda r, s: r * m[0] + s, m, axis=0), (M,),
        (M[0] * M[0] + M[1]) * M[0] + M[2]),
    "reduce_rows_keeps_order": (lambda m: parakeet.reduce(lambda r, s: r - s, m, axis=0), (M,),
                                M[0] - M[1] - M[2]),
    "reduce_rows_of_ints_from_a_float": (
        lambda i: parakeet.reduce(lambda r, s: r + s, i.reshape(5, 1), axis=0, init=0.5), (I,),
        np.array([I.sum() + 0.5])),
    "reduce_pairs_of_rows": (
        lambda m: parakeet.reduce(tuple_sum, m, m * m, axis=0), (M,),
        (M.sum(axis=0), (M * M).sum(axis=0))),
    "reduce_planes": (lambda p: parakeet.reduce(lambda a, b: a * b, p, axis=0), (P,),
                      P.prod(axis=0)),
    "reduce_rows_along_two_axes": (
        lambda p: parakeet.reduce(lambda a, b: a - b, p, axis=(0, 2)), (P,),
        functools.reduce(np.subtract, P.transpose(0, 2, 1).reshape(12, 2))),
    "reduce_mirrored_rows_along_two_axes": (
        lambda p: parakeet.reduce(lambda a, b: a + b[::-1], p, axis=(0, 1)), (P,),
        mirrored(P.reshape(12, 2))),
    "reduce_products_of_matrices": (lambda p: parakeet.reduce(lambda a, b: a @ b, p, axis=0), (P,),
                                    product_of(P)),
    "reduce_products_of_matrices_from_one": (
        lambda p: parakeet.reduce(lambda a, b: a @ b, p, axis=0, init=np.eye(2)), (P,),
        product_of(P)),
    "reduce_mirrored_rows": (lambda m: parakeet.reduce(lambda r, s: r + s[::-1], m, axis=0), (M,),
                             mirrored(M)),
    "reduce_rows_made": (
        lambda m: parakeet.ireduce(lambda i: m[i] * (i + 1), lambda r, s: r + s, len(m)), (M,),
        (M * np.arange(1.0, 4.0)[:, None]).sum(axis=0)),
    "reduce_rows_divided": (
        lambda m: parakeet.ireduce(lambda i: m[i] / m[i].sum(), lambda r, s: r + s, len(m)), (M,),
        (M / M.sum(axis=1, keepdims=True)).sum(axis=0)),
    "reduce_in_a_map": (
        lambda p: parakeet.map(lambda m: parakeet.reduce(lambda r, s: r + s, m, axis=0), p), (P,),
        P.sum(axis=1)),
    "reduce_a_lambda": (lambda x: parakeet.reduce(lambda a, b: a if a > b else b, x), (X,),
                        X.max()),
    "reduce_pairs": (lambda x, y: parakeet.reduce(tuple_sum, x, y, axis=0), (X, Y),
                     (X.sum(), Y.sum())),
    "reduce_pairs_with_init": (lambda x, y: parakeet.reduce(tuple_sum, x, y, axis=0,
                                                            init=(1.0, 2.0)), (X, Y),
                               (X.sum() + 1, Y.sum() + 2)),
    # init decides the type of the result, from the left.
    "reduce_ints_from_a_float": (lambda i: parakeet.reduce(np.add, i, init=0.5), (I,),
                                 np.float64(I.sum() + 0.5)),
    "reduce_ints_from_an_int": (lambda i: parakeet.reduce(np.add, i, init=0), (I,),
                                np.int32(I.sum())),
    "reduce_nothing_from_init": (lambda i: parakeet.reduce(np.add, i, init=5), (I[:0],),
                                 np.int32(5)),
    "reduce_nothing_from_a_float": (lambda i: parakeet.reduce(np.add, i, init=5.0), (I[:0],),
                                    np.float64(5.0)),
    # Not commutative: the order of the elements is kept.
    "reduce_keeps_order": (lambda x: parakeet.reduce(lambda a, b: b, x), (X,), X[-1]),
    "reduce_keeps_the_first": (lambda x: parakeet.reduce(lambda a, b: a, x), (X,), X[0]),
    "reduce_with_a_capture": (lambda x, k: parakeet.reduce(lambda a, b: np.minimum(a, b + 0 * k),
                                                           x), (X, 2), X.min()),
    "scan": (lambda x: parakeet.scan(np.add, x), (X,), X.cumsum()),
    "scan_axis_0": (lambda m: parakeet.scan(np.add, m), (M,), M.cumsum(axis=0)),
    "scan_axis_1": (lambda m: parakeet.scan(np.add, m, axis=1), (M,), M.cumsum(axis=1)),
    "scan_columns_from_a_column": (lambda m: parakeet.scan(np.add, m, axis=1, init=m[:, 3]), (M,),
                                   M.cumsum(axis=1) + M[:, 3:]),
    "scan_rows_from_a_row": (lambda m: parakeet.scan(lambda r, s: r + s, m, init=m[1]), (M,),
                             M.cumsum(axis=0) + M[1]),
    "scan_with_init": (lambda x: parakeet.scan(np.add, x, init=10.0), (X,), X.cumsum() + 10),
    "scan_ints": (lambda i: parakeet.scan(np.multiply, i), (I,),
                  np.multiply.accumulate(I, dtype=np.int32)),
    "scan_rows": (lambda m: parakeet.scan(lambda r, s: r + s, m), (COLUMNS,),
                  COLUMNS.cumsum(axis=0)),
    "scan_rows_from_a_number": (lambda m: parakeet.scan(lambda r, s: r * s, m, init=2.0), (M,),
                                2.0 * M.cumprod(axis=0)),
    "scan_columns": (lambda m: parakeet.scan(lambda r, s: r + s, m, axis=1), (M,),
                     M.cumsum(axis=1)),
    "scan_planes_by_the_middle_axis": (lambda p: parakeet.scan(np.add, p, axis=1), (P,),
                                       P.cumsum(axis=1)),
    "scan_pairs_of_rows": (lambda m: parakeet.scan(tuple_sum, m, m * m), (M,),
                           (M.cumsum(axis=0), (M * M).cumsum(axis=0))),
    "scan_products_of_matrices": (lambda p: parakeet.scan(lambda a, b: a @ b, p), (P,),
                                  np.stack([product_of(P[:k + 1]) for k in range(len(P))])),
    "scan_nothing": (lambda i: parakeet.scan(np.add, i), (I[:0],), I[:0]),
    "scan_keeps_order": (lambda x: parakeet.scan(lambda a, b: b, x), (X,), X),
    "scan_pairs": (lambda x, y: parakeet.scan(tuple_sum, x, y), (X, Y), (X.cumsum(), Y.cumsum())),
    "imap_of_an_int": (lambda n: parakeet.imap(lambda i: i * i, n), (5,), np.arange(5) ** 2),
    "imap_of_a_1_tuple": (lambda n: parakeet.imap(lambda i: i * i, (n,)), (5,), np.arange(5) ** 2),
    "imap_of_separate_indexes": (lambda m: parakeet.imap(lambda i, j: m[i, j] + i, m.shape), (M,),
                                 M + np.arange(3.0)[:, None]),
    "imap_of_a_tuple": (lambda m: parakeet.imap(lambda ij: m[ij] * 2, m.shape), (M,), M * 2),
    "imap_of_a_tuple_unpacked": (lambda m: parakeet.imap(lambda ij: m[ij[0], ij[1]], m.shape),
                                 (M,), M),
    "imap_in_three_dimensions": (lambda n: parakeet.imap(lambda i, j, k: i * 100 + j * 10 + k,
                                                         (n, n + 1, 2)), (2,),
                                 np.arange(2)[:, None, None] * 100
                                 + np.arange(3)[:, None] * 10 + np.arange(2)),
    "imap_to_rows": (lambda m: parakeet.imap(lambda i: m[:, i], m.shape[1]), (M,), M.T),
    "imap_of_nothing": (lambda n: parakeet.imap(lambda i: i * 0.5, n), (0,), np.zeros(0)),
    "ireduce": (lambda x: parakeet.ireduce(lambda i: x[i] ** 2, np.add, len(x)), (X,),
                (X ** 2).sum()),
    "ireduce_plane": (lambda m: parakeet.ireduce(lambda i, j: m[i, j], np.maximum, m.shape), (M,),
                      M.max()),
    "ireduce_with_init": (lambda n: parakeet.ireduce(lambda i: i, np.add, n, init=0.5), (4,),
                          np.float64(6.5)),
    "ireduce_nothing_from_init": (lambda n: parakeet.ireduce(lambda i: i, np.add, n, init=0.5),
                                  (0,), np.float64(0.5)),
    "outer_map": (lambda x, y: parakeet.outer_map(lambda a, b: a - b, x, y), (X, Y),
                  X[:, None] - Y),
    "outer_map_of_three": (lambda x: parakeet.outer_map(lambda a, b, c: a + b * c, x, x, x),
                           (X[:3],), X[:3, None, None] + X[:3, None] * X[:3]),
    "outer_map_of_rows": (lambda m, n: parakeet.outer_map(lambda r, s: np.dot(r, s), m, n),
                          (M, N), M @ N.T),
    "outer_map_of_an_axis_each": (lambda m, n: parakeet.outer_map(lambda r, c: np.dot(r, c), m, n,
                                                                  axis=(0, 1)), (M, N.T), M @ N.T),
    "allpairs": (lambda m: parakeet.allpairs(lambda r, s: ((r - s) ** 2).sum(), m, m), (M,),
                 ((M[:, None] - M) ** 2).sum(axis=-1)),
}
# Plain Python cannot tell of what shape absent rows would be.
EMPTY_CASES = {
    "reduce_no_rows": (lambda m: parakeet.reduce(lambda r, s: r + s, m, axis=0, init=2.0),
                       (M[:0],), np.full(4, 2.0)),
    "reduce_rows_of_nothing": (lambda m: parakeet.reduce(lambda r, s: r + s, m, axis=0),
                               (M[:, :0],), np.zeros(0)),
    "scan_no_rows": (lambda m: parakeet.scan(lambda r, s: r + s, m), (M[:0],), M[:0]),
    "scan_rows_of_nothing": (lambda m: parakeet.scan(lambda r, s: r + s, m), (M[:, :0],),
                             M[:, :0]),
}
JITTED = {name: jit(program) for name, (program, _, _) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_operator(name, target):
    _, arguments, expected = CASES[name]
    check_same(JITTED[name](*arguments, target=target), expected, bound_for(REDUCED, arguments))


@pytest.mark.parametrize("name", EMPTY_CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_operator_on_rows_of_nothing(name, target):
    program, arguments, expected = EMPTY_CASES[name]
    check_same(jit(program)(*arguments, target=target), expected, bound_for(REDUCED, arguments))


@pytest.mark.parametrize("target", TARGETS)
def test_ireduce_over_ints(target):
    result = jit(lambda n: parakeet.ireduce(lambda i: i * i, parakeet.add, n))(4, target=target)
    assert result == 14


FROM_PYTHON = {
    "map": (lambda: parakeet.map(lambda a, b: a * b, X, Y), X * Y),
    "map_axis": (lambda: parakeet.map(lambda c: c[0], M, axis=1), M[0]),
    "reduce": (lambda: parakeet.reduce(np.add, M, axis=1), M.sum(axis=1)),
    "reduce_lambda": (lambda: parakeet.reduce(lambda a, b: a + b, X, init=1.0), X.sum() + 1),
    "scan": (lambda: parakeet.scan(parakeet.add, X), X.cumsum()),
    "imap": (lambda: parakeet.imap(lambda i, j: i - j, (2, 3)),
             np.arange(2)[:, None] - np.arange(3)),
    "ireduce": (lambda: parakeet.ireduce(lambda i: X[i], np.add, len(X)), X.sum()),
    "outer_map": (lambda: parakeet.outer_map(lambda a, b: a - b, X, Y), X[:, None] - Y),
    "allpairs": (lambda: parakeet.allpairs(lambda a, b: a - b, X, Y), X[:, None] - Y),
}


@pytest.mark.parametrize("name", FROM_PYTHON)
def test_operator_called_from_python(name):
    call, expected = FROM_PYTHON[name]
    check_same(call(), expected, bound_for(REDUCED, (X, Y, M)))


@pytest.mark.parametrize("program", [
    lambda x: parakeet.reduce(np.add, x),
    lambda x: parakeet.reduce(lambda a, b: a * b, x, axis=0),
    lambda x: parakeet.ireduce(lambda i: x[i], np.add, len(x))], ids=["all", "axis", "index"])
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_without_init_is_refused(program, target):
    with pytest.raises(ValueError, match="^zero-size array to reduction operation .* which "
                                         "has no identity$"):
        jit(program)(np.zeros(0), target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_lengths_that_differ_are_named(target):
    with pytest.raises(ValueError) as caught:
        jit(CASES["map_of_elements"][0])(np.zeros((2, 3)), np.zeros(4), target=target)
    assert "(2,3)" in str(caught.value) and "(4,)" in str(caught.value)
    with pytest.raises(ValueError):
        jit(lambda x, y: parakeet.map(lambda a, b: a + b, x, y))(X, Y[:3], target=target)


@pytest.mark.parametrize("f", [np.add, lambda r, s: r + s], ids=["primitive", "lambda"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("target", TARGETS)
def test_an_init_of_another_size_is_refused(f, axis, target):
    """It would be read beyond its end."""
    for operator in (parakeet.reduce, parakeet.scan):
        with pytest.raises(ValueError, match=r"could not be broadcast .* \(2,\) \([34],\)"):
            operator(f, M, axis=axis, init=np.ones(2), target=target)


@pytest.mark.parametrize(("arrays", "init", "message"), [
    ((M, 0), np.ones((2, 4)), "gives 2 axes, and an element has 1 axis"),
    ((P, 0), np.ones(2), "init has 1 axis, and an element has 2 axes"),
    ((M, 0), np.ones(1), "an axis of init has length 1"),
    ((M[:, :1], 0), np.ones(4), "an axis of init has length 1"),
    ((X, None), np.ones(4), "gives 1 axis, and an element has 0 axes"),
], ids=["more axes", "fewer axes", "narrow", "narrow element", "scalar element"])
def test_an_init_that_is_no_element_is_refused(arrays, init, message):
    """A function may look at its arguments' shapes: only what a primitive is given is broadcast."""
    array, axis = arrays
    with pytest.raises(parakeet.Limitation, match=f"{message}.*give init an element's shape"):
        parakeet.reduce(lambda r, s: r + s, array, axis=axis, init=init)


@pytest.mark.parametrize("size", [8191, 8192, 8193, 100_003])
def test_blocks_of_a_reduction(size):
    """Around the ends of a block; order kept, init entered once, the same bits on any target."""
    x = values(size)
    total = jit(lambda x: parakeet.reduce(np.add, x, init=3.0))
    last = jit(lambda x: parakeet.reduce(lambda a, b: b, x))
    running = jit(lambda x: parakeet.scan(lambda a, b: a + b, x, init=3.0))
    for target in COMPILED:
        check_same(total(x, target=target), x.sum() + 3.0, bound_for(REDUCED, x))
        assert last(x, target=target) == x[-1]
        check_same(running(x, target=target), x.cumsum() + 3.0, bound_for(REDUCED, x))
    assert total(x, target="serial") == total(x, target="parallel")
    assert (running(x, target="serial") == running(x, target="parallel")).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_bits_do_not_depend_on_the_number_of_threads(threads):
    x = values(1_000_003)
    total = jit(lambda x: (x * x).sum())
    expected = total(x, target="serial")
    before = parakeet.get_num_threads()
    try:
        parakeet.set_num_threads(threads)
        assert total(x, target="parallel") == expected
    finally:
        parakeet.set_num_threads(before)
