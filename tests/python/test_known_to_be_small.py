"""Sums of few small integers and floats made of them need no checks; what may be large has them."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


@jit
def mean_of_nine(x):
    out = np.empty((x.shape[0] // 3, x.shape[1] // 3), np.int16)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0
            for u in range(3):
                for v in range(3):
                    s += int(x[3 * i + u, 3 * j + v])
            out[i, j] = s // 9
    return out


@jit
def sum_of_nine(x):
    out = np.empty((x.shape[0] // 3, x.shape[1] // 3), np.int16)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0
            for u in range(3):
                for v in range(3):
                    s += int(x[3 * i + u, 3 * j + v])
            out[i, j] = s // 8
    return out


@jit
def alternating(x):
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        s = 5
        for k in range(4):
            s = s - int(x[i]) + k
        out[i] = s
    return out


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("fill", [-32768, 32767, None])
def test_sums_at_the_ends(fill, target):
    for width in (0, 3, 50, 97, 200):
        x = np.random.default_rng(width).integers(-32768, 32768, (10, width)).astype(np.int16)
        if fill is not None:
            x[:] = fill
        np.testing.assert_array_equal(mean_of_nine(x, target=target), mean_of_nine.__wrapped__(x))
        np.testing.assert_array_equal(alternating(x.ravel(), target=target),
                                      alternating.__wrapped__(x.ravel()))


@pytest.mark.parametrize("target", COMPILED)
def test_a_sum_that_does_not_fit_is_told(target):
    x = np.zeros((6, 150), np.int16)
    np.testing.assert_array_equal(sum_of_nine(x, target=target), sum_of_nine.__wrapped__(x))
    x[3:, 99:102] = 32767
    with pytest.raises(OverflowError) as told:
        sum_of_nine.__wrapped__(x)
    with pytest.raises(OverflowError) as found:
        sum_of_nine(x, target=target)
    assert str(found.value) == str(told.value)


def weigh(img):
    out = np.empty_like(img)
    for i in range(len(img)):
        for k in range(img.shape[1]):
            v = float(img[i, k])
            out[i, k] = int(min(255.0, 0.393 * v + 0.769 * v + 0.189 * v))
    return out


def weigh_further(img):
    out = np.empty_like(img)
    for i in range(len(img)):
        for k in range(img.shape[1]):
            out[i, k] = int(0.5 * float(img[i, k]) + 128.5)
    return out


def clip(x):
    out = np.empty(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = int(min(max(x[i], 0.0), 255.0))
    return out


def clip_from_above(x):
    out = np.empty(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = int(max(0.0, min(255.0, x[i])))
    return out


def clip_by_branches(x):
    out = np.empty(len(x), np.uint8)
    for i in range(len(x)):
        v = x[i] * 255.0 + 0.5
        if v < 0.0:
            v = 0.0
        elif v > 255.0:
            v = 255.0
        out[i] = int(v)
    return out


def from_above_alone(x):
    out = np.empty(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = int(min(x[i], 255.0))
    return out


def of_a_root(x):
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        out[i] = round(np.sqrt(float(i % 100)) * np.cos(x[i]) * 10.0)
    return out


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("f", [weigh, weigh_further])
def test_weighted_pixels(f, target):
    compiled = jit(f)
    for rows in (0, 1, 9, 40):
        img = np.random.default_rng(rows).integers(0, 256, (rows, 67)).astype(np.uint8)
        try:
            wanted = f(img)
        except OverflowError as error:
            with pytest.raises(OverflowError, match=str(error)):
                compiled(img, target=target)
        else:
            np.testing.assert_array_equal(compiled(img, target=target), wanted)


ODD = {"small": 0.3, "large": 1e300, "infinite": np.inf, "below": -np.inf, "nan": np.nan,
       "edge": 255.0, "beyond": 256.0, "under": -1e-300}  # fmt: skip


@pytest.mark.sampled(2, "f", "dtype", "odd", "target")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "f", [clip, clip_from_above, clip_by_branches, from_above_alone, of_a_root]
)
@pytest.mark.filterwarnings("ignore")
def test_floats_that_are_cut_off(f, dtype, odd, target):
    compiled = jit(f)
    for length in (1, 7, 40, 100):
        x = (np.arange(length) % 13 * 0.07).astype(dtype)
        with np.errstate(all="ignore"):
            x[length // 2] = ODD[odd]
        try:
            wanted = f(x)
        except (OverflowError, ValueError) as error:
            with pytest.raises(type(error)) as found:
                compiled(x, target=target)
            assert str(found.value) == str(error)
        else:
            np.testing.assert_array_equal(compiled(x, target=target), wanted)
