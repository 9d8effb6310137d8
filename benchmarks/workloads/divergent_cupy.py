"""Divergent loops for CuPy: kernels that say in C what happens to one point."""

import cupy as cp

_ESCAPE = cp.ElementwiseKernel(
    "float64 x0, float64 y0, float64 cr, float64 ci, int64 most", "int64 steps",
    """double x = x0, y = y0;
       steps = 0;
       while (steps < most && x * x + y * y <= 4.0) {
         double next = x * x - y * y + cr;
         y = 2.0 * x * y + ci;
         x = next;
         ++steps;
       }""",
    "escape")  # fmt: skip
_COLLATZ = cp.ElementwiseKernel(
    "int64 start", "int64 steps",
    """long long number = start;
       steps = 0;
       while (number != 1) {
         number = number & 1 ? 3 * number + 1 : number >> 1;
         ++steps;
       }""",
    "collatz_steps")  # fmt: skip


def julia(xs, ys, c, most):
    return _ESCAPE(xs, ys[:, None], c.real, c.imag, most)


def mandelbrot(xs, ys, most):
    return _ESCAPE(0.0, 0.0, xs, ys[:, None], most)


def collatz(numbers):
    return _COLLATZ(numbers)
