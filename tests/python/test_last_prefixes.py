"""One prefix of a scan, the last that is made: the bits that it has among all, and no array."""

import numpy as np
import pytest

from parakeet import jit

TARGETS = ("serial", "parallel", "emulated_gpu")


@jit
def whole(x):
    return np.cumsum(x), np.cumprod(x), np.maximum.accumulate(x), np.minimum.accumulate(x)


@jit
def last(x):
    return (np.cumsum(x)[-1], np.cumprod(x)[-1], np.maximum.accumulate(x)[-1],
            np.minimum.accumulate(x)[-1])  # fmt: skip


@jit
def one(x, k):
    return (np.cumsum(x)[k], np.cumprod(x)[k], np.maximum.accumulate(x)[k],
            np.minimum.accumulate(x)[k])  # fmt: skip


@jit
def of_rows(x, k):
    return [np.cumsum(row)[k] + np.cumsum(row)[-1] for row in x]


def numbers(dtype, n):
    random = np.random.default_rng(n)
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 9, n).astype(dtype)
    x = (random.random(n) - 0.4).astype(dtype)
    x[2::7] = -0.0
    x[5::11] = 0.0
    return x


@pytest.mark.sampled(2, "dtype", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_the_last_of_all(dtype, target):
    lengths = (1, 263, 264, 265, 529) if target == "emulated_gpu" else (1, 264, 265, 2700, 30_011)
    for n in lengths:
        x = numbers(dtype, n)
        all_of_it = whole(x, target=target)
        for made, meant in zip(last(x, target=target), all_of_it):
            assert np.array(made).tobytes() == np.array(meant[-1]).tobytes()
        for k in (0, n // 2, n - 1, -1):
            for made, meant in zip(one(x, k, target=target), all_of_it):
                assert np.array(made).tobytes() == np.array(meant[k]).tobytes()


@pytest.mark.parametrize("target", TARGETS)
def test_of_rows_and_of_nothing(target):
    x = numbers("float64", 600).reshape(2, 300)
    for made, row in zip(of_rows(x, 270, target=target), x):
        sums = whole(row, target=target)[0]
        assert made == sums[270] + sums[-1]
    for args in ((x[0, :0], 0), (x[0], 300), (x[0], -301)):
        with pytest.raises(IndexError) as meant:
            one.__wrapped__(*args)
        with pytest.raises(IndexError) as raised:
            one(*args, target=target)
        assert str(raised.value) == str(meant.value)


def test_no_array_is_made():
    def total(x):
        return np.cumsum(x)[-1]

    compiled = jit(total)
    compiled(np.ones(9), target="serial")
    assert "alloc (%n)" not in compiled.ir(stage="scheduled")
