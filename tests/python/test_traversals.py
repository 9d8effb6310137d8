"""How often expressions go through memory: traversals and temporary arrays, counted not timed."""

import numpy as np
import pytest

from parakeet import jit

V = np.linspace(0.1, 1.0, 5000)
W = V[::-1].copy()
M = np.linspace(0.1, 1.0, 60 * 70).reshape(60, 70)
N = np.ascontiguousarray(M[:, ::-1])
S = np.linspace(0.1, 1.0, 64 * 64).reshape(64, 64)
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
        lambda a: np.roll(a, 1, axis=0) + np.roll(a, -1, axis=1) - 2.0 * a, (M,),
        3, 0),  # Before, between and behind the borders: together they go through memory once.
    "sum of a chain": (lambda x, y: ((x - y) ** 2).sum(), (V, W), 1, 0),
    "dot": (lambda x, y: np.dot(x * 2.0, y + 1.0), (V, W), 1, 0),
    "norm": (lambda x: np.sqrt((x * x).sum()), (V,), 1, 0),
    "two means": (lambda x: (x.mean(), (x * x).mean()), (V,), 1, 0),
    "extremes": (lambda x: (x.min(), x.max(), x.mean()), (V,), 2, 0),  # the second may raise
    "variance": (lambda x: x.var(), (V,), 1, 0),
    "correlation": (lambda x, y: ((x - x.mean()) * (y - y.mean())).mean(), (V, W), 1, 0),
    "regression": (lambda x, y: _slope(x, y), (V, W), 1, 0),
    "sums of rows": (lambda a: (a * 2.0).sum(axis=1), (M,), 1, 0),
    "sums of columns": (lambda a: (a * 2.0).sum(axis=0), (M,), 1, 0),
    "softmax": (lambda a: _softmax(a), (M,), 1, 0),
    "layer norm": (lambda a: _layer_norm(a), (M,), 1, 0),
    "rows of length one": (lambda a: a / np.sqrt((a * a).sum(axis=1))[:, None], (M,), 1, 0),
    "running sum of a chain": (lambda x: np.cumsum(x * 2.0), (V,), 1, 0),
    "sum under a mask": (lambda x, m: x[m].sum(), (V, MASK), 1, 0),
    "mean under a mask": (lambda x, y, m: (x[m] * y[m]).mean(), (V, W, MASK), 1, 0),
    "count": (lambda x: np.count_nonzero(x > 0.5), (V,), 1, 0),
    "product with what follows": (lambda a, b: np.tanh(a @ b.T + 1.0), (M, N), 1, 0),
    "iterated where": (lambda x: _iterated(x), (V,), 1, 0),
    "fill and add": (lambda x: np.zeros(x.shape) + np.arange(x.size) * x, (V,), 1, 0),
}


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
