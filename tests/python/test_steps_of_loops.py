"""Loops that go in order: short sums at each step, of places that arrays say."""

import numpy as np
import pytest
from agreement import REDUCED, check_agreement, deep_copies
from exact_outcomes import check

from parakeet import jit


def swapped_tours(D, tour, places):
    """Lengths of a tour of which two places are swapped at each step."""
    n = len(tour)
    out = np.zeros(len(places))
    k = 0
    while k < len(places):
        a = places[k]
        b = (a + 1) % n
        t = tour[a]
        tour[a] = tour[b]
        tour[b] = t
        length = D[tour[n - 1], tour[0]]
        for i in range(n - 1):
            length += D[tour[i], tour[i + 1]]
        out[k] = length
        k += 1
    return out


@pytest.mark.parametrize("n", [2, 9, 32, 33, 70])
def test_short_and_long_sums_in_a_loop(n):
    rng = np.random.default_rng(n)
    D = rng.integers(0, 100, (n, n)).astype(float)
    tour, places = rng.permutation(n), rng.integers(0, n, 12)
    check(swapped_tours, D, tour, places)


def test_a_place_that_is_not_there_in_a_sum_in_a_loop():
    D = np.arange(16.0).reshape(4, 4)
    check(swapped_tours, D, np.array([0, 1, 4, 2]), np.arange(3))
    check(swapped_tours, D, np.array([0, 1, -4, 2]), np.arange(3))


