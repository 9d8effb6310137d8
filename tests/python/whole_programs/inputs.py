"""What the programs are run on: numbers that are the same every time, by shape."""

import numpy as np


def uniform(*shape, low=0.0, high=1.0, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def integers(*shape, low=0, high=2, seed=0, dtype="int64"):
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def byte_image(*shape):
    return integers(*shape, high=256, dtype="uint8")


def chances(n, k, seed=0):
    """Rows that sum to 1."""
    x = uniform(n, k, low=0.1, seed=seed)
    return x / x.sum(axis=1, keepdims=True)


def dominant(n):
    """A matrix that can be solved without exchanges."""
    return normal(n, n) + n * np.eye(n)


def positive_definite(n):
    x = normal(n, n)
    return x @ x.T + n * np.eye(n)


def plane_of_points(n):
    x, y = np.meshgrid(np.linspace(-2, 1, n), np.linspace(-1, 1, n))
    return x + 1j * y


def ways(n):
    """Distances between nodes, some of which are not linked."""
    d = uniform(n, n, low=1, high=10)
    d[uniform(n, n, seed=1) < 0.5] = np.inf
    d[np.arange(n), np.arange(n)] = 0
    return d


def bump(n):
    return np.exp(-np.linspace(-3, 3, n) ** 2)


def seeds_for_growing(n):
    labels = np.zeros((n, n), dtype=np.int64)
    strength = np.zeros((n, n))
    labels[0, 0], labels[-1, -1] = 1, 2
    strength[0, 0] = strength[-1, -1] = 1.0
    return uniform(n, n), labels, strength


def network(n):
    return (normal(n, 4), integers(n, high=3), normal(4, 5, seed=1), np.zeros(5),
            normal(5, 3, seed=2), np.zeros(3), 0.1, 5)


def windows_of_one_base(n):
    """Heights and speeds that lie in one array and overlap."""
    base = uniform(n + 1, n)
    return base[1:], base[:-1], 1.0, 0.1, 3


def one_shifted(n):
    x = normal(n + 1)
    return x[:-1], x[1:]


def one_twice(n):
    x = normal(n)
    return x, x


def laid_over(arguments, shift):
    """The arguments with arrays of one dtype and shape in one memory, each `shift` rows from the
    one before it; None where no two are alike."""
    alike = {}
    for place, x in enumerate(arguments):
        if isinstance(x, np.ndarray) and x.size > 0:
            alike.setdefault((x.dtype, x.shape), []).append(place)
    placed = list(arguments)
    for (dtype, shape), places in alike.items():
        room = abs(shift) * (len(places) - 1)
        base = np.empty((shape[0] + room, *shape[1:]), dtype)
        for order, place in enumerate(places):
            start = order * shift + (room if shift < 0 else 0)
            placed[place] = base[start:start + shape[0]]
            placed[place][...] = arguments[place]
    return tuple(placed) if any(len(places) > 1 for places in alike.values()) else None
