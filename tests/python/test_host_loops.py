"""Sequential loops that the host of a call on a device runs, on copies of the arrays: the same
answers, stores and errors as in plain Python, and nothing left behind."""

import numpy as np
import pytest
from agreement import HERE, SCANNED, check_agreement

import parakeet
from parakeet import jit

N = 3000  # long enough for the host


def welford(x):
    n, mean, m2 = 0, 0.0, 0.0
    for v in x:
        n += 1
        d = v - mean
        mean += d / n
        m2 += d * (v - mean)
    return mean, m2 / n


def filtered_in_place(x, a):
    for i in range(1, len(x)):
        x[i] = a * x[i - 1] + (1.0 - a) * x[i]


def between_kernels(x, a):
    y = x * 2.0
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + y[i] / (1.0 + abs(y[i - 1]))
    return y.sum(), y + 1.0


def fails_on_its_way(x, last):
    for i in range(len(x)):
        x[i] = x[i] * 0.5 + x[max(i - 1, 0)] * 0.25
        if i == last:
            x[i + len(x)] = 1.0
    return x.sum()


def longest_common(a, b):
    t = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                t[i + 1, j + 1] = t[i, j] + 1
            else:
                t[i + 1, j + 1] = max(t[i, j + 1], t[i + 1, j])
    return t[len(a), len(b)]


def joined(edges, n):
    parent = np.arange(n)
    for k in range(edges.shape[0]):
        a, b = edges[k, 0], edges[k, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    return parent


def merged(a, b):
    out = np.empty(len(a) + len(b))
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[i + j] = a[i]
            i += 1
        else:
            out[i + j] = b[j]
            j += 1
    while i < len(a):
        out[i + j] = a[i]
        i += 1
    while j < len(b):
        out[i + j] = b[j]
        j += 1
    return out


def rotated(a, angles):
    n = a.shape[0]
    for p in range(n - 1):
        for q in range(p + 1, n):
            if a[p, q] != 0.0:
                t = angles[q] * a[p, q]
                for k in range(n):
                    u, v = a[p, k], a[q, k]
                    a[p, k] = u - t * v
                    a[q, k] = v + t * u
                for k in range(n):
                    w = a[k, p]
                    a[k, p] = w + t * a[k, q]
    return a.sum()


def overlapping(x, y):
    for i in range(len(x)):
        y[i] = y[i] + 0.5 * x[i]
    return y[0], x[len(x) - 1]


def scratch_of_a_step(z):
    state, out = np.zeros(2), np.empty(len(z))
    for t in range(len(z)):
        ahead = np.empty(2)
        ahead[0] = state[0] + state[1]
        ahead[1] = 0.5 * state[1]
        state[0] = ahead[0] + 0.3 * (z[t] - ahead[0])
        state[1] = ahead[1] + 0.1 * (z[t] - ahead[0])
        out[t] = state[0]
    return out


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def two_views():
    x = numbers(8, N + 3)
    return x[:N], x[3:]


PROGRAMS = {
    welford: lambda: (numbers(0, N),),
    filtered_in_place: lambda: (numbers(1, N), 0.9),
    between_kernels: lambda: (numbers(2, N), 0.9),
    fails_on_its_way: lambda: (numbers(3, N), N // 2),
    longest_common: lambda: tuple(np.random.default_rng(4).integers(0, 4, (2, 70))),
    joined: lambda: (np.random.default_rng(5).integers(0, 900, (900, 2)), 900),
    merged: lambda: (np.sort(numbers(6, N)), np.sort(numbers(7, N // 2))),
    rotated: lambda: (numbers(9, 24, 24), numbers(10, 24) * 0.1),
    overlapping: two_views,
    scratch_of_a_step: lambda: (numbers(11, N),),
}


@pytest.fixture(autouse=True)
def memory_comes_back():
    """Every test leaves the device's memory as it found it."""
    before = parakeet.memory_info(HERE)
    yield
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program):
    # That of the last digits are the sums of what the loops leave.
    check_agreement(jit(program), program, PROGRAMS[program], SCANNED, targets=[HERE])


@pytest.mark.parametrize("disabled", [False, True])
def test_long_loops_are_the_hosts(monkeypatch, disabled):
    if disabled:
        monkeypatch.setenv("PARAKEET_DEBUG", "disable:run-on-host")
    f = jit(filtered_in_place)
    x = numbers(1, N)
    on_device = parakeet.to_gpu(x, HERE)
    f(on_device, 0.9)
    before = parakeet.memory_info(HERE)
    f(on_device, 0.9)
    after = parakeet.memory_info(HERE)
    copied = (after.down - before.down, after.up - before.up)
    assert (copied[0] >= x.nbytes and copied[1] >= x.nbytes) == (not disabled), copied
    for _ in range(2):
        filtered_in_place(x, 0.9)
    np.testing.assert_allclose(on_device.to_host(), x, rtol=1e-13)


def test_short_loops_stay_on_the_device():
    f = jit(filtered_in_place)
    on_device = parakeet.to_gpu(numbers(1, 20), HERE)
    f(on_device, 0.9)
    before = parakeet.memory_info(HERE)
    f(on_device, 0.9)
    after = parakeet.memory_info(HERE)
    assert after.launches > before.launches
    assert after.up == before.up and after.down - before.down < on_device.nbytes


def test_what_is_read_alone_does_not_go_back():
    f = jit(welford)
    on_device = parakeet.to_gpu(numbers(1, N), HERE)
    f(on_device)
    before = parakeet.memory_info(HERE)
    f(on_device)
    after = parakeet.memory_info(HERE)
    assert after.down - before.down >= on_device.nbytes
    assert after.up - before.up < on_device.nbytes


def test_explain_tells():
    told = str(jit(welford).explain(numbers(0, N), target=HERE))
    assert "run by the host where that is sooner done" in told
