"""Counts and selection for JAX. What it selects has a size that no compilation knows."""

import jax.numpy as jnp


def histogram(keys, bins):
    return jnp.bincount(keys, length=bins)


def compaction(x):
    return x[x > 0.5]


compaction.eager = True
