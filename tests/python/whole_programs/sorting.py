"""Sorts in place and out of place, each as its textbook has it."""

import numpy as np


def insertion_sort(x):
    """x (n,) in place."""
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value


def quick_sort(x, low, high):
    """x[low:high + 1] in place, calling itself."""
    if low < high:
        pivot = x[high]
        place = low
        for k in range(low, high):
            if x[k] <= pivot:
                x[place], x[k] = x[k], x[place]
                place += 1
        x[place], x[high] = x[high], x[place]
        quick_sort(x, low, place - 1)
        quick_sort(x, place + 1, high)


def bubble_sort(x):
    """x (n,) in place."""
    n = len(x)
    swapped = True
    while swapped:
        swapped = False
        for i in range(n - 1):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
                swapped = True
        n -= 1


def heap_sort(x):
    """x (n,) in place."""
    n = len(x)

    def sift(root, end):
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and x[child] < x[child + 1]:
                child += 1
            if x[root] >= x[child]:
                break
            x[root], x[child] = x[child], x[root]
            root = child

    for start in range(n // 2 - 1, -1, -1):
        sift(start, n)
    for end in range(n - 1, 0, -1):
        x[0], x[end] = x[end], x[0]
        sift(0, end)


def merge_sort(x):
    """A new array (n,), bottom up between two buffers that change places."""
    n = len(x)
    source, target = x.copy(), np.empty_like(x)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or source[i] <= source[j]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


def odd_even_sort(x):
    """A network over views of every other element: x (n,) in place."""
    for t in range(len(x)):
        left = x[t % 2::2]
        right = x[t % 2 + 1::2]
        pairs = min(len(left), len(right))
        low = np.minimum(left[:pairs], right[:pairs])
        high = np.maximum(left[:pairs], right[:pairs])
        left[:pairs] = low
        right[:pairs] = high


def bitonic_sort(x):
    """A network for lengths that are powers of two: x (n,) in place."""
    n = len(x)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in range(n):
                other = i ^ j
                if other > i:
                    up = (i & k) == 0
                    if (up and x[i] > x[other]) or (not up and x[i] < x[other]):
                        x[i], x[other] = x[other], x[i]
            j //= 2
        k *= 2


def counting_sort(x, most):
    """Of ints (n,) from 0 to below `most`."""
    places = np.zeros(most + 1, dtype=int)
    for value in x:
        places[value + 1] += 1
    places = np.cumsum(places)
    out = np.empty_like(x)
    for value in x:
        out[places[value]] = value
        places[value] += 1
    return out


def radix_sort(x):
    """Of ints (n,) that are not negative, bit by bit by masks."""
    shift = 0
    while (x >> shift).any():
        bit = (x >> shift) & 1
        x = np.concatenate((x[bit == 0], x[bit == 1]))
        shift += 1
    return x
