"""Few long rows on a GPU: blocks share each of them, in an order that shapes say.

On the emulated GPU, which ends the process where a thread reads another's memory unasked.
"""

import numpy as np
import pytest
from agreement import EXACT, HERE, REDUCED, check_agreement

from parakeet import jit

R = np.random.default_rng(13)
RUN = 16384  # What a block takes.


def check(function, *arguments, tolerance=REDUCED):
    check_agreement(jit(function), function, lambda: tuple(np.copy(a) for a in arguments),
                    tolerance, targets=[HERE])


def sums(x):
    return np.sum(x, axis=1)


def sums_of_a_flat_array(x):
    return np.sum(x.reshape(3, -1), axis=1)


def means_of_channels(x):
    return np.mean(x, axis=(1, 2))


def products(a, x):
    return a @ x


def greatest(x):
    return np.max(x, axis=1)


def where_greatest(x):
    return np.argmax(x, axis=1)


def sums_of_each(x):
    return np.array([np.sum(r) for r in x])


def softmax(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def normalised(x):
    return x / np.sqrt(np.sum(x * x, axis=1))[:, None]


def spreads(x):
    return np.var(x, axis=1) + np.max(np.abs(x), axis=1)


def in_place(x):
    for i in range(x.shape[0]):
        x[i] = x[i] - np.max(x[i])
        x[i] = x[i] / np.sum(np.abs(x[i]) + 1.0)


# Up to a run, one more, and several that are whole or not; as many rows as make other kernels.
SHAPES = [(3, RUN), (3, RUN + 1), (1, 3 * RUN), (2, 5 * RUN + 777), (0, RUN + 5), (300, RUN + 3)]


@pytest.mark.sampled(2, "function", "shape")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [sums, greatest, where_greatest, sums_of_each])
def test_one_traversal(function, shape):
    check(function, R.integers(-3, 5, shape).astype(np.float64), tolerance=EXACT)


@pytest.mark.sampled(2, "function", "columns")
@pytest.mark.parametrize("columns", [100, 3000, RUN + 1, 3 * RUN + 5])
@pytest.mark.parametrize("function", [softmax, normalised, spreads, in_place])
def test_several_traversals(function, columns):
    check(function, R.standard_normal((3, columns)))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex128"])
def test_every_width(dtype):
    x = R.integers(0, 2, (3, 2 * RUN + 9)).astype(dtype)
    check(sums, x, tolerance=EXACT)


def test_flat_arrays_channels_and_products():
    check(sums_of_a_flat_array, R.integers(-3, 5, 9 * RUN).astype(np.float64), tolerance=EXACT)
    check(means_of_channels, R.standard_normal((3, 257, 301)))
    check(products, R.standard_normal((3, 3 * RUN)), R.standard_normal(3 * RUN))


def from_one(x):
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        total = 1.0
        for j in range(x.shape[1]):
            total += x[i, j]
        y[i] = total
    return y


def test_what_a_sum_begins_with_enters_once():
    check(from_one, np.ones((2, 4 * RUN + 1)), tolerance=EXACT)


def sums_of_found(x, k):
    y = np.empty(k.shape[0])
    for i in range(k.shape[0]):
        total = 0.0
        for j in range(k.shape[1]):
            total += x[k[i, j]]
        y[i] = total
    return y


def test_the_first_failing_iteration_is_told():
    k = np.zeros((3, 3 * RUN), dtype=np.int64)
    k[1, RUN + 5] = 77
    k[1, 2 * RUN] = 78
    k[2, 0] = 79
    with pytest.raises(IndexError, match="77"):
        jit(sums_of_found)(np.ones(5), k, target=HERE)


def test_a_row_gives_its_bits_be_they_many_or_few():
    x = R.standard_normal((270, 2 * RUN + 100)).astype(np.float32)
    f = jit(sums)
    many = f(x, target=HERE)
    assert np.array_equal(f(x[4:7].copy(), target=HERE), many[4:7])
    assert np.array_equal(f(x, target=HERE), many)
