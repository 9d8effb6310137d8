"""Whole steps of known methods: several loop nests that share what they read."""

import numpy as np
from workload import Workload


def k_means(points, centres):
    squared = np.array([[np.sum((p - c) ** 2) for c in centres] for p in points])
    labels = np.argmin(squared, axis=1)
    sums = np.zeros(centres.shape)
    counts = np.zeros(centres.shape[0])
    for i in range(labels.size):
        sums[labels[i]] += points[i]
        counts[labels[i]] += 1.0
    return sums / np.maximum(counts, 1.0)[:, None], labels


def n_body(positions, masses, softening):
    apart = positions[None, :, :] - positions[:, None, :]
    squared = np.sum(apart * apart, axis=2) + softening
    weights = masses / (squared * np.sqrt(squared))
    return np.sum(weights[:, :, None] * apart, axis=1)


def floyd_warshall(distances):
    path = distances.copy()
    for k in range(path.shape[0]):
        path = np.minimum(path, path[:, k, None] + path[k])
    return path


def k_means_numpy(points, centres):
    squared = points @ (-2.0 * centres.T)
    squared += np.sum(centres * centres, axis=1)
    labels = np.argmin(squared, axis=1)
    counts = np.bincount(labels, minlength=centres.shape[0])
    sums = np.stack([np.bincount(labels, points[:, d], centres.shape[0])
                     for d in range(points.shape[1])], axis=1)
    return sums / np.maximum(counts, 1.0)[:, None], labels


def n_body_numpy(positions, masses, softening):
    """Coordinate by coordinate, and in place: matrices rather than a stack of them."""
    apart = [np.subtract.outer(-axis, -axis) for axis in positions.T]
    squared = apart[0] * apart[0]
    squared += apart[1] * apart[1]
    squared += apart[2] * apart[2]
    squared += softening
    weights = squared * np.sqrt(squared)
    np.divide(masses, weights, out=weights)
    return np.stack([np.einsum("ij,ij->i", weights, axis) for axis in apart], axis=1)


def make_points(random, n, centres, axes):
    return random.random((n, axes)), random.random((centres, axes))


def make_bodies(random, n):
    return random.standard_normal((n, 3)), random.random(n), 0.01


def make_graph(random, n):
    distances = random.random((n, n))
    np.fill_diagonal(distances, 0.0)
    return (distances,)


def k_means_cpp(library, points, centres):
    sums = np.zeros(centres.shape)
    labels = np.empty(points.shape[0], np.int64)
    library.k_means(points, centres, sums, labels, *points.shape, centres.shape[0])
    return sums, labels


def n_body_cpp(library, positions, masses, softening):
    out = np.empty_like(positions)
    library.n_body(positions, masses, softening, out, masses.size)
    return out


def floyd_warshall_cpp(library, distances):
    path = distances.copy()
    library.floyd_warshall(path, path.shape[0])
    return path


WORKLOADS = [
    # Random points have no near ties, so the labels agree.
    Workload("k_means", k_means, make_points, (100_000, 50, 8), (99, 5, 3), 1e-10,
             flops=lambda a, r: 3 * a[0].size * a[1].shape[0], numpy=k_means_numpy, portable=(),
             cpp=k_means_cpp, against_cpp=1.0),
    Workload("n_body", n_body, make_bodies, (2000,), (9,), 1e-10,
             flops=lambda a, r: 20 * a[1].size ** 2, numpy=n_body_numpy, portable=("jax",),
             cpp=n_body_cpp, against_cpp=1.0),
    Workload("floyd_warshall", floyd_warshall, make_graph, (400,), (9,), 1e-14,
             flops=lambda a, r: 2 * r[0].size * a[0].shape[0], portable=("numba", "pythran"),
             cpp=floyd_warshall_cpp, against_cpp=1.0),
]  # fmt: skip
