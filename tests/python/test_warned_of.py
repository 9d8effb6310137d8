"""Contexts that say what is warned of, around parts of jitted functions."""

import warnings

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import Limitation, jit


@jit
def ratios(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = x / y
    return np.where(y == 0, -1.0, z)


@jit
def first_large(x):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        for i in range(len(x)):
            with np.errstate(over="warn"):
                if x[i] > 2:
                    return i, np.log(x)
    return -1, x


@jit
def raising(x):
    with np.errstate(divide="raise"):
        return 1 / x


@jit
def errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return 1 / x


@jit
def opened(path):
    with open(path) as file:
        return file


@jit
def named(x):
    with np.errstate(all="ignore") as state:
        return x if state is None else -x


@pytest.mark.parametrize("target", TARGETS)
def test_contexts_that_say_less(target):
    x, y = np.arange(4.0), np.array([0.0, 1.0, 0.0, 2.0])
    np.testing.assert_array_equal(ratios(x, y, target=target), [-1, 1, -1, 1.5])
    for z in (x, y - 1):
        for made, wanted in zip(first_large(z, target=target), first_large.__wrapped__(z)):
            np.testing.assert_allclose(made, wanted)


def test_contexts_that_say_more():
    with pytest.raises(NotImplementedError, match="errstate that raises"):
        raising(np.zeros(2))
    with pytest.raises(NotImplementedError, match="warnings that are errors"):
        errors(np.zeros(2))
    for f, given in ((opened, np.zeros(2)), (named, np.zeros(2))):
        with pytest.raises(Limitation, match="`with` of other than np.errstate"):
            f(given)
