"""Arrays that are made piece by piece, and read where they would be: joined, padded, filled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tested_targets import TARGETS

from parakeet import jit


@jit
def of_vectors(x, y):
    joined = np.concatenate((x, y, x))
    padded = np.pad(x, (2, 1))
    edge = np.pad(y, 2, mode="edge")
    return (
        joined.sum(),
        np.concatenate((y, x))[::-1] * 2.0,
        np.diff(joined),
        np.concatenate((x, y)) - np.concatenate((y, x)),
        padded[2:] - padded[:-2],
        np.cumsum(np.concatenate((x, y + 1.0))),
        np.append(x, y).mean(),
        np.insert(x, 1, 5.0) * 2.0,
        edge[4:] + edge[2:-2] - edge[:-4],
        np.roll(x, 2) * x - np.roll(x, -1),
        np.concatenate((x, y))[np.concatenate((x, y)) > 0.5] + 1.0,
        np.stack((x, x * 2.0, x + 1.0)).max(axis=0),
    )


@jit
def of_slopes(x):
    return (np.gradient(x) ** 2).sum(), np.gradient(x) * x, np.gradient(x, 0.5, edge_order=1) + 1.0


@jit
def of_matrices(a, b):
    padded = np.pad(a, 1)
    clipped = np.pad(a, 1, mode="edge")
    return (
        np.concatenate((a, b), axis=1).sum(axis=1),
        np.concatenate((a, b), axis=1).sum(axis=0),
        np.vstack((a, a * 2.0)) - 1.0,
        np.hstack((a, b)) * 3.0,
        padded[:-2, 1:-1] + padded[2:, 1:-1] - padded[1:-1, :-2] * padded[1:-1, 2:],
        clipped[:-2, 1:-1] + clipped[2:, 1:-1] - clipped[1:-1, :-2] * clipped[1:-1, 2:],
        (np.pad(a, ((2, 1), (0, 3)), constant_values=2.0) ** 2).sum(),
        np.concatenate((a, b), axis=1).T * 2.0,
    )


@jit
def of_insides(a, k):
    out = np.zeros_like(a)
    out[1:-1, k:] = a[1:-1, k:] * 2.0 - a[:-2, k:]
    over = np.full(a.shape, 3.0)
    over[:k] = a[:k]
    over[:, 0] = 1.0
    over[-1, -1] = 7.0
    return np.abs(out).sum(), over.sum(axis=0), over.T + 1.0, (out + over)[::2].max(initial=0.0)


@jit
def of_changes(x, y):
    """Pieces whose sources change before they are read, and arrays that are read in between."""
    joined = np.concatenate((x, y))
    x[:] = 0.0
    total = joined.sum()
    out = np.zeros(x.size + 1)
    out[1:] = y[: x.size] if y.size >= x.size else x
    y[:] = 1.0
    first = out.sum()
    out[0] = 4.0
    return total, first, out.sum(), x.sum() + y.sum()


def check(function, arguments, target):
    ours, theirs = (
        [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)
    )
    wanted = function(*theirs, target="python")
    got = function(*ours, target=target)
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
        assert np.asarray(g).dtype == np.asarray(w).dtype
    for g, w in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(g, w)


SIZES = [(0, 0), (1, 0), (1, 1), (2, 3), (3, 2), (5, 1), (64, 65), (300, 7)]


@pytest.mark.sampled(2, "n", "m", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_vectors(n, m, target):
    rng = np.random.default_rng(n + m)
    x, y = rng.random(max(n, 1)), rng.random(max(m, 1))
    check(of_vectors, (x, y), target)
    check(of_changes, (x, y), target)
    check(of_slopes, (rng.random(n + 2),), target)


@pytest.mark.sampled(2, "n", "m", "order", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (2, 2), (3, 9), (33, 70)])
def test_matrices(n, m, order, target):
    rng = np.random.default_rng(n * m)
    a, b = (np.array(rng.random((n, m)), order=order) for _ in "ab")
    check(of_matrices, (a, b), target)
    for k in {0, 1, n - 1, n, m}:
        check(of_insides, (a, min(k, n, m)), target)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=2), st.integers(0, 2**32 - 1))
def test_any_lengths(lengths, seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.random(n + 1) for n in lengths)
    for target in ("serial", "parallel"):
        check(of_vectors, (x, y), target)


def test_one_core_and_all_give_the_same_bits():
    rng = np.random.default_rng(5)
    x, y = rng.random(70_000), rng.random(50_001)
    for one, all_of_them in zip(
        of_vectors(x, y, target="serial"), of_vectors(x, y, target="parallel"), strict=True
    ):
        np.testing.assert_array_equal(one, all_of_them)
