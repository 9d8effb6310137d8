"""Loops whose iterations go through whole arrays, and reductions of reductions: on a GPU threads
share what an iteration or a row is made of, whatever the sizes.

Elements are small integers, so that sums are exact in whatever order they are taken.
"""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def channels(x):
    out = np.empty_like(x)
    for c in range(len(x)):
        scaled = x[c] * (c + 1.0)
        out[c] = np.roll(np.roll(scaled, c, axis=1), -c, axis=0) + scaled[::-1]
    return out


def channels_of_channels(x):
    out = np.zeros((2, len(x)) + x.shape[1:])
    for k in range(2):
        for c in range(len(x)):
            t = x[c] + k
            out[k, c] = t[::-1, ::-1] - t
    return out


def shifted_sums(x):
    out = np.zeros((x.shape[1] - 2, x.shape[2] - 2))
    for c in range(len(x)):
        for i in range(3):
            for j in range(3):
                out += x[c, i:i + out.shape[0], j:j + out.shape[1]] * (i + 2 * j - c)
    return out


def shifted_counts(x):
    n = x.astype(np.int64)
    out = np.zeros((x.shape[1] - 2, x.shape[2] - 2), np.int64)
    for i in range(3):
        for j in range(3):
            part = np.einsum("chw,c->hw", n[:, i:i + len(out), j:j + out.shape[1]], n[:, i, j])
            out += np.maximum(part, i - j)
    return out


def total_of_rows(x):
    rows = x.reshape(-1, x.shape[2])
    return (rows.max(axis=1) - (rows * rows).sum(axis=1)).sum()


def running_rows(x):
    rows = x.reshape(-1, x.shape[2])
    return np.cumsum(np.abs(rows).max(axis=1))


def kept_rows(x):
    rows = x.reshape(-1, x.shape[2])
    sums = rows.sum(axis=1)
    return sums[sums > 0]


def rows_beside_their_turned(x):
    t = np.floor(np.exp2(x))
    return t - t[:, :, ::-1]


def rows_one_by_one(x):
    rows = x.reshape(-1, x.shape[2])
    out = np.empty_like(rows)
    for i in range(len(rows)):
        shifted = rows[i] - rows[i].min()
        out[i] = shifted * shifted + shifted.max() - shifted.sum()
    return out


def columns_one_by_one(x):
    columns = x.reshape(-1, x.shape[2]).copy()
    for j in range(columns.shape[1]):
        column = columns[:, j]
        columns[:, j] = (column - column.min()) * column.max() + column[0]
    return columns


def sorted_rows_one_by_one(x):
    rows = x.reshape(-1, x.shape[2])
    out = np.empty(rows.shape[0])
    for i in range(len(rows)):
        in_order = np.sort(rows[i])
        out[i] = np.median(rows[i]) + in_order[1:].sum() - in_order[0]
    return out


def eliminated(x):
    a = x[0] * 8 + 1
    totals = np.arange(len(a)) + 1.0
    for k in range(min(a.shape)):
        for i in range(k + 1, len(a)):
            factor = np.sign(a[i, k])
            a[i, k:] -= factor * a[k, k:]
            totals[i] -= factor * a[i, k:].max()
    return a, totals


PROGRAMS = [channels, channels_of_channels, shifted_sums, shifted_counts, total_of_rows,
            running_rows, kept_rows, rows_beside_their_turned, rows_one_by_one, columns_one_by_one,
            sorted_rows_one_by_one, eliminated]  # fmt: skip

# On a GPU, their loops.
DISTRIBUTED = [rows_one_by_one, columns_one_by_one, sorted_rows_one_by_one]


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_answers_are_numpys(program, target):
    compiled = jit(program)
    for shape in ((3, 40, 70), (300, 3, 5), (2, 3, 100), (1, 100, 60)):
        x = np.random.default_rng(3).integers(-4, 5, shape).astype(np.float64)
        for answer, wanted in zip(_parts(compiled(x, target=target)), _parts(program(x))):
            np.testing.assert_array_equal(answer, wanted, str(shape))


def _parts(answer):
    return answer if isinstance(answer, tuple) else (answer,)


