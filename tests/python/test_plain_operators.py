"""Target "python" runs the operators one element after the other, with the same meaning."""

import numpy as np
import pytest
from layouts import values
from test_operators import CASES

import parakeet

# Here the bare `map` is Python's own.
PROGRAMS = [name for name in CASES if name != "bare_map"]
X = values(7)


def check_values(actual, expected):
    """Plain Python has no types of its own to keep: values and shapes are compared."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple) and len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            check_values(a, e)
        return
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_operator(name):
    program, arguments, expected = CASES[name]
    with parakeet.target("python"):
        check_values(program(*arguments), expected)
        check_values(parakeet.jit(program)(*arguments), expected)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_reduce_along_axes(axis):
    x = values((2, 3, 4))
    plain = parakeet.reduce(lambda a, b: a + b, x, axis=axis, target="python")
    check_values(plain, x.sum(axis=axis))


def test_filters():
    with parakeet.target("python"):
        check_values(parakeet.filter(lambda a: a > 0, X), X[X > 0])
        check_values(parakeet.filter(lambda a, b: a > b, X, X[::-1]),
                     (X[X > X[::-1]], X[::-1][X > X[::-1]]))
        check_values(parakeet.filter_reduce(np.add, lambda a: a > 0, X, init=0.0), X[X > 0].sum())


def test_primitives_are_numpys_functions():
    with parakeet.target("python"):
        assert type(parakeet.add(1, 2.5)) is np.float64
        out = np.zeros(7)
        assert parakeet.sqrt(abs(X), out=out) is out
        check_values(parakeet.real(X + 1j), X)
        assert parakeet.erf(np.float32(0.5)).dtype == np.float32
        check_values(parakeet.erf(np.array([0.0, np.inf])), np.array([0.0, 1.0]))


def test_refusals():
    with parakeet.target("python"):
        with pytest.raises(ValueError, match="has no identity"):
            parakeet.reduce(np.add, X[:0])
        with pytest.raises(ValueError, match="along the axis"):
            parakeet.map(np.add, X, X[:3])


def test_all_jitted_code_may_be_switched_off():
    parakeet.config.disable_jit = True
    try:
        check_values(parakeet.map(lambda a: a + 1, X), X + 1)
        check_values(parakeet.pmap1(np.sum, X, 1), X)
        check_values(parakeet.exp(X), np.exp(X))
        assert (parakeet.alen(X), parakeet.rank(X)) == (7, 1)
    finally:
        parakeet.config.disable_jit = False
