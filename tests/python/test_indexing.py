"""Indexing, slicing and storing: every kind of index, in and out of range, on every target."""

import numpy as np
import pytest
from agreement import check_agreement, run
from tested_targets import COMPILED, TARGETS

from parakeet import jit


def table() -> np.ndarray:
    return np.arange(42.0).reshape(6, 7)


READS = {
    "integer": lambda x: x[2],
    "negative": lambda x: x[-1],
    "element": lambda x: x[2, 3],
    "negative_element": lambda x: x[-6, -7],
    "element_of_a_row": lambda x: x[2][3],
    "column": lambda x: x[:, 2],
    "last_column": lambda x: x[:, -1],
    "all": lambda x: x[:],
    "tail": lambda x: x[2:],
    "head": lambda x: x[:-2],
    "beyond_the_end": lambda x: x[4:100],
    "before_the_start": lambda x: x[-100:2],
    "empty": lambda x: x[4:2],
    "steps": lambda x: x[::2, 1::3],
    "negative_steps": lambda x: x[::-1, ::-2],
    "negative_steps_between": lambda x: x[4:1:-1, -2:0:-3],
    "negative_step_to_the_start": lambda x: x[3::-1],
    "negative_step_beyond": lambda x: x[100:-100:-2],
    "slice_of_a_slice": lambda x: x[1:][::2, 1:-1][1],
    "transposed": lambda x: x.T[2],
    "slice_of_a_transpose": lambda x: x.T[1:3, ::-1],
    "ellipsis": lambda x: x[..., 0],
    "ellipsis_alone": lambda x: x[...],
    "ellipsis_before": lambda x: x[1, ...],
    "newaxis": lambda x: x[np.newaxis, 1, :, None],
    "newaxis_and_ellipsis": lambda x: x[None, ..., 1:3],
    "tuple_of_indexes": lambda x: x[(1, 2)],
    "slice_object": lambda x: x[slice(1, None, 2)],
    "computed": lambda x: x[len(x) // 2, x.shape[1] - 1],
    "reshaped": lambda x: x.reshape(7, 6)[1],
    "reshaped_by_minus_one": lambda x: x.reshape(-1, 2)[:, 0],
    "flat": lambda x: x.ravel()[8:12],
    "bool_is_an_element": lambda x: x[int(x[1, 1] > 3)],
}


@pytest.mark.parametrize("name", READS)
def test_read(name):
    check_agreement(jit(READS[name]), READS[name], lambda: (table(),), targets=TARGETS)


INDEXES = [0, 5, -1, -6, 6, 7, -7, 100, -100, 2**31, -2**31, 2**62, -2**62]


def at(x, i):
    return x[i]


def at_both(x, i):
    return x[i, i] + x[0, i]


def slice_from(x, i):
    return x[i:]


def slice_to(x, i):
    return x[:i, ::-1]


def slice_by(x, i):
    return x[::i]


def store_at(x, i):
    x[0, 0] = -1.0
    x[i, 1] = -2.0
    return x


JITTED = {f: jit(f) for f in (at, at_both, slice_from, slice_to, slice_by, store_at)}


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("function", JITTED, ids=lambda f: f.__name__)
def test_every_index(function, index):
    """Values, or the exception; and after an exception what had been stored stays stored."""
    expected = run(function, lambda: (table(), index))
    for target in TARGETS:
        actual = run(JITTED[function], lambda: (table(), index), target=target)
        assert str(actual.error) == str(expected.error), target
        assert type(actual.error) is type(expected.error), target
        np.testing.assert_array_equal(actual.arguments[0], expected.arguments[0])
        if expected.error is None:
            np.testing.assert_array_equal(actual.result, expected.result, strict=True)


def test_a_step_of_zero():
    for target in TARGETS:
        with pytest.raises(ValueError, match="^slice step cannot be zero$"):
            JITTED[slice_by](table(), 0, target=target)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers_of_every_width_index(dtype):
    def chosen(x, indexes):
        return np.array([x[i] for i in indexes])

    indexes = np.array([0, 3, 5], dtype)
    check_agreement(jit(chosen), chosen, lambda: (table(), indexes.copy()), targets=TARGETS)
    check_agreement(JITTED[at], at, lambda: (table(), indexes[1]), targets=TARGETS)


def store_row(x, v):
    x[1] = v
    return x


def store_scalar_in_slice(x):
    x[1:4, ::2] = 9
    return x


def store_broadcast(x):
    x[2:4] = x[0, :] * 2
    return x


def store_shifted(x):
    x[1:] = x[:-1]
    return x


def store_shifted_back(x):
    x[:-1] = x[1:]
    return x


def store_reversed(x):
    x[::-1] = x
    return x


def store_transposed(x):
    x[:6, :6] = x[:6, :6].T
    return x


def augmented_element(x):
    x[1, 2] += 5
    x[-1, -1] *= 2
    return x


def augmented_slice(x):
    x[1:, 1:] -= x[:-1, :-1]
    x[0] /= 2
    return x


def store_through_a_view(x):
    row = x[2]
    row[1:3] = -1
    other = row[::-1]
    other[0] = 100
    return x


def store_a_tuple(x):
    x[0, :2] = 7, 8
    x[1] = -x[1]
    return x


def swap_rows(x):
    for j in range(x.shape[1]):
        x[0, j], x[1, j] = x[1, j], x[0, j]
    return x


STORES = [store_scalar_in_slice, store_broadcast, store_shifted, store_shifted_back,
          store_reversed, store_transposed, augmented_element, augmented_slice,
          store_through_a_view, store_a_tuple, swap_rows]


@pytest.mark.parametrize("function", STORES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_store(function, dtype):
    check_agreement(jit(function), function, lambda: (table().astype(dtype),), targets=TARGETS)


@pytest.mark.parametrize("value", [3, 2.5, np.arange(7.0), np.arange(7), np.ones(1),
                                   np.float32(1.5)], ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_store_converts(value, dtype):
    check_agreement(jit(store_row), store_row, lambda: (table().astype(dtype), value),
                    targets=TARGETS)


def test_a_large_overlapping_store_is_as_if_copied_first():
    """Past the cost threshold, where threads share the work."""
    x = np.arange(200_000.0)
    for function in (store_shifted, store_shifted_back, store_reversed):
        check_agreement(jit(function), function, lambda: (x.copy(),), targets=COMPILED)


def test_a_store_of_a_wrong_shape_names_both():
    for target in TARGETS:
        x = table()
        with pytest.raises(ValueError, match=r"could not broadcast input array from shape "
                                             r"\(6,\) into shape \(7,\)"):
            jit(store_row)(x, np.zeros(6), target=target)
        np.testing.assert_array_equal(x, table())


class TestIdentity:
    """What is returned shares memory with an argument exactly where it does in Python."""

    def test_the_argument_itself(self):
        same = jit(lambda x: x)
        x = table()
        for target in TARGETS:
            assert same(x, target=target) is x

    def test_the_argument_after_a_store(self):
        x = table()
        for target in TARGETS:
            assert jit(store_scalar_in_slice)(x, target=target) is x

    @pytest.mark.parametrize("name", ["column", "tail", "steps", "negative_steps", "transposed",
                                      "newaxis", "slice_of_a_slice", "flat", "reshaped"])
    def test_a_view(self, name):
        x = table()
        expected = READS[name](x)
        for target in TARGETS:
            view = jit(READS[name])(x, target=target)
            assert view.__array_interface__["data"] == expected.__array_interface__["data"]
            assert view.strides == expected.strides
            assert view.base is not None
            view[...] = 5.0
            np.testing.assert_array_equal(expected, 5.0)
            x[...] = table()

    def test_a_new_array_owns_its_memory(self):
        fresh = jit(lambda x: x + 1)
        for target in TARGETS:
            result = fresh(table(), target=target)
            assert result.flags.owndata and result.flags.writeable

    def test_two_results_of_one_array_are_one_object(self):
        def twice(x):
            y = x + 1
            return y, y

        for target in TARGETS:
            a, b = jit(twice)(table(), target=target)
            assert a is b

    def test_a_result_and_its_view_share_memory(self):
        def with_view(x):
            y = x + 1
            return y, y[1:]

        for target in TARGETS:
            y, tail = jit(with_view)(table(), target=target)
            tail[...] = 0.0
            assert (y[1:] == 0.0).all()

    def test_order_is_kept(self):
        add = jit(lambda x, y: x + y)
        fortran = np.asfortranarray(table())
        for target in TARGETS:
            assert add(fortran, fortran, target=target).flags.f_contiguous
            assert add(fortran, table(), target=target).flags.c_contiguous
            assert add(table(), table(), target=target).flags.c_contiguous


def test_a_read_only_argument_refuses_a_store():
    x = table()
    x.flags.writeable = False
    for target in TARGETS:
        with pytest.raises(ValueError, match="^assignment destination is read-only$"):
            jit(store_scalar_in_slice)(x, target=target)


def test_arguments_that_overlap():
    """Two views of one buffer, one of them written."""
    def shifted_sum(x, y):
        for i in range(len(y)):
            y[i] += x[i]

    def views():
        buffer = np.arange(1000.0)
        return buffer[:-1], buffer[1:]

    check_agreement(jit(shifted_sum), shifted_sum, views, targets=TARGETS)


def test_an_argument_that_overlaps_itself():
    def counted(x):
        for i in range(len(x)):
            x[i] += 1
        return x

    def same_place():
        return (np.lib.stride_tricks.as_strided(np.zeros(1), (1000,), (0,)),)

    check_agreement(jit(counted), counted, same_place, targets=TARGETS)


def bools_read(x, t, f):
    return (x[True], x[False], x[t], x[f], x[t, 0], x[0, t], x[f, 0], x[..., t], x[:, t, 1:],
            x[t, :, np.array([0, 2])], x[None, t], x[t, f], x[t, t], x[1, 2, t], x[x > 5, t],
            x[[0, 1], t], x[x.sum() > 3], np.asarray(x[0, 0])[True])


def bools_stored(x, t, f):
    x[t] = x * 2
    x[f] = 7
    x[t, 0] = 9
    x[1, t] += 1
    x[f, 2] += 5
    x[2, 3, t] = -1
    return x


def too_many_beside_a_bool(x, t, f):
    return x[t, 0, 0, 0]


@pytest.mark.parametrize("f", [bools_read, bools_stored, too_many_beside_a_bool],
                         ids=lambda f: f.__name__)
def test_a_bool_is_an_axis_of_no_or_of_one_element(f):
    """NumPy takes it for a mask of rank 0."""
    check_agreement(jit(f), f, lambda: (table(), True, np.bool_(False)), targets=("interpreter",))


def test_a_bool_is_an_axis_compiled():
    def f(x, t, f):
        a = x[t, 1:] + x[0, f].sum()
        x[t, 0] = 9
        x[f] = 5
        return a

    check_agreement(jit(f), f, lambda: (table(), True, np.bool_(False)))


def of_unsigned(x, p):
    return x[p[0]], x[p[1]]


def cut_by_unsigned(x, p):
    return x[p[0] : p[1]], x[: p[1]], x[p[1] :]


@pytest.mark.parametrize("place", [2, 2**63, 2**64 - 1])
@pytest.mark.parametrize("f", [of_unsigned, cut_by_unsigned])
def test_what_64_bits_without_a_sign_hold(f, place):
    """Which is not counted from the end, however large."""
    check_agreement(jit(f), f, lambda: (table(), np.array([1, place], np.uint64)), targets=TARGETS)


def powers(x, exponents):
    return x**exponents


@pytest.mark.parametrize("shapes", [((0,), (3, 1)), ((3, 1), (0,)), ((0,), ()), ((2,), (3, 1))])
def test_powers_of_nothing_need_no_exponents(shapes):
    x, exponents = np.ones(shapes[0], np.int64), np.full(shapes[1], -2)[()]
    check_agreement(jit(powers), powers, lambda: (x, exponents), targets=TARGETS)


def ends_cut_off(x, a):
    k = a[0]
    return x[k : -k or None], x[: k or None], x[-k or None :, ::2], x[k if k > 2 else None :]


def ends_cut_off_backwards(x, a):
    k = a[0]
    return x[-k or None :: -1], x[: k or None : -1], x[k and k - 1 or None :: -2], x[:, k or None :]


def ends_stored(x, a):
    k = a[0]
    x[k : -k or None] *= 2
    x[k or None :, ::-1] += 100
    return np.array([x[: -lag or None].sum() for lag in range(k + 1)])


@pytest.mark.parametrize("k", [0, 1, 3, 6, 9])
@pytest.mark.parametrize("f", [ends_cut_off, ends_cut_off_backwards, ends_stored],
                         ids=lambda f: f.__name__)
def test_a_bound_that_only_the_run_shows_to_be_none(f, k):
    check_agreement(jit(f), f, lambda: (table(), np.array([k])), targets=TARGETS)


def test_such_a_bound_needs_no_code_for_each_number():
    @jit
    def trimmed(x, k):
        return x[k : -k or None]

    for k in range(4):
        np.testing.assert_array_equal(trimmed(table(), k), table()[k : -k or None])
    assert len(trimmed.signatures) <= 2


def flat_reads(x):
    total = 0.0
    for i, v in enumerate(x.flat):
        total += i * v
    return total, x.flat[3], x.flat[2:5], x.flat[[0, -1]], len(x.flat), x.T.flat[1], x.T.flat[::2]


@pytest.mark.parametrize("x", [table(), np.asfortranarray(table()), table()[:, ::2]],
                         ids=["c", "fortran", "strided"])
def test_elements_in_a_line(x):
    check_agreement(jit(flat_reads), flat_reads, lambda: (x.copy("K"),), targets=TARGETS)


def flat_stores(x):
    x.flat[:: x.shape[1] + 1] = -7
    x.flat[[1, 2]] += 5
    before = x.flat[4:6]
    x.flat[4:6] = 100
    y = np.zeros((2, 3))
    y.flat[:] = x[0, :6]
    y[1].flat[0] = 9
    return before, x.flat[4], y


def test_stores_to_elements_in_a_line():
    check_agreement(jit(flat_stores), flat_stores, lambda: (table(),), targets=TARGETS)


def enumerated(x):
    total = 0.0
    made = np.zeros_like(x)
    for (i, j), v in np.ndenumerate(x):
        total += (i - 2 * j) * v
    for place, v in np.ndenumerate(x):
        made[place] = v * place[1]
    for (k,), v in np.ndenumerate(x[0]):
        total += k * v
    return total, made


def test_elements_with_their_places():
    check_agreement(jit(enumerated), enumerated, lambda: (table(),), targets=TARGETS)
