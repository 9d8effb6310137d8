"""Lanes of 64-bit integers and floats become one another as NumPy has it, of whatever size."""

import numpy as np
import pytest
from tested_targets import COMPILED

from parakeet import jit

NEAR = [0, 1, 7, 2**31, 2**49, 2**50, 2**51, 2**52, 2**53, 2**62]
WHOLE = np.array(sorted({sign * (x + d) for x in NEAR for d in (-2, -1, 0, 1, 3)
                         for sign in (-1, 1)}))  # fmt: skip
BROKEN = [0.5, -0.5, 1.5, -2.75, 2.0**49 + 0.25, 2.0**50 - 0.125, -(2.0**51) - 0.5, 1e-310, -0.0]
FAR = [2.0**63, -(2.0**63), 1e300, np.inf, -np.inf, np.nan]


@jit
def to_integers(x):
    return x.astype(np.int64), x.astype(np.uint32), x.astype(np.int32)


@jit
def to_floats(x):
    return x.astype(np.float64), x.astype(np.float32)


def groups(values):
    """The values in every place of lanes of 8, beside small ones and beside each other."""
    values = np.asarray(values)
    alone = np.full((len(values), 8), 3, values.dtype)
    alone[np.arange(len(values)), np.arange(len(values)) % 8] = values
    return np.concatenate([alone.ravel(), values, values[::-1]])


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_become_integers(dtype, target):
    with np.errstate(all="ignore"):
        x = groups(np.concatenate([WHOLE, BROKEN, FAR]).astype(dtype))
        expected = to_integers.__wrapped__(x)
    small = np.isfinite(x) & (np.abs(x) < 2.0**31)
    for place, (actual, wanted) in enumerate(zip(to_integers(x, target=target), expected)):
        # What does not fit i64 is the least of them; narrower ones are what NumPy makes of any.
        where = slice(None) if place == 0 else small & (x >= 0)
        np.testing.assert_array_equal(actual[where], wanted[where])


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_become_floats(dtype, target):
    x = groups(WHOLE.astype(dtype))
    for actual, wanted in zip(to_floats(x, target=target), to_floats.__wrapped__(x)):
        np.testing.assert_array_equal(actual, wanted)
