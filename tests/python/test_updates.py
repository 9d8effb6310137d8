"""Updates in place, statement by statement, are one traversal, with NumPy's answers."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit

RANDOM = np.random.default_rng(11)


def adam(w, g, m, v):
    m *= 0.9
    m += 0.1 * g
    v *= 0.99
    v += 0.01 * g * g
    w -= 0.001 * m / (np.sqrt(v) + 1e-8)


def chain(w, g, m, v):
    y = w * 2.0
    y += g
    np.clip(y, 0.1, 0.9, out=y)
    y *= m
    y[:] = np.sqrt(y)
    return y


def update_then_map(w, g, m, v):
    w += g
    doubled = w * 2.0
    w *= m
    return doubled, w - v


def in_between(w, g, m, v):
    w += 1.0
    total = w.sum()
    w *= total
    first = w[0]
    w -= first
    return total, first


def neighbours(w, g, m, v):
    w[1:] += g[:-1]
    w[:-1] += w[1:]
    w[1:-1] *= 0.5
    w[1:-1] -= g[1:-1]
    g[:] = w[::-1]
    g += w


def branches(w, g, m, v):
    w += g
    for i in range(len(w)):
        if w[i] > 1.0:
            w[i] = m[i]
            if m[i] > 0.5:
                v[i] = w[i]
    w *= 2.0
    v += w
    for i in range(len(w)):
        w[i] = w[i] + 1.0
        v[i] = w[i] - v[i]
        w[i] = v[i] * 0.5


def swapped(w, g, m, v):
    t = w.copy()
    w[:] = g
    g[:] = t
    w += g
    g -= w
    return t


def one_element(w, g, m, v):
    w *= 2.0
    w[3] = 7.0
    w += g
    g[2] += w[3]
    g *= w


def masked(w, g, m, v):
    w += g
    w[w > 1.0] = 0.0
    w *= m
    v[:] = np.where(w > 0.1, w, v)
    v += w


def counted(w, g, m, v):
    for _ in range(5):
        m *= 0.5
        m += g
        w -= m
    return w.sum()


PROGRAMS = (adam, chain, update_then_map, in_between, neighbours, branches, swapped, one_element,
            masked, counted)  # fmt: skip
ONE_TRAVERSAL = (adam, chain, update_then_map)


def arguments(size=40):
    return [RANDOM.random(size) for _ in range(4)]


def agree(program, given, target):
    copies = [x.copy() for x in given]
    result, expected = jit(program)(*given, target=target), program(*copies)
    mine = result if isinstance(result, tuple) else (result,)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for one, other in zip([*given, *mine], [*copies, *wanted], strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_updates_are_those_of_numpy(program, target):
    agree(program, arguments(), target)


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_array_under_two_names(program):
    x, _, m, v = arguments()
    copies = x.copy(), m.copy(), v.copy()
    given = x, m, v
    jit(program)(x, x, m, v, target="serial")
    expected, w, u = copies
    program(expected, expected, w, u)
    for one, other in zip(given, copies, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
def test_parts_of_one_array_that_overlap(program):
    buffer = RANDOM.random(60)
    copy, (_, _, m, v) = buffer.copy(), arguments()
    w, u = m.copy(), v.copy()
    jit(program)(buffer[:40], buffer[5:45], m, v, target="parallel")
    program(copy[:40], copy[5:45], w, u)
    for one, other in ((buffer, copy), (m, w), (v, u)):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("order", "CF")
def test_matrices(order):
    def program(a, b):
        a *= 2.0
        a += b
        a -= a.mean()
        b[:, 1:] += a[:, :-1]
        b *= a
        b += b.T.copy()
        return a * b

    a, b = (np.asarray(RANDOM.random((9, 9)), order=order) for _ in range(2))
    copies = a.copy(order="K"), b.copy(order="K")
    result = jit(program)(a, b, target="serial")
    np.testing.assert_allclose(result, program(*copies), rtol=1e-12)
    np.testing.assert_allclose(a, copies[0], rtol=1e-12)
    np.testing.assert_allclose(b, copies[1], rtol=1e-12)


@pytest.mark.parametrize("program", ONE_TRAVERSAL)
def test_it_is_one_traversal(program):
    report = jit(program).explain(*arguments(), target="serial")
    assert report.traversals == 1, str(report)


def test_a_failure_shows_what_was_stored_before_it():
    def program(x, y):
        x += 1.0
        for i in range(len(y)):
            if y[i] < 0.0:
                raise ValueError("negative")
            y[i] = np.sqrt(y[i])
        x *= 2.0

    x, y = np.ones(5), np.array([4.0, 9.0, -1.0, 16.0])
    with pytest.raises(ValueError, match="negative"):
        jit(program)(x, y, target="serial")
    np.testing.assert_array_equal(x, np.full(5, 2.0))
    np.testing.assert_array_equal(y, [2.0, 3.0, -1.0, 16.0])
