"""Products of parts of arrays: slices, steps, turned, gathered, chosen and reshaped operands.

Elements are small integers, so that sums are exact in whatever order they are taken.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def from_a_row_on(x, c, p):
    return x[5:] @ c


def inner_part(x, c, p):
    return x[:, 3:-1] @ c[2:-2, 1:]


def every_second(x, c, p):
    return x[1::2, ::3] @ c[::3, ::2]


def backwards(x, c, p):
    return x[::-1, ::-1] @ c[:, ::-1]


def gathered_rows_and_columns(x, c, p):
    return x[p][:, 1:] @ c[1:, p % c.shape[1]]


def wrapped(x, c, p):
    return np.roll(x, 2, axis=0) @ np.roll(c, -1, axis=1)


def triangles(x, c, p):
    return np.tril(x) @ np.triu(c)


def kept_rows(x, c, p):
    return x[x[:, 0] > 0] @ c


def repeated(x, c, p):
    return np.repeat(x, 2, axis=0)[1:] @ c


def short_rows_of_blocks(x, c, p):
    return x[:36].reshape(18, 2, x.shape[1]) @ c


def of_itself_later(x, c, p):
    return x[1:].T @ x[:-1]


def sums_by_index(x, c, p):
    return np.einsum("ij,jk->ki", x[2:], c[:, ::2])


def lagged(x, c, p):
    made = np.empty((4, x.shape[1], x.shape[1]), x.dtype)
    for k in range(4):
        made[k] = x[k:].T @ x[: x.shape[0] - k]
    return made


def windows_and_blocks(x, c, p):
    rolled = np.empty((x.shape[0] - 5, x.shape[1], x.shape[1]), x.dtype)
    for t in range(rolled.shape[0]):
        rolled[t] = x[t : t + 5].T @ x[t : t + 5]
    return rolled @ c


def batches_of_parts(x, c, p):
    parts = x[:36, :8].reshape(18, 4, 4)
    return parts @ parts.transpose(0, 2, 1) + c[:4, :4] @ x[:36, 4:8].reshape(9, 4, 4)[0]


def windows_of_columns(x, c, p):
    return np.lib.stride_tricks.sliding_window_view(x, 4, axis=0) @ c[:4]


def block_by_block(x, c, p):
    made = np.zeros((x.shape[0], c.shape[1]), x.dtype)
    for i in range(0, x.shape[0], 16):
        for k in range(0, x.shape[1], 8):
            made[i : i + 16] += x[i : i + 16, k : k + 8] @ c[k : k + 8]
    return made


def extremes_of_blocks(x, c, p):
    most = np.empty(x.shape[0])
    for i in range(0, x.shape[0], 16):
        most[i : i + 16] = (x[i : i + 16] @ c).max(axis=1)
    return most


def stored_to_what_is_read(x, c, p):
    n = x.shape[1]
    x[n:, :4] -= x[n:, 4:9] @ x[4:9, :4]
    x[1:9] = x[:8] @ x[2 : 2 + n]
    return x


def loops_from_places_on(x, c, p):
    made = np.zeros((x.shape[0], c.shape[1] + 3), x.dtype)
    for i in range(x.shape[0] - 2):
        for j in range(c.shape[1] - 1):
            for k in range(x.shape[1]):
                made[i + 1, j + 3] += x[i + 2, k] * c[k, j + 1]
    return made


def weighted_by_place(x, c, p):
    made = np.zeros((x.shape[0], c.shape[1]), x.dtype)
    for i in range(x.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * made[i, j]
            for k in range(x.shape[1]):
                total += (x[i, k] * i) * c[k, j]
            made[i, j] = total
    return made


ALL = [f for f in list(globals().values()) if hasattr(f, "__code__") and f.__module__ == __name__]


def arguments(rows, depth, columns, dtype, order="C"):
    rng = np.random.default_rng(rows)
    x = rng.integers(-4, 5, (rows, depth)).astype(dtype, order=order)
    c = rng.integers(-4, 5, (depth, columns)).astype(dtype, order=order)
    return x, c, rng.integers(-rows, rows, 21)


@pytest.mark.parametrize("function", ALL)
def test_operands_are_what_numpy_makes_of_them(function):
    cases = [arguments(43, 11, 29, np.float64), arguments(300, 40, 57, np.float64, "F")]
    if function in (inner_part, backwards, block_by_block, stored_to_what_is_read):
        cases += [arguments(60, 15, 30, np.int64), arguments(49, 12, 9, np.float32)]
    for x, c, p in cases:
        x[0, 0] = 1
        expected = function(x.copy(order="K"), c, p)
        for target in COMPILED:
            made = jit(function)(x.copy(order="K"), c, p, target=target)
            assert made.dtype == expected.dtype
            np.testing.assert_array_equal(made, expected)


def test_operands_of_complex_products():
    x, c, p = arguments(50, 13, 31, np.complex128)
    x *= 1 + 2j
    for function in (inner_part, backwards, wrapped, gathered_rows_and_columns):
        for target in COMPILED:
            made = jit(function)(x, c, p, target=target)
            np.testing.assert_array_equal(made, function(x, c, p))


def test_parts_that_have_no_elements():
    for shape in ((5, 11, 29), (43, 3, 29), (43, 11, 1), (43, 4, 1)):
        x, c, p = arguments(*shape, np.float64)
        for function in (from_a_row_on, inner_part, triangles, every_second):
            if function is inner_part and shape[1] == 3:
                continue
            expected = function(x, c, p)
            for target in COMPILED:
                np.testing.assert_array_equal(jit(function)(x, c, p, target=target), expected)


def between_axes(x, w):
    last = np.einsum("nchw,nco->hnow", x, x[:, :, :2, 0])
    return np.einsum("nchw,oc->nohw", x, w), last


@pytest.mark.parametrize("target", COMPILED)
def test_axes_of_one_operand_between_those_of_the_other(target):
    x = np.random.default_rng(2).integers(-4, 5, (3, 4, 5, 18)).astype(np.float64)
    w = np.random.default_rng(3).integers(-4, 5, (6, 4)).astype(np.float64)
    for made, wanted in zip(jit(between_axes)(x, w, target=target), between_axes(x, w)):
        np.testing.assert_array_equal(made, wanted)
