"""What is left of a matrix in a sample of it: one case in so many, the same ones each time, and
every value of the parameters that its mark names."""

import itertools

import pytest
from conftest import sample_of


class Case:
    def __init__(self, **parameters):
        self.params = parameters
        self.callspec = self


def matrix():
    return [Case(f=f, dtype=dtype, target=target)
            for f, dtype, target in itertools.product(range(12), "abcdef", "xyz")]


def values_of(cases, name):
    return {case.params[name] for case in cases}


@pytest.mark.parametrize("one_in", [1, 2, 5, 50])
def test_so_many(one_in):
    cases = matrix()
    assert len(sample_of(cases, one_in, (), "seed")) == -(-len(cases) // one_in)


@pytest.mark.parametrize("one_in", [2, 20, 1000])
def test_every_value_of_what_is_named(one_in):
    cases = matrix()
    chosen = sample_of(cases, one_in, ("f", "dtype", "target"), "seed")
    for name in ("f", "dtype", "target"):
        assert values_of(chosen, name) == values_of(cases, name)
    assert len(chosen) == max(12, -(-len(cases) // one_in))


def test_a_seed_chooses_the_same_ones():
    cases = matrix()
    first, again, other = (list(sample_of(cases, 9, ("f",), seed)) for seed in "aab")
    assert first == again != other
