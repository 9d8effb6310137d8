"""Statements: branches, loops and ways out of them, errors raised by the user, unbound names."""

import numpy as np
import programs
import pytest
from agreement import REDUCED, check_agreement, run
from tested_targets import COMPILED, TARGETS

from parakeet import jit

X = np.array([3.0, -1.0, 4.0, -1.0, 5.0, -9.0, 2.0, 6.0])


def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def nested_branches(x, y):
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    else:
        z = y
    return z * 2


def branch_changes_an_array(x, flag):
    y = x * 2
    if flag:
        y = x[1:-1]
    return y.sum(), len(y)


def branch_picks_a_view(x, flag):
    y = x[::2] if flag else x[1:3]
    return y + 1


def short_circuit(x, i):
    return bool(i < len(x) and x[i] > 0)


def conditional_index(x, i):
    return float(x[i] if i < len(x) else -1.0)


def count_down(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        if total > 40:
            break
        total += n
    else:
        return -total
    return total


def for_else(x, wanted):
    for i in range(len(x)):
        if x[i] == wanted:
            found = i
            break
    else:
        found = -1
    return found


def nested_break(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if j > i:
                break
            if x[j] < 0:
                continue
            total = total + x[j]
    return total


def return_from_a_nested_loop(x, bound):
    for i in range(len(x)):
        for j in range(i):
            if x[i] + x[j] > bound:
                return i, j
    return -1, -1


def ranges(n):
    total = 0
    for i in range(n):
        total += i
    for i in range(2, n):
        total += 10 * i
    for i in range(n, -n, -3):
        total += 100 * i
    return total


def loop_variable_afterwards(n):
    for i in range(1, n):
        pass
    return i


def over_an_array(x):
    y = np.zeros(len(x))
    k = 0
    for value in x:
        y[k] = value * 2
        k += 1
    return y


def over_rows(x):
    total = np.zeros(x.shape[1])
    for row in x:
        total += row
    return total


def enumerated(x):
    best, where = x[0], 0
    for i, value in enumerate(x):
        if value > best:
            best, where = value, i
    return best, where


def zipped(x):
    total = 0.0
    for a, b in zip(x, x[1:]):
        total += a * b
    return total


def backwards(x):
    y = np.zeros(len(x))
    k = 0
    for value in reversed(x):
        y[k] = value
        k += 1
    for i in reversed(range(2)):
        y[i] -= i
    return y


def over_a_tuple(x):
    total = x[0] * 0
    for factor, power in ((1, 2.0), (2, 3), (0.5, 1)):
        total = total + factor * x[0] ** power
    return total


def over_arange(x):
    y = np.zeros(4)
    for i in np.arange(4):
        y[i] = x[i] + i
    return y


def list_of_pairs(x):
    return np.array([i * v for i, v in enumerate(x)]), np.array([a - b for a, b in zip(x, x[::-1])])


def chained_assignment(x):
    a = b = x[0]
    b += 1
    c: float = a * 2
    return a, b, c


def unpacked(x):
    a, b, c = x[:3]
    (d, e), f = (x[3], x[4]), x[5]
    return a + b, c, d * e, f


def walrus(x):
    if (n := len(x)) > 3:
        return n * 2
    return n


def deleted(x):
    y = x * 2
    del y
    y = x[0]
    return y


def grows_in_a_loop(x):
    """The type of total is known after the second look only: int, then float64."""
    total = 0
    for value in x:
        total = total + value
    return total


def swap_in_a_loop(x, steps):
    u, v = x.copy(), x * 0
    for _ in range(steps):
        v[1:-1] = (u[:-2] + u[2:]) * 0.5
        u, v = v, u
    return u


def adds_up_a_corner(x, n, m):
    total = x[0, 0]
    for i in range(n):
        for j in range(m):
            total += x[i, j]
    return total


def fills_a_corner(x, n, m):
    for i in range(n):
        for j in range(m):
            x[i, j] = 7.0
    return x


def adds_up_columns(x, n):
    total = np.zeros(x.shape[1])
    for i in range(n):
        for j in range(x.shape[1]):
            total[j] += x[i, j]
    return total


def counts_of_their_own(counts):
    ends = np.zeros(len(counts))
    for i in range(len(counts)):
        total = 0.0
        for j in range(counts[i]):
            total += j
        ends[i] = total
    return ends


def array_grows_in_a_loop(x):
    y = x[:1]
    for i in range(2, len(x)):
        y = x[:i] + 1
    return y


CASES = [
    (sign, 2.5), (sign, -3), (sign, 0),
    (nested_branches, 1, 2), (nested_branches, 1, -2), (nested_branches, -1, 2.5),
    (branch_changes_an_array, X, True), (branch_changes_an_array, X, False),
    (branch_picks_a_view, X, 1), (branch_picks_a_view, X, 0),
    (short_circuit, X, 0), (short_circuit, X, 1), (short_circuit, X, 100),
    (conditional_index, X, 2), (conditional_index, X, 100),
    (count_down, 0), (count_down, 7), (count_down, 30),
    (for_else, X, 5.0), (for_else, X, 7.0), (for_else, X[:0], 7.0),
    (nested_break, X), (nested_break, X[:1]),
    (return_from_a_nested_loop, X, 7.0), (return_from_a_nested_loop, X, 100.0),
    (ranges, 0), (ranges, 1), (ranges, 10), (ranges, -4),
    (loop_variable_afterwards, 5), (loop_variable_afterwards, 1),
    (over_an_array, X), (over_an_array, X[:0]), (over_an_array, X[::-2]),
    (over_rows, X.reshape(2, 4)), (over_rows, X.reshape(2, 4).T),
    (enumerated, X), (zipped, X), (backwards, X), (over_a_tuple, X), (over_arange, X),
    (list_of_pairs, X), (chained_assignment, X), (unpacked, X),
    (walrus, X), (walrus, X[:2]), (deleted, X), (grows_in_a_loop, X),
    (swap_in_a_loop, X, 0), (swap_in_a_loop, X, 1), (swap_in_a_loop, X, 4),
    (array_grows_in_a_loop, X), (array_grows_in_a_loop, X[:2]),
    *((corner, X.reshape(2, 4), *sizes) for corner in (adds_up_a_corner, fills_a_corner)
      for sizes in ((2, 3), (-1, -1), (-2, -3), (-1, 4), (2, -4), (0, -1))),
    *((adds_up_columns, X.reshape(2, 4), n) for n in (2, 0, -1, -9)),
    (counts_of_their_own, np.array([3, -1, 0, 5, -1025, 2000, -3])),
]
JITTED = {case[0]: jit(case[0]) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_statement(case):
    function, *arguments = case
    fresh = lambda: tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    check_agreement(JITTED[function], function, fresh, REDUCED)


# Errors that the user's program raises, with the message that Python gives.


def raised(x):
    if x < 0:
        raise ValueError("negative")
    if x == 0:
        raise ZeroDivisionError
    return x


def raised_with_a_number(x):
    if x < 0:
        raise IndexError(f"bad size {x} of {x * 2}")
    return x


def divided(x):
    return 10 // x, 10 % x, 10 / x


def raised_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 4:
            raise ValueError(f"x[{i}] is too large")
        total += x[i]
    return total


def raised_in_a_comprehension(x):
    return np.array([positive(v) for v in x])


def positive(v):
    if v < 0:
        raise ValueError("negative element")
    return v


def unbound(x):
    if x > 0:
        y = x
    return y


def unbound_after_a_loop(n):
    for i in range(n):
        last = i
    return last


ERRORS = [
    (programs.asserted, 1), (programs.asserted, -1), (programs.asserted_bare, 1),
    (programs.asserted_bare, 0),
    (raised, 1), (raised, -1), (raised, 0), (raised_with_a_number, 3), (raised_with_a_number, -3),
    (divided, 3), (divided, 0), (raised_in_a_loop, X), (raised_in_a_loop, X[:2]),
    (raised_in_a_comprehension, X), (raised_in_a_comprehension, X[:1]),
    (unbound, 1), (unbound, -1), (unbound_after_a_loop, 3), (unbound_after_a_loop, 0),
]


@pytest.mark.parametrize("case", ERRORS, ids=lambda c: c[0].__name__)
@pytest.mark.parametrize("target", TARGETS)
def test_error(case, target):
    function, *arguments = case
    expected = run(function, lambda: tuple(arguments))
    actual = run(jit(function), lambda: tuple(arguments), target=target)
    assert (type(actual.error), str(actual.error)) == (type(expected.error), str(expected.error))
    if expected.error is None:
        np.testing.assert_array_equal(actual.result, expected.result)


@pytest.mark.parametrize("target", TARGETS)
def test_the_traceback_ends_where_the_user_raised(target):
    with pytest.raises(ValueError, match="negative") as caught:
        jit(raised)(-1, target=target)
    last = caught.traceback[-1]
    assert last.name == "raised"
    assert last.path.name == "test_control_flow.py"
    assert last.lineno + 1 == raised.__code__.co_firstlineno + 2


@pytest.mark.parametrize("size", [10, 1_000_000])
@pytest.mark.parametrize("target", COMPILED)
def test_the_first_failing_iteration_is_the_one_reported(size, target):
    def checked(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            if x[i] < 0:
                raise ValueError(f"element {i} is {x[i]}")
            y[i] = x[i] * 2
        return y

    x = np.ones(size)
    x[[size // 3, size // 2, size - 1]] = -1.0, -2.0, -3.0
    with pytest.raises(ValueError, match=rf"^element {size // 3} is -1\.0$"):
        jit(checked)(x, target=target)


def test_stores_before_an_error_stay():
    def stores_then_fails(x):
        x[0] = 1.0
        for i in range(1, len(x)):
            x[i] = 10 / (3 - i)
        return x

    plain, serial = np.zeros(6), np.zeros(6)
    with pytest.raises(ZeroDivisionError):
        stores_then_fails(plain)
    for target in ("interpreter", "serial"):
        serial = np.zeros(6)
        with pytest.raises(ZeroDivisionError):
            jit(stores_then_fails)(serial, target=target)
        # Elements of later iterations may be old or new.
        np.testing.assert_array_equal(serial[:3], plain[:3])
