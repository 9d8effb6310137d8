"""Divergent loops for JAX: all points go on until the last has ended."""

import jax
import jax.numpy as jnp


def julia(xs, ys, c, most):
    x, y = jnp.broadcast_arrays(xs, ys[:, None])
    return _escape(x, y, c.real, c.imag, most)


def mandelbrot(xs, ys, most):
    cr, ci = jnp.broadcast_arrays(xs, ys[:, None])
    return _escape(jnp.zeros_like(cr), jnp.zeros_like(ci), cr, ci, most)


def _escape(x, y, cr, ci, most):
    def step(_, state):
        x, y, steps = state
        inside = x * x + y * y <= 4.0
        return (jnp.where(inside, x * x - y * y + cr, x), jnp.where(inside, 2.0 * x * y + ci, y),
                steps + inside)  # fmt: skip

    return jax.lax.fori_loop(0, most, step, (x, y, jnp.zeros(x.shape, int)))[2]


def collatz(numbers):
    def step(state):
        n, steps = state
        going = n != 1
        following = jnp.where(n & 1 == 1, 3 * n + 1, n >> 1)
        return jnp.where(going, following, n), steps + going

    start = numbers, jnp.zeros(numbers.shape, int)
    return jax.lax.while_loop(lambda state: (state[0] != 1).any(), step, start)[1]
