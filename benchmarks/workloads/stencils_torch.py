"""Stencils for torch.compile; a time loop calls its compiled step."""

import torch


def convolution(image, weights):
    rows, columns = weights.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    return sum(weights[p, q] * image[p:p + height, q:q + width]
               for p in range(rows) for q in range(columns))


def hdiff(field, coefficient):
    i, j, k = coefficient.shape
    laplacian = 4.0 * field[1:i + 3, 1:j + 3] - (
        field[2:i + 4, 1:j + 3] + field[0:i + 2, 1:j + 3]
        + field[1:i + 3, 2:j + 4] + field[1:i + 3, 0:j + 2])
    change = laplacian[1:, 1:j + 1] - laplacian[:-1, 1:j + 1]
    flux_x = torch.where(
        change * (field[2:i + 3, 2:j + 2] - field[1:i + 2, 2:j + 2]) > 0, 0.0, change)
    change = laplacian[1:i + 1, 1:] - laplacian[1:i + 1, :-1]
    flux_y = torch.where(
        change * (field[2:i + 2, 2:j + 3] - field[2:i + 2, 1:j + 2]) > 0, 0.0, change)
    return field[2:i + 2, 2:j + 2] - coefficient * (
        flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])


@torch.compile
def _sweep(u):
    v = u.clone()
    v[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1]
                           + u[:-2, 1:-1])
    return v


def jacobi(u, sweeps):
    for _ in range(sweeps):
        u = _sweep(u)
    return u


@torch.compile
def _warm(u):
    v = u.clone()
    v[1:-1, 1:-1, 1:-1] = 0.25 * u[1:-1, 1:-1, 1:-1] + 0.125 * (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
    return v


def heat(u, sweeps):
    for _ in range(sweeps):
        u = _warm(u)
    return u


@torch.compile
def _step(ex, ey, hz, value):
    ey = torch.cat([value.expand(1, ey.shape[1]), ey[1:] - 0.5 * (hz[1:] - hz[:-1])])
    ex = torch.cat([ex[:, :1], ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])], dim=1)
    new = hz.clone()
    new[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, new


def fdtd(ex, ey, hz, source):
    for t in range(source.shape[0]):
        ex, ey, hz = _step(ex, ey, hz, source[t])
    return ex, ey, hz


jacobi.eager = heat.eager = fdtd.eager = True
