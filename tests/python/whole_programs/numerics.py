"""Solvers that choose their own steps: optimisers, integrators, grids of grids, filters."""

import math

import numpy as np

# Optimisers.


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_slope(x):
    g = np.zeros_like(x)
    g[:-1] = -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    g[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
    return g


def descend(x, steps):
    """Gradient descent that halves its step until the value falls; x (n,) in place."""
    value = rosenbrock(x)
    halvings = 0
    for _ in range(steps):
        g = rosenbrock_slope(x)
        step = 0.01
        while step > 1e-10 and rosenbrock(x - step * g) >= value:
            step /= 2
            halvings += 1
        x -= step * g
        value = rosenbrock(x)
    return value, halvings


def nelder_mead(start, steps):
    """The simplex method of Nelder and Mead: the best point (n,) and its value."""
    n = len(start)
    simplex = np.empty((n + 1, n))
    simplex[0] = start
    for i in range(n):
        simplex[i + 1] = start
        simplex[i + 1, i] += 0.5
    values = np.array([rosenbrock(point) for point in simplex])
    for _ in range(steps):
        best, worst = values.argmin(), values.argmax()
        centre = (simplex.sum(axis=0) - simplex[worst]) / n
        reflected = 2 * centre - simplex[worst]
        value = rosenbrock(reflected)
        if value < values[best]:
            expanded = 3 * centre - 2 * simplex[worst]
            expanded_value = rosenbrock(expanded)
            if expanded_value < value:
                simplex[worst], values[worst] = expanded, expanded_value
            else:
                simplex[worst], values[worst] = reflected, value
        elif value < values[worst]:
            simplex[worst], values[worst] = reflected, value
        else:
            contracted = 0.5 * (centre + simplex[worst])
            contracted_value = rosenbrock(contracted)
            if contracted_value < values[worst]:
                simplex[worst], values[worst] = contracted, contracted_value
            else:
                for i in range(n + 1):
                    if i != best:
                        simplex[i] = 0.5 * (simplex[i] + simplex[best])
                        values[i] = rosenbrock(simplex[i])
    return simplex[values.argmin()], values.min()


def golden_section(f, low, high, tolerance):
    ratio = (math.sqrt(5) - 1) / 2
    c, d = high - ratio * (high - low), low + ratio * (high - low)
    while abs(high - low) > tolerance:
        if f(c) < f(d):
            high = d
        else:
            low = c
        c, d = high - ratio * (high - low), low + ratio * (high - low)
    return (low + high) / 2


def least_of_each(centres):
    """The least point of a parabola about each of centres (n,)."""
    return np.array([golden_section(lambda x: (x - c) * (x - c) + 1.0, c - 2.0, c + 1.0, 1e-3)
                     for c in centres])


def annealed(tour, x, y, swaps, chances):
    """A round tour (n,) of places x, y (n,), in place, by given swaps (k, 2) and chances (k,)."""
    n = len(tour)

    def length():
        total = 0.0
        for i in range(n):
            a, b = tour[i], tour[(i + 1) % n]
            total += math.sqrt((x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2)
        return total

    current = length()
    heat = 1.0
    for k in range(len(swaps)):
        i, j = swaps[k]
        tour[i], tour[j] = tour[j], tour[i]
        proposed = length()
        if proposed < current or chances[k] < math.exp((current - proposed) / heat):
            current = proposed
        else:
            tour[i], tour[j] = tour[j], tour[i]
        heat *= 0.95
    return current


# Integrators.


def adaptive_runge_kutta(y, t, stop, tolerance):
    """Heun within Bogacki and Shampine, y' = -y + t: y, the steps taken and those refused."""
    h = 0.1
    taken = refused = 0
    while t < stop:
        h = min(h, stop - t)
        k1 = -y + t
        k2 = -(y + 0.5 * h * k1) + (t + 0.5 * h)
        k3 = -(y + 0.75 * h * k2) + (t + 0.75 * h)
        following = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = -following + (t + h)
        error = np.abs(h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)).max()
        if error <= tolerance:
            t += h
            y = following
            taken += 1
            h *= 1.5
        else:
            refused += 1
            h *= 0.5
    return y, taken, refused


def romberg(low, high, levels):
    """The triangle (levels, levels) of estimates of the integral of 1 / (1 + x * x)."""
    r = np.zeros((levels, levels))
    h = high - low
    r[0, 0] = 0.5 * h * (1 / (1 + low * low) + 1 / (1 + high * high))
    for i in range(1, levels):
        h *= 0.5
        x = low + h * np.arange(1, 2**i, 2)
        r[i, 0] = 0.5 * r[i - 1, 0] + h * (1 / (1 + x * x)).sum()
        for k in range(1, i + 1):
            r[i, k] = r[i, k - 1] + (r[i, k - 1] - r[i - 1, k - 1]) / (4**k - 1)
    return r


# Grids of grids.


def smooth(u, f, h, steps):
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[2:] + u[:-2] + h * h * f[1:-1])


