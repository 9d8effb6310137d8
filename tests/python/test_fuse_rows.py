"""Programs that go row by row: what one step makes of a row, the next takes from cache."""

from collections.abc import Callable

import numpy as np
import pytest
from agreement import Tolerance, check_agreement, deep_copies

from parakeet import jit

OF_ROWS = Tolerance("exponentials of ours and NumPy's, and sums of a row in another order",
                    ulps=64.0, of_sum=8.0, of_one=64.0)


def many_of_a_row(x, y):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    total = shifted.sum(axis=1, keepdims=True)
    centred = x - x.mean(axis=1, keepdims=True)
    other = y - y.mean(axis=1)[:, None]
    spread = np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    apart = np.sqrt((centred * centred).sum(axis=1) * (other * other).sum(axis=1)) + 1.0
    return (shifted / total, total, centred / spread, (centred * other).sum(axis=1) / apart,
            x / np.linalg.norm(x + 2.0, axis=1, keepdims=True), x.argmax(axis=1), x.max(axis=1),
            np.log(total) + x.max(axis=1)[:, None])


def neighbours_in_a_row(x):
    waves = np.sin(x)
    steps = waves[:, 1:] - waves[:, :-1]
    return steps / (np.abs(steps).sum(axis=1)[:, None] + 1.0), waves


def rows_of_rows(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    weights = shifted / shifted.sum(axis=-1, keepdims=True)
    whole = weights / (weights.sum(axis=(2, 3), keepdims=True) + 1.0)
    return weights, whole, whole.sum(axis=(1, 2, 3))


def columns_and_turned(x):
    shifted = np.exp(x - x.max(axis=0))
    turned = x.T - x.T.min(axis=1, keepdims=True)
    return shifted / shifted.sum(axis=0), turned / (turned.sum(axis=1)[:, None] + 1.0)


def stores_between(x, y):
    largest = x.max(axis=1)
    x[0, :] = 3.0
    shifted = x - largest[:, None]
    x[:, 0] = shifted[:, 0]
    y[:] = shifted.sum(axis=1)
    return x / (1.0 + np.abs(x).sum(axis=1, keepdims=True)), largest


def steps_over_rows(x, steps):
    for _ in range(steps):
        x = x / (1.0 + np.sqrt((x * x).sum(axis=1)))[:, None] + 0.25
    return x


def first_error_wins(x, places):
    centred = x - x.min(axis=1, keepdims=True)
    picked = centred[np.arange(len(places)), places]
    largest = centred.max(axis=1, keepdims=True)
    return picked, centred / largest


def nearest(x, centres):
    apart = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    weights = np.exp(-apart)
    one_by_one = [np.argmax(centres @ each) for each in x]
    return (apart.argmin(axis=1), apart.min(axis=1),
            weights / (weights.sum(axis=1, keepdims=True) + 1.0), np.array(one_by_one))


def sample(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=float) * 1.7).reshape(shape) * 3.0


SHAPES = [(0, 5), (1, 7), (5, 1), (3, 40), (90, 131), (4, 0)]


@pytest.mark.parametrize(("program", "arguments"), [
    (many_of_a_row, lambda n, m: (sample(n, m), sample(m, n).T)),
    (neighbours_in_a_row, lambda n, m: (sample(n, m + 1).astype(np.float32),)),
    (columns_and_turned, lambda n, m: (sample(n, m),)),
    (stores_between, lambda n, m: (sample(n + 1, m + 1), np.zeros(n + 1))),
    (rows_of_rows, lambda n, m: (sample(2, n, 3, m),)),
    (steps_over_rows, lambda n, m: (sample(n, m), 3)),
    (first_error_wins, lambda n, m: (sample(n, m), np.arange(n) % 5)),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
def test_rows_are_what_numpy_makes_of_them(program: Callable, arguments: Callable):
    jitted = jit(program)
    for shape in SHAPES:
        targets = ("serial", "parallel") if shape[0] > 9 else ("interpreter", "serial", "parallel")
        check_agreement(jitted, program, deep_copies(arguments(*shape)), OF_ROWS, targets)


def test_rows_of_contractions():
    jitted = jit(nearest)
    for n, m, k in [(1, 1, 1), (5, 3, 0), (70, 9, 4), (300, 40, 130)]:
        targets = ("serial", "parallel") if n > 9 else ("interpreter", "serial", "parallel")
        arguments = deep_copies((sample(n, k), sample(m, k) * 0.3))
        check_agreement(jitted, nearest, arguments, OF_ROWS, targets)


def test_a_row_is_summed_as_by_itself():
    def apart(x):
        return x.sum(axis=1)

    def beside(x):
        total = x.sum(axis=1)
        return total, x - total[:, None]

    x = sample(50, 1000)
    np.testing.assert_array_equal(jit(beside)(x)[0], jit(apart)(x))
