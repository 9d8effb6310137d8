"""Rows so few and long that threads share each, in place of taking one each.

Code that has no loops for them gives up the call, with nothing done; the code that follows takes
rows of any number, and no bit of it depends on the threads.
"""

import numpy as np
import pytest
from agreement import SCANNED, check_agreement
from tested_targets import COMPILED

from parakeet import jit

LONG = 70_000


def shares(x):
    exps = np.exp(x - x.max(axis=-1)[..., None])
    return exps / exps.sum(axis=-1)[..., None]


def centered(x):
    means = x.mean(axis=(-2, -1))[..., None, None]
    return (x - means) / x.std(axis=(-2, -1))[..., None, None]


def running(x):
    return np.cumsum(x, axis=-1), x.sum(axis=1), np.argmax(x, axis=1)


def neighbours(x):
    return x[:, 1:] - x[:, :-1] * 2, x[:, ::-1] + 1


def columns(x):
    return np.exp(x).sum(axis=0), x.T * 2


def turned(planes):
    return np.ascontiguousarray(planes.transpose(2, 0, 1)) * 2, planes[:, 1:-1] - planes[:, 2:]


def stored(x, sums):
    x += 1
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[i] += np.sin(x[i, j])
    return x


@pytest.mark.parametrize("program", [shares, running, neighbours, columns])
@pytest.mark.parametrize("shape", [(2, LONG), (1, LONG), (LONG, 2), (0, LONG)])
def test_few_rows(program, shape):
    x = np.random.default_rng(0).standard_normal(shape)
    check_agreement(jit(program), program, lambda: (x,), SCANNED, COMPILED)


@pytest.mark.parametrize("shape", [(3, 200, 400), (7, 100, 1000), (2, 3, 300, 300)])
def test_few_planes(shape):
    x = np.random.default_rng(1).random(shape)
    check_agreement(jit(centered), centered, lambda: (x,), SCANNED, COMPILED)
    check_agreement(jit(turned), turned, lambda: (x.reshape(-1, *shape[-2:]),), targets=COMPILED)


@pytest.mark.parametrize("target", ["serial", "parallel"])
def test_code_that_gives_up_has_stored_nothing(target):
    function = jit(stored)
    rng = np.random.default_rng(2)
    for rows, length in [(40, 30), (3, LONG), (40, 30), (2, LONG)]:
        x, sums = rng.random((rows, length)), rng.random(rows)
        expected, expected_sums = x + 1, sums + np.sin(x + 1).sum(axis=1)
        function(x, sums, target=target)
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_allclose(sums, expected_sums)


def test_other_rows_have_the_bits_that_they_had():
    """Whichever code they are taken by."""
    rng = np.random.default_rng(4)
    for program in (shares, running):
        for shape in [(30, 999), (2, LONG // 2)]:
            x = rng.standard_normal(shape).astype(np.float32)
            before = jit(program, cache=False)(x, target="serial")
            function = jit(program, cache=False)
            function(np.ones((2, LONG), np.float32), target="serial")
            for again, first in zip(function(x, target="serial"), before):
                assert again.tobytes() == first.tobytes()


def test_threads_share_each_of_few_rows():
    for rows, length, are_few in [(2, LONG, True), (200, 300, False)]:
        report = str(jit(shares, cache=False).explain(np.ones((rows, length)), target="parallel"))
        assert ("iterated in order" in " ".join(report.split())) == are_few
