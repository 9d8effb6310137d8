"""What users write: the programs of the original's slides and README, and one for each construct.

Each is plain Python. Where one uses our operators, its reference beside it says the same in NumPy.
"""

import math

import numpy as np

import parakeet
from parakeet import reduce

# The slides and the README, as written there.


def now_faster(x):
    return np.mean(x < 0)


def fast(x, alpha=0.5, beta=0.3):
    return np.tanh(x * alpha) + beta


def loopy(x, alpha=0.5, beta=0.3):
    y = np.empty_like(x, dtype=float)
    for i in range(len(x)):
        y[i] = np.tanh(x[i] * alpha) + beta
    return y


def comprehension(x, alpha=0.5, beta=0.3):
    return np.array([np.tanh(xi * alpha) + beta for xi in x])


def matmult(X, Y):
    return np.array([[np.dot(row, col) for col in Y.T] for row in X])


def conv_3x3_trim(image, weights):
    return np.array([[(image[i-1:i+2, j-1:j+2] * weights).sum()
                      for j in range(1, image.shape[1] - 1)]
                     for i in range(1, image.shape[0] - 1)])


def covariance(x, y):
    return ((x - x.mean()) * (y - y.mean())).mean()


def fit_simple_regression(x, y):
    slope = covariance(x, y) / covariance(x, x)
    offset = y.mean() - slope * x.mean()
    return slope, offset


def prod(x, axis=None):
    return reduce(np.multiply, x, init=1, axis=axis)


def prod_reference(x, axis=None):
    return np.multiply.reduce(x, axis=axis, dtype=x.dtype, initial=1)


# Array and scalar expressions.


def strided_expression(a, x, k, y, b):
    return a * x[2:-3:k] + y[2:, 4:] / b


