"""Pictures: fractals, filters, segments, windows, and pixels that move."""

import numpy as np

# Fractals.


def escape(z, c, most):
    n = 0
    while n < most and abs(z) <= 2.0:
        z = z * z + c
        n += 1
    return n


def mandelbrot(width, height, most):
    """Steps (height, width) until each point of the plane escapes, one point after another."""
    image = np.zeros((height, width), dtype=np.int32)
    for row in range(height):
        for column in range(width):
            c = complex(-2.0 + 3.0 * column / width, -1.0 + 2.0 * row / height)
            image[row, column] = escape(0j, c, most)
    return image


def mandelbrot_of_arrays(c, most):
    """The same of all points c (n, m) at once, by masks."""
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, dtype=int)
    for _ in range(most):
        inside = np.abs(z) <= 2.0
        z[inside] = z[inside] ** 2 + c[inside]
        steps[inside] += 1
    return steps


def mandelbrot_of_reals(x, y, most):
    """In real numbers: x (m,) by y (n,) gives (n, m)."""
    out = np.empty((len(y), len(x)), dtype=np.uint8)
    for i, cy in enumerate(y):
        for j, cx in enumerate(x):
            zx = zy = 0.0
            out[i, j] = most
            for n in range(most):
                zx, zy = zx * zx - zy * zy + cx, 2 * zx * zy + cy
                if zx * zx + zy * zy > 4.0:
                    out[i, j] = n
                    break
    return out


def julia(z, c, most):
    """z (n, m) is moved in place; gives smooth colours (n, m) in [0, 1]."""
    colour = np.ones(z.shape)
    for n in range(most):
        z *= z
        z += c
        gone = (np.abs(z) > 2.0) & (colour == 1.0)
        colour[gone] = n / most
        z[np.abs(z) > 2.0] = 2.5
    return colour


# Filters.

SOBEL = np.array([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])


def filtered(image, weights):
    """The valid part of a correlation."""
    n = image.shape[0] - weights.shape[0] + 1
    m = image.shape[1] - weights.shape[1] + 1
    out = np.zeros((n, m))
    for p in range(weights.shape[0]):
        for q in range(weights.shape[1]):
            out += weights[p, q] * image[p:p + n, q:q + m]
    return out


def sobel(image):
    """Gradient magnitudes (n - 2, m - 2) of (n, m), scaled to 255, as bytes."""
    gx = filtered(image, SOBEL)
    gy = filtered(image, SOBEL.T)
    magnitude = np.sqrt(gx**2 + gy**2)
    magnitude *= 255.0 / magnitude.max()
    return magnitude.astype(np.uint8)


