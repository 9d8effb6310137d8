"""Simulations for torch.compile."""

import torch


def k_means(points, centres):
    squared = points @ (-2.0 * centres.T) + torch.sum(centres * centres, dim=1)
    labels = torch.argmin(squared, dim=1)
    sums = torch.zeros_like(centres).index_add_(0, labels, points)
    counts = torch.zeros(centres.shape[0], dtype=points.dtype, device=points.device).index_add_(
        0, labels, torch.ones_like(points[:, 0]))
    return sums / torch.clamp(counts, min=1.0)[:, None], labels


def n_body(positions, masses, softening):
    apart = [axis[None, :] - axis[:, None] for axis in positions.T]
    squared = apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2 + softening
    weights = masses / (squared * torch.sqrt(squared))
    return torch.stack([torch.sum(weights * axis, dim=1) for axis in apart], dim=1)


@torch.compile
def _through(path, column, row):
    return torch.minimum(path, column[:, None] + row)


def floyd_warshall(distances):
    path = distances
    for k in range(path.shape[0]):
        path = _through(path, path[:, k], path[k])
    return path


floyd_warshall.eager = True
