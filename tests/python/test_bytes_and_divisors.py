"""Programs that parse bytes, look for divisors, and search until something is found."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit

RNG = np.random.default_rng(43)
BYTES = RNG.integers(0, 256, 600).astype(np.uint8)
HEX = np.frombuffer(bytes(BYTES[:300]).hex().encode(), np.uint8)


def from_hex(h):
    out = np.empty(len(h) // 2, np.uint8)
    for i in range(len(out)):
        v = 0
        for k in range(2):
            c = int(h[2 * i + k])
            d = c - 48 if c <= 57 else c - 87
            v = v * 16 + d
        out[i] = v
    return out


def check_digits(numbers):
    out = np.zeros(len(numbers), np.bool_)
    for i in range(len(numbers)):
        s = 0
        for k in range(16):
            v = int(numbers[i, k])
            if k % 2 == 0:
                v *= 2
                if v > 9:
                    v -= 9
            s += v
        out[i] = s % 10 == 0
    return out


def hashes_of_rows(rows):
    out = np.zeros(len(rows), np.uint8)
    for i in range(len(rows)):
        h = 7
        for j in range(rows.shape[1]):
            h = (h * 31 + int(rows[i, j])) & 0xFFFF
        out[i] = h & 255
    return out


def weighed_rows(rows):
    out = np.zeros(len(rows))
    for i in range(len(rows)):
        v = 0
        for j in range(6):
            v = v * 10 - int(rows[i, j])
        out[i] = v
    return out


@pytest.mark.parametrize("length", [0, 2, 66, 600])
def test_hexadecimal_digits(length):
    check(from_hex, HEX[:length])


def test_digits_that_are_none():
    h = HEX.copy()
    h[301] = 1
    check(from_hex, h)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
def test_sums_of_digits_and_of_anything(dtype):
    numbers = BYTES[:592].reshape(-1, 16).astype(dtype)
    check(check_digits, numbers % 10)
    check(check_digits, numbers)
    check(hashes_of_rows, numbers)
    check(weighed_rows, numbers)


def numbers_of_seven_bits(b, n):
    out = np.empty(n, np.int64)
    k = 0
    v = 0
    s = 0
    for i in range(len(b)):
        v |= int(b[i] & 127) << s
        s += 7
        if b[i] < 128:
            out[k] = v
            k += 1
            v = 0
            s = 0
    return out


def moved_back(b, n):
    s = 0
    t = 0
    for i in range(len(b)):
        t += 1 << s
        s += n
        if b[i] < 128:
            s = n
    return t


def test_shifts_that_begin_anew():
    check(numbers_of_seven_bits, np.array([5, 129, 1, 255, 255, 3, 0], np.uint8), 4)
    check(numbers_of_seven_bits, np.array([5, 129, 1, 255, 255, 3, 0], np.uint8), 3)
    check(moved_back, np.array([200, 100, 200], np.uint8), 1)
    check(moved_back, np.array([200, 100, 200], np.uint8), -1)


def first_above(a, t):
    out = np.full(len(a), -1)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > t:
                out[i] = j
                break
    return out


def rows_with_one_above(a, t):
    c = 0
    for i in range(a.shape[0]):
        found = False
        for j in range(a.shape[1]):
            if a[i, j] > t:
                found = True
                break
        c += found
    return c


def first_of_all(a, t):
    for i in range(len(a)):
        if a[i] > t:
            return i
    return -1


def last_before(a, t):
    k = 0
    best = 0.0
    while k < len(a):
        best = best + a[k]
        if best > t:
            a[k] = -1.0
            break
        k += 1
        best *= 0.5
    return k, best


@pytest.mark.parametrize("t", [-1.0, 0.5, 0.97, 2.0])
def test_searches_that_end_anywhere(t):
    a = RNG.random((37, 50))
    for x in (a, a.T, a[:, :1], a[:0], a[::-1, ::2]):
        check(first_above, x, t)
        check(rows_with_one_above, x, t)
    check(first_of_all, a[5], t)
    check(last_before, a[3].copy(), t)


def test_a_search_leaves_its_loop_by_the_branch(monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:search_in_lanes")
    f = jit(first_of_all)
    assert f(np.arange(9.0), 3.5, target="serial") == 4
    assert f.llvm().count("fcmp") == 1  # 4, of copies, where what was found is asked again


def smallest_divisors(n):
    out = np.zeros(n, np.int64)
    count = 0
    for i in range(2, n):
        prime = True
        d = 2
        while d * d <= i:
            if i % d == 0:
                prime = False
                break
            d += 1
        out[i] = d
        if prime:
            count += 1
    return out, count


def smallest_divisor(v):
    d = 2
    s = 0
    while d * d <= v:
        s += d
        if v % d == 0:
            break
        d += 1
    return d, s


def totients(n):
    total = 0
    for k in range(1, n):
        r = k
        m = k
        p = 2
        while p * p <= m:
            if m % p == 0:
                while m % p == 0:
                    m //= p
                r -= r // p
            p += 1
        if m > 1:
            r -= r // m
        total += r
    return total


def perfect_numbers(n):
    c = 0
    for k in range(2, n):
        s = 1
        d = 2
        while d * d <= k:
            if k % d == 0:
                s += d
                if d * d != k:
                    s += k // d
            d += 1
        if s == k:
            c += 1
    return c


def test_divisors():
    check(smallest_divisors, 400)
    check(totients, 150)
    check(perfect_numbers, 500)
    for v in (0, 1, 4, 49, 1009, 1013 * 1019):
        check(smallest_divisor, v)


def test_a_step_does_not_wait_for_the_one_that_ends_a_loop():
    f = jit(smallest_divisor)
    assert f(1009, target="serial") == smallest_divisor(1009)
    assert f.llvm().count("zext i1") == 0  # what is added where nothing divides


def gray_codes(n):
    t = 0
    x = 0
    for i in range(1, n):
        k = 0
        v = i
        while v % 2 == 0:
            v //= 2
            k += 1
        x ^= 1 << k
        t += x
    return t, x


def zeros_behind(n, s):
    t = 0
    for _ in range(n):
        s = (s * 25214903917 + 11) & 0xFFFFFFFFFFFF
        v = (s >> 3) | (1 << 50)
        c = 0
        while (v & 1) == 0:
            v >>= 1
            c += 1
        t += c
        s ^= c
    return t, s


def bits_of_bytes(b):
    t = 0
    for i in range(len(b)):
        v = int(b[i])
        while v != 0:
            t += v & 1
            v >>= 1
    return t


def test_bits_that_are_known_to_be_set():
    check(gray_codes, 70)
    check(zeros_behind, 40, 12345)
    check(bits_of_bytes, BYTES[:50])
