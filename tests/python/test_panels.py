"""Rows of a matrix are read once for what is made of rows, of columns and of the whole: with the
answers, and in the bits, of whatever else is done."""

import numpy as np
import pytest

from parakeet import jit

# Of more elements than stay in a core's cache, blocks and panels of rows with some left over.
SHAPES = ((1131, 611), (2100, 71), (513, 2500))
# Too few elements, rows too short, too long and too few: as they are written.
OTHER_SHAPES = ((20, 30), (20000, 5), (600, 17000), (100, 1000), (0, 70000), (70000, 0))


def arguments(rows, columns):
    random = np.random.default_rng(rows)
    return random.random((rows, columns)) - 0.5, random.random(rows), random.random(columns)


def products(x, of_rows, of_columns):
    return of_rows @ x, x @ of_columns


def chain(x, of_rows, of_columns):
    return (x @ of_columns) @ x


def gradient(x, of_rows, of_columns):
    weights = of_columns
    for _ in range(2):
        guess = 1.0 / (1.0 + np.exp(-(x @ weights)))
        weights = weights - 0.1 * (x.T @ (guess - of_rows))
    return weights


def rank_one_update(x, of_rows, of_columns):
    x += np.outer(of_rows, of_columns)
    return x.sum(axis=0), x


def in_place(x, of_rows, of_columns):
    first, second = of_rows.copy(), of_columns.copy()
    first += x @ of_columns
    second += of_rows @ x
    return first, second


def least_and_greatest(x, of_rows, of_columns):
    return x.min(axis=0), x.max(axis=1), x.max(axis=0), x.sum(axis=1)


def narrow_and_complex(x, of_rows, of_columns):
    y = x.astype(np.float32)
    z = x * 1j
    return y.sum(axis=0), y.max(axis=1), z.sum(axis=1), z.sum(axis=0)


def rows_of_others(x, of_rows, of_columns):
    sums = x.sum(axis=1)
    return (x * sums[::-1].reshape(-1, 1)).sum(axis=0)


def columns_first(x, of_rows, of_columns):
    means = x.sum(axis=0) / 100.0
    return ((x - means) ** 2).sum(axis=1), means


def totals_beside_columns(x, of_rows, of_columns):
    return x.mean(), x.std(axis=0), (x * x).sum(), x.sum(axis=0), x.prod()


def totals_beside_rows(x, of_rows, of_columns):
    mean = x.mean()
    return mean + 1.0, x.sum(axis=1), (x * of_columns).sum(), (x > 0).sum(axis=1), (x > 0).sum()


def places_of_totals(x, of_rows, of_columns):
    return x.max(axis=1), x.argmax(), x.min(), x.min(axis=0)


def totals_of_what_is_made(x, of_rows, of_columns):
    y, z = np.exp(x), np.abs(x.astype(np.float32))
    return y, y.sum(), y.max(axis=1), z, z.sum(axis=0), z.sum()


def along_one_axis(x, of_rows, of_columns):
    y, z = np.exp(of_rows), np.abs(x.ravel())
    return y, y.sum() * 2.0, z, z.sum(), z * z


def changed_on_the_way(x, of_rows, of_columns):
    y, z = x * 2.0, of_rows - 1.0
    np.add(y, of_columns, out=y)
    for i in range(len(z)):
        z[i] = z[i] * of_rows[i] + 1.0
    return y, y.sum(), z, z.sum()


def totals_that_rows_need(x, of_rows, of_columns):
    return x - x.mean(), x.sum(axis=1) / x.sum()


PROGRAMS = (products, chain, gradient, rank_one_update, in_place, least_and_greatest,
            narrow_and_complex, totals_beside_columns, totals_beside_rows, places_of_totals,
            totals_of_what_is_made, along_one_axis, rows_of_others, columns_first,
            totals_that_rows_need, changed_on_the_way)  # fmt: skip
SHARING = PROGRAMS[:12]  # of narrow_and_complex, what is narrow
OF_NOTHING = (least_and_greatest, narrow_and_complex, totals_beside_columns, totals_beside_rows,
              places_of_totals, totals_of_what_is_made, totals_that_rows_need)  # fmt: skip
LARGE = (totals_of_what_is_made, along_one_axis, totals_that_rows_need)


def answers(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.sampled(4, "program", "shape")
@pytest.mark.parametrize("shape", [*SHAPES, *OTHER_SHAPES], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_answers_are_those_of_numpy(program, shape):
    if shape[1] == 17000 and program in LARGE:
        pytest.skip("others go through rows of this length")
    if 0 in shape and program in OF_NOTHING:
        pytest.skip("there is no least and no mean of no elements")
    expected = answers(program(*arguments(*shape)))
    serial = answers(jit(program)(*arguments(*shape), target="serial"))
    parallel = answers(jit(program)(*arguments(*shape), target="parallel"))
    for mine, others, wanted in zip(serial, parallel, expected, strict=True):
        np.testing.assert_array_equal(mine, others)
        tolerance = 1e-4 if wanted.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("program", PROGRAMS[:-1])
def test_explain_says_what_goes_over_the_same_rows(program):
    text = jit(program).explain(*arguments(1131, 611), target="serial")
    words = " ".join(text.split())  # rows are wrapped
    told = any(f"shares the traversal of {what}" in words
               for what in ("a matrix's rows", "an array's elements"))  # fmt: skip
    assert told == (program in SHARING)


def test_arguments_that_overlap_are_read_in_order():
    def program(x, y):
        y[0] = x.sum(axis=1)[0]
        first = x.sum(axis=1)
        y += x.sum(axis=0)
        return first, x.sum(axis=0)

    (x, *_), (expected, *_) = arguments(1131, 611), arguments(1131, 611)
    for mine, wanted in zip(jit(program)(x, x[5], target="serial"), program(expected, expected[5]),
                            strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-9)
