"""Loops whose iterations change nothing from some one on: what they carry, store and raise."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit


@jit
def escapes(re, im, most):
    counts = np.zeros((len(im), len(re)), np.int64)
    for i in range(len(im)):
        for j in range(len(re)):
            x, y = 0.0, 0.0
            for _step in range(most):
                if x * x + y * y <= 4.0:
                    x, y = x * x - y * y + re[j], 2.0 * x * y + im[i]
                    counts[i, j] += 1
    return counts


@jit
def escapes_of_arrays(c, most):
    z = np.zeros_like(c)
    n = np.zeros(c.shape, np.int64)
    for step in range(most):
        inside = np.abs(z.real) + np.abs(z.imag) < 2.0
        n[inside] = step
        z[inside] = z[inside] * z[inside] + c[inside]
    return z, n


@jit
def first_of(x, v):
    found = False
    place = -1
    for i in range(len(x)):
        if not found and x[i] == v:
            found = True
            place = i
    return place


@jit
def filled(x, out, limit):
    total = 0.0
    count = 0
    for i in range(len(x)):
        if total < limit:
            # The last one may not fit, which is an error then.
            out[count] = x[i]
            count += 1
            total += x[i]
    return total, count


@jit
def halted(x, limit):
    # What is full changes no more, whichever way it is asked.
    s = 0.0
    for i in range(len(x)):
        if s >= limit:
            s = s
        else:
            s += x[i]
    return s


@jit
def both(x, limit):
    a = 0.0
    b = 0.0
    for i in range(len(x)):
        if a < limit:
            a += x[i]
        if b < limit:
            b += 2 * x[i]
    return a, b


@jit
def noted(x, limit):
    # The last index goes on behind what stays.
    a = 0.0
    last = -1
    for i in range(len(x)):
        if a < limit:
            a += x[i]
        last = i
    return a, last


@jit
def roots(x, most):
    out = np.empty_like(x)
    for i in range(len(x)):
        r = x[i]
        step = 1.0
        for _k in range(most):
            if abs(step) > 1e-9:
                step = (r * r - x[i]) / (2 * r)
                r -= step
        out[i] = r
    return out


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return tuple(np.asarray(r) for r in (result if isinstance(result, tuple) else (result,)))


def check(function, target, *arguments):
    here = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    there = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with np.errstate(all="ignore"):
        made = outcome(lambda *a: function(*a, target=target), *here)
        wanted = outcome(function.__wrapped__, *there)
    if isinstance(wanted[0], type):
        assert made == wanted
    else:
        for a, b in zip(made, wanted, strict=True):
            assert a.dtype == b.dtype
            # NumPy fuses the products of complex numbers on some processors.
            near = 1e-9 if a.dtype.kind == "c" else 0.0
            assert np.allclose(a, b, rtol=near, atol=near, equal_nan=True)
    for a, b in zip(here, there, strict=True):
        assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")


@pytest.mark.parametrize("target", COMPILED)
def test_elements_that_stay(target):
    for width in (1, 7, 16, 33):
        re, im = np.linspace(-2, 1, width), np.linspace(-1.1, 1.1, 5)
        c = re + 1j * im[:, None]
        c[0, 0] = complex(np.nan, 0)
        for most in (0, 1, 2, 9):
            check(escapes, target, re, im, most)
            check(escapes_of_arrays, target, c, most)
    x = np.array([0.0, 1.0, 2.0, 1e300, np.inf, np.nan, -1.0] * 5)
    for most in (0, 1, 12):
        check(roots, target, x, most)


@pytest.mark.parametrize("target", COMPILED)
def test_loops(target):
    random = np.random.default_rng(0)
    for n in (0, 1, 2, 9, 40):
        x = random.integers(0, 5, n).astype(float)
        check(first_of, target, x, 3.0)
        check(first_of, target, x, np.nan)
        for limit in (-1.0, 0.0, 1.0, 7.0, 1e9, np.nan):
            for function in (halted, both, noted):
                check(function, target, x, limit)
            for room in (0, 1, 3, n):
                check(filled, target, x, np.zeros(room), limit)
