"""Bits of bytes as elements, and elements as bits."""

import numpy as np

from parakeet.library.intrinsics import asarray, library_call, moveaxis, on_device, reshape
from parakeet.library.registry import overload
from parakeet.operators import imap


def shift_of(place, bitorder):
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    return 7 - place if bitorder == "big" else place


def is_little(bitorder):
    return 1 if shift_of(0, bitorder) == 0 else 0


def byte_of(bits, first, bitorder):
    """Of eight bits; what is beyond the last is 0."""
    made = 0
    for k in range(min(8, bits.shape[0] - first)):
        made |= int(bits[first + k]) << shift_of(k, bitorder)
    return np.uint8(made)


def packed(bits, bitorder):
    """Of a vector of bools."""
    if not on_device():
        made = np.empty((bits.shape[0] + 7) // 8, np.uint8)
        library_call("packbits", bits, is_little(bitorder), made)
        return made
    return imap(lambda i: byte_of(bits, 8 * i, bitorder), (bits.shape[0] + 7) // 8)


@overload(np.packbits)
def packbits(a, /, axis=None, bitorder="big"):
    x = asarray(a)
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        raise TypeError("Expected an input array of integer or boolean data type")
    bits = x if x.dtype == bool else x != 0
    if axis is None:
        return packed(reshape(bits, -1), bitorder)
    rows = moveaxis(bits, axis, -1)
    return moveaxis(np.apply_along_axis(packed, -1, rows, bitorder), -1, axis)


def unpacked(bytes, count, bitorder):
    """Of a vector; `count` bits, or less from the end where it is negative."""
    n = 8 * bytes.shape[0]
    if count is None and not on_device():
        made = np.empty(n, np.uint8)
        library_call("unpackbits", bytes, is_little(bitorder), made)
        return made
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
