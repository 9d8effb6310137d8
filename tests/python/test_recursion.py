"""Recursion: values handed on and back, errors and their order, and how deep it may go."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from agreement import REDUCED, check_agreement
from tested_targets import TARGETS

from parakeet import jit


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def many_results(n, x, z):
    """More than registers hold, of several types."""
    if n == 0:
        return x, z, n, True, x * 2, z * 2, n + 1
    a, b, c, d, e, f, g = many_results(n - 1, x + 0.5, z * 1j)
    return e, f + a, g + n, not d, a, b, c + n


def total(x):
    if len(x) == 0:
        return 0.0
    if len(x) == 1:
        return x[0]
    middle = len(x) // 2
    return total(x[:middle]) + total(x[middle:])


def arrays_back(x, n):
    if n == 0:
        return x[::2], x.reshape(2, -1).T
    y, z = arrays_back(x * 2, n - 1)
    return y[:2], z + n


def element_of_tree(children, values, node):
    """Only the elements' indexes are checked, three calls down."""
    if children[node] < 0:
        return values[node]
    return values[node] + element_of_tree(children, values, children[node])


@pytest.mark.parametrize(("function", "arguments"), [
    (fibonacci, (15,)),
    (is_even, (7,)),
    (ackermann, (2, 3)),
    (many_results, (5, 1.5, 2 + 1j)),
    (many_results, (4, np.float32(1.5), np.complex64(2 + 1j))),
    (total, (np.arange(37.0),)),
    (arrays_back, (np.arange(12.0), 3)),
    (element_of_tree, (np.array([3, 0, 1, 2, -1]), np.arange(5.0), 4)),
    (element_of_tree, (np.array([3, -1, 1, 7]), np.arange(4.0), 0)),
    (element_of_tree, (np.array([3, -1, 1, 2]), np.arange(2.0), 0)),
])  # fmt: skip
def test_a_function_that_recurses(function, arguments):
    check_agreement(jit(function), function, lambda: arguments)


def test_calls_from_a_parallel_loop():
    def over(ns):
        return np.array([fibonacci(n) for n in ns])

    check_agreement(jit(over), over, lambda: (np.arange(200) % 12,))


def test_the_first_error_of_a_parallel_loop_wins():
    def over(children, values, starts):
        return np.array([element_of_tree(children, values, start) for start in starts])

    children = np.arange(50) - 1
    children[[20, 30]] = 1000, 2000
    starts = np.full(5000, 5)
    starts[[40, 4000]] = 35, 25
    check_agreement(jit(over), over, lambda: (children, np.arange(50.0), starts))


def test_a_parallel_loop_in_a_function_that_recurses():
    def refined(x, n):
        y = np.sqrt(x) + n
        return y if n == 0 else refined(y, n - 1)

    check_agreement(jit(refined), refined, lambda: (np.arange(100_000.0), 3))


def test_a_function_that_recurses_from_its_own_parallel_loop():
    def walks(x, n):
        if n == 0:
            return x
        return sum([walks(x * i, n - 1) for i in range(4)])

    check_agreement(jit(walks), walks, lambda: (1.5, 4))


def test_recursion_has_a_depth():
    @jit
    def endless(n):
        return endless(n + 1) + 1

    def bounded(n):
        return 0 if n == 0 else bounded(n - 1) + 1

    for target in TARGETS:
        assert jit(bounded)(100, target=target) == 100
        with pytest.raises(RecursionError):
            jit(bounded)(10_000_000, target=target)


# Each call of `wide` begins with some kilobytes of frame.
DEEP = """
    import sys
    import numpy as np
    sys.setrecursionlimit(2**31 - 1)
    from parakeet import jit

    @jit
    def narrow(n):
        return 0 if n == 0 else narrow(n - 1) + 1

    @jit
    def wide(n, x):
        if n == 0:
            return x.sum()
        return wide(n - 1, x + 1) + (x * x).sum() + np.sqrt(x).max()

    @jit
    def from_many(n):
        return np.array([narrow(n + 0 * i) for i in range(64)]).sum()

    def is_refused(f, *arguments):
        try:
            f(*arguments, target=sys.argv[1])
        except RecursionError:
            return True

    assert narrow(5000, target=sys.argv[1]) == 5000
    assert is_refused(narrow, 10**9)
    assert is_refused(wide, 10**9, np.ones(3))
    assert is_refused(from_many, 10**9)
    assert from_many(50, target=sys.argv[1]) == 64 * 50
"""


@pytest.mark.parametrize("target", ["serial", "parallel"])
@pytest.mark.parametrize("stack", ["512k", "16M"])
def test_recursion_ends_before_the_stack_does(target, stack, tmp_path):
    (tmp_path / "deep.py").write_text(textwrap.dedent(DEEP))
    done = subprocess.run([sys.executable, tmp_path / "deep.py", target], capture_output=True,
                          text=True, timeout=120, env={**os.environ, "OMP_STACKSIZE": stack})
    assert done.returncode == 0, done.stderr


def rooted(x, n):
    """The branch that calls goes through an array, and nothing else needs room."""
    if n == 0:
        return x.sum()
    return rooted(np.sqrt(x) * n, n - 1) + x[0]


def branches(x, n):
    """A loop whose iterations call, behind what only some ways need."""
    if n == 0:
        return x
    if n == 1:
        return np.array([branches(x + i, 0) for i in range(3)]).sum()
    return branches(x, n - 1) + np.array([branches(x * i, n - 2) for i in range(5)]).max()


@pytest.mark.parametrize("n", [1, 4])
def test_parallel_loops_in_the_branch_that_calls(n):
    check_agreement(jit(rooted), rooted, lambda: (np.arange(70_000.0), n), REDUCED)
    check_agreement(jit(branches), branches, lambda: (1.5, n), REDUCED)


# So long that parts of it are functions of their own: the branch that calls is one.
LONG = """
    import numpy as np

    def long(n, x):
        s = x[0]
        if n == 0:
            return s
        {steps}
        if s > 0:
            for i in range(len(x)):
                x[i] = x[i] * 0.5 + n
                s += np.abs(x[i])
            s += long(n - 1, x)
        return s
"""


def test_the_branch_that_calls_in_a_function_of_parts(tmp_path):
    steps = "\n        ".join(f"s = (s + x[{k} % len(x)]) * 0.{k + 1}" for k in range(200))
    (tmp_path / "long_steps.py").write_text(textwrap.dedent(LONG.format(steps=steps)))

    def read():
        spec = importlib.util.spec_from_file_location("long_steps", tmp_path / "long_steps.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.long

    plain, compiled = read(), jit(read())
    check_agreement(compiled, plain, lambda: (4, np.arange(1.0, 40.0)), REDUCED)
    with pytest.raises(RecursionError):
        compiled(10_000_000, np.ones(3), target=TARGETS[-1])
