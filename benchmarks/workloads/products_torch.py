"""Products for torch.compile."""

import torch


def matmul(X, Y):
    return X @ Y


def dense_layer(A, B, bias):
    return torch.tanh(A @ B + bias)


def tropical(A, B):
    return (A[:, :, None] + B[None]).amin(dim=1)


def tropical__along_rows(A, B):
    return (A[:, None, :] + B.T[None]).amin(dim=2)


def distances(X, Y):
    return ((X[:, None, :] - Y[None]) ** 2).sum(dim=2)
