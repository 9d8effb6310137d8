"""Small rules of Python and NumPy that are easily missed, all on the interpreter beside Python."""

import math
import re

import numpy as np
import pytest
from agreement import check_agreement

import parakeet
from parakeet import jit

NUMBERS = [1, 2, 3]
ROWS = [[1.5, 2], [3, 4]]
X = np.array([1.5, -2.25, 3.125, 4.0])


def no_list(x):
    return x.sum() + sum(NUMBERS), np.array(ROWS) * 2, len(NUMBERS), NUMBERS[-1]


def delete_a_pattern(x):
    a = b = c = x[0]
    del a, (b, c)
    return x


def rounded(x):
    return np.array([round(v, n) for n in (0, 1, 2) for v in (
        2.675, -2.675, 1.005, 0.15, 2.5, -0.04, 1e16, 123456789012345.67)]), round(
            1234567.891, -2), round(2.5e22, -1), round(0.1, 400), round(float(x[2]), 2)


def read_numbers(x):
    return float("inf"), float("-1e3"), int(" 7 "), complex("1+2j"), float("nan")


def python_complex(x):
    return 1j * x[0], 1j - x[1], x[0] * 1j, (1j == x[0])


def powers(n):
    return pow(3, n, 7), pow(2, -1, 7), pow(n, n, -5), pow(7, 10**9, 2**62 - 57), pow(0, 0, 1)


def integers(n):
    return (math.gcd(n, 18), math.gcd(), math.gcd(-4, 6, 10), math.lcm(4, 6), math.lcm(n, 0),
            math.factorial(n), math.comb(n, 2), math.comb(2, n), math.isqrt(n * n + 1),
            math.isqrt(2**60 - 1), math.isclose(0.1 + 0.2, 0.3), math.isclose(1.0, 1.1))


def items(m):
    return m.item(3), m.item(-1), m.item(1, 2), m.item((0, 1)), m[0].item(2), m[0, 0].item()


def stars(x):
    first, *middle, last = x
    (a, *rest), b = x[:2], 3
    return first, np.array(middle), last, a, np.array(rest), b


def star_of_rows(m):
    first, *others = m
    return first, others[0], others[1], len(others)


def empty_defaults(x):
    return max((v for v in x if v > 100), default=np.float64(-1.0)), min((), default=3)


def equal_lengths(x):
    return sum(a * b for a, b in zip(x, x[::-1], strict=True))


def ranges_index(x):
    y = np.zeros((4, 4))
    y[range(4), range(4)] = x
    return y[:, range(1, 3)], x[range(0, 4, 2)]


def identities(x):
    kind = np.float32
    return kind is np.float32, kind is not np.int8, (len(x) > 2) is True, np.sin is np.cos


def given_back(x):
    y = np.float64(x)
    y[0] = 7
    x.conj()[1] = 8
    x.astype(float, copy=False)[2] = 9
    return (x > 0).conj(), x[0].copy()


def zeros_of_no_dtype(x):
    return np.zeros(2, dtype=None), np.ones(2, dtype=None), x.astype(None)


def index_of_rank_zero(m, i):
    row = m[i]
    row[0] = 100.0
    return row


PROGRAMS = [
    (no_list, (X,)), (delete_a_pattern, (X,)), (rounded, (X,)), (read_numbers, (X,)),
    (python_complex, (X,)), (powers, (5,)), (integers, (12,)), (items, (np.eye(3, 4),)),
    (stars, (X,)), (star_of_rows, (np.eye(3, 4),)), (stars, (X[:2],)), (empty_defaults, (X,)),
    (equal_lengths, (X,)), (ranges_index, (X,)), (identities, (X,)), (given_back, (X,)),
    (zeros_of_no_dtype, (X,)), (index_of_rank_zero, (np.eye(3), np.array(1))),
]


@pytest.mark.parametrize("program, arguments", PROGRAMS,
                         ids=[f"{n}-{p[0].__name__}" for n, p in enumerate(PROGRAMS)])
def test_as_python(program, arguments):
    def fresh():
        return tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments)

    check_agreement(jit(program), program, fresh, targets=("interpreter",))


def test_a_list_outside_is_read_by_compiled_code():
    check_agreement(jit(no_list), no_list, lambda: (X.copy(),), targets=("serial",))


@pytest.mark.parametrize("call", [
    lambda n: pow(2, n, 0), lambda n: pow(2, -n, 4), lambda n: math.isqrt(-n),
    lambda n: math.factorial(-n), lambda n: float("1.5x"), lambda n: max((), default=1)[0],
    lambda n: sum(a * b for a, b in zip((1, 2), range(n), strict=True)), lambda n: pow(2.0, n, 3)])
def test_raises_as_python(call):
    check_agreement(jit(call), call, lambda: (3,), targets=("interpreter",))


@pytest.mark.parametrize("target", ["interpreter", "serial"])
def test_an_output_that_may_not_be_written(target):
    @jit
    def f(x, y):
        np.add(y, 1, out=x)

    x = np.zeros(4)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="^output array is read-only$"):
        f(x, X, target=target)
    assert not x.any()


