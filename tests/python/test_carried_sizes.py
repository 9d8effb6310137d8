"""Arrays that loops make anew from themselves: as large as they were, larger, or smaller.

The compiler takes their sizes to stay what they are where each step seems to keep them. What may
show that they do not: slices that are cut short, one row that is repeated, and errors of it.
"""

import re

import numpy as np
import pytest
from agreement import REDUCED, check_agreement

from parakeet import jit

R = np.random.default_rng(8)


def shortest_paths(d):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
    return d


def joined_ends(u, steps):
    for _ in range(steps):
        u = np.concatenate((u[:1], 0.5 * (u[:-2] + u[2:]), u[-1:]))
    return u


def padded(u, steps):
    for _ in range(steps):
        u = np.pad(0.5 * (u[:-2] + u[2:]), 1)
    return u


def turned(a, steps):
    for _ in range(steps):
        a = np.hstack((a[:, 1:], a[:, :1]))
    return a


def scaled_by_rows(a, b, steps):
    for k in range(steps):
        a = a * b[k:k + 1] + a[k:k + 1, :]
    return a


def arithmetic_and_geometric(x, y, steps):
    for _ in range(steps):
        x, y = (x + y) * 0.5, np.sqrt(np.abs(x * y))
    return x, y


def until_settled(u, most):
    change = most + 1.0
    while change > most:
        nearer = np.concatenate((u[:1], 0.5 * (u[:-2] + u[2:]), u[-1:]))
        change = np.abs(nearer - u).max()
        u = nearer
    return u


def nested(d, steps):
    for _ in range(steps):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
        d = d - d[:1, :] * 0.25
    return d


def shrinking(x, steps):
    for _ in range(steps):
        x = x[1:] + x[:-1]
    return x


def growing(x, steps):
    for _ in range(steps):
        x = np.concatenate((x, x[-1:] + 1))
    return x


def stored_meanwhile(d, seen):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
        seen[k] += 1
    return d


KEPT = {
    shortest_paths: [(R.random((9, 9)),), (R.random((5, 9)),)],
    joined_ends: [(R.random(40), 5)],
    padded: [(R.random(40), 5)],
    turned: [(R.random((3, 7)), 4)],
    scaled_by_rows: [(R.random((6, 5)), R.random(8), 4)],
    arithmetic_and_geometric: [(R.random(33), R.random(33), 4)],
    until_settled: [(R.random(20), 0.01)],
    nested: [(R.random((7, 7)), 2)],
}
# Where the sizes change, a slice is cut short, or what is broadcast raises.
CHANGED = {
    shortest_paths: [(R.random((9, 5)),), (R.random((1, 4)),), (R.random((4, 1)),),
                     (R.random((1, 1)),), (R.random((0, 3)),), (R.random((3, 0)),)],
    joined_ends: [(R.random(2), 3), (R.random(1), 3), (R.random(0), 3), (R.random(3), 0)],
    padded: [(R.random(2), 3), (R.random(1), 3), (R.random(0), 2)],
    turned: [(R.random((3, 1)), 2), (R.random((3, 0)), 2)],
    scaled_by_rows: [(R.random((3, 5)), R.random(8), 4), (R.random((6, 5)), R.random(3), 5),
                     (R.random((6, 1)), R.random(5), 3), (R.random((1, 5)), R.random(5), 3)],
    arithmetic_and_geometric: [(R.random(33), R.random(1), 3), (R.random(1), R.random(5), 3),
                               (R.random(4), R.random(5), 3), (R.random(4), R.random(5), 0)],
    until_settled: [(R.random(2), 0.01)],
    nested: [(R.random((1, 4)), 2), (R.random((4, 3)), 2)],
    shrinking: [(R.random(20), 4), (R.random(3), 5)],
    growing: [(R.random(4), 3), (R.random(0), 2)],
    stored_meanwhile: [(R.random((9, 9)), np.zeros(9)), (R.random((4, 3)), np.zeros(4))],
}


def cases(table):
    return [pytest.param(program, arguments, id=f"{program.__name__}-{number}")
            for program, rows in table.items() for number, arguments in enumerate(rows)]


def check(program, arguments):
    compiled = jit(program)
    for _ in range(2):
        check_agreement(compiled, program,
                        lambda: tuple(np.copy(a) if isinstance(a, np.ndarray) else a
                                      for a in arguments), REDUCED)


@pytest.mark.parametrize("program, arguments", cases(KEPT))
def test_sizes_that_stay(program, arguments):
    check(program, arguments)
    text = str(jit(program).ir(*arguments, target="serial", stage="lower-to-loops"))
    for carried in re.findall(r"= (?:for|while) .*\((.*)\) \{", text):
        assert not re.search(r"%[a-z]_n[.\d]*: i64 = ", carried), carried


@pytest.mark.parametrize("program, arguments", cases(CHANGED))
def test_sizes_that_change(program, arguments):
    check(program, arguments)


def test_one_function_sees_both():
    """Code for sizes that stay is not what runs where they do not, and the other way around."""
    compiled = jit(shortest_paths)
    for shape in [(9, 9), (9, 5), (4, 1), (7, 8), (1, 6), (9, 5), (6, 6)]:
        d = R.random(shape)
        check_agreement(compiled, shortest_paths, lambda: (d.copy(),))


def grown(buf):
    wider = np.empty(2 * len(buf))
    wider[:len(buf)] = buf
    return wider


def all_kept(x):
    buf, n = np.empty(2), 0
    for v in x:
        if n == len(buf):
            buf = grown(buf)
        buf[n] = v
        n += 1
    return buf[:n]


def kept_beside_the_one_before(x):
    buf, n, before = np.empty(2), 0, 0.0
    for i in range(len(x)):
        v = x[i] + before + (x[i - 1] if i > 0 else 0)
        before = x[i]
        if n == len(buf):
            buf = grown(buf)
        buf[n] = v
        n += 1
    return buf[:n]


def kept_three_times(x):
    buf, n = np.empty(2), 0
    for v in x:
        for k in range(3):
            if n == len(buf):
                buf = grown(buf)
            buf[n] = v + k
            n += 1
    return buf[:n]


def kept_from_the_end(x):
    buf, n, i = np.empty(2), 0, len(x) - 1
    while i >= 0:
        if n == len(buf):
            buf = grown(buf)
        buf[n] = x[i]
        n += 1
        i -= 2
    return buf[:n]


def kept_from_the_first_on(x):
    n = 0
    for v in x:
        if n == 0:
            buf = np.empty(2)
        elif n == len(buf):
            buf = grown(buf)
        buf[n] = v
        n += 1
    return buf[n - 1], buf[:n].sum()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 40])
@pytest.mark.parametrize("f", [all_kept, kept_beside_the_one_before, kept_three_times,
                               kept_from_the_end, kept_from_the_first_on],
                         ids=lambda f: f.__name__)
def test_room_that_doubles(f, n):
    """A loop's array has a size that it carries too; so have those of its copies."""
    check_agreement(jit(f), f, lambda: (np.arange(float(n)),))
