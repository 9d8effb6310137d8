"""Where iterations store: around edges, in blocks of places, at flattened indexes, in arrays that
change places. What is assumed of the first call is not true of the next, and every iteration's
places are those of plain Python."""

import numpy as np
import pytest
from agreement import REDUCED, TRANSCENDENTAL, check_agreement

from parakeet import jit

FAR = 2**63 - 3


def streamed(f, cy, cx, steps):
    q, h, w = f.shape
    out = np.empty_like(f)
    for _ in range(steps):
        for y in range(h):
            for x in range(w):
                for k in range(q):
                    out[k, (y + cy[k]) % h, (x - cx[k]) % w] = f[k, y, x] * 0.5 + k
        f, out = out, f
    return f


@pytest.mark.sampled(2, "shape", "steps")
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1, 9), (1, 3, 1), (3, 0, 4)])
def test_stores_go_around_an_edge(shape, steps):
    jitted = jit(streamed)
    rng = np.random.default_rng(sum(shape))
    f = rng.random(shape)
    for most in (2, 40, FAR):  # The last wraps around 2 ** 63, and places meet.
        moves = rng.integers(-most, most, shape[0])
        with np.errstate(over="ignore"):
            check_agreement(jitted, streamed, lambda m=moves: (f.copy(), m, m[::-1].copy(), steps))


def moved_by_their_own(x, move, n):
    out = np.zeros(n)
    for i in range(len(x)):
        out[(i + move[i]) % n] += x[i]
        out[(2 * i) % n] += 1.0
    for i in range(2 * n):
        out[(i + 1) % n] = i
    return out


@pytest.mark.parametrize("n", [1, 3, 8])
def test_stores_meet_behind_an_edge(n):
    move = np.arange(20) % 7
    check_agreement(jit(moved_by_their_own), moved_by_their_own, lambda: (np.ones(20), move, n))


def three_turns(a, b, steps, swaps):
    c = np.zeros_like(a)
    for t in range(steps):
        for i in range(len(a)):
            c[i] = a[i] + 2 * b[len(b) - 1 - i]
        if swaps[t]:
            a, b = b, a
        a, b, c = b, c, a
    return a, b, c


@pytest.mark.parametrize("swaps", [(0, 0, 0, 0, 0), (1, 0, 1, 1, 0), (1, 1, 1, 1, 1)])
def test_three_arrays_change_places(swaps):
    arrays = [np.arange(6.0), np.arange(6.0) * 10]
    check_agreement(jit(three_turns), three_turns,
                    lambda: (arrays[0].copy(), arrays[1].copy(), 5, np.array(swaps)))


def blocks(x, out, p):
    for i in range(len(x)):
        out[4 * i] = x[i]
        out[4 * i + 3] = -x[i]
    for i in range(0, len(x), 3):
        for k in range(p):
            if i + k < len(x):
                out[i + k] += x[i] * (k + 1)
    return out


@pytest.mark.parametrize("p", [0, 1, 3, 5])  # The last goes into the next block.
def test_blocks_of_places(p):
    jitted = jit(blocks)
    check_agreement(jitted, blocks, lambda: (np.arange(9.0), np.zeros(36), p))
    check_agreement(jitted, blocks, lambda: (np.arange(9.0), np.zeros(30), p))  # IndexError


def flattened(x, n, m, p, q):
    for i in range(n):
        for j in range(m):
            for k in range(p):
                x[(i * m + j) * q + k] = x[(i * m + j) * q + k] * 2 + 100 * i + 10 * j + k
    return x


@pytest.mark.parametrize(("p", "q"), [(4, 4), (3, 4), (5, 4), (2, 0), (0, 3), (3, -1)])
def test_flattened_places(p, q):
    jitted = jit(flattened)
    check_agreement(jitted, flattened, lambda: (np.arange(60.0), 3, 4, p, q))
    check_agreement(jitted, flattened, lambda: (np.arange(60), 2, 3, 5, 5))


def three_at_a_place(x, out, m, q):
    for i in range(len(x)):
        for j in range(m):
            c = i * q + j
            out[3 * c] = x[i]
            out[3 * c + 1] = out[3 * c + 1] - j
            out[3 * c + 2] = i + j
            out[6 * c + 3] += 1
    return out


