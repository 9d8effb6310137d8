"""Systems of equations, products, factors, graphs and distances."""

import numpy as np

# Products.


def tropical_product(a, b):
    """The (min, +) product (n, k) of (n, m) and (m, k)."""
    return np.min(a[:, :, None] + b[None, :, :], axis=1)


def tropical_product_by_loops(a, b):
    n, m = a.shape
    k = b.shape[1]
    c = np.full((n, k), np.inf)
    for i in range(n):
        for j in range(k):
            for p in range(m):
                c[i, j] = min(c[i, j], a[i, p] + b[p, j])
    return c


def product_by_loops(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def matrix_power(a, n):
    """a (m, m) to a power n >= 0, by squaring."""
    result = np.eye(a.shape[0])
    while n > 0:
        if n & 1:
            result = result @ a
        a = a @ a
        n >>= 1
    return result


def fibonacci_power(n, modulus):
    """The n-th Fibonacci number modulo a number, by squaring a matrix of ints."""
    a = np.array([[1, 1], [1, 0]])
    result = np.array([[1, 0], [0, 1]])
    while n:
        if n % 2:
            result = result.dot(a) % modulus
        a = a.dot(a) % modulus
        n //= 2
    return result[0, 1]


# Equations.


def conjugate_gradient(a, b, tolerance, most):
    """Solves a x = b for a (n, n) symmetric and positive, b (n,); x and the steps taken."""
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rr = r @ r
    steps = 0
    for _ in range(most):
        if np.sqrt(rr) < tolerance:
            break
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rr_new = r @ r
        p = r + (rr_new / rr) * p
        rr = rr_new
        steps += 1
    return x, steps


def cholesky(a):
    """The lower factor (n, n) of a symmetric positive matrix."""
    n = a.shape[0]
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            if i == j:
                if s <= 0:
                    raise ValueError("the matrix is not positive definite")
                lower[i, i] = np.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    return lower


def lu(a):
    """Factors a (n, n) in place with rows exchanged; gives the permutation (n,)."""
    n = a.shape[0]
    rows = np.arange(n)
    for k in range(n - 1):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            rows[[k, pivot]] = rows[[pivot, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return rows


def lu_by_loops(a):
    """The same, element by element; gives the sign of the permutation."""
    n = len(a)
    sign = 1
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            sign = -sign
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return sign


def solve(a, b):
    """x (n,) with a x = b, by elimination of copies of a (n, n) and b (n,)."""
    a, b = a.copy(), b.copy()
    lu_rows = lu(a)
    y = b[lu_rows]
    n = len(b)
    for i in range(n):
        y[i] -= a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        y[i] = (y[i] - a[i, i + 1:] @ y[i + 1:]) / a[i, i]
    return y


def tridiagonal(lower, diagonal, upper, right):
    """Thomas's algorithm: x (n,) for three diagonals (n,), whose outer ones lose an element."""
    n = len(right)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (right[i] - lower[i] * d[i - 1]) / m
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def gauss_jordan(a):
    """The inverse (n, n) of a matrix whose diagonal needs no exchange."""
    n = a.shape[0]
    work = np.hstack((a, np.eye(n)))
    for k in range(n):
        work[k] /= work[k, k]
        for i in range(n):
            if i != k:
                work[i] -= work[i, k] * work[k]
    return work[:, n:]


def gram_schmidt(a):
    """q (n, m) of orthonormal columns and r (m, m) with q r = a, modified."""
    q = a.copy()
    m = a.shape[1]
    r = np.zeros((m, m))
    for k in range(m):
        r[k, k] = np.linalg.norm(q[:, k])
        q[:, k] /= r[k, k]
        for j in range(k + 1, m):
            r[k, j] = np.dot(q[:, k], q[:, j])
            q[:, j] -= r[k, j] * q[:, k]
    return q, r


def jacobi(a, b, steps):
    """Jacobi's iteration for a x = b."""
    x = np.zeros_like(b)
    diagonal = np.diag(a)
    rest = a - np.diag(diagonal)
    for _ in range(steps):
        x = (b - rest.dot(x)) / diagonal
    return x


# Eigenvalues.


def spectral_a(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def spectral_norm(n, steps):
    """The benchmark game's: the largest singular value of an infinite matrix, n of its rows."""
    def times_u(u):
        v = np.zeros(n)
        for i in range(n):
            for j in range(n):
                v[i] += spectral_a(i, j) * u[j]
        return v

    def times_transpose_u(u):
        v = np.zeros(n)
        for i in range(n):
            for j in range(n):
                v[i] += spectral_a(j, i) * u[j]
        return v

    u = np.ones(n)
    v = np.ones(n)
    for _ in range(steps):
        v = times_transpose_u(times_u(u))
        u = times_transpose_u(times_u(v))
    return np.sqrt((u * v).sum() / (v * v).sum())


def power_iteration(a, tolerance):
    """The largest eigenvalue of a (n, n) and its vector (n,)."""
    v = np.ones(a.shape[0]) / np.sqrt(a.shape[0])
    value = 0.0
    for _ in range(1000):
        w = a @ v
        w /= np.linalg.norm(w)
        following = w @ a @ w
        if abs(following - value) < tolerance:
            break
        v, value = w, following
    return value, v


def page_rank(links, damping, steps):
    """Ranks (n,) of pages with links (n, n): links[i, j] != 0 where i links to j."""
    n = links.shape[0]
    out = links.sum(axis=1)
    out[out == 0] = 1
    share = (links / out[:, None]).T
    rank = np.full(n, 1.0 / n)
    for _ in range(steps):
        rank = (1 - damping) / n + damping * (share @ rank)
    return rank / rank.sum()


def stationary(transitions, tolerance):
    """The stationary distribution (n,) of a Markov chain (n, n), and the steps to it."""
    p = np.ones(len(transitions)) / len(transitions)
    steps = 0
    while True:
        q = np.dot(p, transitions)
        steps += 1
        if np.max(np.abs(q - p)) < tolerance or steps > 500:
            return q, steps
        p = q


# Distances.


def distances_by_broadcasting(x, y):
    """(n, m) distances of the rows of (n, d) and (m, d)."""
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


def distances_by_products(x, y):
    xx = (x * x).sum(axis=1)[:, np.newaxis]
    yy = (y * y).sum(axis=1)
    return np.sqrt(np.maximum(xx + yy - 2 * np.dot(x, y.T), 0))


def distances_by_loops(x, y):
    d = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            total = 0.0
            for k in range(x.shape[1]):
                total += (x[i, k] - y[j, k]) ** 2
            d[i, j] = total**0.5
    return d


def distances_by_comprehension(x, y):
    return np.array([[np.linalg.norm(a - b) for b in y] for a in x])


def bilinear(x, a, y):
    """(n,) of x (n, p), a (p, q) and y (n, q)."""
    return np.einsum("np,pq,nq->n", x, a, y)
