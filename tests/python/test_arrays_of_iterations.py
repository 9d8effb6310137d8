"""Loops that keep what an iteration works with in an array made in front of them: independent where
every iteration stores what it reads, and the same answers as in Python where it does not."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


def attention(x):
    n, d = x.shape
    out, weights = np.zeros((n, d)), np.empty(n)
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(d):
                s += x[i, k] * x[j, k]
            weights[j] = s
        most = weights[: i + 1].max()
        for j in range(i + 1):
            weights[j] -= most
        for j in range(i + 1):
            for k in range(d):
                out[i, k] += weights[j] * x[j, k]
    return out


def differences(x):
    out, d = np.empty((len(x), len(x))), np.zeros(3)
    for i in range(len(x)):
        for j in range(len(x)):
            d[0] = x[i, 0] - x[j, 0]
            d[1] = x[i, 1] - x[j, 1]
            d[2] = d[0] * d[1]
            s = 0.0
            for k in range(3):
                s += d[k] * d[k]
            out[i, j] = s
    return out


def windows_in_order(x):
    out, window = np.zeros(x.shape), np.empty((3, 2))
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            for a in range(3):
                for b in range(2):
                    window[a, b] = x[i + a - 1, j + b]
            out[i, j] = np.sort(window.ravel())[3]
    return out


def sorted_copies(x):
    out = np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            window = x[i - 1:i + 2, j:j + 2].copy()
            row = window.ravel()
            row.sort()
            out[i, j] = row[2] * 10.0 + window[2, 1]
    return out


def filled_anew(x):
    out, counts = np.zeros(len(x)), np.zeros(9)
    for i in range(len(x)):
        counts[:] = 0
        for j in range(x.shape[1]):
            counts[int(x[i, j]) + 4] += 1
        out[i] = counts.max() + counts[0]
    return out


def columns_backwards(x):
    m, n = x.shape
    out, pairs = np.zeros(x.shape), np.empty((n, 2))
    for i in range(m):
        for j in range(n):
            pairs[j, 0] = x[i, j] * 2.0
            pairs[j, 1] = x[i, n - 1 - j]
        acc = 0.0
        for j in range(n):
            acc = acc * 0.5 + pairs[j, 0] * pairs[n - 1 - j, 1]
            out[i, j] = acc
    return out


INDEPENDENT = [attention, differences, windows_in_order, sorted_copies, filled_anew,
               columns_backwards]  # fmt: skip


def distances_of_rows(x):
    m, n = x.shape
    out = np.empty(m)
    for i in range(m):
        before, row = np.arange(n + 1.0), np.empty(n + 1)
        for k in range(m):
            row[0] = k + 1
            for j in range(n):
                other = before[j] + (x[i, j] != x[k, j])
                row[j + 1] = min(other, before[j + 1] + 1, row[j] + 1)
            for j in range(n + 1):
                before[j] = row[j]
        out[i] = before[n]
    return out


def matrices_of_iterations(x):
    m, n = x.shape
    out = np.empty((m, n))
    for i in range(m):
        seen = np.zeros((n, 3), np.int64)
        line = np.zeros(n * 3)
        for j in range(n):
            seen[j, int(x[i, j]) % 3] += j
        for j in range(n * 3):
            line[j] = seen[j // 3, j % 3] + (line[j - 1] if j > 0 else 0.0)
        for j in range(n):
            out[i, j] = line[2 * j] - seen[n - 1 - j, 0]
    return out


def _last_of(row):
    kept = row.copy()
    for j in range(1, len(kept)):
        kept[j] = (kept[j - 1] * 3.0 + kept[j]) % 101.0
    return kept[-1] if len(kept) else 0.0


def made_in_functions(x):
    return np.array([_last_of(row) for row in x])


def few_elements(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        sums, grid = np.zeros(3), np.zeros((2, 4))
        for j in range(x.shape[1]):
            sums[int(x[i, j]) % 3] += x[i, j]
            grid[j % 2, (j * 3) % 4] = sums[j % 3]
        out[i] = sums[0] - sums[1] * sums[2] + grid.sum()
    return out


def changes_places(x):
    m, n = x.shape
    out = np.empty(m)
    for i in range(m):
        now = np.zeros(n)
        for _ in range(3):
            following = np.empty(n)
            for j in range(n):
                following[j] = now[n - 1 - j] + x[i, j]
            now = following
        out[i] = now.sum()
    return out


OWN = [distances_of_rows, matrices_of_iterations, made_in_functions, few_elements,
       changes_places]  # fmt: skip


def some_are_left(x):
    out, kept = np.zeros(len(x)), np.zeros(x.shape[1])
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                kept[j] = x[i, j]
        out[i] = kept.sum()
    return out


def one_is_left(x):
    out, row = np.zeros(len(x)), np.zeros(x.shape[1] + 1)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            row[j] = x[i, j]
        out[i] = row.sum()
        row[x.shape[1]] = out[i]
    return out


def read_in_the_end(x):
    row = np.zeros(x.shape[1])
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            row[j] = x[i, j] + i
        out[i] = row[::-1][0]
    return out, row


def none_may_run(x):
    out, row = np.zeros(len(x)), np.full(x.shape[1], 3.0)
    for i in range(len(x)):
        for j in range(i - 2):
            row[j] = x[i, j]
        out[i] = row[0]
    return out


DEPENDENT = [some_are_left, one_is_left, read_in_the_end, none_may_run]


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("program", INDEPENDENT + OWN + DEPENDENT, ids=lambda f: f.__name__)
def test_answers_are_numpys(program, target):
    compiled = jit(program)
    for shape in ((12, 12), (5, 30), (1, 2), (0, 4)):
        x = np.random.default_rng(4).integers(-4, 5, shape).astype(np.float64)
        answers, wanted = compiled(x, target=target), program(x)
        for answer, right in (
            zip(answers, wanted) if program is read_in_the_end else [(answers, wanted)]
        ):
            np.testing.assert_array_equal(answer, right, str(shape))


@pytest.mark.parametrize("program", [distances_of_rows, matrices_of_iterations, few_elements],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_threads_of_a_gpu_take_nothing_from_the_heap(program):
    code = jit(program).llvm(np.ones((6, 6)), target="emulated_gpu")
    assert "pk_thread_alloc" not in code and "pk_device_alloc" in code


@pytest.mark.parametrize("program", INDEPENDENT, ids=lambda f: f.__name__)
def test_loops_that_store_what_they_read_are_parallel(program):
    report = str(jit(program).explain(np.ones((6, 6)), target="parallel"))
    assert "may be touched at one place by two iterations" not in " ".join(report.split())


@pytest.mark.parametrize("target", COMPILED)
def test_a_negative_size_is_an_error_of_the_iteration_that_asks(target):
    @jit
    def f(x, size):
        out = np.empty(len(x))
        for i in range(len(x)):
            own = np.empty(size)
            for j in range(size):
                own[j] = x[i] * j
            out[i] = own[size - 1]
        return out

    np.testing.assert_array_equal(f(np.ones(0), -1, target=target), np.empty(0))
    np.testing.assert_array_equal(f(np.ones(3), 70, target=target), np.full(3, 69.0))
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        f(np.ones(3), -1, target=target)
