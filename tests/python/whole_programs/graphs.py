"""Ways, trees and parts of graphs, as matrices of weights and as lists of edges."""

import numpy as np


def floyd_warshall(distance):
    """All shortest ways, distance (n, n) in place, by rows and columns."""
    for k in range(distance.shape[0]):
        distance[:] = np.minimum(distance, distance[:, k, None] + distance[None, k, :])
    return distance


def floyd_warshall_by_loops(distance):
    n = len(distance)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if distance[i, k] + distance[k, j] < distance[i, j]:
                    distance[i, j] = distance[i, k] + distance[k, j]


def bellman_ford(sources, targets, weights, n):
    """Ways (n,) from node 0 along edges (e,), and whether a cycle is negative."""
    distance = np.full(n, np.inf)
    distance[0] = 0.0
    for _ in range(n - 1):
        for e in range(len(weights)):
            way = distance[sources[e]] + weights[e]
            if way < distance[targets[e]]:
                distance[targets[e]] = way
    return distance, bool((distance[sources] + weights < distance[targets]).any())


def reachable(links):
    """Breadth first from node 0 of links (n, n): the level (n,) of each node, or -1."""
    n = links.shape[0]
    level = np.full(n, -1)
    front = np.zeros(n, dtype=bool)
    front[0] = True
    depth = 0
    while front.any():
        level[front] = depth
        front = links[front].any(axis=0) & (level < 0)
        depth += 1
    return level


def dijkstra(weights):
    """Ways (n,) from node 0 along weights (n, n), and the node before each."""
    n = len(weights)
    distance = np.full(n, np.inf)
    distance[0] = 0
    done = np.zeros(n, dtype=bool)
    before = -np.ones(n, dtype=int)
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u == -1 or distance[v] < distance[u]):
                u = v
        done[u] = True
        better = distance[u] + weights[u] < distance
        before[better] = u
        distance[better] = distance[u] + weights[u][better]
    return distance, before


def spanning_tree(weights):
    """Prim's: the sum of the least edges that join all of weights (n, n)."""
    n = len(weights)
    inside = np.zeros(n, dtype=bool)
    inside[0] = True
    total = 0.0
    for _ in range(n - 1):
        cost = np.where(inside[:, None] & ~inside[None, :], weights, np.inf)
        i, j = divmod(cost.argmin(), n)
        total += weights[i, j]
        inside[j] = True
    return total


def joined_parts(a, b, n):
    """Union and find over edges a, b (e,): the number of parts and the root (n,) of each node."""
    parent = np.arange(n)

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    parts = n
    for i, j in zip(a, b):
        ri, rj = find(i), find(j)
        if ri != rj:
            parent[ri] = rj
            parts -= 1
    return parts, np.array([find(i) for i in range(n)])


def degrees(a, b, n):
    """How many of the edges a, b (e,) each node (n,) has."""
    degree = np.zeros(n, dtype=np.int64)
    np.add.at(degree, a, 1)
    np.add.at(degree, b, 1)
    return degree
