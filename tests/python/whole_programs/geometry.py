"""Points, polygons and rays."""

import numpy as np


def polygon_area(x, y):
    """The shoelace formula for corners (n,)."""
    return 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def inside_polygon(px, py, vx, vy):
    """Which points (n,) lie in a polygon of corners (m,)."""
    inside = np.zeros(px.shape, dtype=bool)
    j = len(vx) - 1
    for i in range(len(vx)):
        crosses = (vy[i] > py) != (vy[j] > py)
        where = (vx[j] - vx[i]) * (py - vy[i]) / (vy[j] - vy[i]) + vx[i]
        inside ^= crosses & (px < where)
        j = i
    return inside


def closest_pair(points):
    """Indices of the two nearest of (n, d) and their squared distance."""
    best = np.inf
    first = second = -1
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            d = ((points[i] - points[j]) ** 2).sum()
            if d < best:
                best, first, second = d, i, j
    return first, second, best


def hull(x, y):
    """Jarvis's march: the corners of the convex hull of points (n,), as indices."""
    n = len(x)
    corners = np.zeros(n, dtype=np.int64)
    count = 0
    start = np.argmin(x)
    here = start
    while True:
        corners[count] = here
        count += 1
        following = 0
        for k in range(n):
            turn = ((x[following] - x[here]) * (y[k] - y[here])
                    - (y[following] - y[here]) * (x[k] - x[here]))
            if following == here or turn < 0:
                following = k
        here = following
        if here == start:
            return corners[:count]


def sphere_shades(origins, directions, centre, radius):
    """Rays (n, 3) against a sphere: brightness (n,), 0 where a ray misses."""
    oc = origins - centre
    b = (oc * directions).sum(axis=-1)
    disc = b * b - ((oc * oc).sum(axis=-1) - radius * radius)
    t = np.where(disc > 0, -b - np.sqrt(np.maximum(disc, 0)), np.inf)
    t = np.where(t > 0, t, np.inf)
    hit = np.isfinite(t)
    points = origins + np.where(hit, t, 0.0)[:, None] * directions
    normals = (points - centre) / radius
    shade = np.clip(normals @ np.array([0.0, 0.6, -0.8]), 0, 1)
    shade[~hit] = 0
    return shade


def rotations(angles):
    """Matrices (n, 3, 3) from Euler's angles (n, 3)."""
    c, s = np.cos(angles), np.sin(angles)
    out = np.empty((len(angles), 3, 3))
    for k in range(len(angles)):
        rx = np.array([[1, 0, 0], [0, c[k, 0], -s[k, 0]], [0, s[k, 0], c[k, 0]]])
        ry = np.array([[c[k, 1], 0, s[k, 1]], [0, 1, 0], [-s[k, 1], 0, c[k, 1]]])
        rz = np.array([[c[k, 2], -s[k, 2], 0], [s[k, 2], c[k, 2], 0], [0, 0, 1]])
        out[k] = rz @ ry @ rx
    return out


def mesh_area(corners, triangles):
    """The area of triangles (t, 3) of indices into corners (n, 3)."""
    a, b, c = corners[triangles[:, 0]], corners[triangles[:, 1]], corners[triangles[:, 2]]
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
