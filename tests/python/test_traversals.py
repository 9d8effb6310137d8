"""How often expressions go through memory: traversals and temporary arrays, counted not timed."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

V = np.linspace(0.1, 1.0, 5000)
W = V[::-1].copy()
M = np.linspace(0.1, 1.0, 60 * 70).reshape(60, 70)
N = np.ascontiguousarray(M[:, ::-1])
S = np.linspace(0.1, 1.0, 64 * 64).reshape(64, 64)
B = np.linspace(0.1, 1.0, 20 * 30 * 40).reshape(20, 30, 40)
MASK = V > 0.5

# What is computed, of what; traversals and temporary arrays at most.
COUNTS = {
    "chain": (lambda x, y: x * y + x - y / (x + 1.5), (V, W), 1, 0),
    "transcendentals": (lambda x, y: np.tanh(x * 2.0) + np.exp(y) * np.sin(x), (V, W), 1, 0),
    "where": (lambda x, y: np.where(x > y, x * 2.0, y - 1.0), (V, W), 1, 0),
    "clip and scale": (lambda x: np.clip(x, 0.2, 0.8) * 3.0 + 1.0, (V,), 1, 0),
    "of a transpose": (lambda a: a.T * 2.0 + 1.0, (M,), 1, 0),
    "of slices": (lambda x: x[1:] - x[:-1], (V,), 1, 0),
    "second differences": (lambda x: np.diff(np.diff(x)), (V,), 1, 0),
    "stencil of a stencil": (lambda a: _laplace(_laplace(a)), (S,), 1, 0),
    "broadcast": (lambda a, b: a + b[:, None] * a[0], (M, M[:, 0].copy()), 1, 0),
    "reversed and strided": (lambda x: x[::-2] * 0.5 + x[::2], (V,), 1, 0),
    "concatenation of a chain": (lambda x: (x * 2.0).reshape(50, 100).ravel() + 1.0, (V,), 1, 0),
    "rolled neighbours": (
        lambda a: np.roll(a, 1, axis=0) + np.roll(a, -1, axis=1) - 2.0 * a, (M,), 1, 0),
    "sum of a chain": (lambda x, y: ((x - y) ** 2).sum(), (V, W), 1, 0),
    "dot": (lambda x, y: np.dot(x * 2.0, y + 1.0), (V, W), 1, 0),
    "norm": (lambda x: np.sqrt((x * x).sum()), (V,), 1, 0),
    "two means": (lambda x: (x.mean(), (x * x).mean()), (V,), 1, 0),
    "extremes": (lambda x: (x.min(), x.max(), x.sum(), x.mean()), (V,), 1, 0),
    "sum, then an extreme": (lambda x, y: (x.sum(), (x * y).sum(), y.max()), (V, W), 1, 0),
    "weighted average": (lambda x, w: np.average(x, weights=w), (V, W), 1, 0),
    "extremes of columns": (lambda a: (a.max(axis=0), a.min(axis=0)), (M,), 1, 0),
    "mean and spread of rows": (lambda a: (a.mean(axis=1), a.std(axis=1)), (M,), 1, 0),
    "sums of all and of columns": (lambda a: (a.sum(), a.sum(axis=0)), (M,), 1, 1),
    "sums along each axis and of all": (
        lambda a: (a.sum(axis=0), a.max(axis=1), a.mean()), (M,), 1, 1),
    "mean of all and extremes of rows": (lambda a: (a.mean(), a.max(axis=1)), (M,), 1, 1),
    "functions and their sum": (lambda x: _made_and_summed(np.exp(x)), (V,), 1, 1),
    "a matrix and its largest": (lambda a: _made_and_summed(np.abs(a)), (M,), 1, 1),
    "range": (lambda x: np.ptp(x), (V,), 1, 0),
    "variance": (lambda x: x.var(), (V,), 1, 0),
    "correlation": (lambda x, y: ((x - x.mean()) * (y - y.mean())).mean(), (V, W), 1, 0),
    "regression": (lambda x, y: _slope(x, y), (V, W), 1, 0),
    "sums of rows": (lambda a: (a * 2.0).sum(axis=1), (M,), 1, 0),
    "sums of columns": (lambda a: (a * 2.0).sum(axis=0), (M,), 1, 0),
    "softmax": (lambda a: _softmax(a), (M,), 1, 0),
    "layer norm": (lambda a: _layer_norm(a), (M,), 1, 0),
    "rows of length one": (lambda a: a / np.sqrt((a * a).sum(axis=1))[:, None], (M,), 1, 0),
    "running sum of a chain": (lambda x: np.cumsum(x * 2.0), (V,), 1, 0),
    "chain of a running sum": (lambda x: np.cumsum(x) / np.arange(1, x.size + 1), (V,), 1, 0),
    "running sums of rows": (lambda a: np.cumsum(a, axis=1) * 2.0, (M,), 1, 0),
    "sum under a mask": (lambda x, m: x[m].sum(), (V, MASK), 1, 0),
    "mean under a mask": (lambda x, y, m: (x[m] * y[m]).mean(), (V, W, MASK), 1, 0),
    "chain under a mask": (lambda x, m: x[m] * 2.0 + 1.0, (V, MASK), 1, 0),
    "two under a mask": (lambda x, y, m: x[m] - y[m], (V, W, MASK), 1, 0),
    "matrix under a mask": (lambda a: a[a > 0.5] * 2.0 + 1.0, (M,), 1, 0),
    "largest under a mask": (lambda x, m: x[m].max(), (V, MASK), 1, 0),
    "functions under a mask": (lambda x: np.exp(x[x > 0.5]).sum(), (V,), 1, 0),
    "function of what is kept": (lambda x, m: np.exp(x[m]), (V, MASK), 2, 0),  # in its place
    "count": (lambda x: np.count_nonzero(x > 0.5), (V,), 1, 0),
    # Two of them for few rows: functions of what is summed take lanes.
    "product with what follows": (lambda a, b: np.tanh(a @ b.T + 1.0), (M, N), 1, 0),
    "iterated where": (lambda x: _iterated(x), (V,), 1, 0),
    "fill and add": (lambda x: np.zeros(x.shape) + np.arange(x.size) * x, (V,), 1, 0),
    "joined and summed": (lambda x, y: np.concatenate((x, y)).sum(), (V, W), 1, 0),
    "chain of joined": (lambda x, y: np.concatenate((x, y)) * 2.0 + 1.0, (V, W), 1, 0),
    "differences of joined": (lambda x, y: np.diff(np.concatenate((x, y))), (V, W), 1, 0),
    "joined along rows": (lambda a, b: np.concatenate((a, b), axis=1).sum(axis=1), (M, N), 1, 0),
    "mean of a stack": (lambda x, y: np.stack((x, y, x)).mean(axis=0), (V, W), 1, 0),
    "rows under rows": (lambda a, b: np.vstack((a, b)) * 2.0, (M, N), 1, 0),
    "padded and cut": (lambda x: np.pad(x, 1)[1:-1] * 2.0, (V,), 1, 0),
    "neighbours of padded": (lambda a: _laplace(np.pad(a, 1)), (M,), 1, 0),
    "edges repeated": (lambda x: _smooth(np.pad(x, 1, mode="edge")), (V,), 1, 0),
    "edges reflected": (lambda a: _laplace(np.pad(a, 1, mode="reflect")), (M,), 1, 0),
    "edges wrapped": (lambda a: _laplace(np.pad(a, 1, mode="wrap")), (M,), 1, 0),
    "edges of three axes": (lambda a: _thick(np.pad(a, 1, mode="reflect")), (B,), 1, 0),
    "window of reflected": (lambda a: _window(np.pad(a, 1, mode="symmetric")), (M,), 1, 0),
    "running sum of joined": (lambda x, y: np.cumsum(np.concatenate((x, y))), (V, W), 3, 0),
    "running sum under a mask": (lambda x, m: np.cumsum(x[m]), (V, MASK), 2, 0),
    "without nan": (lambda x: (np.nanmean(x), np.nanmax(x), np.nanmin(x)), (V,), 1, 0),
    "sorted rows": (lambda a: np.sort(a, axis=1), (M,), 1, 0),
    "ramps at the ends": (lambda x: np.pad(x, 5, mode="linear_ramp").sum(), (V,), 1, 0),
    "size of slopes": (lambda x: (np.gradient(x) ** 2).sum(), (V,), 1, 0),
    "slopes along both axes": (lambda a: _steepness(*np.gradient(a)), (M,), 1, 0),
    "appended": (lambda x: np.diff(np.append(x, 0.0)), (V,), 1, 0),
    "prepended": (lambda x: np.diff(x, prepend=0.0) * 2.0, (V,), 1, 0),
    "inserted": (lambda x: np.insert(x, 3, 1.0) * 2.0, (V,), 1, 0),
    "an inside, then a sum": (lambda a: _sum_of_inside(a), (V,), 1, 0),
    "three loops of an inside": (lambda a: _three_loops(a), (S,), 3, 0),  # and two of borders
}


def _made_and_summed(y):
    return y, y.sum()


def _smooth(x):
    return x[:-2] * 0.25 + x[1:-1] * 0.5 + x[2:] * 0.25


def _thick(a):
    inner = slice(1, -1)
    return a[:-2, inner, inner] + a[inner, 2:, inner] - a[inner, inner, :-2]


def _window(a):
    total = a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:]
    total = total + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:]
    return (total + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]) / 9.0


def _steepness(down, along):
    return np.sqrt(down**2 + along**2)


def _sum_of_inside(a):
    out = np.zeros_like(a)
    out[1:-1] = np.sqrt(a[1:-1]) + a[2:]
    return np.abs(out).sum()


def _three_loops(u):
    n, m = u.shape
    v, w, out = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            w[i, j] = v[i, j] * 0.5 + u[i, j]
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = w[i, j] * w[i, j] - v[i, j]
    return out


def _laplace(a):
    return a[1:-1, 1:-1] * 4.0 - a[:-2, 1:-1] - a[2:, 1:-1] - a[1:-1, :-2] - a[1:-1, 2:]


def _slope(x, y):
    u, v = x - x.mean(), y - y.mean()
    return (u * v).sum() / (u * u).sum()


def _softmax(a):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _layer_norm(a):
    return (a - a.mean(axis=1, keepdims=True)) / np.sqrt(a.var(axis=1, keepdims=True) + 1e-5)


def _iterated(x):
    s = x
    for _ in range(20):
        s = np.where(s < 2.0, s * s + 0.25, s)
    return s


@pytest.mark.parametrize("name", COUNTS)
def test_expressions_go_through_memory_no_more_often(name):
    function, arguments, traversals, temporaries = COUNTS[name]
    report = jit(function).explain(*arguments, target="serial")
    assert (report.traversals, report.temporaries) == (traversals, temporaries), str(report)


def _lives(g):
    m, n = g.shape
    after = np.zeros_like(g)
    for i in range(m):
        for j in range(n):
            around = 0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    around += g[(i + a) % m, (j + b) % n]
            after[i, j] = 1 if around == 3 or (around == 4 and g[i, j] == 1) else 0
    return after


def _fails_behind_a_fill(g):
    after = np.zeros_like(g)
    for i in range(g.shape[0]):
        for j in range(g.shape[1]):
            after[i, j] = g[i, g[i, j]]
    return after


@pytest.mark.parametrize("target", COMPILED)
def test_zeros_that_a_loop_stores_over_are_not_made(target):
    lives, fails = jit(_lives), jit(_fails_behind_a_fill)
    for shape in ((20, 30), (1, 1), (0, 3), (3, 0)):
        g = np.random.default_rng(3).integers(0, 2, shape)
        np.testing.assert_array_equal(lives(g, target=target), _lives(g))
    np.testing.assert_array_equal(fails(g := np.eye(4, dtype=np.int64), target=target),
                                  _fails_behind_a_fill(g))
    with pytest.raises(IndexError):
        fails(g * 9, target=target)


def test_explain_tells_what_is_not_filled():
    told = str(jit(_lives).explain(np.ones((9, 9), np.int64), target="serial"))
    assert "np.zeros_like(g) no code of its own" in " ".join(told.split())
