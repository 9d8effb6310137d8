"""Tables of distances, casts to integers, windows that threads make, products with columns.

Loops as they stand in programs for other compilers give what plain Python gives, on every target:
values, exceptions, and what was stored before one.
"""

import numpy as np
import pytest
from exact_outcomes import check
from hypothesis import given, settings
from hypothesis import strategies as st

from parakeet import jit


def longest_common(a, b):
    n = len(a)
    m = len(b)
    prev = np.zeros(m + 1, np.int32)
    cur = np.zeros(m + 1, np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                cur[j] = prev[j - 1] + 1
            else:
                cur[j] = max(prev[j], cur[j - 1])
        prev, cur = cur, prev
    return prev[m]


def votes(x, y, acc):
    width = acc.shape[1]
    for i in range(len(x)):
        for k in range(acc.shape[0]):
            r = int(round(x[i] * (k + 1) - y[i])) + width // 2
            acc[k, r] += 1
    return acc


def halves(x, out):
    for i in range(len(x)):
        out[i] = int(x[i]) // 4611686018427387904 + int(x[i]) % 5
    return out


def middles(x, w):
    out = np.empty(len(x))
    for i in range(len(x)):
        buf = np.empty(w)
        m = 0
        for j in range(max(0, i - 2), min(len(x), i + 3)):
            v = x[j]
            p = m
            while p > 0 and buf[p - 1] > v:
                buf[p] = buf[p - 1]
                p -= 1
            buf[p] = v
            m += 1
        out[i] = buf[m // 2]
    return out


def krylov(A, b, steps):
    Q = np.zeros((len(b), steps + 1))
    Q[:, 0] = b
    for k in range(steps):
        Q[:, k + 1] = A @ Q[:, k] % 7.0
    return Q


def of_column(A, Q, j):
    return A @ Q[:, j]


WORDS = st.lists(st.integers(0, 2), max_size=40).map(lambda word: np.array(word, np.uint8))


@settings(max_examples=12)
@given(WORDS, WORDS)
def test_tables_of_distances(a, b):
    check(longest_common, a, b)


def test_what_a_loop_carries_of_a_choice_takes_no_branch():
    """The larger of two neighbours: a wrong guess would cost more than ten selects."""
    word = np.zeros(9, np.uint8)
    code = jit(longest_common, target="serial").asm(word, word)
    assert code.count("cmov") >= 4


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf, -40.0])
def test_casts_of_what_fits_and_what_does_not(bad):
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 3, 30)
    y = rng.uniform(-3, 3, 30)
    if bad is not None:
        x[17] = bad
    check(votes, x, y, np.zeros((4, 40), np.int64))


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf])
def test_the_least_integer_is_one(bad):
    x = np.array([1.5, -(2.0**63), -1.5, 2.0**62, 0.0, -(2.0**63), 9.0, -0.0, 2.0**53])
    if bad is not None:
        x[6] = bad
    check(halves, x, np.full(9, 7))


@pytest.mark.parametrize("w", [5, 4, 0])
def test_windows_of_many_pieces(w):
    """More elements than pieces, and a piece in which an element fails."""
    check(middles, np.random.default_rng(2).standard_normal(700), w)


@pytest.mark.parametrize("n", [1, 3, 8, 45])
def test_products_with_columns(n):
    """Small integers, of which every order gives the same sum."""
    rng = np.random.default_rng(n)
    A = rng.integers(-4, 5, (n, n)).astype(float)
    check(krylov, A, rng.integers(0, 5, n).astype(float), 5)


@pytest.mark.parametrize(("rows", "j"), [(20, 2), (20, -1), (20, 3), (0, 1), (0, 5)])
def test_a_column_that_may_not_be_there(rows, j):
    rng = np.random.default_rng(3)
    check(
        of_column,
        rng.integers(-4, 5, (rows, 37)).astype(float),
        rng.integers(-4, 5, (37, 3)).astype(float),
        j,
    )


def descended(z, over):
    """From each place down to the lowest neighbour, until there is none; `over` is one too far."""
    h, w = z.shape
    label = np.empty((h, w), np.int64)
    for i in range(h):
        for j in range(w):
            y, x = i, j
            while True:
                by, bx = y, x
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        yy, xx = y + dy, x + dx
                        if 0 <= yy < h and 0 <= xx < w + over and z[yy, xx] < z[by, bx]:
                            by, bx = yy, xx
                if by == y and bx == x:
                    break
                y, x = by, bx
            label[i, j] = y * w + x
    return label


def lowest_from(z):
    """The same, of which every neighbour is asked for."""
    return descended(z, 0)


def heapified(x):
    """Swaps down what is less than a child; what is kept of a child was read before the swap."""
    swaps = 0
    for start in range(len(x) // 2 - 1, -1, -1):
        at = start
        while True:
            largest = at
            if 2 * at + 1 < len(x) and x[2 * at + 1] > x[largest]:
                largest = 2 * at + 1
            if 2 * at + 2 < len(x) and x[2 * at + 2] > x[largest]:
                largest = 2 * at + 2
            if largest == at:
                break
            x[at], x[largest] = x[largest], x[at]
            swaps += int(x[at] > x[largest])
            at = largest
    return swaps


@pytest.mark.parametrize("n", [0, 1, 2, 3, 30])
def test_a_heap_whose_larger_child_is_kept(n):
    check(heapified, np.random.default_rng(n).integers(0, 20, n).astype(float))


@pytest.mark.parametrize("shape", [(7, 9), (1, 5), (4, 1), (0, 3)])
@pytest.mark.parametrize("over", [0, 1])
def test_places_that_move_to_neighbours(shape, over):
    check(descended, np.random.default_rng(5).integers(0, 9, shape).astype(float), over)


def test_places_whose_neighbours_are_guarded_need_no_checks():
    report = str(jit(lowest_from).explain(np.zeros((5, 6)), target="serial"))
    assert "no checks left" in report


def test_the_lowest_neighbour_is_kept():
    """The element of the first place, and beside all but the last of nine choices."""
    ir = jit(lowest_from).ir(np.zeros((5, 6)), stage="read-chosen", target="serial")
    assert str(ir).count(": f64 = if") == 9


def binned(x, v, n, m):
    """Sums of what lies in cells; what lies in none is passed by."""
    sums = np.zeros((n, m))
    for k in range(len(v)):
        i = int(x[k, 0] / 8 * n)
        j = int(x[k, 1] / 8 * m)
        if i < 0 or i >= n or j < 0 or j >= m:
            continue
        sums[i, j] += v[k]
    return sums


@pytest.mark.parametrize(("n", "m"), [(4, 5), (0, 3), (1, 1)])
def test_cells_that_a_continue_guards(n, m):
    rng = np.random.default_rng(7)
    x, v = rng.integers(-5, 70, (60, 2)) / 4, rng.integers(-3, 4, 60).astype(float)
    check(binned, x, v, n, m)
    assert "IndexError" not in str(jit(binned).explain(x, v, n, m, target="serial"))
