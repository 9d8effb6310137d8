"""More of images: what scans, fills, votes and follows paths."""

import numpy as np


def mandelbrot_of_ogrid(n, m, most):
    """The loop of NumPy's own tutorial: steps (n, m) until each point escapes."""
    y, x = np.ogrid[-1.4:1.4:n * 1j, -2:0.8:m * 1j]
    c = x + y * 1j
    z = c
    steps = most + np.zeros(z.shape, dtype=int)
    for i in range(most):
        z = z**2 + c
        diverges = z * np.conj(z) > 2**2
        now = diverges & (steps == most)
        steps[now] = i
        z[diverges] = 2
    return steps


def disc(n, radius):
    """A mask (n, n) and how far each pixel is from the middle."""
    y, x = np.mgrid[:n, :n]
    r2 = (x - n // 2) ** 2 + (y - n // 2) ** 2
    return r2 <= radius**2, np.sqrt(r2)


def flood_fill(image, row, column, colour):
    """Paints what is joined to a pixel of image (n, m), in place, with a stack; gives how many."""
    n, m = image.shape
    old = image[row, column]
    if old == colour:
        return 0
    stack = np.zeros((4 * n * m + 1, 2), dtype=np.int64)
    stack[0] = row, column
    top = 1
    painted = 0
    while top > 0:
        top -= 1
        i, j = stack[top]
        if i < 0 or i >= n or j < 0 or j >= m or image[i, j] != old:
            continue
        image[i, j] = colour
        painted += 1
        stack[top] = i + 1, j
        stack[top + 1] = i - 1, j
        stack[top + 2] = i, j + 1
        stack[top + 3] = i, j - 1
        top += 4
    return painted


def line_drawn(image, x0, y0, x1, y1, value):
    """Bresenham's, into image (n, m)."""
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx = 1 if x0 < x1 else -1
    sy = 1 if y0 < y1 else -1
    error = dx + dy
    while True:
        image[y0, x0] = value
        if x0 == x1 and y0 == y1:
            break
        twice = 2 * error
        if twice >= dy:
            error += dy
            x0 += sx
        if twice <= dx:
            error += dx
            y0 += sy


def hough(edges, angles):
    """Votes (2 d, angles) of a mask (n, m) for lines, and the winner."""
    n, m = edges.shape
    d = int(np.ceil(np.hypot(n, m)))
    votes = np.zeros((2 * d, angles), dtype=np.int32)
    theta = np.arange(angles) * np.pi / angles + 0.1
    cosines, sines = np.cos(theta), np.sin(theta)
    ys, xs = np.nonzero(edges)
    for k in range(len(xs)):
        for t in range(angles):
            rho = int(np.floor(xs[k] * cosines[t] + ys[k] * sines[t] + 0.5)) + d
            votes[rho, t] += 1
    return votes, votes.argmax()


def seam_removed(image):
    """Carves the seam of least energy out of image (n, m): (n, m - 1)."""
    n, m = image.shape
    energy = np.zeros((n, m))
    energy[:, 1:-1] = np.abs(image[:, 2:] - image[:, :-2])
    energy[:, 0] = energy[:, -1] = 1000.0
    cost = energy.copy()
    for i in range(1, n):
        left = np.full(m, np.inf)
        right = np.full(m, np.inf)
        left[1:] = cost[i - 1, :-1]
        right[:-1] = cost[i - 1, 1:]
        cost[i] += np.minimum(np.minimum(left, cost[i - 1]), right)
    out = np.empty((n, m - 1))
    j = cost[-1].argmin()
    for i in range(n - 1, -1, -1):
        out[i, :j] = image[i, :j]
        out[i, j:] = image[i, j + 1:]
        if i > 0:
            low = max(j - 1, 0)
            j = low + cost[i - 1, low:j + 2].argmin()
    return out


def bilateral(image, radius, space, tone):
    """Smooths image (n, m) within tones."""
    n, m = image.shape
    out = np.zeros_like(image)
    for i in range(n):
        for j in range(m):
            total = weight = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    y, x = i + di, j + dj
                    if 0 <= y < n and 0 <= x < m:
                        w = np.exp(-(di * di + dj * dj) / space
                                   - (image[y, x] - image[i, j]) ** 2 / tone)
                        total += w * image[y, x]
                        weight += w
            out[i, j] = total / weight
    return out


def anisotropic(image, kappa, steps):
    """Perona and Malik's diffusion, image (n, m) in place."""
    for _ in range(steps):
        north = image[:-2, 1:-1] - image[1:-1, 1:-1]
        south = image[2:, 1:-1] - image[1:-1, 1:-1]
        east = image[1:-1, 2:] - image[1:-1, 1:-1]
        west = image[1:-1, :-2] - image[1:-1, 1:-1]
        flow = np.zeros_like(north)
        for d in (north, south, east, west):
            flow += d / (1 + (d / kappa) ** 2)
        image[1:-1, 1:-1] += 0.2 * flow
    return image


def block_cosines(image):
    """The DCT of each 8 by 8 block of image (8 n, 8 m), quantised to ints, and back."""
    k = np.arange(8)
    basis = np.cos((2 * k[None, :] + 1) * k[:, None] * np.pi / 16) / 2
    basis[0] /= np.sqrt(2)
    coefficients = np.zeros(image.shape, dtype=np.int32)
    back = np.empty_like(image)
    for i in range(0, image.shape[0], 8):
        for j in range(0, image.shape[1], 8):
            block = basis @ image[i:i + 8, j:j + 8] @ basis.T
            coefficients[i:i + 8, j:j + 8] = np.rint(block / 16).astype(np.int32)
            back[i:i + 8, j:j + 8] = basis.T @ (coefficients[i:i + 8, j:j + 8] * 16.0) @ basis
    return coefficients, back


def distance_transform(mask):
    """City-block distances (n, m) to the nearest set pixel, in two sweeps."""
    n, m = mask.shape
    d = np.where(mask, 0, n + m)
    for i in range(n):
        for j in range(m):
            if i > 0:
                d[i, j] = min(d[i, j], d[i - 1, j] + 1)
            if j > 0:
                d[i, j] = min(d[i, j], d[i, j - 1] + 1)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            if i < n - 1:
                d[i, j] = min(d[i, j], d[i + 1, j] + 1)
            if j < m - 1:
                d[i, j] = min(d[i, j], d[i, j + 1] + 1)
    return d


def non_maxima_suppressed(response, least):
    """Zeroes what is not largest among its eight neighbours: copies of (n, m), and the places."""
    out = response.copy()
    for i in range(1, response.shape[0] - 1):
        for j in range(1, response.shape[1] - 1):
            patch = response[i - 1:i + 2, j - 1:j + 2]
            if response[i, j] < patch.max() or response[i, j] < least:
                out[i, j] = 0
    out[0] = out[-1] = 0
    out[:, 0] = out[:, -1] = 0
    return out, np.nonzero(out)


def matched(image, template):
    """Where a template (p, q) fits image (n, m) best: squared differences and the place."""
    p, q = template.shape
    scores = np.array([[((image[i:i + p, j:j + q] - template) ** 2).sum()
                        for j in range(image.shape[1] - q + 1)]
                       for i in range(image.shape[0] - p + 1)])
    k = np.argmin(scores)
    return scores, k // scores.shape[1], k % scores.shape[1]


def spectrum_of_plane(image):
    """A Fourier transform (n, n) of rows, then of columns, each by its own loop in place."""
    n = image.shape[0]
    z = image.astype(np.complex128)
    w = np.exp(-2j * np.pi * np.arange(n) / n)
    for line in z:
        line[:] = np.array([(line * w[(k * np.arange(n)) % n]).sum() for k in range(n)])
    for line in z.T:
        line[:] = np.array([(line * w[(k * np.arange(n)) % n]).sum() for k in range(n)])
    return z
