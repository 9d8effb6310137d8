"""Machine learning by hand: layers, their gradients, clusters."""

import numpy as np

# Activations and layers.


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    """Along the last axis of (n, k)."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, gamma, beta, eps=1e-5):
    """(n, d) with mean 0 and variance 1 in each row, scaled by gamma and beta (d,)."""
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def attention(q, k, v):
    """Scaled products of (n, d), (m, d) and (m, e), of which no row looks ahead: (n, e)."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(q.shape[0], k.shape[0], dtype=bool), scores, -1e9)
    return softmax(scores) @ v


def convolution_layer(x, w, b):
    """Images (n, h, w, c), filters (f, g, c, d), offsets (d,): (n, h - f + 1, w - g + 1, d)."""
    rows = x.shape[1] - w.shape[0] + 1
    columns = x.shape[2] - w.shape[1] + 1
    out = np.zeros((x.shape[0], rows, columns, w.shape[3]), dtype=x.dtype)
    for i in range(rows):
        for j in range(columns):
            window = x[:, i:i + w.shape[0], j:j + w.shape[1], :]
            out[:, i, j, :] = (window[:, :, :, :, np.newaxis] * w).sum(axis=(1, 2, 3))
    return relu(out + b)


def max_pool(x, size):
    """(n, h // size, w // size, c) from (n, h, w, c)."""
    rows, columns = x.shape[1] // size, x.shape[2] // size
    out = np.empty((x.shape[0], rows, columns, x.shape[3]), dtype=x.dtype)
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * size:(i + 1) * size, j * size:(j + 1) * size, :]
            out[:, i, j, :] = window.max(axis=(1, 2))
    return out


def max_pool_by_reshape(x, size):
    n, h, w, c = x.shape
    return x.reshape(n, h // size, size, w // size, size, c).max(axis=(2, 4))


def recurrent(x, wx, wh, b):
    """States (t, h) over inputs (t, d), from zero."""
    h = np.zeros(wh.shape[0])
    states = np.zeros((x.shape[0], wh.shape[0]))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ wx + h @ wh + b)
        states[t] = h
    return states


# Training.


def cross_entropy(probabilities, labels):
    n = len(labels)
    return -np.log(probabilities[np.arange(n), labels]).mean()


def train_network(x, labels, w1, b1, w2, b2, rate, steps):
    """Two layers, forward and backward: x (n, d), labels (n,) ints; weights are moved in place.

    Gives the loss (steps,) before each step.
    """
    losses = np.zeros(steps)
    n = x.shape[0]
    for step in range(steps):
        hidden = np.maximum(x @ w1 + b1, 0)
        probabilities = softmax(hidden @ w2 + b2)
        losses[step] = cross_entropy(probabilities, labels)
        delta = probabilities.copy()
        delta[np.arange(n), labels] -= 1
        delta /= n
        grad_w2 = hidden.T @ delta
        grad_b2 = delta.sum(axis=0)
        back = delta @ w2.T
        back[hidden <= 0] = 0
        w2 -= rate * grad_w2
        b2 -= rate * grad_b2
        w1 -= rate * (x.T @ back)
        b1 -= rate * back.sum(axis=0)
    return losses


def logistic_regression(x, y, rate, steps):
    """Weights (d,) and an offset for x (n, d) and y (n,) of 0 and 1."""
    w = np.zeros(x.shape[1])
    b = 0.0
    for _ in range(steps):
        p = sigmoid(np.dot(x, w) + b)
        error = p - y
        w -= rate * np.dot(x.T, error) / len(y)
        b -= rate * error.mean()
    return w, b


def perceptron(x, y, epochs):
    """Rosenblatt's, y (n,) of -1 and 1: weights (d + 1,) and the mistakes of the last epoch."""
    w = np.zeros(x.shape[1] + 1)
    mistakes = 0
    for _ in range(epochs):
        mistakes = 0
        for xi, target in zip(x, y):
            out = np.dot(xi, w[1:]) + w[0]
            if target * out <= 0:
                w[1:] += target * xi
                w[0] += target
                mistakes += 1
        if mistakes == 0:
            break
    return w, mistakes


def adam(w, x, y, rate, steps):
    """Least squares by Adam; w (d,) in place."""
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, steps + 1):
        g = 2 * x.T @ (x @ w - y) / len(y)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return ((x @ w - y) ** 2).mean()


# Clusters and neighbours.


def k_means(points, centres, steps):
    """Lloyd's: centres (k, d) are moved in place; gives the cluster (n,) of each of (n, d)."""
    labels = np.zeros(len(points), dtype=int)
    for _ in range(steps):
        d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = d.argmin(axis=1)
        for k in range(len(centres)):
            mine = labels == k
            if mine.any():
                centres[k] = points[mine].mean(axis=0)
    return labels


def k_means_by_loops(points, k, steps):
    """The same, from the first k points, in sums of each cluster: centres (k, d), labels (n,)."""
    n, d = points.shape
    centres = points[:k].copy()
    labels = np.zeros(n, np.int64)
    for _ in range(steps):
        sums = np.zeros((k, d))
        counts = np.zeros(k)
        for i in range(n):
            best = np.inf
            for c in range(k):
                distance = np.sum((points[i] - centres[c]) ** 2)
                if distance < best:
                    best = distance
                    labels[i] = c
            sums[labels[i]] += points[i]
            counts[labels[i]] += 1
        for c in range(k):
            if counts[c] > 0:
                centres[c] = sums[c] / counts[c]
    return centres, labels


def nearest_neighbours(train, classes, queries, k):
    """The class (m,) of most of the k nearest of (n, d) to each of (m, d); classes (n,) ints."""
    answers = np.zeros(len(queries), dtype=int)
    for q in range(len(queries)):
        distance = ((train - queries[q]) ** 2).sum(axis=1)
        votes = np.zeros(classes.max() + 1, dtype=int)
        for _ in range(k):
            nearest = distance.argmin()
            votes[classes[nearest]] += 1
            distance[nearest] = np.inf
        answers[q] = votes.argmax()
    return answers


def nearest_by_sort(train, classes, query, k):
    """The share of class 1 among the k nearest of (n, d) to one point (d,)."""
    order = np.argsort(np.linalg.norm(train - query, axis=1))
    return (classes[order[:k]] == 1).mean()


def least_squares(x, y):
    """Weights (d + 1,) of x (n, d) and a constant, by the normal equations."""
    a = np.column_stack((np.ones(len(x)), x))
    return np.linalg.solve(a.T @ a, a.T @ y)
