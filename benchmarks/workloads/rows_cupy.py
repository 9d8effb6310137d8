"""Row by row for CuPy."""

import cupy as cp


@cp.fuse()
def _normal(centred, variance, gain, bias):
    return centred / cp.sqrt(variance + 1e-5) * gain + bias


def layer_norm(x, gain, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return _normal(centred, variance, gain, bias)


def softmax(x):
    e = cp.exp(x - x.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return e
