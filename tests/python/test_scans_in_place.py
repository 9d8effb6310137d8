"""Prefixes that are written over what is scanned, where that ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tested_targets import TARGETS

from parakeet import jit


@jit
def of_joined(x, y):
    return np.cumsum(np.concatenate((x, y)))


@jit
def of_kept(x):
    return np.cumsum(x[x > 0.5])


@jit
def of_kept_functions(x):
    kept = np.exp(x[x > 0.5]) * 0.6
    return np.cumsum(kept), np.cumprod(kept)


@jit
def read_again(x):
    kept = x[x > 0.5]
    return np.cumsum(kept), kept[::-1] * 1.0, np.cumsum(kept + kept[::-1])


@jit
def in_branches(x, ask):
    kept = x[x > 0.2]
    sums = np.cumsum(kept) if ask else np.maximum.accumulate(kept)
    return sums, sums[-1:].sum()


@jit
def in_steps(x, steps):
    y = x.copy()
    for _ in range(steps):
        y = np.cumsum(y) / y.size
    return y


@jit
def by_hand(x):
    made = np.sort(x)
    for i in range(1, made.size):
        made[i] += made[i - 1]
    return made


@jit
def integers(x):
    return np.cumsum(np.hstack((x, x))), np.cumsum(x[x % 2 == 0])


def check(function, arguments, target):
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    got, wanted = function(*arguments, target=target), function(*arguments, target="python")
    pair = (got, wanted) if isinstance(got, tuple) else ((got,), (wanted,))
    for g, w in zip(*pair, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
    for a, b in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(a, b)


SIZES = [0, 1, 2, 5, 263, 264, 265, 700, 9000]


@pytest.mark.sampled(2, "n", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", SIZES)
def test_scans(n, target):
    rng = np.random.default_rng(n)
    x = rng.random(n)
    check(of_joined, (x, rng.random(n // 2)), target)
    check(of_kept, (x,), target)
    check(of_kept_functions, (x * 1e-3 + 0.4999,), target)
    check(read_again, (x,), target)
    check(in_branches, (x, True), target)
    check(in_branches, (x, False), target)
    check(by_hand, (x,), target)
    check(integers, (rng.integers(0, 100, n),), target)
    if n > 0:
        check(in_steps, (x, 3), target)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 2**32 - 1))
def test_any_lengths(n, seed):
    x = np.random.default_rng(seed).random(n)
    for target in ("serial", "parallel"):
        check(of_kept, (x,), target)
        check(read_again, (x,), target)


def test_one_core_and_all_give_the_same_bits():
    x = np.random.default_rng(4).random(300_000)
    assert of_kept(x, target="serial").tobytes() == of_kept(x, target="parallel").tobytes()
    one, together = (of_joined(x, x, target=target) for target in ("serial", "parallel"))
    assert one.tobytes() == together.tobytes()


@pytest.mark.parametrize("function", [of_joined, of_kept])
def test_no_array_is_made_beside_the_result(function):
    x = np.random.default_rng(5).random(5000)
    report = function.explain(*(x,) * (2 if function is of_joined else 1), target="serial")
    assert report.temporaries == 0, str(report)


def test_what_is_read_again_stays():
    report = read_again.explain(np.random.default_rng(6).random(5000), target="serial")
    assert report.temporaries > 0, str(report)
