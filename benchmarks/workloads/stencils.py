"""Neighbours in grids: a window for each point, and sweeps one behind another."""

import numpy as np
from workload import Workload


def convolution(image, weights):
    rows, columns = weights.shape
    return np.array([[(image[i:i + rows, j:j + columns] * weights).sum()
                      for j in range(image.shape[1] - columns + 1)]
                     for i in range(image.shape[0] - rows + 1)])


def convolution_numpy(image, weights):
    rows, columns = weights.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    out = np.zeros((height, width))
    for p in range(rows):
        for q in range(columns):
            out += weights[p, q] * image[p:p + height, q:q + width]
    return out


def hdiff(field, coefficient):
    I, J, K = coefficient.shape
    laplacian = 4.0 * field[1:I + 3, 1:J + 3, :] - (
        field[2:I + 4, 1:J + 3, :] + field[0:I + 2, 1:J + 3, :]
        + field[1:I + 3, 2:J + 4, :] + field[1:I + 3, 0:J + 2, :])
    change = laplacian[1:, 1:J + 1, :] - laplacian[:-1, 1:J + 1, :]
    flux_x = np.where(
        change * (field[2:I + 3, 2:J + 2, :] - field[1:I + 2, 2:J + 2, :]) > 0, 0, change)
    change = laplacian[1:I + 1, 1:, :] - laplacian[1:I + 1, :-1, :]
    flux_y = np.where(
        change * (field[2:I + 2, 2:J + 3, :] - field[2:I + 2, 1:J + 2, :]) > 0, 0, change)
    return field[2:I + 2, 2:J + 2, :] - coefficient * (
        flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :])


def jacobi(u, sweeps):
    u = u.copy()
    v = u.copy()
    for _ in range(sweeps // 2):
        v[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1]
                               + u[:-2, 1:-1])
        u[1:-1, 1:-1] = 0.2 * (v[1:-1, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] + v[2:, 1:-1]
                               + v[:-2, 1:-1])
    return u


def heat(u, sweeps):
    u = u.copy()
    for _ in range(sweeps):
        u[1:-1, 1:-1, 1:-1] = (
            u[1:-1, 1:-1, 1:-1]
            + 0.125 * (u[2:, 1:-1, 1:-1] - 2.0 * u[1:-1, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1])
            + 0.125 * (u[1:-1, 2:, 1:-1] - 2.0 * u[1:-1, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1])
            + 0.125 * (u[1:-1, 1:-1, 2:] - 2.0 * u[1:-1, 1:-1, 1:-1] + u[1:-1, 1:-1, :-2]))
    return u


def fdtd(ex, ey, hz, source):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(source.size):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def make_image(random, side, width):
    return random.random((side, side)), random.standard_normal((width, width))


def make_hdiff(random, i, j, k):
    return random.random((i + 4, j + 4, k)), random.random((i, j, k))


def make_grid(random, shape, sweeps):
    return random.random(shape), sweeps


def make_fdtd(random, rows, columns, steps):
    return *(random.random((rows, columns)) for _ in range(3)), random.random(steps)


def convolution_cpp(library, image, weights):
    width = weights.shape[0]
    out = np.empty((image.shape[0] - width + 1, image.shape[1] - width + 1))
    getattr(library, f"convolution_{width}")(image, weights, out, *image.shape)
    return out


def hdiff_cpp(library, field, coefficient):
    out = np.empty_like(coefficient)
    library.hdiff(field, coefficient, out, *out.shape)
    return out


def sweeps_cpp(name):
    def call(library, u, sweeps):
        out, scratch = u.copy(), u.copy()
        getattr(library, name)(out, scratch, *u.shape, sweeps)
        return out

    return call


def fdtd_cpp(library, ex, ey, hz, source):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    library.fdtd(ex, ey, hz, source, *ex.shape, source.size)
    return ex, ey, hz


def sweep_flops(per_point):
    return lambda a, r: per_point * r[0].size * a[1]


WORKLOADS = [
    *(Workload(f"convolution {width}x{width}", convolution, make_image, (1200, width),
               (9, width), 1e-13, flops=lambda a, r: 2 * a[1].size * r[0].size,
               numpy=convolution_numpy, portable=(), cpp=convolution_cpp, against_cpp=wanted)
      for width, wanted in ((3, 1.0), (5, 1.3))),
    Workload("hdiff", hdiff, make_hdiff, (256, 256, 64), (4, 5, 3), 1e-12,
             flops=lambda a, r: 26 * r[0].size, cpp=hdiff_cpp, against_cpp=1.2),
    Workload("jacobi", jacobi, make_grid, ((1000, 1000), 100), ((9, 7), 4), 1e-13,
             flops=sweep_flops(5), portable=("numba", "pythran"), cpp=sweeps_cpp("jacobi"),
             against_cpp=1.0),
    Workload("heat", heat, make_grid, ((120, 120, 120), 10), ((5, 6, 7), 2), 1e-13,
             flops=sweep_flops(13), portable=("numba", "pythran"), cpp=sweeps_cpp("heat"),
             against_cpp=1.0),
    Workload("fdtd", fdtd, make_fdtd, (1000, 1000, 20), (6, 7, 3), 1e-13,
             flops=lambda a, r: 11 * r[0].size * a[3].size, portable=("numba", "pythran"),
             cpp=fdtd_cpp, against_cpp=1.0),
]  # fmt: skip
