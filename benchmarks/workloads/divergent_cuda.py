"""Divergent loops of CUDA C."""

import numpy as np


def julia(library, xs, ys, c, most):
    functions = library("divergent")
    out = functions.new("julia", (ys.size, xs.size), np.int64)
    functions.julia(xs, ys, c.real, c.imag, most, out, ys.size, xs.size)
    return out


def mandelbrot(library, xs, ys, most):
    functions = library("divergent")
    out = functions.new("mandelbrot", (ys.size, xs.size), np.int64)
    functions.mandelbrot(xs, ys, most, out, ys.size, xs.size)
    return out


def collatz(library, numbers):
    functions = library("divergent")
    out = functions.new("collatz", numbers.size, np.int64)
    functions.collatz(numbers, out, numbers.size)
    return out
