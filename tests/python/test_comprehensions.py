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


def running(x, n):
    t = 0.0
    return np.array([t := t + v for v in x[0]]), t


def running_arrays(x, n):
    t = np.zeros(4)
    return np.array([t := t + r for r in x]), t


def running_inside(x, n):
    t = 0.0
    return np.array([[t := t + v for v in r] for r in x]), t


def running_past_conditions(x, n):
    t = 1
    return np.array([(t := t * 2) + j for i in range(n) for j in range(i) if j != 1]), t


def running_through_a_condition(x, n):
    t = 0.0
    return np.array([t for v in x[0] if (t := t + v) > 2]), t


def running_over_constants(x, n):
    t = 1
    return np.array([t := t + k for k in (1, 2, 5)]), t


def running_wider(x, n):
    t = n
    return np.array([t := t * 0.5 + v for v in x[0]]), t


def running_in_a_loop(x, n):
    t = 0.0
    out = np.zeros(3)
    for k in range(3):
        out[k] = np.array([t := t * 0.5 + v for v in x[k]]).sum()
    return out, t


def running_with_stores(x, n):
    def put(i, v):
        x[i, 0] = v
        return v
    t = 0.0
    return np.array([t := t + put(i, t) + 1 for i in range(3)]), t


def read_afterwards(x, n):
    return np.array([(w := v * 2) + 1 for v in x[0]]), w


def read_by_what_follows(x, n):
    return (lambda v: [(t := v) + k for k in range(n)][0] + t)(n)


def witness(x, n):
    found = any((w := v) > 5 for r in x for v in r)
    every = all((u := v) < 3 for v in x[0])
    return found, w, every, u


def witness_of_none(x, n):
    return any((w := v) > 500 for v in x[0]), w


def consumed(x, n):
    t = 0.0
    return sum(t := t + v for v in x[0]), max(t := t - v for v in x[1]), t


def of_no_element(x, n):
    t = 5.0
    return np.array([t := t + i for i in range(n - n)]).shape, t


def never_bound(x, n):
    k = np.array([w := i for i in range(n - n)])
    return k, w


def read_before_it_is_bound(x, n):
    return np.array([t := t + v for v in x[0]])  # noqa: F821


def of_unlike_sizes(x, n):
    k = 0
    return np.array([x[0, :(k := k + 1)] for v in x])


CARRIED = [running, running_arrays, running_inside, running_past_conditions,
           running_through_a_condition, running_over_constants, running_wider, running_in_a_loop,
           running_with_stores, read_afterwards, read_by_what_follows, witness, witness_of_none,
           consumed, of_no_element, never_bound, read_before_it_is_bound, of_unlike_sizes]


@pytest.mark.parametrize("f", CARRIED, ids=lambda f: f.__name__)
def test_what_an_element_binds_outlives_it(f):
    check_agreement(jit(f), f, lambda: (X.copy(), 6), targets=("interpreter",))


@pytest.mark.parametrize("f", [running_arrays, running_past_conditions, witness],
                         ids=lambda f: f.__name__)
def test_what_an_element_binds_outlives_it_compiled(f):
    check_agreement(jit(f), f, lambda: (X.copy(), 6))


def test_a_name_that_nothing_reads_later_leaves_the_elements_apart():
    def f(x):
        return np.array([(y := v * 2) + y for v in x]), np.array([(y := v + 1) * y for v in x])

    text = jit(f).ir(np.ones(3), stage="parallel")
    assert text.count("imap") == 2 and "for (" not in text


def test_a_generator_that_is_read_later_keeps_its_names():
    @jit
    def f(n):
        total = 0
        for k in (total := total + i for i in range(n)):
            total += k
        return total

    with pytest.raises(parakeet.Limitation, match="'total' is bound by `:=` inside a "):
        f(3)


def three(a, b, c):
    return a + b * c


def unpacked_generators(x, n):
    a, b, c = (x * i for i in range(3))
    p, q = (row[: k + 1] for k, row in enumerate((x[0], x[1])))
    h, w = (size // 2 for size in x.shape)
    first, *rest = (v + n for v in (1, 2, 3))
    return a, b, c, p, q, h, w, first, rest[1]


def starred_generators(x, n):
    return three(*(x[i] for i in range(3))), (*(i * n for i in (1, 2)), 5), np.zeros(
        (*(s for s in x.shape), 2))


@pytest.mark.parametrize("f", [unpacked_generators, starred_generators], ids=lambda f: f.__name__)
def test_what_is_unpacked_may_be_a_generator(f):
    check_agreement(jit(f), f, lambda: (X, 4))
