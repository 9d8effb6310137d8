"""Spectra, with the frequency zero first or in the middle."""

import numpy as np

from parakeet.library.intrinsics import asarray, normalize_axes
from parakeet.library.registry import overload


def rolled_by_halves(x, axes, towards):
    given = asarray(x)
    if axes is None:
        axes = normalize_axes(None, given.ndim)
    for k in axes if isinstance(axes, (tuple, list)) else (axes,):
        n = given.shape[k]
        given = np.roll(given, n // 2 if towards > 0 else -(n // 2), k)
    return given


@overload(np.fft.fftshift)
def fftshift(x, axes=None):
    return rolled_by_halves(x, axes, 1)


@overload(np.fft.ifftshift)
def ifftshift(x, axes=None):
    return rolled_by_halves(x, axes, -1)
