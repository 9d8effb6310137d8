"""Places in order, bins of one width, Kronecker products beside indexes, pads of pads, blocks.

They give what NumPy gives on every target: interpolation at places in any order, at special
numbers, of complex values, and at a single point; bins whose edges are asked where arithmetic is
not sure; axes that are taken apart beside what uses the index itself; stencils one behind the
other; and loops over blocks of a known length, which carry what they like within a block.
"""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit

RNG = np.random.default_rng(54)


@jit
def interpolate(x, xp, fp):
    return np.interp(x, xp, fp)


@jit
def interpolate_between(x, xp, fp):
    return np.interp(x, xp, fp, left=-5.0, right=9.0)


def same(a, b):
    """Bit for bit, but for what nan is made of."""
    assert a.dtype == b.dtype and a.shape == b.shape
    assert np.array_equal(a, b, equal_nan=True)
    if a.dtype.kind == "f":
        assert np.array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


POINTS = [
    np.arange(20.0),
    np.sort(RNG.random(300) * 20),
    np.array([1.0]),
    np.array([0.0, 0.0, 1.0, 1.0, 1.0, 5.0]),
    np.array([-np.inf, 1.0, 3.0, 1e308, np.inf]),
]
PLACES = [
    np.linspace(-1, 21, 10000),
    RNG.random(5000) * 22 - 1,
    np.array([-np.inf, -0.0, 0.0, 1.0, 1.0, 3.0, np.inf]),
    np.array([0.5, np.nan, 1.0, 3.0]),
    np.array([np.nan]),
    np.zeros(0),
    np.sort(RNG.random((20, 30)) * 22, axis=None).reshape(20, 30),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("k", range(len(POINTS)))
def test_interpolation(k, target):
    xp = POINTS[k]
    for fp in (RNG.normal(size=len(xp)), np.where(np.arange(len(xp)) % 3, 2.0, -np.inf),
               RNG.normal(size=len(xp)) + 1j * RNG.normal(size=len(xp))):
        for x in PLACES:
            same(interpolate(x, xp, fp, target=target), np.interp(x, xp, fp))
            same(interpolate_between(x, xp, fp, target=target),
                 np.interp(x, xp, fp, left=-5.0, right=9.0))


@jit
def counts(x, bins):
    return np.histogram(x, bins)[0]


@jit
def counts_within(x, bins, lo, hi):
    return np.histogram(x, bins=bins, range=(lo, hi))[0]


@pytest.mark.parametrize("target", TARGETS)
def test_bins_of_one_width(target):
    normal = RNG.normal(size=40000)
    edges = np.repeat(np.linspace(-1, 2, 38), 3)
    special = np.concatenate((normal[:50], [np.nan, np.inf, -np.inf, 1e300, -1e300, -0.0]))
    for x in (normal, edges, np.arange(100), normal.astype(np.float32), np.full(9, 3.0)):
        for bins in (1, 7, 37, 111):
            same(counts(x, bins, target=target), np.histogram(x, bins)[0])
    for x in (normal, edges, special):
        same(counts_within(x, 37, -1.0, 2.0, target=target),
             np.histogram(x, bins=37, range=(-1.0, 2.0))[0])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("target", TARGETS)
def test_bins_of_values_at_and_beside_the_edges(target, dtype):
    """Where a bin is narrow beside its place, or beside the least number, as well."""
    rng = np.random.default_rng(8)
    tiny = np.finfo(dtype).tiny * np.finfo(dtype).eps
    for bins in (1, 7, 50):
        for first, last in ((-1, 1), (0.1, 0.7), (1000, 1000.5), (-3e5, 1), (0, 40)):
            edges = np.linspace(first, last, bins + 1).astype(dtype)
            beside = [np.nextafter(edges, np.array(to, dtype)) for to in (first, last)]
            x = np.concatenate([edges, *beside, rng.uniform(first, last, 100).astype(dtype)])
            same(counts(x, bins, target=target), np.histogram(x, bins)[0])
    x = rng.integers(0, 4000, 200).astype(dtype) * tiny
    same(counts(x, 9, target=target), np.histogram(x, 9)[0])


@jit
def kron_and_eye(a, b):
    return np.kron(a, b) + np.eye(a.shape[0] * b.shape[0])


@jit
def kron_and_row(a, b, v):
    return np.kron(a, b) * v + np.arange(v.shape[0])


@pytest.mark.parametrize("target", TARGETS)
def test_axes_that_are_taken_apart(target):
    for n, m in ((1, 1), (3, 5), (9, 8), (8, 30)):
        a, b = RNG.normal(size=(n, n)), RNG.normal(size=(m, m))
        same(kron_and_eye(a, b, target=target), np.kron(a, b) + np.eye(n * m))
        c, d = RNG.normal(size=(n, m)), RNG.normal(size=(m, 11))
        v = RNG.normal(size=m * 11)
        same(kron_and_row(c, d, v, target=target), np.kron(c, d) * v + np.arange(m * 11))


@jit
def opened(m):
    p = np.pad(m, 1)
    e = p[:-2, 1:-1] & p[2:, 1:-1] & p[1:-1, :-2] & p[1:-1, 2:] & m
    q = np.pad(e, 1)
    return q[:-2, 1:-1] | q[2:, 1:-1] | q[1:-1, :-2] | q[1:-1, 2:] | e


@jit
def smoothed(a):
    p = np.pad(a, 1, mode="edge")
    b = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) * 0.25
    q = np.pad(b, 1, mode="edge")
    return (q[:-2, 1:-1] + q[2:, 1:-1] + q[1:-1, :-2] + q[1:-1, 2:]) * 0.25


