"""Loops of the user's that become reductions, scans and vectors: the same answers as in Python.

What explain says of each is asserted too, since a loop that stays as it is would agree as well.
"""

import numpy as np
import pytest
from agreement import EXACT, REDUCED, SCANNED, Tolerance, check_agreement, deep_copies

from parakeet import jit

RANDOM = np.random.default_rng(5)


def some_terms(x, w):
    total, count = 0.5, 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.3:
                total += x[i, j] * w[j]
                count += 1
        total -= x[i, 0]
    return total, count


def correlate(x, w):
    out = np.empty((x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1))
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            total = 0.0
            for i in range(w.shape[0]):
                for j in range(w.shape[1]):
                    total += x[a + i, b + j] * w[i, j]
            out[a, b] = total
    return out


def extremes(x):
    """The first of the largest, the last of the smallest, with what goes with them."""
    most, at, half = np.float64(-np.inf), -1, np.float64(0)
    for i in range(len(x)):
        if x[i] > most:
            most, at, half = x[i], i, x[i] / 2
    least, where = np.float64(7), -1
    for i in range(len(x)):
        if x[i] <= least:
            least, where = x[i], i
    return most, at, half, least, where


def prefixes(x):
    y, up = np.zeros(len(x)), np.zeros(len(x), np.int64)
    total = np.float64(0)
    for i in range(len(x)):
        total += x[i]
        y[i] = total
    best = 0
    for i in range(len(x)):
        best = max(best, int(x[i] * 10))
        up[i] = best
    return y, up, total


def adds_and_stores(x):
    y, total = np.empty_like(x), 0.0
    for i in range(len(x)):
        y[i] = np.sqrt(np.abs(x[i]))
        total += y[i]
        x[i] = 0.0
    return y, total


def escape(z, limit):
    out = np.zeros(len(z), np.int32)
    for i in range(len(z)):
        w, k = z[i], 0
        while k < limit and w.real * w.real + w.imag * w.imag < 4.0:
            w = w * w + z[i]
            k += 1
        out[i] = k
    return out


def chains(start, follows):
    """Lanes leave one by one, look things up, and the check of each is its own."""
    out = np.zeros(len(start), np.int64)
    for i in range(len(start)):
        k, steps = start[i], 0
        while k >= 0 and steps < 50:
            k = follows[k % len(follows)]
            steps += 1 if k % 2 == 0 else 2
        if k > 90:
            raise ValueError(f"chain {i} ends at {k}")
        out[i] = steps
    return out


def attraction(p, m):
    out = np.zeros(len(p))
    for i in range(len(p)):
        total = 0.0
        for j in range(len(p)):
            d = p[j, 0] - p[i, 0]
            total += d * m[j] / (d * d + 0.1)
        out[i] = total
    return out


def moving_mean(x, width):
    """Prefixes that are stored elsewhere, and as something else."""
    out = np.empty(len(x) - width + 1)
    total = 0.0
    for i in range(width):
        total += x[i]
    out[0] = total / width
    for i in range(width, len(x)):
        total += x[i] - x[i - width]
        out[i - width + 1] = total / width
    return out, total


def eliminates(a):
    """Rows behind the pivot's are apart from it, and columns from its column."""
    a = a.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def backwards(a):
    """Each element is made of what is behind it, or before it: places that meet."""
    for i in range(len(a) - 2, -1, -1):
        for j in range(i, len(a)):
            a[i, j] += a[i + 1, j] * a[j, i]
    return a


