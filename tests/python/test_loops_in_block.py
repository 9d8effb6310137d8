"""Time loops on little data that one block of a GPU's threads goes through: the same answers,
stores and errors as in plain Python, by one kernel, and nothing left behind."""

import numpy as np
import pytest
from agreement import HERE, SCANNED, check_agreement

import parakeet
from parakeet import jit

STEPS = 40


def likeliest_states(a, b, first, seen):
    best = first + b[:, seen[0]]
    back = np.zeros((seen.shape[0], first.shape[0]), np.int64)
    for t in range(1, seen.shape[0]):
        s = best[:, None] + a
        back[t] = np.argmax(s, axis=0)
        best = np.max(s, axis=0) + b[:, seen[t]]
    return best, back


def wave(u, v, steps):
    for _ in range(steps):
        w = 2.0 * u - v
        w[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        v = u
        u = w
    return u, v


def power_iteration(a, v, steps):
    length = 0.0
    for _ in range(steps):
        w = a @ v
        length = np.sqrt(np.sum(w * w))
        v = w / length
    return v, length


def forward(a, b, p, seen):
    total = 0.0
    for t in range(1, seen.shape[0]):
        p = (p @ a) * b[:, seen[t]]
        s = p.sum()
        p = p / s
        total += np.log(s)
    return total, p


def life(g, steps):
    for _ in range(steps):
        n = np.roll(g, 1, 0) + np.roll(g, -1, 0) + np.roll(g, 1, 1) + np.roll(g, -1, 1)
        g = np.where(n > 2, 1 - g, g)
    return g


def in_place(x, steps):
    for k in range(steps):
        mean = x.mean()
        for i in range(len(x)):
            x[i] = 0.5 * x[i] + mean
        x[k % len(x)] = 1.0
    return x.sum()


def solved_steps(u, steps, r):
    n = len(u)
    for _ in range(steps):
        c, d, new = np.zeros(n), np.zeros(n), np.zeros(n)
        for i in range(1, n):
            m = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / m
            d[i] = (u[i] + r * d[i - 1]) / m
        for i in range(n - 2, -1, -1):
            new[i] = d[i] - c[i] * new[i + 1]
        u = new + 0.1 * u
    return u


def fails_at(x, y, at):
    for k in range(STEPS):
        for i in range(len(x)):
            x[i] = x[i] + y[at[k]]
        y = y * 0.5
    return y


def steps_of_steps(x, outer):
    for _ in range(outer):
        for _ in range(5):
            y = x * 0.5
            z = y[::-1] + 1.0
            x[:] = z + y
    return x.sum()


def numbers(seed, *shape):
    return np.random.default_rng(seed).random(shape)


def places(seed, most, count=STEPS):
    return np.random.default_rng(seed).integers(0, most, count)


# By one kernel: the arguments.
PROGRAMS = {
    likeliest_states: lambda: (numbers(1, 20, 20), numbers(2, 20, 7), numbers(3, 20),
                               places(4, 7)),
    wave: lambda: (numbers(1, 50), numbers(2, 50), STEPS),
    power_iteration: lambda: (numbers(1, 24, 24), numbers(2, 24), STEPS),
    forward: lambda: (numbers(1, 12, 12), numbers(2, 12, 5), numbers(3, 12), places(4, 5)),
    life: lambda: (places(1, 2, 256).reshape(16, 16), STEPS),
    in_place: lambda: (numbers(1, 300), STEPS),
    solved_steps: lambda: (numbers(1, 20), STEPS, 0.5),
    fails_at: lambda: (numbers(1, 30), numbers(2, 9), places(3, 9)),
    steps_of_steps: lambda: (numbers(1, 100), 6),
}  # fmt: skip


@pytest.fixture(autouse=True)
def memory_comes_back():
    before = parakeet.memory_info(HERE)
    yield
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


def launches_of(f, *arguments):
    f(*arguments, target=HERE)
    before = parakeet.memory_info(HERE).launches
    f(*arguments, target=HERE)
    return parakeet.memory_info(HERE).launches - before


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program):
    # That of the last digits are sums.
    check_agreement(jit(program), program, PROGRAMS[program], SCANNED, targets=[HERE])


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_few_steps(steps):
    make = lambda: (numbers(1, 50), numbers(2, 50), steps)
    check_agreement(jit(wave), wave, make, SCANNED, targets=[HERE])


@pytest.mark.parametrize("program", [wave, power_iteration, life, in_place],
                         ids=lambda program: program.__name__)
def test_it_is_one_kernel(program, monkeypatch):
    arguments = PROGRAMS[program]()
    assert launches_of(jit(program), *arguments) < STEPS / 4
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:keep-loops-in-block,disable:fuse-steps")
    assert launches_of(jit(program), *PROGRAMS[program]()) >= STEPS


def test_much_data_has_kernels_of_its_own():
    assert launches_of(jit(wave), numbers(1, 60000), numbers(2, 60000), 3) >= 6


@pytest.mark.parametrize("bad", [0, 7, STEPS - 1])
def test_errors_leave_what_came_before(bad):
    def make():
        at = places(3, 9)
        at[bad] = 9
        return numbers(1, 30), numbers(2, 9), at

    check_agreement(jit(fails_at), fails_at, make, SCANNED, targets=[HERE])


def test_nothing_is_copied_where_no_step_is():
    v = parakeet.to_gpu(numbers(2, 24), HERE)
    got, _ = jit(power_iteration)(parakeet.to_gpu(numbers(1, 24, 24), HERE), v, 0)
    assert got is v


def test_explain_tells():
    told = str(jit(life).explain(*PROGRAMS[life](), target=HERE))
    assert "all of it one kernel of one block where its arrays are small" in " ".join(told.split())
