"""np.searchsorted of one number in a loop and of many, among nan, infinities and zeros of either
sign, from either side, in arrays of every length up to 20."""

import numpy as np
import pytest
from exact_outcomes import check


def of_many(a, v):
    return np.searchsorted(a, v), np.searchsorted(a, v, side="right")


def one_by_one(a, v):
    out = np.zeros((len(v), 2), np.int64)
    for i in range(len(v)):
        out[i, 0] = np.searchsorted(a, v[i])
        out[i, 1] = np.searchsorted(a, v[i], "right")
    return out


def one_after_another(a, v):
    """Where one search ends says what is looked for next."""
    place = 0
    total = 0
    for i in range(len(v)):
        place = np.searchsorted(a, v[(i + place) % len(v)])
        total += place
    return total


@pytest.mark.sampled(2, "f", "dtype")
@pytest.mark.parametrize("f", [of_many, one_by_one, one_after_another], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f8", "f2", "c16", "i4", "u8"])
def test_places_among(f, dtype):
    rng = np.random.default_rng(0)
    signed, floats = dtype[0] != "u", dtype[0] in "fc"
    values = [*rng.integers(-7 if signed else 0, 8, 20)]
    if floats:
        values += [np.nan, np.inf, -np.inf, 0.0, -0.0]
    for n in range(1, 21):
        x = rng.choice(values, n).astype(dtype)
        check(f, np.sort(x), np.array(values, dtype))
