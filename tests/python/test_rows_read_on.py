"""Rows that an iteration sorts and reads on in, sums of lags, and gathers along lines of images."""

import numpy as np
import pytest
from agreement import REDUCED, check_agreement

from parakeet import jit


def greatest(x):
    return np.sort(x, axis=1)[:, -8:]


def least_places(x):
    return np.argsort(x, axis=1)[:, :5]


def trimmed(x):
    r = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = np.sort(x[i])
        r[i] = s[2:-2].mean() + x[i, 0]
    return r


def deviations(x):
    r = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        total = x[i].sum()
        s = np.sort(x[i])
        d = np.sort(np.abs(x[i] - s[x.shape[1] // 2]))
        r[i] = d[x.shape[1] // 2] + total
    return r


def sorted_and_gap(x):
    a, gap = np.zeros_like(x), np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = np.sort(x[i] * 2)
        a[i] = s
        gap[i] = s[1] - s[0]
    return a, gap


def ranks(x):
    a = np.zeros(x.shape, dtype=np.int64)
    for i in range(x.shape[0]):
        order = np.argsort(x[i])
        for k in range(x.shape[1]):
            a[i, order[k]] = k
    return a


def changed_first(x):
    r = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        c = x[i].copy()
        c[0] = c[0] + 1
        c.sort()
        r[i] = c[-1] if c[0] > 0.5 else c[:3].sum()
    return r


def shares(x):
    s = np.sort(x, axis=1)
    n = x.shape[1]
    return (s * (2 * np.arange(1, n + 1) - n - 1)).sum(axis=1) / (n * s.sum(axis=1))


def between_quarters(x):
    return np.percentile(x, 75, axis=1) - np.percentile(x, 25, axis=1)


PROGRAMS = [greatest, least_places, trimmed, deviations, sorted_and_gap, ranks, changed_first,
            shares, between_quarters]  # fmt: skip


@pytest.mark.sampled(2, "shape", "dtype")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 40), (300, 7), (2, 3000), (0, 9), (1, 12)])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_rows_that_are_sorted_and_read_on(program, shape, dtype):
    rng = np.random.default_rng(shape[0])
    count = shape[0] * shape[1]
    x = (rng.permutation(count).reshape(shape) / max(count, 1)).astype(dtype)
    check_agreement(jit(program), program, lambda: (x,), REDUCED)


def test_rows_that_are_read_on_are_sorted_by_kernels():
    for program in PROGRAMS:
        report = str(jit(program).explain(np.ones((4, 40)), target="emulated_gpu"))
        assert "not sorted by kernels" not in report, program.__name__


def lags(x, most):
    s = np.zeros(most)
    for k in range(most):
        s[k] = (x[: x.size - k] * x[k:]).sum()
    return s


@pytest.mark.parametrize("length", [3, 1000, 70_000])
def test_sums_of_lags(length):
    x = np.random.default_rng(length).integers(0, 100, length).astype(float)  # Sums are exact.
    check_agreement(jit(lags), lags, lambda: (x, 3))


def of_image(table, image):
    return table[image]


@pytest.mark.parametrize("bad", [(), ((5000, 257),), ((31, 300), (4500, 299))], ids=str)
@pytest.mark.parametrize("dtype", [np.uint16, np.int64])
def test_the_first_place_of_an_image_that_is_outside(dtype, bad):
    image = np.random.default_rng(0).integers(0, 256, (80, 70)).astype(dtype)
    for place, value in bad:
        image.reshape(-1)[place] = value
    table = np.arange(256.0)
    check_agreement(jit(of_image), of_image, lambda: (table, image))
    check_agreement(jit(of_image), of_image, lambda: (table, image[:, ::2]))
