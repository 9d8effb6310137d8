"""Simulations as loops for Numba."""

from math import sqrt

import numpy as np
from numba import get_num_threads, prange


def k_means(njit):
    @njit
    def kernel(points, centres):
        n, axes = points.shape
        count, parts = centres.shape[0], get_num_threads()
        labels = np.empty(n, np.int64)
        sums = np.zeros((parts, count, axes))
        members = np.zeros((parts, count))
        for t in prange(parts):
            for i in range(t * n // parts, (t + 1) * n // parts):
                nearest, label = np.inf, 0
                for c in range(count):
                    squared = 0.0
                    for d in range(axes):
                        squared += (points[i, d] - centres[c, d]) ** 2
                    if squared < nearest:
                        nearest, label = squared, c
                labels[i] = label
                members[t, label] += 1.0
                for d in range(axes):
                    sums[t, label, d] += points[i, d]
        totals = members.sum(axis=0)
        out = sums.sum(axis=0)
        for c in range(count):
            for d in range(axes):
                out[c, d] /= max(totals[c], 1.0)
        return out, labels

    return kernel


def n_body(njit):
    @njit
    def kernel(columns, masses, softening):
        n = masses.size
        out = np.empty((n, 3))
        for i in prange(n):
            ax, ay, az = 0.0, 0.0, 0.0
            for j in range(n):
                dx = columns[0, j] - columns[0, i]
                dy = columns[1, j] - columns[1, i]
                dz = columns[2, j] - columns[2, i]
                squared = dx * dx + dy * dy + dz * dz + softening
                weight = masses[j] / (squared * sqrt(squared))
                ax += weight * dx
                ay += weight * dy
                az += weight * dz
            out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
        return out

    return lambda positions, masses, softening: kernel(
        np.ascontiguousarray(positions.T), masses, softening)


def floyd_warshall(njit):
    @njit
    def step(path, through, k):
        for i in prange(path.shape[0]):
            to = path[i, k]
            for j in range(path.shape[1]):
                path[i, j] = min(path[i, j], to + through[j])

    @njit
    def kernel(distances):
        path = distances.copy()
        for k in range(path.shape[0]):
            step(path, path[k].copy(), k)
        return path

    return kernel
