"""Lanes over pixels: the channels of each are read and stored together."""

import numpy as np
import pytest
from test_join_lanes import Fenced
from tested_targets import COMPILED, with_added

from parakeet import jit

WIDTHS = [*range(0, 36), 47, 48, 49, 63, 64, 65, 70]
DTYPES = ["uint8", "int16", "float32", "float64"]


def gray_of_two(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 1] = img[y, x, 1] - img[y, x, 0]


def gray_of_three(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = (img[y, x, 0] + img[y, x, 1]) * img[y, x, 2]


def without_alpha(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            a = img[y, x, 3]
            out[y, x, 2] = a + img[y, x, 0]


def swap_two(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            a = img[y, x, 0]
            out[y, x, 0] = img[y, x, 1]
            out[y, x, 1] = a


def turn_three(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            a, b, c = img[y, x, 0], img[y, x, 1], img[y, x, 2]
            out[y, x, 2] = a
            out[y, x, 0] = b + c
            out[y, x, 1] = c


def over_four(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            a = img[y, x, 3]
            for c in range(3):
                out[y, x, c] = img[y, x, c] + a
            out[y, x, 3] = 7


def swap_ends(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 0], out[y, x, 2] = img[y, x, 2], img[y, x, 0]


def neighbours(img, out):
    h, w, _ = img.shape
    for y in range(1, h):
        for x in range(1, w - 1):
            s = img[y, x - 1, 0] + img[y - 1, x + 1, 0]
            out[y, x, 0] = s
            out[y, x, 1] = img[y, x + 1, 1] - img[y, x - 1, 2]
            out[y, x, 2] = s + img[y, x, 2]


def between_pixels(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w - 1):
            out[y, x, 1] = img[y, x, 0]
            out[y, x, 2] = img[y, x + 1, 1]
            out[y, x + 1, 0] = img[y, x, 2]


def read_between(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = img[y, x, 1]
            s = out[y, x, 2] + img[y, x, 0]
            out[y, x, 1] = s
            out[y, x, 2] = img[y, x, 2]


def chosen(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            if img[y, x, 0] > img[y, x, 1]:
                out[y, x, 0] = img[y, x, 1]
                out[y, x, 1] = img[y, x, 2]
                out[y, x, 2] = img[y, x, 0]
            else:
                out[y, x, 1] = img[y, x, 0]


def stored_twice(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = img[y, x, 0]
            out[y, x, 1] = img[y, x, 1]
            out[y, x, 0] = img[y, x, 2]
            out[y, x, 2] = img[y, x, 1]


def every_channel(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w - 1):
            for c in range(3):
                out[y, x, c] = img[y, x, c] - img[y, x + 1, 2 - c]


def beside(img, out):
    h, w, _ = img.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            for c in range(3):
                out[y, x, c] = img[y, x - 1, c] + img[y - 1, x + 1, c] * img[y, 0, 1]


def every_second(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w // 2):
            out[y, x, 0] = img[y, 2 * x, 0]
            out[y, x, 1] = img[y, 2 * x, 1]


def from_behind(img, out):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, w - 1 - x, 0] = img[y, x, 2]
            out[y, w - 1 - x, 1] = img[y, x, 1]
            out[y, w - 1 - x, 2] = img[y, x, 0]


# With the channels of the pixels that each takes.
PROGRAMS = {
    gray_of_two: 2,
    gray_of_three: 3,
    without_alpha: 4,
    swap_two: 2,
    turn_three: 3,
    over_four: 4,
    swap_ends: 3,
    neighbours: 3,
    between_pixels: 3,
    read_between: 3,
    chosen: 3,
    stored_twice: 3,
    every_channel: 3,
    beside: 3,
    every_second: 2,
    from_behind: 3,
}
JITTED = {f: jit(f) for f in PROGRAMS}
NAMED = pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
HEIGHT = 3


def some(dtype, width, channels):
    random = np.random.default_rng(width)
    return random.integers(0, 100, (HEIGHT, width, channels)).astype(dtype)


def plain(f, img, out):
    with np.errstate(all="ignore"):
        f(img, out)


@pytest.mark.sampled(6, "f", "dtype", "target")
@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", DTYPES)
@NAMED
def test_pixels(f, dtype, target):
    for width in WIDTHS:
        img = some(dtype, width, PROGRAMS[f])
        mine, wanted = np.ones_like(img), np.ones_like(img)
        JITTED[f](img, mine, target=target)
        plain(f, img, wanted)
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@NAMED
def test_other_layouts(f, dtype):
    for width in (5, 33, 66):
        channels = PROGRAMS[f]
        img = some(dtype, width, channels)
        wide = np.zeros((HEIGHT, 2 * width, channels + 1), dtype)
        wide[:, ::2, 1:] = img
        inputs = [img, np.asfortranarray(img), wide[:, ::2, 1:], img[::-1, ::-1], img[:, :, ::-1]]
        for given in inputs:
            for mine in (np.ones_like(img, order="C"), np.ones_like(img, order="F"),
                         np.ones_like(wide)[:, 1::2, :channels]):
                wanted = np.ones_like(img)
                JITTED[f](given, mine, target="serial")
                plain(f, given, wanted)
                np.testing.assert_array_equal(mine, wanted)


@NAMED
def test_more_channels_than_are_used(f):
    for channels in range(PROGRAMS[f], PROGRAMS[f] + 4):
        img = some("int16", 40, channels)
        mine, wanted = np.ones_like(img), np.ones_like(img)
        JITTED[f](img, mine, target="serial")
        plain(f, img, wanted)
        np.testing.assert_array_equal(mine, wanted)


@NAMED
def test_in_place_and_overlapping(f):
    for width in (1, 2, 17, 33, 66):
        for shift in (-1, 0, 1):
            mine = some("int16", width + 2, PROGRAMS[f])
            wanted = mine.copy()
            JITTED[f](mine[:, 1 + shift : width + 1 + shift], mine[:, 1 : width + 1],
                      target="serial")
            plain(f, wanted[:, 1 + shift : width + 1 + shift], wanted[:, 1 : width + 1])
            np.testing.assert_array_equal(mine, wanted)
        mine = some("uint8", width, PROGRAMS[f])
        wanted = mine.copy()
        JITTED[f](mine, mine, target="serial")
        plain(f, wanted, wanted)
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.sampled(3, "f", "dtype")
@pytest.mark.parametrize("dtype", DTYPES)
@NAMED
def test_nothing_beside_an_array_is_touched(f, dtype):
    fenced, fenced_too = Fenced(), Fenced()
    for width in (1, 2, 3, 15, 16, 17, 31, 32, 33, 40):
        values = some(dtype, width, PROGRAMS[f])
        wanted = np.ones_like(values)
        plain(f, values, wanted)
        for img in fenced.arrays(values.ravel()):
            for flat in fenced_too.arrays(np.ones_like(values).ravel()):
                mine = flat.reshape(values.shape)
                JITTED[f](img.reshape(values.shape), mine, target="serial")
                np.testing.assert_array_equal(mine, wanted)


@jit
def made(img):
    h, w, n = img.shape
    out = np.zeros((h, w, 3), img.dtype)
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = img[y, x, 0]
            out[y, x, 1] = img[y, x, 0] + img[y, x, 1]
            out[y, x, 2] = n
    return out


@pytest.mark.parametrize("target", with_added(["interpreter", *COMPILED]))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pixels_that_are_made(dtype, target):
    for width in (0, 1, 31, 32, 33, 70):
        for channels in (2, 3, 4, 5, 20):
            img = some(dtype, width, channels)
            np.testing.assert_array_equal(made(img, target=target), made.__wrapped__(img))


@pytest.mark.parametrize("channels", [1, 2])
def test_a_channel_that_is_not_there_is_told(channels):
    for width in (1, 40):
        img, mine, wanted = some("int32", width, channels), *np.ones((2, HEIGHT, width, 3), "int32")
        with pytest.raises(IndexError) as told:
            turn_three(img, wanted)
        with pytest.raises(IndexError) as found:
            JITTED[turn_three](img, mine, target="serial")
        assert str(found.value) == str(told.value)
        np.testing.assert_array_equal(mine, wanted)


def factors(img, g):
    h, w, _ = img.shape
    out = np.zeros((h, w, 3), img.dtype)
    for y in range(h):
        for x in range(w):
            for c in range(3):
                out[y, x, c] = img[y, x, c] * g[c]
    return out


def in_one_expression(img, g):
    return img * g[:3] + img[:1, :1]


def by_one_number(img, g):
    return (img + g[0]) * img


def planes(img, g):
    return img.transpose(2, 0, 1) + g[0]


def rows_of_pixels(img, g):
    return img.transpose(1, 0, 2) * g[:3]


def differences(img, g):
    return (img[:, 1:] - img[:, :-1]) * g[1]


def blurred(img, g):
    h, w, _ = img.shape
    out = np.zeros((h, w, 3), img.dtype)
    for y in range(h):
        for x in range(1, w - 1):
            for c in range(3):
                out[y, x, c] = img[y, x - 1, c] + g[2] * img[y, x, c] + img[y, x + 1, c]
    return out


def put_together(img, g):
    return np.dstack((img[:, :, 0], img[:, :, 2] + g[1], img[:, :, 1]))


def only_one(img, g):
    out = np.full((3, img.shape[1], 4), g[0])
    out[:, :, 2] = img[:, :, 1]
    return out


MADE = [factors, in_one_expression, by_one_number, planes, rows_of_pixels, differences, blurred,
        put_together, only_one]
JITTED_MADE = {f: jit(f) for f in MADE}


@pytest.mark.sampled(6, "f", "dtype", "target")
@pytest.mark.parametrize("target", with_added(["interpreter", *COMPILED]))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("f", MADE, ids=lambda f: f.__name__)
def test_arrays_that_are_made(f, dtype, target):
    g = np.array([3, 5, 7, 11], dtype)
    for width in (1, 2, 3, 20) if target == "interpreter" else (0, 1, 2, 3, 15, 16, 17, 33, 65, 70):
        img = some(dtype, width, 3)
        for given in (img, np.asfortranarray(img), img[:, ::-1]):
            with np.errstate(all="ignore"):
                wanted = f(given, g)
            mine = JITTED_MADE[f](given, g, target=target)
            assert mine.dtype == wanted.dtype
            np.testing.assert_array_equal(mine, wanted)


@jit
def brighter(img, by):
    h, w, _ = img.shape
    out = np.zeros((h, w, 3), np.uint8)
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = int(img[y, x, 0]) + by
            out[y, x, 1] = int(img[y, x, 1]) + by
            out[y, x, 2] = int(img[y, x, 2]) + by
    return out


@jit
def brighter_there(img, out, by):
    h, w, _ = img.shape
    for y in range(h):
        for x in range(w):
            out[y, x, 0] = int(img[y, x, 0]) + by
            out[y, x, 1] = int(img[y, x, 1]) + by
            out[y, x, 2] = int(img[y, x, 2]) + by


@pytest.mark.parametrize("target", COMPILED)
def test_numbers_that_do_not_fit_are_told_in_order(target):
    for width in (1, 40, 70):
        img = some("uint8", width, 3)
        np.testing.assert_array_equal(brighter(img, 50, target=target), img + 50)
        for place in ((0, 0, 2), (1, width // 2, 1), (2, width - 1, 0)):
            img[place] = 255 - place[2]
            mine, wanted = np.ones((2, *img.shape), "uint8")
            with pytest.raises(OverflowError) as told:
                brighter.__wrapped__(img, 50)
            with pytest.raises(OverflowError) as found:
                brighter(img, 50, target=target)
            assert str(found.value) == str(told.value)
            with pytest.raises(OverflowError):
                brighter_there.__wrapped__(img, wanted, 50)
            with pytest.raises(OverflowError):
                brighter_there(img, mine, 50, target=target)
            np.testing.assert_array_equal(mine, wanted)
            img[place] = 0
