"""Time loops whose steps make an array of the last one's: several steps are made in one kernel."""

import numpy as np
import pytest
from agreement import EXACT, check_agreement

from parakeet import jit


def binomial_tree(x, steps):
    for _ in range(steps):
        x = 0.9999 * (0.5 * x[1:] + 0.5 * x[:-1])
    return x


def shortest_paths(d):
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k][:, None] + d[k, :][None, :])
    return d


def diffusion(x, steps):
    for _ in range(steps):
        x = x + 0.25 * (np.roll(x, 1) + np.roll(x, -1) - 2 * x)
    return x


def wave(x, steps):
    before = x
    for t in range(steps):
        before, x = x, 2 * x - before + 0.1 * t * (np.roll(x, 1) - np.roll(x, -1))
    return before, x


def from_the_end(x, c):
    for k in range(len(c) - 1, -1, -2):
        x = x[::-1] * c[k] - 0.25 * x
    return x


def life(b, steps):
    for _ in range(steps):
        n = sum(np.roll(np.roll(b, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - b
        b = ((n == 3) | ((b == 1) & (n == 2))).astype(np.uint8)
    return b


def smoothed_and_how_often(x, steps):
    count = 0
    for _ in range(steps):
        x = (x[1:] + x[:-1]) // 2
        count += len(x)
    return x, count


def element_beside(x, steps):
    first = np.float64(0.0)
    for _ in range(steps):
        x = np.roll(x, 1) + x * 0.5
        first += x[0]
    return x, first


def numbers_beside(x, steps):
    y = x[:4] * 0.5
    for _ in range(steps):
        x = np.ones_like(x)
        y = x[:4].copy()
    return x, y


def the_very_array(x, steps):
    y = x
    for _ in range(steps):
        y = y[::-1] + 1
    y[0] = 9
    return x, y


def up_to_an_end(x, steps):
    for t in range(steps):
        if t * t > 50:
            break
        x = np.maximum(x[::-1], x * 0.5)
    return x


STEPS = (0, 1, 2, 5, 8, 17)
OF_VECTORS = (binomial_tree, diffusion, wave, element_beside, numbers_beside, the_very_array,
              up_to_an_end)  # fmt: skip


@pytest.mark.sampled(2, "steps", "program")
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("program", OF_VECTORS)
def test_steps_of_vectors(program, steps):
    for n in (18, 1000):
        check_agreement(
            jit(program), program, lambda n=n: (np.random.default_rng(n).random(n), steps), EXACT
        )


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_steps_whose_numbers_follow_from_arrays(n):
    rng = np.random.default_rng(n)
    d, x, c = rng.random((n, n)).astype(np.float32), rng.random(30), rng.random(n)
    check_agreement(jit(shortest_paths), shortest_paths, lambda: (d,), EXACT)
    check_agreement(jit(from_the_end), from_the_end, lambda: (x, c), EXACT)


@pytest.mark.parametrize("steps", [0, 3, 6])
def test_steps_of_integers(steps):
    rng = np.random.default_rng(4)
    board, x = rng.integers(0, 2, (12, 9)).astype(np.uint8), rng.integers(-90, 90, 40)
    check_agreement(jit(life), life, lambda: (board, steps), EXACT)
    check_agreement(
        jit(smoothed_and_how_often), smoothed_and_how_often, lambda: (x, steps), EXACT
    )


@pytest.mark.parametrize("program", [binomial_tree, wave])
def test_steps_are_made_at_once_in_kernels(program):
    report = jit(program).explain(np.ones(300), 40, target="emulated_gpu")
    done = [fact for row in report.rows for fact in row.done]
    assert any("steps are made at once" in fact for fact in done), str(report)