def test_the_smaller_of_a_byte_and_a_number_that_is_none():
    @jit
    def f(x, n):
        return min(x[0], n)

    bytes_ = np.array([200], dtype=np.uint8)
    assert f(bytes_, 100, target="interpreter") == 100
    with pytest.raises(OverflowError):
        f(bytes_, -4, target="interpreter")


def test_a_missing_argument_beside_a_target():
    @jit
    def f(x, y):
        return x

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        f(1, target="serial")


def test_shapes_and_dtypes_in_messages():
    @jit
    def f(x, mode=None):
        raise ValueError(f"{x.shape} {x.shape[:1]} {x.dtype} {(1.5, 'a')} {mode}")

    with pytest.raises(ValueError, match=r"^\(2, 3\) \(2,\) float64 \(1.5, 'a'\) None$"):
        f(np.zeros((2, 3)), target="interpreter")


def test_a_list_of_unlike_parts_is_refused():
    @jit
    def f(x):
        return [x, x[0]] - x

    with pytest.raises(parakeet.Limitation, match="different shapes"):
        f(X)


AXES = {
    "argmax": lambda x, axis: np.argmax(x, axis), "argmin": lambda x, axis: x.argmin(axis),
    "argsort": lambda x, axis: np.argsort(x, axis), "sort": lambda x, axis: np.sort(x, axis),
    "repeat": lambda x, axis: np.repeat(x, 2, axis), "take": lambda x, axis: x.take(0, axis),
    "squeeze": lambda x, axis: np.squeeze(x[:1, :1], axis), "sum": lambda x, axis: x.sum(axis),
    "cumsum": lambda x, axis: np.cumsum(x, axis), "stack": lambda x, axis: np.stack((x, x), axis),
    "concatenate": lambda x, axis: np.concatenate((x, x), axis),
    "append": lambda x, axis: np.append(x, x, axis), "flip": lambda x, axis: np.flip(x, axis),
    "expand_dims": lambda x, axis: np.expand_dims(x, axis),
    "median": lambda x, axis: np.median(x, axis),
}


@pytest.mark.parametrize("name", AXES)
def test_what_is_taken_for_an_axis(name):
    """NumPy's functions in C take no bool and no list, those in Python take what they can use."""
    def with_bool(x):
        return function(x, True)

    def with_list(x):
        return function(x, [0])

    def with_int(x):
        return function(x, -2)

    function = AXES[name]
    for f in (with_bool, with_list, with_int):
        check_agreement(jit(f), f, lambda: (X.reshape(2, 2),), targets=("interpreter",))


@jit
def least_beside_a_large_number(k):
    return min(k, 2**62), k if k < 3 else 300


@jit
def large_number_in_a_branch(k):
    r = k
    for _ in range(3):
        if k > 100:
            r = 300
    return r


def test_a_number_that_fits_no_byte_raises_in_its_branch_alone():
    assert least_beside_a_large_number(np.int8(1)) == (1, 1)
    assert large_number_in_a_branch(np.int8(5)) == 5
    for f, k in ((least_beside_a_large_number, 5), (large_number_in_a_branch, 101)):
        with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
            f(np.int8(k))


def squares_of_bools(x):
    return x**2, (x & x) ** 2, np.power(x, 2), x**2.0, x**3


@pytest.mark.parametrize("shape", [(3,), (), (0, 2)])
def test_bools_squared_have_8_bits(shape):
    check_agreement(jit(squares_of_bools), squares_of_bools, lambda: (np.ones(shape, bool),))


def test_bools_have_no_sign():
    for x in (np.ones(3, bool), np.bool_(True)):
        with pytest.raises(TypeError, match="ufunc 'positive' did not contain a loop"):
            jit(lambda x: +x)(x)


def copied_to(x, number):
    np.copyto(x, 7)
    np.copyto(x[1:], 3)
    np.copyto(x, number, where=x > 5)
    return x


@pytest.mark.parametrize("number", [200, 300, -1])
def test_numbers_that_are_copied_take_on_the_dtype(number):
    f = jit(copied_to)
    check_agreement(f, copied_to, lambda: (np.zeros(3, np.uint8), number))


@pytest.mark.parametrize(("copy", "types"), [
    (lambda x: np.copyto(x.astype(int), x), ("array data", "float64", "int64")),
    (lambda x: np.copyto(x, 1j), ("scalar", "complex128", "float64")),
    (lambda x: np.copyto(x.astype("f4"), x, "no"), ("array data", "float64", "float32")),
    (lambda x: np.copyto(x, x[:2], where=x > 0), None),
    (lambda x: np.copyto(x, 1, where=np.array([True, False])), None),
    (lambda x: np.copyto(x, x[:2]), None)])
def test_what_copyto_says(copy, types):
    x = np.zeros(3)
    with pytest.raises((TypeError, ValueError)) as plain:
        copy(x)
    with pytest.raises(type(plain.value), match=re.escape(str(plain.value))):
        jit(copy)(x, target="serial")
    assert types is None or all(name in str(plain.value) for name in types)
