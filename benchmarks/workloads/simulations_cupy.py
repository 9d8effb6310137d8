"""Simulations for CuPy."""

import cupy as cp

_FORCE = cp.ReductionKernel(
    "raw T positions, raw T masses, T softening, int64 puller, int64 body, int64 axis", "T out",
    "pull(positions, masses, softening, body, puller, axis)", "a + b", "out = a", "0", "force",
    preamble="""
template <typename P, typename M, typename T>
__device__ T pull(const P& p, const M& m, T softening, long i, long j, long axis) {
  T x = p[3 * j] - p[3 * i], y = p[3 * j + 1] - p[3 * i + 1], z = p[3 * j + 2] - p[3 * i + 2];
  T squared = x * x + y * y + z * z + softening;
  return m[j] / (squared * sqrt(squared)) * (axis == 0 ? x : axis == 1 ? y : z);
}""")  # fmt: skip


def k_means(points, centres):
    squared = points @ (-2.0 * centres.T)
    squared += cp.sum(centres * centres, axis=1)
    labels = cp.argmin(squared, axis=1)
    counts = cp.bincount(labels, minlength=centres.shape[0])
    sums = cp.zeros(centres.shape)
    cp.add.at(sums, labels, points)
    return sums / cp.maximum(counts, 1.0)[:, None], labels


def n_body(positions, masses, softening):
    """Coordinate by coordinate: matrices rather than a stack of them."""
    apart = [axis[None, :] - axis[:, None] for axis in positions.T]
    return cp.stack([cp.sum(weights, axis=1)
                     for weights in _weighted(*apart, masses, softening)], axis=1)  # fmt: skip


@cp.fuse()
def _weighted(x, y, z, masses, softening):
    squared = x * x + y * y + z * z + softening
    weights = masses / (squared * cp.sqrt(squared))
    return weights * x, weights * y, weights * z


def n_body__one_kernel(positions, masses, softening):
    bodies = cp.arange(masses.size)
    return _FORCE(positions, masses, softening, bodies[None, None, :], bodies[:, None, None],
                  cp.arange(3)[None, :, None], axis=2)  # fmt: skip


@cp.fuse()
def _shorter(path, a, b):
    return cp.minimum(path, a + b)


def floyd_warshall(distances):
    path = distances.copy()
    for k in range(path.shape[0]):
        path = _shorter(path, path[:, k, None], path[k])
    return path
