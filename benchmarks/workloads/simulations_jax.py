"""Simulations for JAX."""

import jax
import jax.numpy as jnp


def k_means(points, centres):
    squared = points @ (-2.0 * centres.T) + jnp.sum(centres * centres, axis=1)
    return _means(points, centres, jnp.argmin(squared, axis=1))


def k_means__differences(points, centres):
    squared = sum((points[:, d, None] - centres[:, d]) ** 2 for d in range(points.shape[1]))
    return _means(points, centres, jnp.argmin(squared, axis=1))


def _means(points, centres, labels):
    counts = jnp.zeros(centres.shape[0]).at[labels].add(1.0)
    sums = jnp.zeros(centres.shape).at[labels].add(points)
    return sums / jnp.maximum(counts, 1.0)[:, None], labels


def n_body(positions, masses, softening):
    apart = [axis[None, :] - axis[:, None] for axis in positions.T]
    squared = apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2 + softening
    weights = masses / (squared * jnp.sqrt(squared))
    return jnp.stack([jnp.sum(weights * axis, axis=1) for axis in apart], axis=1)


def floyd_warshall(distances):
    def step(k, path):
        return jnp.minimum(path, path[:, k, None] + path[k])

    return jax.lax.fori_loop(0, distances.shape[0], step, distances)
