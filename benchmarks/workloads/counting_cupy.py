"""Counts for CuPy."""

import cupy as cp


def histogram(keys, bins):
    # Bins of one width, which CuPy gives to CUB where its accelerator is on.
    return cp.histogram(keys, bins, (0, bins))[0]


def compaction(x):
    return cp.extract(x > 0.5, x)
