"""Loops that end for each point at its own time: what lanes with masks decide."""

import numpy as np
from workload import Workload, share_that_differs


def julia_steps(z, c, most):
    steps = 0
    while steps < most and z.real * z.real + z.imag * z.imag <= 4.0:
        z = z * z + c
        steps += 1
    return steps


def julia(xs, ys, c, most):
    return np.array([[julia_steps(x + 1j * y, c, most) for x in xs] for y in ys])


def mandelbrot_steps(cr, ci, most):
    x, y = 0.0, 0.0
    for step in range(most):
        if x * x + y * y > 4.0:
            return step
        x, y = x * x - y * y + cr, 2.0 * x * y + ci
    return most


def mandelbrot(xs, ys, most):
    return np.array([[mandelbrot_steps(x, y, most) for x in xs] for y in ys])


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def collatz(numbers):
    return np.array([collatz_steps(n) for n in numbers])


def julia_numpy(xs, ys, c, most):
    return _escape(_points(xs, ys), np.full(xs.size * ys.size, c), most).reshape(ys.size, xs.size)


def mandelbrot_numpy(xs, ys, most):
    c = _points(xs, ys)
    return _escape(np.zeros_like(c), c, most).reshape(ys.size, xs.size)


def _points(xs, ys):
    return (xs + 1j * ys[:, None]).ravel()


def _escape(z, c, most):
    """Points that have left are taken out, so that each round is as short as may be."""
    steps = np.full(z.size, most)
    where = np.arange(z.size)
    for step in range(most):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        if not inside.all():
            steps[where[~inside]] = step
            z, c, where = z[inside], c[inside], where[inside]
        z = z * z + c
    return steps


def collatz_numpy(numbers):
    n = numbers.copy()
    steps = np.zeros(n.size, np.int64)
    where = np.arange(n.size)
    step = 0
    while n.size:
        ended = n == 1
        if ended.any():
            steps[where[ended]] = step
            n, where = n[~ended], where[~ended]
        n = np.where(n & 1, 3 * n + 1, n >> 1)
        step += 1
    return steps


def make_julia(random, side, most):
    axis = np.linspace(-1.5, 1.5, side)
    return axis, axis.copy(), complex(-0.8, 0.156), most


def make_mandelbrot(random, side, most):
    return np.linspace(-2.0, 0.5, side), np.linspace(-1.25, 1.25, side), most


def julia_cpp(library, xs, ys, c, most):
    out = np.empty((ys.size, xs.size), np.int64)
    library.julia(xs, ys, c.real, c.imag, most, out, ys.size, xs.size)
    return out


def mandelbrot_cpp(library, xs, ys, most):
    out = np.empty((ys.size, xs.size), np.int64)
    library.mandelbrot(xs, ys, most, out, ys.size, xs.size)
    return out


def collatz_cpp(library, numbers):
    out = np.empty(numbers.size, np.int64)
    library.collatz(numbers, out, numbers.size)
    return out


def of_steps(per_step):
    return lambda a, r: per_step * float(r[0].sum())


# When a point near the border leaves hangs on last bits, which contraction to fma changes.
WORKLOADS = [
    Workload("julia", julia, make_julia, (500, 300), (9, 20), 0.01, flops=of_steps(10),
             error=share_that_differs, numpy=julia_numpy, portable=(), cpp=julia_cpp,
             against_cpp=0.9),
    Workload("mandelbrot", mandelbrot, make_mandelbrot, (500, 100), (9, 20), 0.01,
             flops=of_steps(10), error=share_that_differs, numpy=mandelbrot_numpy, portable=(),
             cpp=mandelbrot_cpp, against_cpp=0.9),
    Workload("collatz", collatz, lambda random, n: (np.arange(1, n + 1),), (1_000_000,), (99,),
             0.0, numpy=collatz_numpy, portable=(), cpp=collatz_cpp, against_cpp=0.9),
]  # fmt: skip
