"""Row by row for torch.compile."""

import torch


def softmax(x):
    return torch.softmax(x, dim=1)


def layer_norm(x, gain, bias):
    return torch.nn.functional.layer_norm(x, x.shape[1:], gain, bias, 1e-5)
