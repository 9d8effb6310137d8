"""Arrays that are padded with elements of their own, given back and read by windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tested_targets import TARGETS

from parakeet import jit

MODES = ("edge", "reflect", "symmetric", "wrap")


@jit
def edge(x, before, after):
    return np.pad(x, (before, after), mode="edge")


@jit
def reflect(x, before, after):
    return np.pad(x, (before, after), mode="reflect")


@jit
def symmetric(x, before, after):
    return np.pad(x, (before, after), mode="symmetric")


@jit
def wrap(x, before, after):
    return np.pad(x, (before, after), mode="wrap")


PADS = {"edge": edge, "reflect": reflect, "symmetric": symmetric, "wrap": wrap}


def smoothed(p):
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * p[1:-1, 1:-1]


@jit
def windows(x):
    return (
        smoothed(np.pad(x, 1, mode="reflect")),
        smoothed(np.pad(x, 1, mode="wrap")),
        smoothed(np.pad(x, 1, mode="symmetric")),
        smoothed(np.pad(x * 2.0, 1, mode="edge")),
    )


@jit
def box(x):
    p = np.pad(x, 1, mode="reflect")
    n, m = x.shape
    total = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            total += p[i : i + n, j : j + m]
    return total / 9.0


@jit
def sums(x):
    return np.cumsum(np.pad(x, 3, mode="wrap")), np.pad(x, (4, 0), mode="reflect").sum()


def check(function, arguments, target):
    got, wanted = function(*arguments, target=target), function(*arguments, target="python")
    pair = (got, wanted) if isinstance(got, tuple) else ((got,), (wanted,))
    for g, w in zip(*pair, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
        assert (g.dtype, g.flags.f_contiguous) == (w.dtype, w.flags.f_contiguous)


SHAPES = [(1, 1), (1, 5), (4, 1), (2, 3), (3, 40), (70, 66)]


@pytest.mark.sampled(2, "shape", "order", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_windows(shape, order, target):
    x = np.array(np.random.default_rng(1).random(shape), order=order)
    for got, wanted in zip(windows(x, target=target), windows(x, target="python"), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(box(x, target=target), box(x, target="python"), rtol=1e-12)


@pytest.mark.sampled(2, "mode", "shape", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(1,), (6,), (1, 4), (5, 3), (2, 3, 4)])
def test_pads_farther_than_the_array(mode, shape, target):
    x = np.random.default_rng(2).random(shape)
    for order in "CF":
        for widths in ((0, 0), (1, 0), (0, 2), (3, 9), (17, 4)):
            check(PADS[mode], (np.array(x, order=order), *widths), target)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 30), st.integers(0, 30),
       st.sampled_from(MODES), st.sampled_from("CF"))
def test_any_pads(n, m, before, after, mode, order):
    x = np.array(np.arange(float(n * m)).reshape(n, m), order=order)
    for target in ("serial", "parallel"):
        check(PADS[mode], (x, before, after), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", MODES)
def test_nothing_to_repeat(mode, target):
    for x in (np.zeros((0, 3)), np.zeros((3, 0))):
        check(PADS[mode], (x, 0, 0), target)
        with pytest.raises(ValueError, match="can't extend empty axis"):
            PADS[mode](x, 1, 0, target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 2, 4, 100, 5000])
def test_vectors(n, target):
    check(sums, (np.random.default_rng(n).random(n),), target)


def test_one_core_and_all_give_the_same_bits():
    x = np.random.default_rng(3).random((300, 500))
    for one, together in zip(windows(x, target="serial"), windows(x, target="parallel"),
                             strict=True):
        assert one.tobytes() == together.tobytes()


def test_windows_whose_size_is_an_argument_are_not_made():
    f = jit(lambda x, n: (np.lib.stride_tricks.sliding_window_view(x, n)[::2] ** 2).sum(axis=1))
    x = np.random.default_rng(3).standard_normal(50)
    np.testing.assert_allclose(f(x, 7), f.__wrapped__(x, 7), rtol=1e-12)
    assert f.ir(x, 7, stage="indexed").count("imap") == 1
    for n, message in ((51, "cannot be larger"), (-1, "negative values"), (2**63 - 1, "larger")):
        with pytest.raises(ValueError, match=message):
            f(x, n)


def clipped_window(x, w):
    """Half of the window is worked out where it is used."""
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for p in range(w.shape[0]):
                for q in range(w.shape[1]):
                    y = i + p - w.shape[0] // 2
                    z = j + q - w.shape[1] // 2
                    if y < 0:
                        y = 0
                    if y >= n:
                        y = n - 1
                    out[i, j] += x[y, min(max(z, 0), m - 1)] * w[p, q]
    return out


def test_windows_of_which_half_is_worked_out_inside():
    rng = np.random.default_rng(5)
    compiled = jit(clipped_window)
    for shape in ((9, 40), (1, 3), (2, 1)):
        for sides in ((3, 3), (1, 5), (4, 2)):
            x, w = rng.random(shape), rng.random(sides)
            for target in TARGETS:
                made = compiled(x, w, target=target)
                np.testing.assert_allclose(made, clipped_window(x, w), rtol=1e-13)
    compiled = jit(clipped_window)
    compiled(rng.random((50, 60)), rng.random((3, 3)), target="serial")
    # What is between the borders is read along memory, 48 vectors of it.
    assert compiled.ir(stage="scheduled").count("load_lanes %x") >= 9
