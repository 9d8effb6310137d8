"""What asks for an array in an order copies, unless the array is known to lie so."""

import numpy as np
import pytest
from from_source import define
from tested_targets import TARGETS

from parakeet import jit

ARRAYS = {
    "C": np.arange(24.0).reshape(4, 6),
    "F": np.asfortranarray(np.arange(24.0).reshape(4, 6)),
    "sliced": np.arange(96.0).reshape(8, 12)[::2, ::2],
    "reversed": np.arange(24.0).reshape(4, 6)[::-1],
    "cube": np.arange(24.0).reshape(2, 3, 4),
}
ASKING = """
    np.ascontiguousarray(x) | np.asfortranarray(x) | np.ascontiguousarray(x.T)
    np.asfortranarray(x.T) | np.asarray(x, order='C') | np.asarray(x, order='F') | np.asarray(x)
    np.asarray(x, order='K') | np.ascontiguousarray(x[1:3]) | np.ascontiguousarray(x[0])
    np.ascontiguousarray(x[:, 1:]) | np.ascontiguousarray(x[::2]) | np.asfortranarray(x[0])
    np.ascontiguousarray(x[None]) | np.ascontiguousarray(x.reshape(-1, 2)) | np.array(x, copy=None)
    np.asarray(x, copy=True) | np.array(x, order='F') | np.asarray(x, x.dtype, 'C')
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("expression", [row.strip() for row in ASKING if row.strip()])
@pytest.mark.parametrize("name", ARRAYS)
def test_a_copy_is_made_where_numpy_makes_one(name, expression, target):
    plain = define(f"def f(x):\n    return {expression}\n")
    x = ARRAYS[name]
    expected = plain(x)
    actual = jit(plain)(x, target=target)
    np.testing.assert_array_equal(actual, expected, strict=True)
    for flag in ("c_contiguous", "f_contiguous"):
        if "order" in expression or "contiguous" in expression or "fortran" in expression:
            assert getattr(actual.flags, flag) == getattr(expected.flags, flag), flag
    if name in ("sliced", "reversed") or "::2" in expression:
        # What only the run shows may be copied once more; nothing is shared that NumPy copies.
        assert not np.shares_memory(actual, x) or np.shares_memory(expected, x)
        return
    assert np.shares_memory(actual, x) == np.shares_memory(expected, x)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_store_to_the_copy_does_not_show(name):
    plain = define("""
def f(x):
    y = np.ascontiguousarray(x)
    y[0] = 7.0
    z = helper(x)
    z[1] = 8.0
    return y + z

def helper(x):
    return np.asfortranarray(x)
""")
    ours, theirs = ARRAYS[name].copy("K"), ARRAYS[name].copy("K")
    np.testing.assert_array_equal(jit(plain)(ours), plain(theirs))
    np.testing.assert_array_equal(ours, theirs)