@pytest.mark.parametrize("target", TARGETS)
def test_pads_of_pads(target):
    for shape in ((1, 1), (1, 9), (2, 3), (3, 2), (4, 5), (33, 70)):
        a = RNG.random(shape)
        same(opened(a > 0.2, target=target), opened(a > 0.2, target="python"))
        same(smoothed(a, target=target), smoothed(a, target="python"))


def by_step(x, b):
    out = np.zeros(x.shape[0])
    for begin in range(0, x.shape[0], 64):
        s = 0.0
        for i in range(begin, min(begin + 64, x.shape[0])):
            s = s * 0.5 + x[i]
            out[i] = s
    return out


def by_number(x, b):
    out = np.zeros(x.shape[0])
    for k in range((x.shape[0] + 63) // 64):
        s = 0.0
        for i in range(k * 64, min(k * 64 + 64, x.shape[0])):
            s = s * 0.5 + x[i]
            out[i] = s
    return out


def by_place(x, b):
    out = np.zeros(x.shape[0])
    for begin in range(0, x.shape[0], 64):
        s = 0.0
        for k in range(min(64, x.shape[0] - begin)):
            s = s * 0.5 + x[begin + k]
            out[begin + k] = s
    return out


def that_overlap(x, b):
    """Each block reads on in the first element of the next one, which that has stored."""
    out = np.zeros(x.shape[0])
    for begin in range(0, x.shape[0], 64):
        s = 0.0
        for i in range(begin, min(begin + 65, x.shape[0])):
            s = s * 0.5 + x[i] + out[i]
            out[i] = s
    return out


PROGRAMS = [by_step, by_number, by_place, that_overlap]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_blocks_of_a_known_length(program, target):
    compiled = jit(program)
    for n in (0, 1, 63, 64, 65, 1000):
        x = RNG.normal(size=n)
        same(compiled(x, 64, target=target), program(x, 64))


def test_blocks_are_shared_by_threads():
    x = RNG.normal(size=1000)
    for program in PROGRAMS:
        report = str(jit(program).explain(x, 64, target="parallel"))
        assert ("may be touched at one place" in report) == (program is that_overlap), report
