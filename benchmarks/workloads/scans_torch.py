"""Scans for torch: its own, which are compiled already."""

import torch


def cumsum(x):
    return torch.cumsum(x, dim=0)


def running_logsumexp(x):
    return torch.logcumsumexp(x, dim=0)


cumsum.eager = running_logsumexp.eager = True
