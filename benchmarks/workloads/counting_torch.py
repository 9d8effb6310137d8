"""Counts, selection and order for torch: functions that are compiled already."""

import torch


def histogram(keys, bins):
    return torch.bincount(keys, minlength=bins)


def compaction(x):
    return x[x > 0.5]


def sort(x):
    return torch.sort(x).values


histogram.eager = compaction.eager = sort.eager = True
