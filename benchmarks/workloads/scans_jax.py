"""Scans for JAX."""

import jax
import jax.numpy as jnp


def running_logsumexp(x):
    return jax.lax.associative_scan(jnp.logaddexp, x)