@pytest.mark.parametrize("program", DISTRIBUTED, ids=lambda f: f.__name__)
def test_operators_of_iterations_are_nests_of_their_own(program):
    report = str(jit(program).explain(np.ones((2, 3, 40)), target="emulated_gpu"))
    assert "distributed over its operators" in " ".join(report.split())


def energy_of_pairs(x, w):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += x[i] * x[j] - w
    return total


def products_below_the_diagonal(x, w):
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i + 1):
            s = 0.0
            for k in range(3):
                s += x[i] * k * x[j]
            out[i, j] = s + w
            out[j, i] = s - w
    return out


def largest_of_windows(x, w):
    largest = -np.inf
    for i in range(len(x)):
        for j in range(max(i - w, 0), min(i + w + 1, len(x)), 2):
            largest = max(largest, x[j] - i)
    return largest


def counted_back(x, w):
    counts = np.zeros(len(x), np.int64)
    total = 0
    for i in range(1, len(x) - 1):
        for j in range(len(x) - 1, i - 1, -1):
            total += int(x[j] > x[i])
        counts[i] = total
    return counts


def rows_that_begin_anew(x, w):
    total = 5.0
    for i in range(len(x)):
        row = 5.0
        for j in range(i):
            row += x[j]
        total += row
    return total + w


def forces_of_pairs(x, w):
    y = x[::-1]
    forces, energy = np.zeros((len(x), 2)), 0.0
    for i in range(len(x) - 1):
        on_first = 0.0
        for j in range(i + 1, len(x)):
            f = x[i] - x[j] * w
            if f != 2.0:
                energy += f
                forces[j, 0] -= f
            on_first += f
            forces[i, 1] += y[j]
            forces[j, 1] -= y[i]
        forces[i, 0] += on_first
    return forces, energy


def pairs_that_need_one_another(x, w):
    # Doubled sums grow without end; remainders stay small.
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            f = (x[i] - x[j] * w) % 7.0
            x[i] += f
            x[j] -= f
    return x


def kept_in_order(x, w):
    last = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            last[i] = (last[i] * 3.0 + x[j]) % 1000.0
            last[j] = (last[j] * 5.0 - x[i]) % 1000.0
    return last


TRIANGLES = [energy_of_pairs, rows_that_begin_anew, products_below_the_diagonal,
             largest_of_windows, counted_back, forces_of_pairs, pairs_that_need_one_another,
             kept_in_order]  # fmt: skip


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("program", TRIANGLES, ids=lambda f: f.__name__)
def test_pairs_are_all_gone_through(program, target):
    compiled = jit(program)
    for size in (0, 1, 2, 3, 50):
        x = np.random.default_rng(size).integers(-4, 5, size).astype(np.float64)
        for w in (0, 3, -2, 1 << 39):
            if program is largest_of_windows or w == 3:
                got, expected = compiled(x.copy(), w, target=target), program(x.copy(), w)
                for a, b in zip(_parts(got), _parts(expected), strict=True):
                    np.testing.assert_array_equal(a, b)


def test_updates_of_both_elements_of_a_pair_are_two_loops():
    report = str(jit(forces_of_pairs).explain(np.ones(9), 3, target="emulated_gpu"))
    assert "updates of both elements of a pair are two loops'" in " ".join(report.split())


def test_windows_whose_width_wraps_around_are_as_wide_as_it_says():
    x = np.array([3.0, 1.0, 7.0])
    for target in COMPILED:
        assert jit(largest_of_windows)(x, (1 << 62) + 1, target=target) == 7.0


def test_a_triangles_first_failing_iteration_is_told():
    @jit
    def f(x, places):
        out = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(i + 1):
                out[i, j] = x[i, places[j]]
        return out

    places = np.arange(40)
    places[[7, 20]] = 70, 90
    for target in COMPILED:
        with pytest.raises(IndexError, match="index 70 is out of bounds"):
            f(np.ones((40, 40)), places, target=target)


def test_the_failing_iteration_is_the_first():
    @jit
    def f(x, places):
        out = np.zeros_like(x)
        for c in range(len(x)):
            t = x[c] * 2
            out[places[c]] = t[::-1] + t
        return out

    x = np.ones((3, 40, 70))
    for target in COMPILED:
        with pytest.raises(IndexError, match="index 7 is out of bounds"):
            f(x, np.array([1, 7, 9]), target=target)
