"""Stencils for JAX: what is stored to in place becomes a new array."""

import jax
import jax.numpy as jnp


def convolution(image, weights):
    rows, columns = weights.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    return sum(weights[p, q] * image[p:p + height, q:q + width]
               for p in range(rows) for q in range(columns))


def convolution__lax(image, weights):
    return jax.lax.conv(image[None, None], weights[None, None], (1, 1), "VALID")[0, 0]


def jacobi(u, sweeps):
    def step(_, u):
        return u.at[1:-1, 1:-1].set(0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
                                           + u[2:, 1:-1] + u[:-2, 1:-1]))

    return jax.lax.fori_loop(0, sweeps, step, u)


def heat(u, sweeps):
    def step(_, u):
        inner = 0.25 * u[1:-1, 1:-1, 1:-1] + 0.125 * (
            u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
        return u.at[1:-1, 1:-1, 1:-1].set(inner)

    return jax.lax.fori_loop(0, sweeps, step, u)


def fdtd(ex, ey, hz, source):
    def step(state, value):
        ex, ey, hz = state
        ey = jnp.concatenate([jnp.full((1, ey.shape[1]), value),
                              ey[1:] - 0.5 * (hz[1:] - hz[:-1])])
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    return jax.lax.scan(step, (ex, ey, hz), source)[0]
