"""Primes, chains, roots and integrals."""

import math

import numpy as np

# Numbers.


def longest_collatz(limit):
    """The start below a limit with the longest chain, and its length."""
    best, length = 1, 1
    for start in range(1, limit):
        n = start
        steps = 1
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > length:
            best, length = start, steps
    return best, length


def sieve(n):
    """The primes below n."""
    is_prime = np.ones(n, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i::i] = False
    return np.nonzero(is_prime)[0]


def count_primes(n):
    """By division."""
    count = 0
    for candidate in range(2, n):
        prime = True
        for d in range(2, int(math.sqrt(candidate)) + 1):
            if candidate % d == 0:
                prime = False
                break
        if prime:
            count += 1
    return count


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def totients(n):
    """Euler's function of 1 to n."""
    return np.array([sum([1 for k in range(1, m + 1) if gcd(k, m) == 1])
                     for m in range(1, n + 1)])


def totients_by_loops(n):
    out = np.zeros(n, dtype=np.int64)
    for m in range(1, n + 1):
        for k in range(1, m + 1):
            if gcd(k, m) == 1:
                out[m - 1] += 1
    return out


def random_numbers(seed, n):
    """A linear congruential generator: (n,) in [0, 1)."""
    out = np.empty(n)
    state = seed
    for i in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        out[i] = state / 2147483648
    return out


# Roots and integrals.


def horner(coefficients, x):
    """A polynomial, highest power first, at x (n,)."""
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return y


def cubic(x):
    return x * x * x - 2.0 * x - 5.0


def bisection(low, high, tolerance):
    """A root of the cubic and the halvings that it took."""
    if cubic(low) * cubic(high) > 0:
        raise ValueError("the signs at the ends are the same")
    for n in range(200):
        middle = 0.5 * (low + high)
        value = cubic(middle)
        if value == 0.0 or 0.5 * (high - low) < tolerance:
            return middle, n
        if (value > 0) == (cubic(low) > 0):
            low = middle
        else:
            high = middle
    return low, 200


def newton_roots(a, tolerance):
    """Square roots of a (n,) by Newton, all until the last is done."""
    x = np.maximum(a, 1.0)
    steps = 0
    while np.max(np.abs(x * x - a)) > tolerance and steps < 100:
        x = 0.5 * (x + a / x)
        steps += 1
    return x, steps


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += f(a + i * h) * (4 if i % 2 else 2)
    return total * h / 3


def integral_of_cubic(a, b, n):
    return simpson(cubic, a, b, n), simpson(lambda x: 1.0 / (1.0 + x * x), a, b, n)
