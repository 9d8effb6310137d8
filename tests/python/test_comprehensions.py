"""Comprehensions with several generators, conditions anywhere and `:=`, beside plain Python."""

import numpy as np
import pytest
from agreement import check_agreement

import parakeet
from parakeet import jit

X = np.arange(12.0).reshape(3, 4) + 1
PROGRAMS = {
    "condition_of_the_inner": lambda x, n: np.array([v for r in x for v in r if v > 3]),
    "condition_of_the_outer": lambda x, n: np.array([v for r in x if r[0] > 1 for v in r[::2]]),
    "conditions_of_both": lambda x, n: np.array(
        [i + j for i in range(n) if i > 0 for j in range(3) if j <= i]),
    "fewer_inside": lambda x, n: np.array([i * 10 + j for i in range(n) for j in range(i)]),
    "three_deep": lambda x, n: np.array(
        [i * 100 + j * 10 + k for i in range(n) for j in range(i) for k in range(j)]),
    "as_many_inside": lambda x, n: np.array([v for r in x for v in r[1:]]),
    "tuples": lambda x, n: np.array(
        [(a, b, c) for a in range(1, n) for b in range(a, n) for c in range(b, n)
         if a * a + b * b == c * c]),
    "sums": lambda x, n: (sum(v for r in x for v in r if v > 3), max(v for r in x for v in r[1:]),
                          any(v > 11 for r in x for v in r), sum(1 for i in range(n) if i % 2)),
    "over_numbers": lambda x, n: np.array([v for v in (n, 1, 7) if v > 3]),
    "over_arrays": lambda x, n: np.array([v for a in (x[0], x[:, 1]) for v in a]),
    "over_arrays_with_a_condition": lambda x, n: np.array(
        [v for a in (x[0], x[:, 1]) for v in a if v > 2]),
    "over_numbers_inside": lambda x, n: np.array([v for r in x for v in (r[0], r[1]) if v > 4]),
    "bound_by_the_condition": lambda x, n: np.array(
        [y + z for v in x[0] if (y := v + 1) > 2 if (z := y * 2) < 10]),
    "bound_by_the_element": lambda x, n: np.array([(y := v * 2) + y for v in x[0]]),
    "bound_by_the_outer": lambda x, n: np.array(
        [s * v for r in x if (s := r.sum()) > 11 for v in r if v > s / 5]),
    "nothing": lambda x, n: np.array([i for i in range(n - n) for j in range(i)]).shape,
}


def all_of_them(x, n):
    return (np.array([v for r in x for v in r if v > 3]),
            np.array([s * v for r in x if (s := r.sum()) > 11 for v in r if v > s / 5]),
            np.array([i * 10 + j for i in range(n) for j in range(i)]),
            np.array([v for a in (x[0], x[:, 1]) for v in a if v > 2]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_interpreter(name):
    check_agreement(jit(PROGRAMS[name]), PROGRAMS[name], lambda: (X.copy(), 6),
                    targets=("interpreter",))


def test_compiled():
    check_agreement(jit(all_of_them), all_of_them, lambda: (X.copy(), 5))


def test_a_name_of_an_element_is_forgotten():
    @jit
    def f(n):
        total = 0
        for k in range(n):
            total += sum(y for i in range(k + 1) if (y := i * 2) > 0)
        y = 5
        return total + y

    assert f(3, target="interpreter") == 13


def test_what_one_element_leaves_to_the_next_is_refused():
    @jit
    def f(n):
        total = 0
        return [total := total + i for i in range(n)]

    with pytest.raises(parakeet.Limitation, match="'total' is bound by `:=` inside a "):
        f(3)
