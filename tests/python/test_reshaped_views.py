"""A reshape is a view where NumPy's is one: what is stored through it shows, and what is returned
shares memory."""

import numpy as np
import pytest
from tested_targets import COMPILED, TARGETS

import parakeet
from parakeet import jit


def stores(reshaped):
    """The program that stores through what `reshaped` makes of its argument."""

    def program(x):
        y = reshaped(x)
        for i in range(y.shape[0]):
            y[i] = i + 1.0
        return y.sum()

    return program


VIEWS = {
    "whole": lambda x: x.ravel(),
    "tail": lambda x: x[1:].ravel(),
    "tail of rows": lambda x: x[1:, :].reshape(-1),
    "head": lambda x: x[:-1].reshape(-1, 2),
    "row": lambda x: x[1].reshape(2, 3),
    "last row": lambda x: x[-1, :].reshape(-1),
    "part of a row": lambda x: x[2, 1:5].reshape(2, 2),
    "rows in between": lambda x: x[1:3].reshape(3, 4)[1:],
    "twice": lambda x: x[1:].reshape(-1)[6:].reshape(2, -1),
    "transposed line": lambda x: x[1].T.reshape(3, 2),
    "new axis": lambda x: x[1:, None].reshape(-1),
}
COPIES = {
    "transpose": lambda x: x.T.ravel(),
    "columns": lambda x: x[:, 1:3].ravel(),
}
# NumPy decides these by sizes and strides.
UNKNOWN = {
    "columns of some rows": lambda x: x[1:int(x[1, 0]), 1:3].ravel(),
    "every second column": lambda x: x[:, ::2].reshape(-1),
    "some first columns": lambda x: x[:, : int(x[1, 0])].reshape(-1),
    "tail of a transpose": lambda x: x.T[1:].reshape(-1),
}


def table():
    return np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
def test_stores_show_where_numpy_shows_them(name, target):
    program = stores({**VIEWS, **COPIES}[name])
    x, expected = table(), table()
    assert jit(program)(x, target=target) == program(expected)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", VIEWS)
def test_a_returned_view_is_at_its_place(name, target):
    x = table()
    result, expected = jit(VIEWS[name])(x, target=target), VIEWS[name](x)
    np.testing.assert_array_equal(result, expected)
    assert result.ctypes.data == expected.ctypes.data
    assert result.strides == expected.strides


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_sizes_decide_is_refused_where_it_is_stored_to(name):
    reshaped = UNKNOWN[name]
    with pytest.raises(parakeet.Limitation, match="depends on the array's strides"):
        jit(stores(reshaped))(table(), target="serial")
    np.testing.assert_array_equal(jit(reshaped)(table()), reshaped(table()))


@pytest.mark.parametrize("target", COMPILED)
def test_what_the_strides_decide_is_refused(target):
    program = stores(lambda x: x.reshape(-1))
    with pytest.raises(parakeet.Limitation, match="depends on the array's strides"):
        jit(program)(np.zeros((4, 6))[:, ::2], target=target)
    f = jit(program)
    x, expected = np.zeros((4, 6), order="F"), np.zeros((4, 6), order="F")
    assert f(x, target=target) == program(expected)
    np.testing.assert_array_equal(x, expected)


READ_ONLY = {
    "mask": lambda g: g[g > 3].sum(),
    "argmax": lambda g: g.argmax(),
    "ravel": lambda g: g.ravel().sum(),
    "cumsum": lambda g: np.cumsum(g)[-1],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", READ_ONLY)
def test_what_is_only_read_may_be_stored_to_elsewhere(name, target):
    read = READ_ONLY[name]

    def program(g):
        before = read(g)
        g[0] = 1.0
        g[g > 3.0] += 1.0
        return before, read(g)

    x, expected = table()[:, ::2], table()[:, ::2]
    assert jit(program)(x, target=target) == program(expected)
    np.testing.assert_array_equal(x, expected)


def chosen(x, n):
    if n > 2:
        x = x + 1.0
    line = x.ravel()
    line[n] = -1.0
    return x, line[0]


def exchanged(x, n):
    y = x * 2.0
    for i in range(n):
        x, y = y, x
        x.reshape(-1)[i] = 7.0
    return x, y


def turned(x, n):
    if n > 2:
        x = x.T
    line = x.ravel()
    line[n] = -1.0
    return line[0]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", [chosen, exchanged])
def test_a_choice_of_contiguous_arrays_is_contiguous(program, target):
    for n in (1, 3, 4):
        x, expected = table(), table()
        for result, wanted in zip(jit(program)(x, n, target=target), program(expected, n),
                                  strict=True):
            np.testing.assert_array_equal(result, wanted)
        np.testing.assert_array_equal(x, expected)


def test_a_choice_of_layouts_is_refused_where_it_is_stored_to():
    with pytest.raises(parakeet.Limitation, match="depends on the array's strides"):
        jit(turned)(table()[:, :4].copy(), 1, target="serial")


ONE_ROW = {
    "columns": lambda x: x[:, 1:3].ravel(),
    "last columns": lambda x: x[:, 1:].ravel(),
    "of rows": lambda x: x[:1, 1:].ravel(),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ONE_ROW)
def test_what_is_cut_from_one_row_is_a_view(name, target):
    program = stores(ONE_ROW[name])
    x, expected = np.ones((1, 6)), np.ones((1, 6))
    assert jit(program)(x, target=target) == program(expected)
    np.testing.assert_array_equal(x, expected)


def transposed_by_sizes(x, a, b, c, n):
    return np.reshape(np.transpose(np.reshape(x, (a, b, c)), (1, 0, 2)), (n,)) * 2.0


def transposed_by_powers(x, r, i, k):
    rows = np.reshape(x, (r**i, r, r ** (k - i - 1)))
    return np.reshape(np.transpose(rows, axes=(1, 0, 2)), (x.shape[0],)) * 2.0


@pytest.mark.parametrize("target", TARGETS)
def test_reshape_whose_count_wraps_raises(target):
    for x, sizes in ((np.zeros(0), (2**61, 2, 8, 0)), (np.ones(8), (2**61, 2, 8, 8)),
                     (np.ones(8), (2**61 + 1, 1, 8, 8))):
        with pytest.raises(ValueError) as expected:
            transposed_by_sizes(x, *sizes)
        with pytest.raises(ValueError) as raised:
            jit(transposed_by_sizes)(x, *sizes, target=target)
        assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("i", range(4))
def test_powers_as_sizes_are_those_of_numpy(i, target):
    x = np.arange(3.0**4)
    np.testing.assert_array_equal(jit(transposed_by_powers)(x, 3, i, 4, target=target),
                                  transposed_by_powers(x, 3, i, 4))
