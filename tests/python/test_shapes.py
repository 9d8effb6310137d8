"""Sizes that compiled code takes to be equal: where they are not, other code runs, from the start.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def window_sum(x, y):
    n = len(y)
    y[0] += 1.0
    return x[2:n + 2] + y


def lattice(field, out):
    rows, columns = out.shape
    inner = field[1:rows + 1, 1:columns + 1]
    out[:, :] = 4.0 * inner - field[2:rows + 2, 1:columns + 1] - field[:rows, 1:columns + 1]
    return inner * out


def column(x, k):
    return x - x[:, k:k + 1]


# Lengths of x and y: the slice is as long as y, of length 1, empty, and of another length.
@pytest.mark.parametrize("target", COMPILED)
def test_a_slice_that_is_cut_short_is_broadcast(target):
    function = jit(window_sum)
    for length, other in ((9, 5), (7, 5), (3, 5), (9, 5), (2, 1), (2, 5), (5, 5), (9, 5)):
        x, y = np.arange(float(length)), np.arange(float(other))
        expected_y = y.copy()
        try:
            expected = window_sum(x, expected_y)
        except ValueError as error:
            with pytest.raises(ValueError, match="could not be broadcast"):
                function(x, y, target=target)
            assert "could not be broadcast" in str(error)
        else:
            result = function(x, y, target=target)
            assert result.shape == expected.shape
            np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(y, expected_y)  # Stored to once, whichever code ran.


@pytest.mark.parametrize("target", COMPILED)
def test_windows_of_a_larger_field(target):
    function = jit(lattice)
    random = np.random.default_rng(0)
    for field_shape, shape in (((7, 8), (5, 6)), ((9, 9), (5, 6)), ((3, 3), (1, 1)),
                               ((4, 2), (2, 6)), ((7, 8), (5, 6))):
        field, out = random.random(field_shape), np.zeros(shape)
        expected_out = out.copy()
        expected = lattice(field, expected_out)
        np.testing.assert_array_equal(function(field, out, target=target), expected)
        np.testing.assert_array_equal(out, expected_out)


@pytest.mark.parametrize("target", COMPILED)
def test_a_slice_of_one_is_taken_to_be_of_one(target):
    function = jit(column)
    x = np.arange(12.0).reshape(3, 4)
    for k in (0, 3, 1):
        np.testing.assert_array_equal(function(x, k, target=target), column(x, k))
    with pytest.raises(ValueError, match="could not be broadcast"):
        function(x, 4, target=target)


def pulls(positions, masses):
    apart = positions[None, :, :] - positions[:, None, :]
    squared = np.sum(apart * apart, axis=2) + 0.5
    return np.sum((masses / (squared * np.sqrt(squared)))[:, :, None] * apart, axis=1)


@pytest.mark.parametrize("target", COMPILED)
def test_short_axes_have_code_of_their_own(target):
    function = jit(pulls)
    random = np.random.default_rng(0)
    for axes in (5, 3, 0, 2, 3, 4, 6):
        for count in (40, 3, 1, 0):
            positions, masses = random.random((count, axes)), random.random(count)
            np.testing.assert_allclose(
                function(positions, masses, target=target), pulls(positions, masses), 1e-12, 1e-14
            )
    assert "[:, 3]" in str(function.timings())


@pytest.mark.parametrize("target", COMPILED)
def test_a_first_call_with_short_axes_compiles_for_them_alone(target):
    function = jit(pulls, cache=False)
    positions, masses = np.random.default_rng(3).random((9, 3)), np.ones(9)
    np.testing.assert_allclose(
        function(positions, masses, target=target), pulls(positions, masses), 1e-12, 1e-14
    )
    assert len(function.timings()) == 1


POINTS = np.random.default_rng(1).random((6, 3))


def reach(scale):
    apart = POINTS[None, :, :] - POINTS[:, None, :]
    return np.max(np.sqrt(np.sum(apart * apart, axis=2)), axis=1) * scale


def nearest(points):
    apart = points[:, None, :] - POINTS[None, :, :]
    return np.min(np.sqrt(np.sum(apart * apart, axis=2)), axis=1)


@pytest.mark.parametrize("target", COMPILED)
def test_short_axes_of_arrays_from_outside(target):
    np.testing.assert_allclose(jit(reach)(2.0, target=target), reach(2.0), 1e-14)
    function = jit(nearest)
    points = np.random.default_rng(2).random((9, 3))
    for given in (points, points[::2], np.asfortranarray(points)):
        np.testing.assert_allclose(function(given, target=target), nearest(given), 1e-14)
    with pytest.raises(ValueError, match="could not be broadcast"):
        function(points[:, :2], target=target)


def test_other_shapes_are_compiled_for_once():
    function = jit(window_sum)
    for _ in range(3):
        function(np.ones(9), np.ones(5), target="serial")
        function(np.ones(3), np.ones(5), target="serial")
    assert len(function.timings()) == 2


@jit
def smoothed_columns(a, kernel):
    out = np.empty((a.shape[0] - 2, a.shape[1]))
    for x in range(a.shape[1]):
        out[:, x] = np.convolve(a[:, x], kernel, mode="valid")
    return out


@jit
def the_longer_first(x, y):
    return np.convolve(x, y), np.correlate(x, y, mode="full")


@pytest.mark.parametrize("target", COMPILED)
def test_kernels_are_longer_than_what_they_slide_along_in_some_calls(target):
    f = jit(smoothed_columns.__wrapped__, target=target)
    g = jit(the_longer_first.__wrapped__, target=target)
    random = np.random.default_rng(1)
    sizes = [(9, 3), (3, 3), (4, 1), (2, 3), (3, 5), (2, 2), (9, 2), (9, 9), (8, 20), (9, 3)]
    for rows, length in sizes:
        a = random.integers(-9, 10, (rows, 4)).astype(np.float64)
        kernel = random.integers(-9, 10, length).astype(np.float64)
        expected = the_longer_first.__wrapped__(a[:, 1], kernel)
        for one, other in zip(g(a[:, 1], kernel), expected, strict=True):
            np.testing.assert_array_equal(one, other)
        try:
            expected = smoothed_columns.__wrapped__(a, kernel)
        except ValueError:
            with pytest.raises(ValueError, match="could not broadcast"):
                f(a, kernel)
        else:
            np.testing.assert_array_equal(f(a, kernel), expected)
