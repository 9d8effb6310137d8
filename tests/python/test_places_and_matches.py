"""Places that loops keep and read at, and matches that are followed as far as they go."""

import numpy as np
import pytest
from exact_outcomes import check

from parakeet import jit


def nearest_unused(W):
    """A minimum spanning tree: the least of those that are not used yet."""
    n = W.shape[0]
    used = np.zeros(n, np.bool_)
    best = np.full(n, np.inf)
    before = np.full(n, -1)
    best[0] = 0.0
    total = 0.0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not used[v] and (u == -1 or best[v] < best[u]):
                u = v
        used[u] = True
        total += best[u]
        for v in range(n):
            if not used[v] and W[u, v] < best[v]:
                best[v] = W[u, v]
                before[v] = u
    return total, before


def last_of_the_largest(x, allowed):
    place = 0
    for i in range(len(x)):
        if allowed[i] > 0 and x[i] >= x[place]:
            place = i
    return place


def longest_matches(text, window):
    n = len(text)
    lengths = np.zeros(n, np.int64)
    i = 0
    while i < n:
        best = 0
        for s in range(max(0, i - window), i):
            k = 0
            while i + k < n and k < 9 and text[s + k] == text[i + k]:
                k += 1
            if k > best:
                best = k
        lengths[i] = best
        i += max(best, 1)
    return lengths


def prefixes_at(text):
    """How far each suffix is the text's own beginning."""
    n = len(text)
    out = np.zeros(n, np.int64)
    for i in range(1, n):
        k = 0
        while i + k < n and text[k] == text[i + k]:
            k += 1
        out[i] = k
    return out


def runs_past_the_end(text):
    out = 0
    for i in range(len(text)):
        k = 0
        while text[i + k] == text[k]:
            k += 1
        out += k
    return out


def looked_up(x, table, rest):
    out = np.zeros(len(x), table.dtype)
    for i in range(len(x)):
        out[i] = table[(x[i] >> 2) & 7] + rest[x[i] % 5]
    return out


@pytest.mark.parametrize("n", [1, 2, 17, 40])
def test_trees(n):
    W = np.random.default_rng(n).integers(0, 20, (n, n)).astype(float)
    check(nearest_unused, W)
    W[n // 2] = np.nan
    check(nearest_unused, W)


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_places(n):
    rng = np.random.default_rng(n)
    x = rng.integers(-4, 5, n).astype(float)
    x[n // 3 : n // 2] = np.nan
    check(last_of_the_largest, x, rng.integers(0, 2, n))


@pytest.mark.parametrize("n", [0, 1, 9, 300])
def test_matches(n):
    text = np.random.default_rng(n).integers(0, 2, n).astype(np.uint8)
    check(longest_matches, text, 40)
    check(prefixes_at, text)
    check(runs_past_the_end, text)


@pytest.mark.parametrize(("length", "rest"), [(8, 5), (9, 9), (5, 5), (8, 4), (0, 0)])
def test_tables_that_masks_index(length, rest):
    """As long as masks say, longer, and too short: for some elements, and for none."""
    given = np.arange(length) * 1.0, np.arange(rest) * 10.0
    check(looked_up, np.random.default_rng(5).integers(-40, 40, 50), *given)
    check(looked_up, np.array([0, 1, 2, 35, 5]), *given)


def test_tables_that_masks_index_are_not_checked():
    x = np.arange(10)
    account = jit(looked_up, target="serial").explain(x, np.zeros(8), np.zeros(5))
    assert "no checks left" in str(account)


def leaves(x, feature, threshold, left, right, value):
    out = np.zeros(len(x))
    for i in range(len(x)):
        node = 0
        while left[node] >= 0:
            if x[i, feature[node]] <= threshold[node]:
                node = left[node]
            else:
                node = right[node]
        out[i] = value[node]
    return out


@pytest.fixture
def tree():
    rng = np.random.default_rng(3)
    n = 31
    left = np.where(np.arange(n) < 15, 2 * np.arange(n) + 1, -1)
    right = np.where(np.arange(n) < 15, 2 * np.arange(n) + 2, -1)
    return [rng.random((20, 4)), rng.integers(0, 4, n), rng.random(n), left, right, rng.random(n)]


def test_parts_of_nodes_are_held_against_one_size(tree):
    check(leaves, *tree)
    scheduled = jit(leaves).ir(*tree, stage="scheduled", target="serial")
    assert scheduled.count(" at (1, ") == 4, scheduled  # two of a node, a feature's and a leaf's


@pytest.mark.parametrize("part", range(1, 6))
def test_parts_of_nodes_of_any_length(tree, part):
    for length in (7, 31, 40):
        parts = [*tree]
        parts[part] = np.resize(parts[part], length)
        check(leaves, *parts)


def test_nodes_counted_from_the_end(tree):
    tree[3][:15] -= 31
    tree[3][15:] = -62
    tree[4][:7] -= 31
    check(leaves_from_the_end, *tree)


def leaves_from_the_end(x, feature, threshold, left, right, value):
    out = np.zeros(len(x))
    for i in range(len(x)):
        node = 0
        while left[node] >= -31:
            if x[i, feature[node]] <= threshold[node]:
                node = left[node]
            else:
                node = right[node]
        out[i] = value[node]
    return out
