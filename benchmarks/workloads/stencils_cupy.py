"""Stencils for CuPy: a kernel that reads its neighbours, or one for each expression of views."""

import cupy as cp

_WINDOW = cp.ElementwiseKernel(
    "raw T image, raw T weights, int64 width, int64 size, int64 columns", "T out",
    """long row = i / columns, column = i % columns;
       T sum = 0;
       for (int p = 0; p < size; ++p)
         for (int q = 0; q < size; ++q)
           sum += image[(row + p) * width + column + q] * weights[p * size + q];
       out = sum""",
    "window")  # fmt: skip


def convolution(image, weights):
    size = weights.shape[0]
    out = cp.empty((image.shape[0] - size + 1, image.shape[1] - size + 1), image.dtype)
    return _WINDOW(image, weights, image.shape[1], size, out.shape[1], out)


def convolution__unrolled(image, weights):
    height, width = (image.shape[k] - weights.shape[k] + 1 for k in (0, 1))
    return sum(weights[p, q] * image[p:p + height, q:q + width]
               for p in range(weights.shape[0]) for q in range(weights.shape[1]))


@cp.fuse()
def _mean_of_five(a, b, c, d, e):
    return 0.2 * (a + b + c + d + e)


def jacobi(u, sweeps):
    u = u.copy()
    v = u.copy()
    for _ in range(sweeps):
        v[1:-1, 1:-1] = _mean_of_five(u[1:-1, 1:-1], u[1:-1, :-2], u[1:-1, 2:], u[2:, 1:-1],
                                      u[:-2, 1:-1])
        u, v = v, u
    return u


@cp.fuse()
def _warmed(u, a, b, c, d, e, f):
    return (u + 0.125 * (a - 2.0 * u + b) + 0.125 * (c - 2.0 * u + d)
            + 0.125 * (e - 2.0 * u + f))  # fmt: skip


def heat(u, sweeps):
    u = u.copy()
    for _ in range(sweeps):
        u[1:-1, 1:-1, 1:-1] = _warmed(
            u[1:-1, 1:-1, 1:-1], u[2:, 1:-1, 1:-1], u[:-2, 1:-1, 1:-1], u[1:-1, 2:, 1:-1],
            u[1:-1, :-2, 1:-1], u[1:-1, 1:-1, 2:], u[1:-1, 1:-1, :-2])
    return u


@cp.fuse()
def _less(a, k, b, c):
    return a - k * (b - c)


@cp.fuse()
def _less_of_four(a, b, c, d, e):
    return a - 0.7 * (b - c + d - e)


def fdtd(ex, ey, hz, source):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(source.size):
        ey[0, :] = source[t]
        ey[1:, :] = _less(ey[1:, :], 0.5, hz[1:, :], hz[:-1, :])
        ex[:, 1:] = _less(ex[:, 1:], 0.5, hz[:, 1:], hz[:, :-1])
        hz[:-1, :-1] = _less_of_four(hz[:-1, :-1], ex[:-1, 1:], ex[:-1, :-1], ey[1:, :-1],
                                     ey[:-1, :-1])
    return ex, ey, hz