def v_cycle(u, f, h):
    """Multigrid for -u'' = f: u (2**k + 1,) in place, by a recursion that halves the grid."""
    smooth(u, f, h, 3)
    if len(u) <= 3:
        return
    residual = np.zeros_like(u)
    residual[1:-1] = f[1:-1] + (u[2:] - 2 * u[1:-1] + u[:-2]) / (h * h)
    coarse = residual[::2].copy()
    coarse[1:-1] = 0.25 * (residual[1:-3:2] + 2 * residual[2:-2:2] + residual[3:-1:2])
    correction = np.zeros_like(coarse)
    v_cycle(correction, coarse, 2 * h)
    u[::2] += correction
    u[1::2] += 0.5 * (correction[1:] + correction[:-1])
    smooth(u, f, h, 3)


def pyramid_energy(image):
    """Halves image (n, m) until one side is one: the energies of the levels, added."""
    total = 0.0
    levels = 0
    while image.shape[0] > 1 and image.shape[1] > 1:
        n, m = image.shape[0] // 2 * 2, image.shape[1] // 2 * 2
        image = 0.25 * (image[:n:2, :m:2] + image[1:n:2, :m:2] + image[:n:2, 1:m:2]
                        + image[1:n:2, 1:m:2])
        total += (image * image).sum()
        levels += 1
    return image, total, levels


def alternating_directions(u, r, steps):
    """Heat (n, m) in place: implicit along each row, then along each column of it."""
    def solve_line(line):
        n = len(line)
        c = np.zeros(n)
        c[0] = -r / (1 + 2 * r)
        line[0] = line[0] / (1 + 2 * r)
        for i in range(1, n):
            m = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / m
            line[i] = (line[i] + r * line[i - 1]) / m
        for i in range(n - 2, -1, -1):
            line[i] -= c[i] * line[i + 1]

    for _ in range(steps):
        for i in range(u.shape[0]):
            solve_line(u[i])
        for j in range(u.shape[1]):
            solve_line(u[:, j])


def strassen(a, b):
    """The product of two (n, n), n a power of two, by seven smaller ones."""
    n = len(a)
    if n <= 2:
        return a @ b
    h = n // 2
    a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
    b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
    m1 = strassen(a11 + a22, b11 + b22)
    m2 = strassen(a21 + a22, b11)
    m3 = strassen(a11, b12 - b22)
    m4 = strassen(a22, b21 - b11)
    m5 = strassen(a11 + a12, b22)
    m6 = strassen(a21 - a11, b11 + b12)
    m7 = strassen(a12 - a22, b21 + b22)
    c = np.empty((n, n))
    c[:h, :h] = m1 + m4 - m5 + m7
    c[:h, h:] = m3 + m5
    c[h:, :h] = m2 + m4
    c[h:, h:] = m1 - m2 + m3 + m6
    return c


# Matrices and filters.


def jacobi_rotations(a, sweeps):
    """Eigenvalues (n,) of a symmetric a (n, n), which is turned in place to a diagonal."""
    n = a.shape[0]
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-12:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                sign = 1.0 if theta >= 0 else -1.0
                t = sign / (abs(theta) + math.sqrt(theta * theta + 1))
                c = 1 / math.sqrt(t * t + 1)
                s = t * c
                rows = c * a[p] - s * a[q]
                a[q] = s * a[p] + c * a[q]
                a[p] = rows
                columns = c * a[:, p] - s * a[:, q]
                a[:, q] = s * a[:, p] + c * a[:, q]
                a[:, p] = columns
    return np.diag(a)


def householder(a):
    """r (n, m) of a (n, m), by reflections."""
    r = a.copy()
    n, m = r.shape
    for k in range(min(n - 1, m)):
        x = r[k:, k].copy()
        x[0] += np.copysign(np.sqrt((x * x).sum()), x[0])
        x /= np.sqrt((x * x).sum())
        r[k:, k:] -= 2.0 * np.outer(x, x @ r[k:, k:])
    return r


def kalman(measured, dt, noise):
    """Position and speed (n, 2) behind measured positions (n,)."""
    f = np.array([[1.0, dt], [0.0, 1.0]])
    q = np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    h = np.array([1.0, 0.0])
    x = np.zeros(2)
    p = np.eye(2)
    out = np.empty((len(measured), 2))
    for t, z in enumerate(measured):
        x = f @ x
        p = f @ p @ f.T + q
        gain = p @ h / (h @ p @ h + noise)
        x = x + gain * (z - h @ x)
        p = (np.eye(2) - np.outer(gain, h)) @ p
        out[t] = x
    return out


def simplex_tableau(tableau, most):
    """Pivots a linear program's tableau (m + 1, n + m + 1) in place; gives the steps taken."""
    for step in range(most):
        column = tableau[-1, :-1].argmin()
        if tableau[-1, column] >= -1e-12:
            return step
        best = np.inf
        row = -1
        for i in range(tableau.shape[0] - 1):
            if tableau[i, column] > 1e-12:
                ratio = tableau[i, -1] / tableau[i, column]
                if ratio < best:
                    best, row = ratio, i
        if row < 0:
            raise ValueError("unbounded")
        tableau[row] /= tableau[row, column]
        for i in range(tableau.shape[0]):
            if i != row:
                tableau[i] -= tableau[i, column] * tableau[row]
    return most


def curvature(x, y):
    """Of a curve through x, y (n,)."""
    dx, dy = np.gradient(x), np.gradient(y)
    return (dx * np.gradient(dy) - dy * np.gradient(dx)) / (dx * dx + dy * dy) ** 1.5
