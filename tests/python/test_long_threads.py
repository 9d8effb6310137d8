"""Kernels whose threads take long: loops of a thread, and long sums in parts."""

import numpy as np
import pytest
from agreement import EXACT, HERE, REDUCED, check_agreement

from parakeet import jit

R = np.random.default_rng(0)


def check(function, *arguments, tolerance=EXACT):
    check_agreement(jit(function), function, lambda: tuple(np.copy(a) for a in arguments),
                    tolerance, targets=[HERE])


# --- Loops that go on while a number is below a constant ---

def steps_below(xs, factors, most):
    rows = np.empty((xs.size, 5))
    for k in range(xs.size):
        x, factor = xs[k], factors[k]
        y, up_to, below, squares, left = x, 0, 0, 0, x
        while up_to < most and not y > 4.0:
            y, up_to = y * factor, up_to + 1
        y = x
        while below < most and not y >= 4.0:
            y, below = y * factor - 0.25, below + 1
        y = x
        while y * y <= 4.0 and squares < most:
            y, squares = y * factor, squares + 1
        for step in range(most):
            if abs(left) > 4.0:
                break
            left = left * factor + 0.25 * step
        rows[k] = up_to, below, squares, y, left
    return rows


def test_loops_end_at_the_bound_itself():
    ends = [0.0, -0.0, 1.0, 2.0, 4.0, 5e-324, np.inf, np.nan, np.nextafter(4.0, 0), 4.0000001]
    xs = np.repeat([*ends, *(-np.array(ends)), 0.3, 0.7], 5)
    factors = np.tile([2.0, -2.0, 1.0, 0.5, 1.0000001], xs.size // 5)
    with np.errstate(all="ignore"):
        check(steps_below, xs, factors, np.int64(60))


# --- Few long sums, which are made in parts ---

def pulled(points, masses):
    apart = points[None, :, :] - points[:, None, :]
    squared = np.sum(apart * apart, axis=2) + 0.5
    return np.sum((masses / (squared * np.sqrt(squared)))[:, :, None] * apart, axis=1)


def moments_about(points, masses):
    return np.sum((points[None, :, :] - points[:, None, :]) * masses[:, None], axis=1)


def sums_of_columns(points, masses):
    return np.sum(points, axis=0)


@pytest.mark.parametrize(("function", "threads"), [(pulled, 1 << 19), (moments_about, 1 << 18),
                                                   (sums_of_columns, 1 << 17)])  # fmt: skip
def test_sums_of_terms_that_cost_much_or_are_shared_have_more_parts(function, threads):
    points, masses = R.standard_normal((700, 3)), R.random(700)
    check(function, points, masses, tolerance=REDUCED)
    ir = str(jit(function).ir(points, masses, stage="scheduled", target="emulated_gpu"))
    assert f", {threads - 1}\n" in ir
