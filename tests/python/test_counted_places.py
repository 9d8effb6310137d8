"""Loops that count where they write, and tables of which bytes say the places.

They give what plain Python gives, on every target: values, exceptions, and what was stored before
an error.
"""

import numpy as np
import pytest
from exact_outcomes import check

import parakeet


def in_fours(data, alphabet, out):
    k = 0
    for i in range(0, len(data) - 2, 3):
        v = (int(data[i]) << 16) | (int(data[i + 1]) << 8) | int(data[i + 2])
        out[k] = alphabet[(v >> 18) & 63]
        out[k + 1] = alphabet[(v >> 12) & 63]
        k += 2
        out[k] = alphabet[(v >> 6) & 63]
        out[k + 1] = alphabet[v & 63]
        k += 2
    return k


def repeated(values, lengths, out):
    p = 0
    for i in range(len(values)):
        for _ in range(lengths[i]):
            out[p] = values[i]
            p += 1
    return p


def in_a_line(x, out, more):
    k = more
    for i in range(x.shape[0] - 1, -1, -1):
        for j in range(x.shape[1]):
            out[k] = x[i, j]
            k += 1
        k += more
    return k


def moved(lo, hi, by):
    k = 5
    for i in range(lo, hi, -2):
        k -= by
    p = 1
    for i in range(lo, hi):
        p += by + 1
    return k, p


def mapped(img, table, out):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = table[img[i, j]]


def in_hex(data, digits, out):
    k = 0
    for b in data:
        out[k] = digits[b >> 4]
        out[k + 1] = digits[b & 15]
        k += 2


def some_bytes(*shape, end=256):
    return np.random.default_rng(3).integers(0, end, shape).astype(np.uint8)


@pytest.mark.parametrize("size, room", [(60, 80), (61, 80), (62, 79), (2, 0), (0, 4)])
def test_steps_of_three(size, room):
    check(in_fours, some_bytes(size), some_bytes(64), np.zeros(room, np.uint8))


@pytest.mark.parametrize("lengths, room", [([3, 0, 40, 2], 45), ([3, 0, 40, 2], 44),
                                           ([-1, 5, -7, 1], 6), ([], 0)])
def test_repeated_values(lengths, room):
    check(repeated, np.arange(len(lengths)) + 7, np.array(lengths, np.int64),
          np.zeros(room, np.int64))


@pytest.mark.parametrize("shape, room, more", [((4, 5), 20, 0), ((4, 5), 40, 3), ((4, 5), 19, 0),
                                               ((4, 0), 9, 1), ((0, 4), 0, 2), ((3, 4), 12, -4),
                                               ((3, 4), 12, -5)])
def test_rows_in_a_line(shape, room, more):
    check(in_a_line, some_bytes(*shape), np.zeros(room, np.uint8), more)


@pytest.mark.parametrize("lo, hi", [(9, 0), (8, 0), (0, 9), (0, 0), (-3, 2), (2**62, 2**62 - 7)])
def test_ends_either_way(lo, hi):
    check(moved, lo, hi, 3)
    check(moved, lo, min(hi, lo + 9), -1)


@pytest.mark.parametrize("size, end", [(256, 256), (300, 256), (255, 255), (255, 256), (10, 10),
                                       (10, 11), (0, 1)])
def test_tables_of_bytes(size, end):
    img = some_bytes(7, 40, end=end)
    img[5, 3] = end - 1
    check(mapped, img, some_bytes(size), np.zeros((7, 40), np.uint8))


@pytest.mark.parametrize("size, room", [(16, 80), (15, 80), (16, 79)])
def test_digits_of_bytes(size, room):
    check(in_hex, some_bytes(40), some_bytes(size), np.zeros(room, np.uint8))


def test_counts_follow_from_the_index():
    report = " ".join(str(parakeet.jit(mapped).explain(
        some_bytes(4, 4), some_bytes(256), some_bytes(4, 4), target="serial")).split())
    assert "its checks are made at its ends first" in report
    ir = parakeet.jit(repeated)
    ir(np.arange(3), np.arange(3), np.zeros(9, np.int64))
    assert "%p.3: i64 =" not in ir.ir(stage="count-carried").split("for %")[-1]
