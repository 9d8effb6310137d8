"""Bits of bytes as elements, and elements as bits."""

import numpy as np

from parakeet.library.intrinsics import asarray, library_call, moveaxis, on_device, reshape
from parakeet.library.one_axis import along_one_axis
from parakeet.library.registry import overload
from parakeet.library.sorting import of_each
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
    rows = moveaxis(along_one_axis(bits, axis), axis, -1)
    made = of_each(lambda row: packed(row, bitorder), rows, rows.shape[:-1])
    made = reshape(made, rows.shape[:-1] + ((rows.shape[-1] + 7) // 8,))  # Of no rows, too.
    return moveaxis(made, -1, axis)


def count_of_bits(bytes, count):
    """`count`, or less from the end where it is negative."""
    n = 8 * bytes
    if count is None:
        return n
    if n + count < 0:
        raise ValueError("-count larger than number of elements")
    return count if count >= 0 else n + count


def unpacked(bytes, count, bitorder):
    """Of a vector."""
    n = count_of_bits(bytes.shape[0], count)
    if count is None and not on_device():
        made = np.empty(n, np.uint8)
        library_call("unpackbits", bytes, is_little(bitorder), made)
        return made

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
    rows = moveaxis(along_one_axis(x, axis), axis, -1)
    made = of_each(lambda row: unpacked(row, count, bitorder), rows, rows.shape[:-1])
    made = reshape(made, rows.shape[:-1] + (count_of_bits(rows.shape[-1], count),))
    return moveaxis(made, -1, axis)
