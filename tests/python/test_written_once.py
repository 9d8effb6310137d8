"""Code that takes long to compile stands once, for what fills vectors and for what does not."""

import math
from functools import partial

import numpy as np
import pytest
from agreement import TRANSCENDENTAL, check_agreement

import parakeet
from parakeet import jit

R = np.random.default_rng(0)


def hyperbolic(x, y):
    return np.tanh(x * 0.5) + y


def long_arithmetic(x, y):
    t = np.exp(-x) / (1 + np.abs(y)) + np.sin(x * y)
    u = np.log1p(t * t) / (2 + np.cos(t)) + t * x - y * 0.25
    v = np.exp(-u * u) * (0.5 + u * (0.25 + u * (0.125 - u * 0.0625)))
    w = np.sqrt(np.abs(v)) / (1.5 + np.abs(u)) + np.exp(-np.abs(t))
    return w / (1 + w * w), v - t


def long_in_place(x, y):
    w, v = long_arithmetic(x, y)
    x[:] = w
    y[1:] = v[:-1]
    return x + v


def several_results(x, y):
    return np.exp(-x * x) / (1 + np.abs(y)), np.log1p(np.abs(x)) * y


def in_place(x, y):
    x[:] = np.tanh(x) * 2 + y
    return x + 1


def behind_the_first(x, y):
    out = np.zeros(x.size + 2)
    for i in range(1, x.size - 1):
        out[i + 1] = math.exp(-x[i - 1]) + math.sin(x[i + 1]) * y[i]
    return out


def rows(x, y):
    return np.tanh(x[:, None] * y[None, :3]) + np.cos(y[0])


def quotients(x, y):
    return x // y + x % y


def of_the_index(x, y):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = math.log(i + 1.0) / x[i] if x.size > 3 else math.sqrt(i) * y[i]
    return out


def backwards(x, y):
    return np.exp(x[::-1]) + np.tanh(y[::2].sum())


def both(x, y):
    return x.copy(), y.copy()


LENGTHS = [0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70, 1027]


PROGRAMS = (hyperbolic, long_arithmetic, long_in_place, several_results, in_place,
            behind_the_first, rows, of_the_index, backwards)  # fmt: skip


@pytest.mark.sampled(2, "program", "dtype")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_lengths_that_are_no_whole_vectors(program, dtype):
    for n in LENGTHS:
        if n == 0 and program in (rows, backwards):
            continue
        x, y = R.standard_normal((2, n)).astype(dtype)
        check_agreement(jit(program), program, partial(both, x, y), TRANSCENDENTAL)


@pytest.mark.parametrize("dtype", ["i8", "i4", "u2", "i1"])
def test_whole_numbers_that_are_divided(dtype):
    """Lanes behind the end divide by nothing that is not there."""
    for n in LENGTHS:
        x = R.integers(0, 100, n).astype(dtype)
        y = R.integers(1, 9, n).astype(dtype)
        check_agreement(jit(quotients), quotients, partial(both, x, y))


def renewed(x, y):
    x[:], _ = long_arithmetic(x, y)


@pytest.mark.parametrize("program", [in_place, renewed])
def test_what_lies_behind_the_end_stays(program):
    memory = R.standard_normal(100)
    for begin in range(9):
        for n in (0, 1, 6, 8, 13):
            changed, expected = memory.copy(), memory.copy()
            jit(program)(changed[begin : begin + n], memory[:n], target="serial")
            program(expected[begin : begin + n], memory[:n])
            np.testing.assert_allclose(changed, expected, rtol=1e-14, atol=1e-15)
            outside = np.r_[0:begin, begin + n : 100]
            assert (changed[outside] == memory[outside]).all()


def test_dear_arithmetic_stands_once_on_the_host():
    """Four divisions, of one vector or of several registers."""
    x = np.ones(1000)
    assert jit(long_arithmetic).llvm(x, x, target="serial").count("fdiv <") == 4


def test_arithmetic_stands_once_an_element_in_a_kernel():
    """A thread makes two elements of 8 bytes and four of 4."""

    def divided(x, y):
        return x / (1 + np.abs(y))

    for dtype, count in [("f8", 2), ("f4", 4)]:
        x = np.ones(1000, dtype)
        assert jit(divided).ptx(x, x).count("div.rn.f") == count


def test_exponentials_stand_once_an_element_of_a_row(monkeypatch):
    """A thread makes up to 16 elements of a row in each of the forms that rows have. libNVVM makes
    copies of its own."""
    monkeypatch.setattr(parakeet.config, "gpu_assembler", "nvptx")

    def log_sum_exp(x):
        most = x.max(axis=1)
        return np.log(np.exp(x - most[:, None]).sum(axis=1))

    assert jit(log_sum_exp).ptx(np.ones((40, 300), "f4")).count("ex2.approx") <= 44