def forward_substitution(L, b):
    n = len(b)
    x = np.empty(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


@pytest.mark.parametrize("n", [1, 17, 70])
def test_rows_of_what_the_loop_stores(n):
    rng = np.random.default_rng(n)
    arguments = rng.random((n, n)) + n * np.eye(n), rng.random(n)
    check_agreement(jit(forward_substitution), forward_substitution, deep_copies(arguments),
                    REDUCED)


def orthogonal_columns(A):
    m, n = A.shape
    Q = A.copy()
    for j in range(n):
        for i in range(j):
            s = 0.0
            for k in range(m):
                s += Q[k, i] * Q[k, j]
            for k in range(m):
                Q[k, j] -= s * Q[k, i]
        most = 0.0
        for k in range(m):
            most = max(most, abs(Q[k, j]))
        for k in range(m):
            Q[k, j] /= most
    return Q


@pytest.mark.sampled(2, "m", "dtype")
@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_and_extremes_down_columns_of_a_loop(m, dtype):
    A = (np.random.default_rng(m).random((m, 3)) + np.eye(m, 3) * m).astype(dtype)
    check_agreement(jit(orthogonal_columns), orthogonal_columns, deep_copies((A,)),
                    REDUCED)


def remainders_in_a_loop(steps, a, b):
    s, q = a, 0
    for i in range(steps):
        q += s // b
        s = (s * 31 + i) % b
    return s, q


@pytest.mark.parametrize("b", [1, 7, -1, -7, 2**31, 2**31 + 1, 2**32, 2**62, -(2**63)])
@pytest.mark.parametrize("a", [0, 5, -5, 2**31 - 1, 2**31, 2**32 + 5, 2**63 - 1, -(2**63)])
def test_divisors_of_either_sign(a, b):
    f = jit(remainders_in_a_loop)
    with np.errstate(all="ignore"):
        want = remainders_in_a_loop(4, np.int64(a), np.int64(b))
        assert f(4, np.int64(a), np.int64(b)) == want


def test_a_positive_divisor_is_asked_once():
    f = jit(remainders_in_a_loop)
    assert f(4, 10**6, 77) == remainders_in_a_loop(4, 10**6, 77)
    with pytest.raises(ZeroDivisionError):
        f(1, 1, 0)
    # By what may be anything, and by what is positive; and of what fits half as many bits. What is
    # no loop's has one form.
    assert (f.llvm().count(" srem i64 "), f.llvm().count(" urem i32 ")) == (4, 1)
    g = jit(lambda a, b: a % b)
    assert (g(-7, 5), g(-7, -5), g(7, -5)) == (3, -2, -3)
    assert (g.llvm().count(" srem i64 "), g.llvm().count(" urem i32 ")) == (1, 0)


def first_places(first, keys):
    total = 0
    for i in range(len(keys)):
        if first[keys[i]] < 0:
            first[keys[i]] = i
        total += first[keys[i]]
    return total


def test_what_a_branch_has_stored_is_not_read_again():
    keys = np.random.default_rng(0).integers(0, 9, 40)
    check(first_places, np.full(9, -1), keys)
    f = jit(first_places)
    f(np.full(9, -1), keys, target="serial")
    assert f.llvm().count(" load i64,") < 24  # 20 in four copies and the rest; 29 with that read


def shortest_tour(D):
    """Every order of the places behind the first, one after the other."""
    n = D.shape[0]
    tour = np.arange(n)
    best, best_tour = np.inf, tour.copy()
    while True:
        length = D[tour[n - 1], tour[0]]
        for i in range(n - 1):
            length += D[tour[i], tour[i + 1]]
        if length < best:
            best = length
            for i in range(n):
                best_tour[i] = tour[i]
        i = n - 2
        while i > 0 and tour[i] > tour[i + 1]:
            i -= 1
        if i <= 0:
            break
        j = n - 1
        while tour[j] < tour[i]:
            j -= 1
        tour[i], tour[j] = tour[j], tour[i]
        a, b = i + 1, n - 1
        while a < b:
            tour[a], tour[b] = tour[b], tour[a]
            a += 1
            b -= 1
    return best, best_tour


def test_small_loops_in_a_long_one_are_no_functions():
    D = np.random.default_rng(5).integers(1, 50, (5, 5)).astype(float)
    check(shortest_tour, D)
    f = jit(shortest_tour)
    f(D, target="serial")
    assert f.llvm().count("\ndefine ") == 3  # the entry, and what is long or rare in the sum


def decayed_products(X, keep):
    """Products of the columns of each row, added to what is left of those before."""
    n, d = X.shape
    C = np.zeros((d, d))
    for t in range(n):
        for i in range(d):
            for j in range(d):
                C[i, j] = keep * C[i, j] + (1 - keep) * X[t, i] * X[t, j]
    return C


def turned_and_scaled(y, steps, k):
    """What single elements and whole rows of a few elements make of one another."""
    n = len(y)
    slope = np.zeros(n, dtype=y.dtype)
    for _ in range(steps):
        for i in range(n):
            y[i] += slope[i] * k
        slope[0] = y[n - 1] - y[0]
        slope[n - 1] = y[0] * k
        half = y * k
        for i in range(n):
            slope[i] = slope[i] - half[n - 1 - i]
    return slope


@pytest.mark.parametrize("d", [1, 3, 6, 8, 15, 16, 19])
def test_rows_of_a_few_elements_that_are_read_again(d):
    rng = np.random.default_rng(d)
    check(decayed_products, rng.random((9, d)), 0.75)
    check(turned_and_scaled, rng.random(d), 7, 0.25)
    check(turned_and_scaled, rng.random(d).astype(np.float32), 7, np.float32(0.25))


def test_rows_that_are_read_again_have_lanes_where_they_are_long():
    text = jit(decayed_products).ir(np.ones((5, 6)), 0.5, stage="scheduled", target="serial")
    short, long = text.split(" else {", 1)
    assert "store_lanes" not in short.split("why =")[1] and "store_lanes" in long


def grown(y, steps):
    for _ in range(steps):
        for i in range(len(y)):
            y[i] = np.exp(-y[i]) * 0.5 + np.sin(y[i]) * 0.1
    return y


@pytest.mark.parametrize("n", [7, 11, 37])
def test_values_do_not_depend_on_their_place_in_a_short_row(n):
    y = jit(grown)(np.full(n, 0.3), 20, target="serial")
    assert (y == y[0]).all()
    assert y[0] == jit(grown)(np.full(64, 0.3), 20, target="serial")[0]


def drifting_means(s, steps):
    """Means of columns, of which a row is made at each step."""
    n, m = s.shape
    mean = np.zeros(m)
    for t in range(steps):
        for k in range(m):
            total = 0.0
            for i in range(n):
                total += s[i, k]
            mean[k] = total / n
        for k in range(m):
            s[t % n, k] = mean[k] * 0.5 + s[t % n, m - 1 - k]
    return mean


@pytest.mark.parametrize("n, m", [(4, 3), (32, 9), (33, 9), (41, 70)])
def test_columns_of_few_and_of_many_rows_at_a_step(n, m):
    s = np.random.default_rng(n).random((n, m))
    check_agreement(jit(drifting_means), drifting_means, deep_copies((s, 6)), REDUCED)


def pulled_together(p, v, m, dt, steps):
    """Of each pair, one body is a sum and the other is stored, as in a step of few bodies."""
    n = len(m)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = p[i, 0] - p[j, 0]
                dy = p[i, 1] - p[j, 1]
                d2 = dx * dx + dy * dy
                mag = dt / (d2 * np.sqrt(d2))
                v[i, 0] -= dx * m[j] * mag
                v[i, 1] -= dy * m[j] * mag
                v[j, 0] += dx * m[i] * mag
                v[j, 1] += dy * m[i] * mag
        for i in range(n):
            for k in range(2):
                p[i, k] += dt * v[i, k]
    return v.sum()


def least_left(y, steps):
    """The extreme stands in front of the nest, which stores no floats."""
    kept = np.zeros(len(y), np.int64)
    total = 0
    for s in range(steps):
        low = 99
        for j in range(s, len(y)):
            low = min(low, y[j] * s)
            kept[j] += y[j]
        total += low
    return total + kept.sum()


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16, 17, 18, 40])
def test_a_nest_and_a_sum_along_a_few_iterations(n):
    rng = np.random.default_rng(n)
    apart = np.arange(n)[:, None] + rng.random((n, 2)) / 4
    arguments = apart, rng.random((n, 2)) + 9.0, rng.random(n), 1e-3, 3
    check_agreement(jit(pulled_together), pulled_together, deep_copies(arguments), REDUCED)
    y = rng.integers(0, 100, n)
    check_agreement(jit(least_left), least_left, deep_copies((y, min(n, 5))))