def box_sum(image):
    """Sums of 3 by 3, (n - 2, m - 2)."""
    rows = image[:-2] + image[1:-1] + image[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def harris(image, k):
    """Corner responses (n - 4, m - 4), and how many pixels are corners."""
    ix = (image[1:-1, 2:] - image[1:-1, :-2]) / 2
    iy = (image[2:, 1:-1] - image[:-2, 1:-1]) / 2
    sxx, syy, sxy = box_sum(ix * ix), box_sum(iy * iy), box_sum(ix * iy)
    response = sxx * syy - sxy * sxy - k * (sxx + syy) ** 2
    return response, np.count_nonzero(response > 0.01 * response.max())


def gaussian_weights(radius, sigma):
    x = np.arange(-radius, radius + 1)
    w = np.exp(-(x**2) / (2 * sigma**2))
    return w / w.sum()


def blur(image, radius, sigma):
    """A separable Gaussian, edges repeated: (n, m) from (n, m)."""
    w = gaussian_weights(radius, sigma)
    n, m = image.shape
    across = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(-radius, radius + 1):
                across[i, j] += w[k + radius] * image[i, min(max(j + k, 0), m - 1)]
    down = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(-radius, radius + 1):
                down[i, j] += w[k + radius] * across[min(max(i + k, 0), n - 1), j]
    return down


def dithered(image):
    """Floyd and Steinberg's, of a copy of (n, m): bytes 0 and 255."""
    work = image.astype(np.float64)
    n, m = work.shape
    for y in range(n):
        for x in range(m):
            old = work[y, x]
            new = 255.0 if old > 127.0 else 0.0
            work[y, x] = new
            error = old - new
            if x + 1 < m:
                work[y, x + 1] += error * 7 / 16
            if y + 1 < n:
                if x > 0:
                    work[y + 1, x - 1] += error * 3 / 16
                work[y + 1, x] += error * 5 / 16
                if x + 1 < m:
                    work[y + 1, x + 1] += error * 1 / 16
    return work.astype(np.uint8)


# Windows.


def dilated(image, size):
    """The largest in a window around each pixel, which the edges cut: (n, m) from (n, m)."""
    n, m = image.shape
    half = size // 2
    out = np.empty_like(image)
    for i in range(n):
        for j in range(m):
            out[i, j] = image[max(i - half, 0):i + half + 1, max(j - half, 0):j + half + 1].max()
    return out


def eroded(image, size):
    n, m = image.shape
    half = size // 2
    return np.array([[np.min(image[max(i - half, 0):min(i + half + 1, n),
                                   max(j - half, 0):min(j + half + 1, m)])
                      for j in range(m)] for i in range(n)])


def opened_and_closed(image, size):
    """Morphology: opening and closing of (n, m), and the gradient between them."""
    opening = dilated(eroded(image, size), size)
    closing = eroded(dilated(image, size), size)
    return opening, closing, closing - opening


def median_filtered(image):
    """The middle of 3 by 3; edges are kept."""
    out = image.copy()
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            out[i, j] = np.sort(image[i - 1:i + 2, j - 1:j + 2].ravel())[4]
    return out


def grow_cut(image, labels, strength, most):
    """Segments image (n, m) from seeds: labels (ints) and strength (n, m) in place; the rounds."""
    n, m = image.shape
    span = image.max() - image.min()
    for t in range(most):
        changed = 0
        new_labels = labels.copy()
        new_strength = strength.copy()
        for i in range(n):
            for j in range(m):
                for ni in range(max(i - 1, 0), min(i + 2, n)):
                    for nj in range(max(j - 1, 0), min(j + 2, m)):
                        attack = (1.0 - abs(image[i, j] - image[ni, nj]) / span) * strength[ni, nj]
                        if attack > new_strength[i, j]:
                            new_strength[i, j] = attack
                            new_labels[i, j] = labels[ni, nj]
                            changed += 1
        labels[:] = new_labels
        strength[:] = new_strength
        if changed == 0:
            return t
    return most


def components(mask):
    """Labels (n, m) of what hangs together in a mask (n, m): the least index in each part."""
    n, m = mask.shape
    labels = np.where(mask, np.arange(n * m).reshape(n, m), -1)
    changed = True
    while changed:
        changed = False
        for i in range(n):
            for j in range(m):
                if not mask[i, j]:
                    continue
                least = labels[i, j]
                if i > 0 and mask[i - 1, j]:
                    least = min(least, labels[i - 1, j])
                if i < n - 1 and mask[i + 1, j]:
                    least = min(least, labels[i + 1, j])
                if j > 0 and mask[i, j - 1]:
                    least = min(least, labels[i, j - 1])
                if j < m - 1 and mask[i, j + 1]:
                    least = min(least, labels[i, j + 1])
                if least < labels[i, j]:
                    labels[i, j] = least
                    changed = True
    return labels


# Histograms.


def equalised(image):
    """Bytes (n, m) of a flat histogram."""
    counts = np.zeros(256, dtype=np.int64)
    for value in image.ravel():
        counts[value] += 1
    below = np.cumsum(counts)
    first = below[below > 0][0]
    table = np.round((below - first) / (image.size - first) * 255)
    return table.astype(np.uint8)[image]


def otsu(image):
    """The threshold between dark and bright of bytes (n, m)."""
    counts = np.bincount(image.ravel(), minlength=256)
    total = image.size
    best, threshold = 0.0, 0
    total_sum = np.dot(np.arange(256), counts)
    below, below_sum = 0, 0
    for t in range(256):
        below += counts[t]
        if below == 0 or below == total:
            continue
        below_sum += t * counts[t]
        mean_below = below_sum / below
        mean_above = (total_sum - below_sum) / (total - below)
        between = below * (total - below) * (mean_below - mean_above) ** 2
        if between > best:
            best, threshold = between, t
    return threshold


def azimuthal(image, cx, cy, bins):
    """The mean of image (n, m) in rings around a centre, by boolean masks: (bins,)."""
    n, m = image.shape
    y = np.arange(n).reshape(-1, 1)
    x = np.arange(m).reshape(1, -1)
    r = np.sqrt((x - cx) ** 2 + (y - cy) ** 2)
    edges = np.linspace(0, r.max() + 1e-9, bins + 1)
    profile = np.zeros(bins)
    for k in range(bins):
        ring = (r >= edges[k]) & (r < edges[k + 1])
        if ring.any():
            profile[k] = image[ring].mean()
    return profile


# Pixels that move.


def rotated(image, angle, fill):
    """(n, m) turned about its middle; the nearest pixel is gathered."""
    n, m = image.shape
    c, s = np.cos(angle), np.sin(angle)
    y, x = np.meshgrid(np.arange(n) - (n - 1) / 2, np.arange(m) - (m - 1) / 2, indexing="ij")
    sy = np.rint(c * y - s * x + (n - 1) / 2).astype(int)
    sx = np.rint(s * y + c * x + (m - 1) / 2).astype(int)
    inside = (sy >= 0) & (sy < n) & (sx >= 0) & (sx < m)
    out = np.full((n, m), fill)
    out[inside] = image[sy[inside], sx[inside]]
    return out


def resized(image, height, width):
    """Bilinear: (height, width, 3) from (n, m, 3)."""
    n, m = image.shape[:2]
    y = np.linspace(0, n - 1, height)
    x = np.linspace(0, m - 1, width)
    y0 = np.minimum(np.floor(y).astype(int), n - 2)
    x0 = np.minimum(np.floor(x).astype(int), m - 2)
    dy = (y - y0)[:, None, None]
    dx = (x - x0)[None, :, None]
    top = image[y0][:, x0] * (1 - dx) + image[y0][:, x0 + 1] * dx
    bottom = image[y0 + 1][:, x0] * (1 - dx) + image[y0 + 1][:, x0 + 1] * dx
    return top * (1 - dy) + bottom * dy


def grey(image):
    """Bytes (n, m) from colours (n, m, 3) of bytes."""
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    return (0.299 * r + 0.587 * g + 0.114 * b).astype(np.uint8)


def toned(image, inputs, outputs):
    """A curve of tones through points (k,), on an image (n, m)."""
    return np.interp(image, inputs, outputs)
