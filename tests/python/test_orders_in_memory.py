"""Arrays with short rows, in Fortran order, rolled, padded and joined: values, and how they lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit

TARGETS = ("serial", "parallel", "emulated_gpu")
SHAPES = ((7, 3), (3, 7), (40, 50), (1, 5), (5, 1), (300, 2), (0, 3), (3, 0))


def check(f, *args, order=True, targets=TARGETS):
    expected = f(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for target in targets:
        made = jit_of(f)(*args, target=target)
        made = made if isinstance(made, tuple) else (made,)
        assert len(made) == len(expected)
        for one, wanted in zip(made, expected):
            np.testing.assert_allclose(one, wanted, rtol=1e-12)
            assert type(one) is type(wanted) and np.asarray(one).dtype == np.asarray(wanted).dtype
            if order and np.ndim(wanted) == 2 and min(wanted.shape) > 1:
                assert one.flags.f_contiguous == wanted.flags.f_contiguous, target
                assert one.flags.c_contiguous == wanted.flags.c_contiguous, target


def jit_of(f, made={}):
    if f not in made:
        made[f] = jit(f)
    return made[f]


def rolled(x):
    return (np.roll(x, 1, axis=0), np.roll(x, -2, axis=1), np.roll(x, (1, 2), axis=(0, 1)),
            np.roll(x, 5), np.roll(x, 11, axis=-1))


def shortened(x):
    return (np.delete(x, 0, axis=0), np.delete(x, -1, axis=1), np.insert(x, 1, 7, axis=0),
            np.insert(x, -1, 7, axis=1))


def joined(x):
    return (np.concatenate((x, x), axis=0), np.concatenate((x, x + 1), axis=1), np.vstack((x, x)),
            np.hstack((x, x)), np.append(x, x, axis=0))


def bordered(x):
    return np.pad(x, 2), np.pad(x, ((1, 2), (0, 3)), constant_values=4)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("f", [rolled, shortened, joined, bordered])
def test_what_is_made_lies_as_in_numpy(f, order):
    for shape in SHAPES[:3]:
        check(f, np.arange(float(np.prod(shape))).reshape(shape).copy(order))
        check(f, np.arange(np.prod(shape)).reshape(shape).astype("u1").copy(order))


def totals(x):
    return (np.sum(x), np.mean(x), np.std(x), np.sum(x * x), np.count_nonzero(x > 1),
            np.any(x > 30), np.all(x >= 0), np.sum(x, where=x > 2), np.array_equal(x, x + 0))


def ends(x):
    return np.min(x), np.max(x), np.argmax(x), np.argmin(x), np.ptp(x)


@pytest.mark.sampled(4, "order")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", "c16"])
def test_reductions_of_all_elements(dtype, order):
    random = np.random.default_rng(1)
    for shape in (*SHAPES[:6], (9000, 3), (3, 9000), (5, 4, 3), (200, 7, 11)):
        x = random.integers(0, 100, shape).astype(dtype).copy(order)
        if dtype != "c16":
            check(ends, x)
            check(totals, x)
        else:
            check(lambda x: (np.sum(x), np.mean(x), np.prod(x[:2, :2]), np.max(x)), x)


def test_sums_of_short_rows_are_the_same_bits():
    x = np.random.default_rng(2).standard_normal((30001, 3))
    total = jit(lambda x: (np.sum(x), np.sum(x * x), np.prod(x[:5])))
    serial, parallel = total(x, target="serial"), total(x, target="parallel")
    assert [one.tobytes() for one in serial] == [one.tobytes() for one in parallel]


def elements(x, y):
    return (x * 2 + y, x[1:] - x[:-1], x[2:] + y[:-2], np.diff(x, axis=0), np.where(x > y, x, -y),
            x.copy())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_elements_of_short_rows(dtype, order):
    random = np.random.default_rng(3)
    for shape in SHAPES:
        x, y = random.integers(0, 100, (2, *shape)).astype(dtype)
        check(elements, x.copy(order), y.copy(order), order=False)
        check(elements, x.copy(order), y, order=False)


def in_place(x):
    y = x.copy()
    y[1:] += x[:-1]
    y[:2] = 5
    y[0, 1:] = x[0, :-1]
    return y


def test_stores_to_short_rows():
    for order in "CF":
        check(in_place, np.arange(21.0).reshape(7, 3).copy(order))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["edge", "wrap", "reflect", "symmetric"]), st.data())
def test_pads_of_any_width(mode, data):
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    widths = data.draw(st.tuples(*[st.tuples(*[st.integers(0, 25)] * 2)] * 2))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    made = PADS[mode](x, *widths[0], *widths[1])
    np.testing.assert_array_equal(made, np.pad(x, widths, mode), strict=True)
    row = PADS_OF_ROWS[mode](x[0], *widths[1])
    np.testing.assert_array_equal(row, np.pad(x[0], widths[1], mode), strict=True)


PADS = {
    "edge": jit(lambda x, a, b, c, d: np.pad(x, ((a, b), (c, d)), "edge")),
    "wrap": jit(lambda x, a, b, c, d: np.pad(x, ((a, b), (c, d)), "wrap")),
    "reflect": jit(lambda x, a, b, c, d: np.pad(x, ((a, b), (c, d)), "reflect")),
    "symmetric": jit(lambda x, a, b, c, d: np.pad(x, ((a, b), (c, d)), "symmetric")),
}
PADS_OF_ROWS = {
    "edge": jit(lambda x, a, b: np.pad(x, (a, b), "edge")),
    "wrap": jit(lambda x, a, b: np.pad(x, (a, b), "wrap")),
    "reflect": jit(lambda x, a, b: np.pad(x, (a, b), "reflect")),
    "symmetric": jit(lambda x, a, b: np.pad(x, (a, b), "symmetric")),
}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(-40, 40), st.sampled_from(TARGETS))
def test_rolls_by_any_shift(n, m, shift, target):
    x = np.arange(float(n * m)).reshape(n, m)
    for made, axis in zip(ROLLS(x, shift, target=target), (0, 1, None)):
        np.testing.assert_array_equal(made, np.roll(x, shift, axis), strict=True)


ROLLS = jit(lambda x, k: (np.roll(x, k, axis=0), np.roll(x, k, axis=1), np.roll(x, k)))


def places(x):
    return (np.argmax(x, axis=1), np.argmin(x, axis=1), np.argmax(x, axis=0), np.argmin(x, axis=-1),
            np.argmax(x, axis=-1, keepdims=True))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "b1"])
def test_places_in_rows_of_any_length(dtype):
    random = np.random.default_rng(4)
    for n in (1, 3, 63, 64, 65, 127, 128, 129, 192, 193, 1000):
        x = random.integers(0, 4, (6, n)).astype(dtype)
        if x.dtype.kind == "f":
            x[1, n // 2] = np.nan
            x[2, [0, n - 1]] = np.nan
            x[3] = np.inf
            x[4, -1] = 99
        for order in "CF":
            check(places, x.copy(order))


def sorts(x):
    return np.sort(x, axis=0), np.sort(x, axis=1), np.median(x, axis=0), np.median(x, axis=1)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "i2"])
def test_sorts_of_short_rows(dtype):
    random = np.random.default_rng(5)
    for n in (1, 2, 3, 5, 11, 12, 13, 31, 32, 33, 70):
        x = random.integers(0, 9, (n, 20)).astype(dtype)
        if x.dtype.kind == "f":
            x[random.random(x.shape) < 0.1] = np.nan
            x[random.random(x.shape) < 0.2] *= -0.0
        check(sorts, x, order=False)
        order = jit_of(by_index)(x)
        for made, wanted in zip(order, (np.argsort(x, axis=0, kind="stable"),
                                        np.argsort(x, axis=1, kind="stable"))):
            np.testing.assert_array_equal(made, wanted, strict=True)


def by_index(x):
    return np.argsort(x, axis=0), np.argsort(x, axis=1)


def reshaped(x):
    y = -x
    v = y.reshape(-1)
    v[:] = 1
    return y, v.sum()


def test_a_reshape_is_a_copy_where_numpy_copies():
    for order in "CF":
        check(reshaped, np.arange(21.0).reshape(7, 3).copy(order))