@pytest.mark.parametrize(("m", "q"), [(4, 4), (5, 4), (4, 0), (0, 3), (3, -3), (1, FAR)])
def test_three_numbers_at_a_place(m, q):
    jitted = jit(three_at_a_place)
    check_agreement(jitted, three_at_a_place, lambda: (np.arange(6.0), np.ones(200), m, q))
    check_agreement(jitted, three_at_a_place, lambda: (np.arange(2.0), np.ones(200), 4, 4))


def flat_stencil(u, out, nx, ny, nz):
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for k in range(1, nz - 1):
                c = (i * ny + j) * nz + k
                out[c] = u[c + ny * nz] - u[c - nz] + u[c - 1] + u[i * ny * nz + j * nz + k]
    return out


@pytest.mark.parametrize("dims", [(3, 4, 5), (4, 3, 5), (5, 4, 4), (4, 4, -5), (-4, 4, 5),
                                  (4, 0, 5), (2**20, 3, 3), (3, 2**20, 3), (3, 3, 2**40),
                                  (3, 4, FAR), (3, 2**32, 2**32)])
def test_a_stencil_at_flattened_places(dims):
    jitted = jit(flat_stencil)
    u = np.random.default_rng(1).random(60)
    check_agreement(jitted, flat_stencil, lambda: (u, np.zeros(60), 3, 4, 5))
    with np.errstate(over="ignore"):
        check_agreement(jitted, flat_stencil, lambda: (u, np.zeros(60), *dims))
        check_agreement(jitted, flat_stencil, lambda: (u, np.zeros(80), *dims))


def by_rows(x, w, h, steps):
    total = 0.0
    for s in range(steps):
        for y in range(h):
            for j in range(y * w, (y + 1) * w):
                total += x[j] * (s + 1)
                x[j] = x[j] + y
    return x[0] + total, x


@pytest.mark.parametrize(("w", "h"), [(4, 5), (5, 4), (5, 5), (0, 3), (-2, 3), (3, -2), (FAR, 2)])
def test_rows_of_a_flat_array(w, h):
    jitted = jit(by_rows)
    check_agreement(jitted, by_rows, lambda: (np.arange(20.0), 4, 5, 2), REDUCED)
    check_agreement(jitted, by_rows, lambda: (np.arange(20.0), w, h, 2), REDUCED)


def by_blocks(a, b, p, q):
    out = np.zeros((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]))
    moved = np.zeros((a.shape[0] * 3, a.shape[1] * 2))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i * b.shape[0]:(i + 1) * b.shape[0], j * b.shape[1]:(j + 1) * b.shape[1]] = (
                a[i, j] * b)
            moved[i * p:(i + 1) * p, j * q:j * q + q] += a[i, j] + i
    return out, moved


@pytest.mark.parametrize(("p", "q"), [(3, 2), (2, 2), (3, 1), (4, 3), (0, 2), (-1, 2), (2**40, 1),
                                      (1, 2**60)])
def test_blocks_of_an_array(p, q):
    jitted = jit(by_blocks)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(10.0).reshape(5, 2)
    check_agreement(jitted, by_blocks, lambda: (a, b, 3, 2))
    check_agreement(jitted, by_blocks, lambda: (a, b, p, q))
    check_agreement(jitted, by_blocks, lambda: (a[:, :0], b[:, :1], p, q))


def turned(x, by, moves, n):
    up, down, rows = np.zeros(n), np.zeros(n), np.zeros((len(moves), n))
    for i in range(n):
        up[(i + by) % n] = x[i] + 1
    for i in range(n):
        down[i] = x[(i - by) % n] * 2
    for k in range(len(moves)):
        for i in range(n):
            rows[k, (i - moves[k]) % n] += x[(i + moves[k]) % n]
    return up, down, rows


