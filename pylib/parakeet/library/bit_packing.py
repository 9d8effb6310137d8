"""Bits of bytes as elements, and elements as bits."""

import numpy as np

from parakeet.library.intrinsics import asarray, moveaxis, reshape
from parakeet.library.registry import overload
from parakeet.operators import imap


def shift_of(place, bitorder):
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    return 7 - place if bitorder == "big" else place


def byte_of(bits, first, bitorder):
    """Of eight bits; what is beyond the last is 0."""
    made = 0
    for k in range(min(8, bits.shape[0] - first)):
        made |= int(bits[first + k]) << shift_of(k, bitorder)
    return np.uint8(made)


def packed(bits, bitorder):
    """Of a vector."""
    return imap(lambda i: byte_of(bits, 8 * i, bitorder), (bits.shape[0] + 7) // 8)


@overload(np.packbits)
def packbits(a, /, axis=None, bitorder="big"):
    x = asarray(a)
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        raise TypeError("Expected an input array of integer or boolean data type")
    bits = reshape(x != 0, -1) if axis is None else moveaxis(x != 0, axis, -1)
    if axis is None:
        return packed(bits, bitorder)
    return moveaxis(np.apply_along_axis(packed, -1, bits, bitorder), -1, axis)


def unpacked(bytes, count, bitorder):
    """Of a vector; `count` bits, or less from the end where it is negative."""
    n = 8 * bytes.shape[0]
    if count is not None:
        n = count if count >= 0 else max(n + count, 0)

    def bit(i):
        if i >= 8 * bytes.shape[0]:
            return np.uint8(0)
        return np.uint8((int(bytes[i // 8]) >> shift_of(i % 8, bitorder)) & 1)

    return imap(bit, n)


@overload(np.unpackbits)
def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    x = asarray(a)
    if x.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        return unpacked(reshape(x, -1), count, bitorder)
    rows = moveaxis(x, axis, -1)
    return moveaxis(np.apply_along_axis(unpacked, -1, rows, count, bitorder), -1, axis)
