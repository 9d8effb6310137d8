"""Short axes of arrays that all elements read: code with their lengths known, and its limits."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_disk_cache import run  # noqa: F401  (a fixture)
from tested_targets import COMPILED

from parakeet import jit

RANDOM = np.random.default_rng(7)


def convolve(image, weights):
    rows, columns = weights.shape
    return np.array([[(image[i:i + rows, j:j + columns] * weights).sum()
                      for j in range(image.shape[1] - columns + 1)]
                     for i in range(image.shape[0] - rows + 1)])


def filtered(x, w):
    out = np.zeros(len(x) - len(w) + 1)
    for i in range(len(out)):
        total = 0.0
        for k in range(len(w)):
            total += x[i + k] * w[k]
        out[i] = total
    return out


def smallest_around(volume, inside):
    a, b, c = inside.shape
    n, m, l = volume.shape
    return np.array([[[(volume[i:i + a, j:j + b, k:k + c] + inside).min()
                       for k in range(l - c + 1)] for j in range(m - b + 1)]
                     for i in range(n - a + 1)])


def weighted(image, pair, scale):
    first, second = pair
    return scale * (convolve(image, first) + convolve(image, second))


def worn_out():
    """A function that is called with arrays of too many lengths to have code for each."""
    function = jit(convolve)
    image = RANDOM.random((9, 12))
    for rows in (2, 3, 4, 5, 6, 7):
        for columns in (2, 3, 4):
            weights = RANDOM.random((rows, columns))
            np.testing.assert_allclose(
                function(image, weights, target="serial"), convolve(image, weights), 1e-13
            )
    return function


@pytest.mark.parametrize("target", COMPILED)
def test_windows_of_all_lengths(target):
    function = jit(convolve)
    for shape in ((3, 3), (17, 20), (5, 5), (3, 3), (1, 1), (1, 4), (8, 8), (8, 9), (2, 16)):
        image, weights = RANDOM.random((21, 37)), RANDOM.random(shape)
        np.testing.assert_allclose(
            function(image, weights, target=target), convolve(image, weights), 1e-13
        )
    signatures = str(function.timings())
    assert "[3, 3]" in signatures and "[5, 5]" in signatures and "[1, 4]" in signatures
    assert "[8, 9]" in signatures and "[:, :])" in signatures


@pytest.mark.parametrize("target", COMPILED)
def test_heights_that_four_rows_do_not_fill(target):
    function = jit(convolve)
    weights = RANDOM.random((3, 2))
    for height in range(3, 13):
        image = RANDOM.random((height, 5))
        np.testing.assert_allclose(
            function(image, weights, target=target), convolve(image, weights), 1e-13
        )


def distances(x, y):
    return np.array([[np.sum((a - b) ** 2) for b in y] for a in x])


# So many elements that a thread of a GPU makes four, with rows of them left over.
@pytest.mark.parametrize("target", COMPILED)
def test_many_elements_of_windows_of_any_length(target):
    function = jit(convolve)
    image = RANDOM.standard_normal((270, 272))
    for shape in ((9, 9), (2, 17)):
        weights = RANDOM.standard_normal(shape)
        height, width = 271 - shape[0], 273 - shape[1]
        expected = sum(weights[p, q] * image[p:p + height, q:q + width]
                       for p in range(shape[0]) for q in range(shape[1]))
        result = function(image, weights, target=target)
        np.testing.assert_allclose(result, expected, 1e-11, 1e-12)
        part = function(image[:40, :50], weights, target=target)
        rows, columns = part.shape
        assert part.tobytes() == result[:rows, :columns].tobytes()
    x, y = RANDOM.random((262, 10)), RANDOM.random((257, 10))
    np.testing.assert_allclose(
        jit(distances)(x, y, target=target), ((x[:, None] - y) ** 2).sum(2), 1e-12
    )


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "bool"])
def test_every_kind_of_number(target, dtype):
    image = (RANDOM.random((9, 11)) * 5).astype(dtype)
    weights = (RANDOM.random((3, 3)) * 5).astype(dtype)
    result, expected = jit(convolve)(image, weights, target=target), convolve(image, weights)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, 1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("target", COMPILED)
def test_layouts_keywords_and_lists(target):
    function = jit(convolve)
    image, weights = RANDOM.random((10, 11)), RANDOM.random((3, 4))
    expected = convolve(image, weights)
    frozen = weights.copy()
    frozen.setflags(write=False)
    spread = np.zeros((6, 8))[::2, ::2]
    spread[:] = weights
    backwards = weights[::-1, ::-1].copy()[::-1, ::-1]
    for given_weights in (weights, np.asfortranarray(weights), spread, backwards, frozen):
        result = function(weights=given_weights, image=image, target=target)
        np.testing.assert_allclose(result, expected, 1e-13)
    other = jit(weighted)
    pair = (RANDOM.random((2, 3)), RANDOM.random((2, 3)))
    for scale in (2.0, 3):
        np.testing.assert_allclose(
            other(image, pair, scale, target=target), weighted(image, pair, scale), 1e-13
        )
    np.testing.assert_allclose(
        jit(filtered)(image[0], [0.5, 2.0, 1.0], target=target),
        filtered(image[0], [0.5, 2.0, 1.0]), 1e-13,
    )  # fmt: skip


@pytest.mark.parametrize("target", COMPILED)
def test_windows_of_nothing_and_volumes(target):
    function = jit(convolve)
    for shape in ((0, 3), (3, 0), (0, 0)):
        image, weights = RANDOM.random((4, 5)), np.zeros(shape)
        np.testing.assert_array_equal(
            function(image, weights, target=target), convolve(image, weights)
        )
    assert function(RANDOM.random((2, 2)), np.ones((3, 3)), target=target).size == 0
    volume = RANDOM.random((6, 7, 8))
    for shape in ((3, 3, 3), (2, 1, 4), (5, 5, 5)):
        inside = RANDOM.random(shape)
        np.testing.assert_array_equal(
            jit(smallest_around)(volume, inside, target=target), smallest_around(volume, inside)
        )


@pytest.mark.parametrize("target", COMPILED)
def test_the_bits_are_those_of_code_for_any_length(target):
    for_any, for_each = worn_out(), jit(convolve)
    image = RANDOM.standard_normal((23, 31))
    for shape in ((3, 3), (5, 5), (7, 2), (2, 2)):
        weights = RANDOM.standard_normal(shape)
        result = for_each(image, weights, target=target)
        assert result.tobytes() == for_any(image, weights, target=target).tobytes()


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 16), st.integers(16, 40), st.integers(0, 2**32 - 1))
def test_the_bits_of_sums_along_an_axis(length, size, seed):
    random = np.random.default_rng(seed)
    x, w = random.standard_normal(size), random.standard_normal(length)
    result = LONG_AND_SHORT(x, w, target="serial")
    np.testing.assert_allclose(result, filtered(x, w), 1e-11, 1e-13)
    assert result.tobytes() == PADDED(x, np.concatenate([w, np.zeros(20)]), length).tobytes()


LONG_AND_SHORT = jit(filtered)


@jit
def PADDED(x, w, length):
    out = np.zeros(len(x) - length + 1)
    for i in range(len(out)):
        total = 0.0
        for k in range(length):
            total += x[i + k] * w[k]
        out[i] = total
    return out


def test_many_lengths_end_in_code_for_any():
    function = worn_out()
    made = len(function.timings())
    assert made <= 18
    for columns in (5, 6, 7, 8):
        image, weights = RANDOM.random((9, 12)), RANDOM.random((3, columns))
        np.testing.assert_allclose(
            function(image, weights, target="serial"), convolve(image, weights), 1e-13
        )
    assert len(function.timings()) == made


def of_rows(x):
    total = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        part = x[i, 0] - x[i, 0]
        for k in range(x.shape[1]):
            part += x[i, k] * x[i, k]
        total[i] = part
    return total, x.sum(axis=1), x.max(axis=1), (x + x).prod(axis=1)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int16"])
def test_short_rows_have_the_bits_that_code_for_any_length_gives(dtype, target):
    def program(x):
        sums, parts, _, products = of_rows(x)
        return sums, parts, products

    program = program if dtype == "complex128" else of_rows
    arrays = [(RANDOM.standard_normal((37, columns)) * 9).astype(dtype)
              for columns in (*range(2, 17), 19)]
    function = jit(program)
    known = [function(x, target=target) for x in arrays]
    for rows in range(2, 17):
        for columns in (2, 3):  # lengths of another axis are known, too
            function(np.ones((rows, columns), dtype), target=target)
    made = len(function.timings())
    for x, results in zip(arrays, known, strict=True):
        for mine, again, expected in zip(results, function(x, target=target), program(x),
                                         strict=True):
            assert mine.tobytes() == again.tobytes()
            assert len(function.timings()) == made
            # Of what cancels, digits of the largest addend are left.
            within = 1e-4 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(mine, expected, within, within)


def test_code_that_does_not_care_is_made_once():
    @jit
    def scaled(x, w):
        return x * w.sum()

    for length in range(2, 9):
        scaled(np.ones(5), np.ones(length), target="serial")
    assert len(scaled.timings()) == 1


def test_texts_and_pickles():
    image, weights = RANDOM.random((9, 9)), RANDOM.random((3, 3))
    function = pickle.loads(pickle.dumps(jit(convolve)))
    assert "ireduce" not in function.ir(image, weights, stage="unroll_reductions")
    notes = [note.text for note in function.explain(image, weights).notes]
    assert "written out" in notes and not any("would be written out" in note for note in notes)
    np.testing.assert_allclose(function(image, weights), convolve(image, weights), 1e-13)
    again = pickle.loads(pickle.dumps(function))
    np.testing.assert_allclose(again(image, weights), convolve(image, weights), 1e-13)


PROGRAM = """
    @jit
    def filtered(x, w):
        out = np.zeros(len(x) - len(w) + 1)
        for i in range(len(out)):
            total = 0.0
            for k in range(len(w)):
                total += x[i + k] * w[k]
            out[i] = total
        return out

    for length in {0}:
        filtered(np.ones(40), np.ones(length))
    report(filtered, str(filtered.timings()))
"""


def test_other_processes_know_which_lengths_matter(run):  # noqa: F811
    found, texts = run(PROGRAM.format([20, 3]))
    assert found == ["compiled", "compiled"] and "[3]" in texts
    found, texts = run(PROGRAM.format([3, 20]))
    assert found == ["disk", "disk"] and "[3]" in texts
    found, texts = run(PROGRAM.format([4, 3]))
    assert found == ["compiled", "disk"] and "[4]" in texts
