"""Linear equations of few rows, which our own kernels solve, and of one more, which LAPACK does."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


@jit
def solved(a, b):
    return np.linalg.inv(a), np.linalg.solve(a, b), np.linalg.det(a)


@jit
def inverse(a):
    return np.linalg.inv(a)


@jit
def determinants(a):
    return np.linalg.det(a)


@pytest.mark.sampled(2, "dtype", "target")
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("target", TARGETS)
def test_stacks_of_small_matrices(dtype, target):
    """In sums other than NumPy's, of matrices that are far from singular."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 8, 9):
        a = rng.standard_normal((20, n, n))
        if dtype[0] == "c":
            a = a + 1j * rng.standard_normal((20, n, n))
        a = (a + 3 * np.eye(n)[rng.permutation(n)]).astype(dtype)
        b = rng.standard_normal((20, n, 2)).astype(dtype)
        tolerance = 2e-3 if dtype in ("f4", "c8") else 1e-9
        made = solved(a, b, target=target)
        for got, wanted in zip(made, solved.__wrapped__(a, b), strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("target", TARGETS)
def test_singular_matrices_and_nan(target):
    singular = np.array([[4.0, 2, 8], [2, 1, 4], [8, 4, 1]])
    stack = np.stack([np.eye(3), singular])
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        inverse(stack, target=target)
    np.testing.assert_array_equal(determinants(stack, target=target), [1, 0])
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        inverse(np.array([[[np.inf, 0], [np.inf, 0]]]), target=target)
    odd = np.array([[[3, 1], [1, np.nan]], [[1, 2], [2, np.inf]]])
    with np.errstate(all="ignore"):
        wanted = np.linalg.inv(odd)
    np.testing.assert_array_equal(inverse(odd, target=target), wanted)
