"""Words: patterns in them, their symmetries, suffixes and codes; letters are small ints."""

import numpy as np


def occurrences(text, word):
    """Knuth, Morris and Pratt's: where the word (m,) begins in text (n,)."""
    m = len(word)
    border = np.zeros(m + 1, dtype=np.int64)
    border[0] = -1
    k = -1
    for i in range(m):
        while k >= 0 and word[k] != word[i]:
            k = border[k]
        k += 1
        border[i + 1] = k
    found = np.zeros(len(text), dtype=bool)
    k = 0
    for i in range(len(text)):
        while k >= 0 and (k == m or word[k] != text[i]):
            k = border[k]
        k += 1
        if k == m:
            found[i - m + 1] = True
    return np.nonzero(found)[0]


def palindromes(x):
    """Manacher's radii (n,) of odd palindromes."""
    n = len(x)
    radius = np.zeros(n, dtype=np.int64)
    left, right = 0, -1
    for i in range(n):
        k = 1 if i > right else min(radius[left + right - i], right - i + 1)
        while i + k < n and i - k >= 0 and x[i + k] == x[i - k]:
            k += 1
        radius[i] = k
        if i + k - 1 > right:
            left, right = i - k + 1, i + k - 1
    return radius


def suffix_order(x):
    """Ranks (n,) of the suffixes, by doubling and counting comparisons."""
    n = len(x)
    rank = x.astype(np.int64)
    width = 1
    while width < 2 * n:
        second = np.full(n, -1)
        if width < n:
            second[:-width] = rank[width:]
        key = rank * (n + 40) + second + 1
        rank = (key[None, :] < key[:, None]).sum(axis=1)
        width *= 2
    return rank


def compressed(x):
    """Lempel and Ziv's: distances, lengths and letters (k,) of what repeats in x (n,)."""
    n = len(x)
    distances = np.zeros(n, dtype=np.int32)
    lengths = np.zeros(n, dtype=np.int32)
    letters = np.zeros(n, dtype=x.dtype)
    count = 0
    i = 0
    while i < n:
        best_length = best_distance = 0
        for j in range(max(0, i - 16), i):
            k = 0
            while i + k < n - 1 and x[j + k] == x[i + k]:
                k += 1
            if k > best_length:
                best_length, best_distance = k, i - j
        distances[count] = best_distance
        lengths[count] = best_length
        letters[count] = x[i + best_length]
        count += 1
        i += best_length + 1
    return distances[:count], lengths[:count], letters[:count]


def expanded_again(distances, lengths, letters):
    out = np.zeros(lengths.sum() + len(letters), dtype=letters.dtype)
    place = 0
    for d, length, letter in zip(distances, lengths, letters):
        for _ in range(length):
            out[place] = out[place - d]
            place += 1
        out[place] = letter
        place += 1
    return out


def move_to_front(x, letters):
    """Codes (n,) of x (n,); the alphabet shifts over itself."""
    alphabet = np.arange(letters)
    out = np.empty_like(x)
    for i, value in enumerate(x):
        k = 0
        while alphabet[k] != value:
            k += 1
        out[i] = k
        alphabet[1:k + 1] = alphabet[:k]
        alphabet[0] = value
    return out


def huffman_lengths(counts):
    """How many bits each letter's code (n,) has."""
    n = len(counts)
    weight = np.zeros(2 * n - 1)
    weight[:n] = counts
    parent = np.full(2 * n - 1, -1)
    alive = np.zeros(2 * n - 1, dtype=bool)
    alive[:n] = True
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            least = -1
            for k in range(node):
                if alive[k] and (least < 0 or weight[k] < weight[least]):
                    least = k
            alive[least] = False
            parent[least] = node
            weight[node] += weight[least]
        alive[node] = True
    lengths = np.zeros(n, dtype=int)
    for k in range(n):
        up = parent[k]
        while up >= 0:
            lengths[k] += 1
            up = parent[up]
    return lengths


def hamming_corrected(words):
    """(7, 4) words (n, 7) of bits with one error at most: corrected in place; gives the errors."""
    checks = np.array([[1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]])
    errors = 0
    for word in words:
        syndrome = checks.dot(word) % 2
        place = syndrome[0] + 2 * syndrome[1] + 4 * syndrome[2]
        if place:
            word[place - 1] ^= 1
            errors += 1
    return errors
