"""The wheel works at all: small enough for every Python and every NumPy that we support."""

import numpy as np
import pytest

import parakeet
from parakeet import jit


@jit
def fast(x, alpha=0.5, beta=0.3):
    return np.tanh(x * alpha) + beta


@jit
def total(x):
    return x.sum()


@pytest.mark.parametrize("target", ["interpreter", "serial", "parallel"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_elementwise(target, size):
    x = np.linspace(-2.0, 2.0, size)
    result = fast(x, target=target)
    assert result.dtype == np.float64
    # tanh of libmvec is within 4 units in the last place of libm's.
    np.testing.assert_allclose(result, np.tanh(x * 0.5) + 0.3, rtol=1e-12, atol=1e-15)


def test_serial_and_parallel_agree_to_the_bit():
    x = np.sin(np.arange(300_000.0))
    assert total(x, target="serial") == total(x, target="parallel")
    # Both sums are pairwise or blocked: their error grows with the logarithm of the length.
    np.testing.assert_allclose(total(x), x.sum(), rtol=0, atol=1e-10)


def test_numpys_kernels_and_lapack_are_found():
    x = np.random.default_rng(0).standard_normal((40, 40))
    np.testing.assert_array_equal(jit(lambda x: np.sort(x, axis=0))(x), np.sort(x, axis=0))
    order = jit(lambda x: np.argsort(x, axis=1, kind="stable"))(x)
    np.testing.assert_array_equal(order, np.argsort(x, axis=1, kind="stable"))
    inverse = jit(lambda x: np.linalg.inv(x))(x)
    np.testing.assert_allclose(inverse @ x, np.eye(40), atol=1e-9)
    q, r = jit(lambda x: np.linalg.qr(x))(x + 1j)
    np.testing.assert_allclose(q @ r, x + 1j, atol=1e-12)


def test_a_result_outlives_its_function():
    results = [fast(np.full(100, float(i))) for i in range(10)]
    for i, result in enumerate(results):
        np.testing.assert_allclose(result, np.tanh(i * 0.5) + 0.3, rtol=1e-12, atol=1e-15)


def test_a_refusal_is_an_exception():
    @jit
    def generator(x):
        yield x

    with pytest.raises(NotImplementedError):
        generator(1.0)


def test_the_package_names_its_version():
    assert parakeet.__version__