@pytest.mark.parametrize("n", [0, 1, 3, 8, 33, 100])
def test_turned_by_any_number(n):
    jitted = jit(turned)
    x = np.random.default_rng(n).random(n + 2)
    for by in (0, 1, -1, 5, n - 1, n, 3 * n + 2, -7 * n - 4, 2**62, -2**62):
        check_agreement(jitted, turned, lambda b=by: (x, b, np.array([b, 2, -b // 2]), n))


def one_place_of_many(x, y, n, m):
    s = y[0] - y[0]
    for t in range(m):
        for i in range(2):
            for j in range(i, n):
                y[i * 4 + i % 4] = y[i * (m + 1) + i] + i + 10 * j
                if x[j] > 3:
                    s += y[(j - i) % m if m > 0 else 0]
        x = y + 0
    return s, x, y


@pytest.mark.parametrize("m", [0, 1, 4, 9, 40])
def test_limits_are_multiplied_without_wrapping_around(m):
    x, y = (np.random.default_rng(k).integers(-2, 7, 30) for k in (1, 2))
    check_agreement(jit(one_place_of_many), one_place_of_many, lambda: (x, y.copy(), 20, m))


def windowed(x, r):
    h, w = x.shape
    out = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(2, w - 2):
            s = x[i, j] * 0
            for a in range(i - 1, i + 2):
                for b in range(j - 2, j + 3, 2):
                    s += x[a, b] * (a - i + 2)
            for a in range(i - r, i - r + 1):
                s -= x[a, j]
            out[i, j] = s
    return out


@pytest.mark.parametrize("shape", [(0, 0), (3, 5), (9, 33), (4, 70)])
def test_windows_around_an_index(shape):
    x = np.random.default_rng(1).integers(0, 9, shape) * 1.0
    for r in (0, 1, 2, 60):
        check_agreement(jit(windowed), windowed, lambda b=r: (x, b))


def correlations(x, lags, step):
    out = np.zeros(max(lags, 1))
    for lag in range(lags):
        out[lag] = np.sum(x[:len(x) - lag] * x[lag:]) + (x[lag - step] if lag >= step else 0.0)
    return out


@pytest.mark.parametrize("size", [0, 1, 2, 9, 40])
def test_slices_that_get_shorter(size):
    jitted = jit(correlations)
    x = np.random.default_rng(size).random(size)
    for lags, step in ((5, 2), (9, 0), (10, 3), (12, -1), (0, 1)):
        check_agreement(jitted, correlations, lambda a=lags, b=step: (x, a, b), REDUCED)


def toeplitz(t, x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            y[i] += t[len(x) - 1 + i - j] * x[j]
    return y


@pytest.mark.parametrize("sizes", [(9, 5), (12, 5), (8, 5), (1, 1), (0, 0), (0, 1)])
def test_a_difference_of_indexes(sizes):
    jitted = jit(toeplitz)
    check_agreement(jitted, toeplitz, lambda: (np.arange(7.0), np.ones(4)), REDUCED)
    check_agreement(jitted, toeplitz, lambda: (np.arange(1.0 * sizes[0]), np.ones(sizes[1])),
                    REDUCED)


def pooled(x, out, arg):
    h, w = x.shape
    for i in range(h // 2):
        for j in range(w // 2):
            best = x[2 * i, 2 * j]
            k = 0
            for a in range(2):
                for b in range(2):
                    if x[2 * i + a, 2 * j + b] > best:
                        best = x[2 * i + a, 2 * j + b]
                        k = a * 2 + b
            out[i, j] = best
            arg[i, j] = k
    return a, b


@pytest.mark.sampled(2, "dtype", "shape")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int16, np.int64])
@pytest.mark.parametrize("shape", [(2, 2), (5, 67), (4, 34), (1, 9)])
def test_the_largest_of_two_by_two(dtype, shape):
    x = np.random.default_rng(1).integers(0, 9, shape).astype(dtype)
    half = (shape[0] // 2, shape[1] // 2)
    check_agreement(jit(pooled), pooled,
                    lambda: (x.copy(), np.zeros(half, dtype), np.zeros(half, np.int32)))


def every_few(x, y, three):
    a, b, c = 0 * y, 0 * y, 0 * y
    for i in range(len(y)):
        a[i] = x[2 * i + 1] - y[i]
        b[i] = x[3 * i] + x[4 * i + 2]
        c[i] = three[i, 0] - three[i, 1] + three[i, 2]
    return a, b, c, x[1::3] * 2, x[::-2] + 1


@pytest.mark.sampled(2, "dtype", "size")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("size", [0, 1, 7, 16, 33, 70])
def test_lanes_a_few_numbers_apart(dtype, size):
    rng = np.random.default_rng(size)
    x, y = (rng.integers(0, 40, n).astype(dtype) for n in (4 * size + 3, size))
    three = rng.integers(0, 40, (size, 3)).astype(dtype)
    check_agreement(jit(every_few), every_few, lambda: (x.copy(), y.copy(), three.copy()))


def shared_neighbours(starts, others):
    total = 0
    largest = -1
    for u in range(len(starts) - 1):
        for k in range(starts[u], starts[u + 1]):
            v = others[k]
            if v <= u:
                continue
            i, j = starts[u], starts[v]
            while i < starts[u + 1] and j < starts[v + 1]:
                if others[i] == others[j]:
                    total += 1
                    largest = max(largest, others[i])
                    i += 1
                    j += 1
                elif others[i] < others[j]:
                    i += 1
                else:
                    j += 1
    return total, int(largest)


def stops_by_its_sum(x, most):
    total = np.float64(0.0)
    rounds = 0
    for i in range(len(x)):
        j = i
        while j < len(x) and total < most:
            total += x[j]
            rounds += 1
            j += 2
    return total, rounds


@pytest.mark.parametrize("size", [0, 1, 12, 40])
def test_sums_go_through_loops_inside(size):
    rng = np.random.default_rng(size)
    near = np.triu(rng.random((size, size)) < 0.3, 1)
    near |= near.T
    starts = np.concatenate([[0], near.sum(1).cumsum()]).astype(np.int64)
    others = np.nonzero(near)[1]
    check_agreement(jit(shared_neighbours), shared_neighbours, lambda: (starts, others))
    x = rng.integers(0, 9, size).astype(float)
    check_agreement(jit(stops_by_its_sum), stops_by_its_sum, lambda: (x, 100.0), REDUCED)


def pairs_by_distance(x, width, bins):
    sums = np.zeros(bins)
    counts = np.zeros(bins, np.int64)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            b = int(abs(x[i] - x[j]) / width)
            if b < bins:
                sums[b] += (x[i] - x[j]) ** 2
                counts[b] += 1
    return sums, counts


@pytest.mark.parametrize("width", [5.0, 0.0])
def test_pairs_are_counted(width):
    x = np.random.default_rng(1).integers(0, 40, 300).astype(float)
    check_agreement(jit(pairs_by_distance), pairs_by_distance, lambda: (x, width, 9))


def powers(x, n):
    return (x**3, x**4, x**5, x**6, x**7, x**8, x**9, n**3, n**8, n**9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_powers_that_are_products(dtype):
    special = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-20, -1e30, 3e5]
    x = np.array(special, dtype)
    n = np.array([0, 1, -3, 17, 2**31, -(2**62), 5, 6, 7, 8])
    with np.errstate(all="ignore"):
        check_agreement(jit(powers), powers, lambda: (x, n), TRANSCENDENTAL)


def one_sum_by_two_names(x):
    total = 0
    for i in range(len(x)):
        last = total
        for j in range(x[i]):
            last = total
            total += j + 1
        total = last
    return total


def sums_that_change_places(x):
    total = 0
    for i in range(len(x)):
        a = total
        for _ in range(x[i]):
            a, total = total + 1, a + 2
        total = a
    return total


def a_sum_from_before_the_loop(x):
    total = 0
    for i in range(len(x)):
        a = total
        k = 0
        while k < x[i]:
            total = a + 5
            k += 1
    return total


@pytest.mark.parametrize("program", [one_sum_by_two_names, sums_that_change_places,
                                     a_sum_from_before_the_loop])
def test_a_sum_has_one_name_in_a_loop_inside(program):
    check_agreement(jit(program), program, lambda: (np.array([3, 1, 4, 1, 5, 0, 2]),))


def two_names_of_one_array(x, n):
    p, q, s = np.zeros(n), np.ones(n), np.float64(0.0)
    for t in range(3):
        for i in range(n - 1):
            p[i + 1] = q[i] + 1
        s += p.sum() + q.sum() * 3
        p = x * t
        q = p
    return s


def two_names_through_a_view(x, m):
    p, q, s = x.copy(), x * 2, np.float64(0.0)
    for t in range(m):
        v = p[1:]
        for i in range(len(v) - 1):
            v[i] = q[i] + 1
        s += p.sum() + q.sum() * 2
        p = x * t
        q = p
    return s


def kept_by_a_branch(x, m):
    p, q, r = x.copy(), x * 2, x + 3
    for t in range(m):
        if t == 1:
            p = q
        r = p + t
        q = r
    return p, q, r


def copied_in_a_branch(x, m):
    f = x.copy()
    g = f
    for t in range(m):
        if t == 1:
            g = g.copy()
        f, g = g, f
    return f, g


@pytest.mark.parametrize("program", [two_names_of_one_array, two_names_through_a_view,
                                     kept_by_a_branch, copied_in_a_branch])
@pytest.mark.parametrize("times", [0, 1, 2, 3, 6])
def test_arrays_that_loops_carry_may_be_one(program, times):
    check_agreement(jit(program), program, lambda: (np.arange(11.0), min(times + 1, 11)), REDUCED)
