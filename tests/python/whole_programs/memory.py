"""Two names for one array: what is stored through one shows through the other, as NumPy has it."""

import numpy as np


def exchanged_views(a):
    """The well-known trap: both rows of a (n, m) end as the second, since rows are views."""
    a[0], a[1] = a[1], a[0]


def exchanged_rows(a, i, j):
    a[i], a[j] = a[j].copy(), a[i].copy()


def exchanged_by_index(a, i, j):
    a[[i, j]] = a[[j, i]]


def exchanged_halves(x):
    """Of x (2 n,): the second store reads what the first has left."""
    n = len(x) // 2
    x[:n], x[n:] = x[n:], x[:n]


def normalised_rows(a):
    """Each row of a (n, m) is a view; the augmented assignments store into a."""
    for row in a:
        row -= row.mean()
        row /= np.abs(row).max() + 1


def columns_by_transpose(a):
    for k, column in enumerate(a.T):
        column *= k + 1
        column[::2] = column[::2][::-1]
    return a.T


def overlapping_stores(x):
    """Every store reads the array (n,) that it writes, at other places."""
    x[1:] += x[:-1]
    x[:-1] -= x[1:]
    x[::2] = x[1::2]
    x[2:-2] = x[4:] + x[:-4]
    x[:] = x[::-1] + x
    x[1:] *= x[0]
    x[:3] = x[-3:]


def overlapping_planes(u, steps):
    """Rows from rows, columns from columns, all from the transpose: u (n, n) in place."""
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        u[:, 1:-1] = 0.5 * (u[:, :-2] + u[:, 2:])
        u[:] = u.T - u
        u[1:, 1:] = u[:-1, :-1]
    return u


def views_of_each_other(u):
    """Gives u (n,) and a view of it that two others have changed."""
    v = u[1:]
    w = u[:-1]
    v += w
    w *= v
    v[...] = np.where(w > 0, w, -v)
    return u, v


def chosen_view(x, even):
    """One of two views of x (n,), which the caller sees changed."""
    y = x[::2] if even else x[1::2]
    y += 1
    return y


def buffers_in_turn(a, b, steps):
    """a, b (n,) are arguments: both are changed, and the one that is newest is given."""
    for _ in range(steps):
        b[1:-1] = (a[2:] + a[:-2]) / 2
        a, b = b, a
    return a


def buffers_sometimes(a, b, steps):
    """Which of the two is stored to depends on the step."""
    for t in range(steps):
        if t % 3 == 0:
            a, b = b, a
        b[1:] = a[:-1] + t
    return a - b


def repeated_places(x, places, w):
    """places (m,) repeat: a sum counts once, and the last of the stores stays."""
    x[places] += w
    x[places[::-1]] = w


def masked_stores(x):
    x[x < 0] *= -1
    x[x > x.mean()] = 0.5
    return x[x != 0.5]


def window_of_window(a):
    """Views of views of a (n, m)."""
    inner = a[1:-1, 1:-1]
    corner = inner[::2, ::-2]
    corner -= inner[0, 0]
    inner.T[0] = 7
    return corner


def added_into(x, y):
    """x (n,) takes y (n,), which may lie in the same memory, and y takes what x has become."""
    for i in range(1, len(x)):
        x[i] = x[i] + y[i - 1]
    y *= 2
    x -= y