def negative_steps(x, k):
    return x[::-k] * 2 - x[-1::-k], x[len(x) // 2::-1]


def polynomial(x, y):
    return x * x + 3 * x * y - y * 2 + 1


def nested_arithmetic(x, y):
    return -x + abs(y) * (x - y) ** 2


def comparisons(x, y):
    return x < y, (x >= y) & (x > 0), ~(x == y) | (y != 1)


def integer_arithmetic(x, y):
    return x // (y * y + 1), x % (y * y + 1), x & y, x | y, x ^ y, x << 1, x >> 1


def chosen(x, y):
    return np.where(x < y, x, y * 2)


def extremes(x):
    return x.min(), x.max(), x.argmin(), x.argmax()


def reductions(x):
    return x.sum(), x.mean(), x.any(), x.all()


def reductions_by_axis(x):
    return x.sum(axis=0), x.mean(axis=1), x.max(axis=-1) - x.min(axis=-1)


def normalised_rows(x):
    return (x - x.mean(axis=1, keepdims=True)) / (1 + x.max(axis=1, keepdims=True))


def outer_broadcast(x, y):
    return x[:, np.newaxis] * y - x[:, None]


def transposed(x):
    return x.T * 2 + 1


def ranges(n, a, b):
    return np.arange(n) + np.linspace(a, b, n)


# Tuples.


def tuple_of_constants():
    a, b, c = (1, 2) + (3,)
    return a, (b, c), a + b * c


def swapped(x, y):
    x, y = y, x
    (u, v), w = (x + y, x - y), x * y
    return w, (v, u)


def starred(x):
    first, *middle, last = (x, x + 1, x + 2, x + 3)
    return last, middle[0], middle[1], first


# Control flow.


def below(y):
    return y < 100.0


def grown(y, zs):
    while below(y):
        y += sum(zs)
    return y


def clipped(x, low, high):
    y = np.empty_like(x)
    for i in range(len(x)):
        if x[i] < low:
            y[i] = low
        elif x[i] > high:
            y[i] = high
        else:
            y[i] = x[i]
    return y


def first_above(x, bound):
    for i in range(len(x)):
        if x[i] > bound:
            return i
    return -1


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def running_total(x):
    total = 0.0
    y = np.zeros(len(x))
    for i, xi in enumerate(x):
        total += xi
        y[i] = total
    return y


def sum_of_positive(x):
    total = 0.0
    for xi in x:
        if xi < 0:
            continue
        if xi > 10:
            break
        total += xi
    return total


# Here, since pytest rewrites the assertions of test modules.


def asserted(x):
    assert x > 0, "x must be positive"
    return x


def asserted_bare(x):
    assert x > 0
    return x


# Stores in place.


def scaled_in_place(x, k):
    x *= k
    x[1:] += x[:-1]
    x[::2] = 0


def fill_diagonal_band(x, v):
    for i in range(min(x.shape[0], x.shape[1])):
        x[i, i] = v
        x[i, 0] = -v
    return x


def smoothed(x, steps):
    for _ in range(steps):
        x[1:-1] = (x[:-2] + x[2:]) // 2
    return x


def reversed_in_place(x):
    x[:] = x[::-1]
    return x


# Functions.


def scaled(x, by=2, plus=0):
    return x * by + plus


def keywords(x):
    return scaled(x), scaled(x, plus=1), scaled(plus=x, x=3, by=2), scaled(x, 5)


def nested_function(x, k):
    def shift(y, by=k):
        return y + by

    return shift(x) * shift(x, 3)


def closure_of_an_array(x, y):
    def pick(i):
        return y[i] * 2

    return np.array([pick(i) + x[i] for i in range(len(x))])


def lambdas(x, k):
    twice = lambda f, y: f(f(y))
    return twice(lambda y: y * k + 1, x)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def from_math(x):
    return math.sqrt(x) + math.pi * math.floor(x)


# The operators, each beside the same in NumPy.


def map_three(x, y, z):
    return parakeet.map(lambda a, b, c: a * b + c, x, y, z)


def map_three_reference(x, y, z):
    return x * y + z


def map_rows(x):
    return parakeet.map(lambda row: row * 2 + 1, x)


def map_rows_reference(x):
    return x * 2 + 1


def map_columns_to_pairs(x):
    return parakeet.map(lambda column: (column[0], column[-1] + 1), x, axis=1)


def map_columns_to_pairs_reference(x):
    return x[0] + 0, x[-1] + 1


def map_elements(x, y):
    return parakeet.map(lambda a, b: a - b, x, y, axis=None)


def map_elements_reference(x, y):
    return x - y


def reduce_rows(x):
    return reduce(parakeet.add, x, axis=1, init=0)


def reduce_rows_reference(x):
    return np.add.reduce(x, axis=1, dtype=x.dtype, initial=0)


def reduce_all(x):
    return reduce(lambda a, b: a + b, x, init=0)


def reduce_all_reference(x):
    return np.add.reduce(x, axis=None, dtype=x.dtype, initial=0)


def reduce_without_init(x):
    return reduce(np.maximum, x)


def reduce_without_init_reference(x):
    return np.maximum.reduce(x, axis=None)


def reduce_pairs(x):
    """The largest element and where it first is: a combine of tuples."""
    def larger(p, q):
        return q if q[0] > p[0] else p

    return reduce(larger, x, np.arange(len(x)), axis=0)


def reduce_pairs_reference(x):
    where = x.argmax()
    return x[where], where


def scanned(x):
    return parakeet.scan(parakeet.add, x)


def scanned_reference(x):
    return np.add.accumulate(x, axis=0, dtype=x.dtype)


def scanned_with_init(x):
    return parakeet.scan(np.maximum, x, init=1)


def scanned_with_init_reference(x):
    return np.maximum.accumulate(np.maximum(x, 1), axis=0)


def imapped(x):
    return parakeet.imap(lambda i, j: x[i, j] * 2 + i - j, x.shape)


def imapped_reference(x):
    i, j = np.indices(x.shape)
    return x * 2 + i - j


def imapped_tuple(x):
    return parakeet.imap(lambda index: x[index] + 1, x.shape)


def imapped_tuple_reference(x):
    return x + x.dtype.type(1)


def outer(x, y):
    return parakeet.outer_map(lambda a, b: a - b * 2, x, y)


def outer_reference(x, y):
    return x[:, None] - y * 2


def all_distances(x):
    return parakeet.allpairs(lambda a, b: ((a - b) ** 2).sum(), x, x)


def all_distances_reference(x):
    # Over the transpose, so that the last axis of the result is not summed in another type.
    return ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)


def ireduced(x):
    return parakeet.ireduce(lambda i: x[i] * i, parakeet.add, len(x), init=0)


def ireduced_reference(x):
    return np.add.reduce(x * np.arange(len(x)), initial=0)


def ireduced_plane(x):
    return parakeet.ireduce(lambda i, j: x[i, j] - i * j, np.maximum, x.shape, init=-100)


def ireduced_plane_reference(x):
    i, j = np.indices(x.shape)
    return np.maximum.reduce(x - i * j, axis=None, initial=-100)
