"""Words and orders: prefixes, runs, places, alignments."""

import numpy as np

# Prefixes, runs and places.


def prefix_sums(x):
    """By doubling: Hillis and Steele's; x (n,) in place."""
    step = 1
    while step < len(x):
        x[step:] = x[step:] + x[:-step]
        step *= 2


def prefix_sums_by_tree(x):
    """Blelloch's exclusive ones of x, whose length is a power of two, in place."""
    n = len(x)
    step = 1
    while step < n:
        x[2 * step - 1::2 * step] += x[step - 1::2 * step]
        step *= 2
    x[n - 1] = 0
    step = n // 2
    while step >= 1:
        left = x[step - 1::2 * step].copy()
        x[step - 1::2 * step] = x[2 * step - 1::2 * step]
        x[2 * step - 1::2 * step] += left
        step //= 2


def summed_areas(image):
    """The integral image (n + 1, m + 1)."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1), dtype=image.dtype)
    table[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    return table


def run_lengths(x):
    """Values and lengths of runs of x (n,), by masks."""
    starts = np.ones(len(x), dtype=bool)
    starts[1:] = x[1:] != x[:-1]
    where = np.nonzero(starts)[0]
    lengths = np.empty(len(where), dtype=np.int64)
    lengths[:-1] = where[1:] - where[:-1]
    lengths[-1] = len(x) - where[-1]
    return x[starts], lengths


def expanded(values, lengths):
    """The inverse of run_lengths."""
    out = np.empty(lengths.sum(), dtype=values.dtype)
    place = 0
    for value, length in zip(values, lengths):
        out[place:place + length] = value
        place += length
    return out


def longest_run(x):
    best = run = 1 if len(x) > 0 else 0
    for i in range(1, len(x)):
        run = run + 1 if x[i] == x[i - 1] else 1
        best = max(best, run)
    return best


def binary_search(x, wanted):
    """Places (m,) at which wanted (m,) would be inserted into sorted x (n,)."""
    out = np.empty(len(wanted), dtype=np.intp)
    for k in range(len(wanted)):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < wanted[k]:
                low = middle + 1
            else:
                high = middle
        out[k] = low
    return out


def interpolated(x, xp, fp):
    """Straight lines between points (xp, fp), sorted by xp."""
    k = np.clip(np.searchsorted(xp, x) - 1, 0, len(xp) - 2)
    t = (x - xp[k]) / (xp[k + 1] - xp[k])
    return fp[k] + t * (fp[k + 1] - fp[k])


# Words.


def smith_waterman(a, b, match, mismatch, gap):
    """The best local alignment of a (n,) and b (m,): its score, where it ends, the table."""
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int32)
    best, best_i, best_j = 0, 0, 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(0, diagonal, score[i - 1, j] + gap, score[i, j - 1] + gap)
            if score[i, j] > best:
                best, best_i, best_j = score[i, j], i, j
    return best, best_i, best_j, score


def edit_distance(a, b):
    """Levenshtein's, in two rows."""
    previous = np.arange(len(b) + 1)
    current = np.zeros_like(previous)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous, current = current, previous
    return previous[len(b)]


def common_subsequence(a, b):
    """One of the longest of a (n,) and b (m,)."""
    n, m = len(a), len(b)
    length = np.zeros((n + 1, m + 1), dtype=int)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            if a[i] == b[j]:
                length[i, j] = length[i + 1, j + 1] + 1
            else:
                length[i, j] = max(length[i + 1, j], length[i, j + 1])
    out = np.empty(length[0, 0], dtype=a.dtype)
    i = j = k = 0
    while i < n and j < m:
        if a[i] == b[j]:
            out[k] = a[i]
            i, j, k = i + 1, j + 1, k + 1
        elif length[i + 1, j] >= length[i, j + 1]:
            i += 1
        else:
            j += 1
    return out


def time_warping(x, y):
    """The cost of bending x (n,) onto y (m,)."""
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = abs(x[i - 1] - y[j - 1])
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def viterbi(log_start, log_transitions, log_emissions, observed):
    """The likeliest states (t,) behind observed (t,)."""
    steps, k = len(observed), len(log_start)
    best = np.zeros((steps, k))
    back = np.zeros((steps, k), dtype=np.int64)
    best[0] = log_start + log_emissions[:, observed[0]]
    for t in range(1, steps):
        scores = best[t - 1][:, None] + log_transitions
        back[t] = scores.argmax(axis=0)
        best[t] = scores.max(axis=0) + log_emissions[:, observed[t]]
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = best[-1].argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path


def knapsack(weights, values, capacity):
    """The largest value of things (n,) within a capacity; the table runs over itself downwards."""
    best = np.zeros(capacity + 1, dtype=values.dtype)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[capacity]


def counted(x):
    """What is in x, sorted, how often, and the most frequent."""
    values, counts = np.unique(x, return_counts=True)
    return values, counts, values[counts.argmax()]