def multiplies(a, b):
    c = np.ones((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def multiplies_by_rows(a, b):
    c = np.ones((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def multiplies_by_layers(a, b):
    c = np.ones((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] -= a[i, k] * b[k, j]
    return c


def adds_up_rows(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i] += a[i, k] * b[k]
    return c


def adds_up_layers(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        c += np.outer(a[:, k], b[k])
    return c


def fills_rows_with_products(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        c[i] = a[i] @ b
    return c


def flags(x):
    """Set and taken back in branches."""
    some, all_small = False, True
    for i in range(len(x)):
        if x[i] > 1.5:
            some = True
        if x[i] > 2.5:
            all_small = False
    return some, all_small


PRODUCTS = [multiplies, multiplies_by_rows, multiplies_by_layers, adds_up_rows, adds_up_layers,
            fills_rows_with_products]


def counts_in_branches(x, bins):
    """Elements of one row, of which branches store some; a row without bins raises."""
    for i in range(len(x)):
        for k in range(x.shape[1]):
            if x[i, k] > 0.5:
                bins[i, 0] += 1
                if x[i, k] > 0.8:
                    bins[i, 1] = max(bins[i, 1], bins[i, 0])
            elif x[i, k] > 0.2:
                bins[i, 2] -= bins[i, 1]
    return bins[0, 0]


def forces(p):
    f = np.zeros_like(p)
    energy = 0.25
    for i in range(len(p)):
        for j in range(len(p)):
            if i != j:
                d = p[i, 0] - p[j, 0]
                e = p[i, 1] - p[j, 1]
                near = 1.0 / (d * d + e * e + 0.1)
                energy += near
                f[i, 0] += near * d
                f[i, 1] += near * e
    return f, energy


def distances(p):
    """The two triangles of a matrix, each element stored at both of its places."""
    d = np.zeros((len(p), len(p)))
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            square = 0.0
            for k in range(p.shape[1]):
                square += (p[i, k] - p[j, k]) ** 2
            d[i, j] = np.sqrt(square)
            d[j, i] = d[i, j]
    return d


def covariances(x):
    """The same by slices, with the diagonal."""
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        c[i:, i] = c[i, i:] = x[:, i] @ x[:, i:]
    return c


def overlapping_triangles(a):
    """Triangles that meet beside the diagonal: the later iteration's store holds."""
    for i in range(1, len(a)):
        for j in range(i, len(a)):
            a[i, j] = 10.0 * i + j
            a[j - 1, i] = -a[i, j]
    return a


def chessboard(u, sweeps):
    for colour in range(2 * sweeps):
        for i in range(1, len(u) - 1):
            for j in range(1 + (i + colour) % 2, u.shape[1] - 1, 2):
                u[i, j] = u[i - 1, j] + u[i + 1, j] - u[i, j - 1] - u[i, j + 1] * 0.5
    return u


def other_half_of_rows(u):
    for i in range(1, len(u) - 1, 2):
        for j in range((i & 1) - 1, u.shape[1]):
            u[i, j] = u[i - 1, j] + u[i + 1, j]
    return u


def one_colour_alone(u):
    for i in range(1, len(u)):
        for j in range(1 + i % 2, u.shape[1], 2):
            u[i, j] = u[i - 1, j - 1] + 1.0
    return u


def three_colours(u):
    for i in range(1, len(u)):
        for j in range(1 + i % 3, u.shape[1], 3):
            u[i, j] = u[i - 1, j] + 1.0
    return u


def option(v, p):
    """Each element of what stands behind it, in place: a tree of fewer and fewer."""
    for last in range(len(v) - 1, 0, -1):
        for i in range(last):
            v[i] = 0.99 * (p * v[i + 1] + (1.0 - p) * v[i])
    return v[0]


def moved(v, w):
    """Rows that are moved down and up by one, and by three."""
    for i in range(len(v) - 1):
        v[i] = v[i + 1]
    for i in range(len(w) - 1, 2, -1):
        w[i] = w[i - 3] + w[i]
    for i in range(1, len(v)):
        v[i] = v[i - 1] + w[0]
    return v, w


def rows_ahead(a):
    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i, j + 1] - 0.5 * a[i + 1, j]
    return a


# Terms are of the size of 10, and there are as many as pairs.
PAIRS = Tolerance("sums of pairs combine in another order", ulps=64, of_sum=1024)
ODD = np.array([0.0, -0.0, 2.0, np.nan, -1.0, 2.0, -1.0, np.nan] * 5)
LARGEST = 2**63 - 1


def ends_far_apart(lo, hi):
    """Runs never where the difference of the ends is more than an integer holds."""
    ones = np.zeros(8)
    total, backwards = 0, 0
    for i in range(lo, hi):
        ones[i] = 1.0
    for i in range(lo, hi):
        total += i * 3
    for i in range(hi, lo, -3):
        backwards += i
    return ones, total, backwards


CASES = [
    (some_terms, REDUCED, (RANDOM.random((37, 21)), RANDOM.random(21)),
     (RANDOM.random((1, 1)), RANDOM.random(1))),
    (correlate, REDUCED, (RANDOM.random((20, 70)), RANDOM.random((3, 2))),
     (RANDOM.random((5, 4)), RANDOM.random((5, 1)))),
    (extremes, EXACT, (RANDOM.random(20000),), (ODD,), (ODD[3:4],), (ODD[:0],)),
    (prefixes, SCANNED, (RANDOM.random(9000),), (RANDOM.random(0),)),
    (adds_and_stores, REDUCED, (RANDOM.random(77),), (RANDOM.random(1),)),
    (escape, EXACT, (RANDOM.random(77) - 1j * RANDOM.random(77), 40),
     (RANDOM.random(3) + 0j, 0)),
    (chains, EXACT, (RANDOM.integers(-1, 60, 45), RANDOM.integers(-1, 60, 60)),
     (np.array([1] * 21 + [2] * 9), np.array([-1, -1, 95]))),
    (attraction, REDUCED, (RANDOM.random((45, 3)), RANDOM.random(45)),
     (RANDOM.random((45, 3)), RANDOM.random(40))),
    (moving_mean, PAIRS, (RANDOM.random(5000), 7), (RANDOM.random(9), 9), (RANDOM.random(3), 4),
     (RANDOM.random(40), 1)),
    (eliminates, REDUCED, (RANDOM.random((23, 23)) + 9 * np.eye(23),), (RANDOM.random((1, 1)),),
     (RANDOM.random((3, 0)),), (RANDOM.random((5, 4)) + 3,)),
    (backwards, REDUCED, (RANDOM.random((17, 17)),), (RANDOM.random((4, 6)),)),
    *((product, REDUCED, (RANDOM.random((13, 40)), RANDOM.random((40, 21))),
       (RANDOM.random((3, 0)), RANDOM.random((0, 2))),
       (RANDOM.random((3, 5)), RANDOM.random((4, 2)))) for product in PRODUCTS),
    (counts_in_branches, REDUCED, (RANDOM.random((30, 50)), np.zeros((30, 3))),
     (RANDOM.random((30, 50)), np.zeros((29, 3))), (RANDOM.random((4, 5)), np.zeros((4, 2))),
     (RANDOM.random((4, 0)), np.zeros((0, 3)))),
    (forces, PAIRS, (RANDOM.random((45, 2)),), (RANDOM.random((45, 3)),),
     (RANDOM.random((7, 1)),), (RANDOM.random((1, 1)),)),
    (distances, REDUCED, (RANDOM.random((45, 3)),), (RANDOM.random((1, 2)),)),
    (covariances, REDUCED, (RANDOM.random((30, 45)),), (RANDOM.random((3, 1)),),
     (RANDOM.random((0, 4)),)),
    (chessboard, EXACT, (RANDOM.random((30, 41)), 2), (RANDOM.random((3, 3)), 1),
     (RANDOM.random((2, 5)), 1), (RANDOM.random((4, 0)), 1)),
    (other_half_of_rows, EXACT, (RANDOM.random((31, 20)),), (RANDOM.random((1, 2)),)),
    (one_colour_alone, EXACT, (RANDOM.random((30, 41)),)),
    (three_colours, EXACT, (RANDOM.random((30, 41)),)),
    (option, REDUCED, (RANDOM.random(70), 0.4), (RANDOM.random(1), 0.4), (RANDOM.random(2), 0.4)),
    (moved, REDUCED, (RANDOM.random(40), RANDOM.random(50)), (RANDOM.random(3), RANDOM.random(4)),
     (RANDOM.random(1), RANDOM.random(2))),
    (rows_ahead, REDUCED, (RANDOM.random((12, 40)),), (RANDOM.random((1, 1)),)),
    (flags, EXACT, (RANDOM.random(100) * 3,), (RANDOM.random(100),), (np.full(3, np.nan),),
     (RANDOM.random(0),)),
    (ends_far_apart, EXACT, (LARGEST, -2), (5, -LARGEST - 1), (LARGEST, -LARGEST), (2, 7)),
    (overlapping_triangles, EXACT, (RANDOM.random((17, 17)),), (RANDOM.random((2, 2)),)),
]


@pytest.mark.parametrize("program, tolerance, arguments", [
    pytest.param(program, tolerance, arguments, id=program.__name__)
    for program, tolerance, *arguments in CASES])
def test_agrees(program, tolerance, arguments):
    jitted = jit(program)
    for each in arguments:
        check_agreement(jitted, program, deep_copies(each), tolerance)


@pytest.mark.parametrize("program, says", [
    (some_terms, "made a reduction"),
    (extremes, "made a reduction"),
    (flags, "made a reduction"),
    (prefixes, "made a scan"),
    (adds_and_stores, "made a reduction and a loop that stores"),
    (escape, "parallel, "),
    (attraction, "parallel, "),
    (forces, "made a reduction and a loop that stores"),
    (moving_mean, "made a scan"),
])
def test_explains(program, says):
    arguments = next(case[2] for case in CASES if case[0] is program)
    report = jit(program).explain(*arguments)
    assert says in report
    assert "not parallel" not in report
    (loop,) = [row for row in report.rows if row.own and row.kind == "loop"][:1]
    assert loop.threads == "own" and (loop.lanes > 1 or says.startswith("made"))


def test_what_reads_ahead_is_spread_over_lanes():
    def moved_up(v):
        for i in range(len(v) - 1):
            v[i] = v[i + 1] * 2.0

    report = jit(moved_up).explain(RANDOM.random(40))
    (loop,) = [row for row in report.rows if row.own and row.line == report.rows[0].line]
    assert "not parallel" not in report and loop.lanes > 1


@pytest.mark.parametrize("program", [distances, covariances])
def test_triangles_that_meet_at_the_diagonal_are_independent(program):
    report = jit(program).explain(RANDOM.random((45, 30)))
    assert "not parallel" not in report and "sequential" not in report


@pytest.mark.parametrize("program, arguments, sequential", [
    (chessboard, (RANDOM.random((30, 41)), 2), 1),  # the sweeps
    (other_half_of_rows, (RANDOM.random((31, 20)),), 0)])
def test_fields_of_one_colour_are_independent_of_the_other(program, arguments, sequential):
    assert str(jit(program).explain(*arguments)).count("not parallel") == sequential


@pytest.mark.parametrize("program", [one_colour_alone, three_colours])
def test_fields_that_read_their_own_colour_are_not(program):
    assert "not parallel" in jit(program).explain(RANDOM.random((30, 41)))


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_in_any_order_of_its_loops_is_a_contraction(product):
    report = str(jit(product).explain(RANDOM.random((13, 40)), RANDOM.random((40, 21))))
    assert "contraction: parallel" in report
    assert "sequential" not in report


def test_a_reason_names_the_value_as_the_source_does():
    def decays(x):
        level = 0.0
        for value in x:
            level = level * 0.5 + value
        return level

    report = str(jit(decays).explain(ODD))
    assert "not parallel: level is carried from one iteration to the next" in report
