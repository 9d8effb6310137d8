"""A program of any length: plain lines as a user writes them, none of them a repetition."""

from itertools import count, cycle

# Each block reads and changes the arrays x and y, of n elements, and the scalar s. `{k}` is the
# block's number, so that no two are alike.
BLOCKS = (
    """
    a{k} = np.sqrt(x * x + {k}.5) - y / {k}
    s += a{k}.mean() + np.std(a{k})
    """,
    """
    for i in range(1, n - 1):
        x[i] = (y[i - 1] + y[i] + y[i + 1]) / 3.0 + 1 / {k}
        if x[i] > {k}:
            x[i] -= {k}
    """,
    """
    d{k} = x[1:] - y[:-1]
    y[1:] += 0.5 * d{k}
    y[::2] = np.clip(y[::2], -{k}, {k})
    y[0] = y[-1] / 2
    """,
    """
    step{k} = 1.0
    while step{k} > 1e-3 and s < 1e6:
        s += step{k} * np.abs(x).max() / {k}
        step{k} /= 4
    """,
    """
    if s > {k}:
        x = np.where(x > y, x, y + {k})
    elif s < -{k}:
        x = np.maximum(x, y)
    else:
        s = s + {k}
    """,
    """
    c{k} = np.array([x[i] * i - y[n - 1 - i] for i in range(n)])
    s += np.cumsum(c{k})[-1] / n
    """,
    """
    m{k} = np.outer(x, y) + {k}
    x = np.tanh(m{k}.sum(axis=0) / n)
    y = y + np.tanh(m{k}.T @ x / {k}) / n
    """,
    """
    best{k} = 0
    for i in range(n):
        for j in range(i):
            if x[i] * y[j] > x[best{k}] * {k}:
                best{k} = i
    s += best{k} + np.linspace(0, 1, n)[best{k}]
    """,
)


def source_of(lines: int) -> str:
    """The text of `long_program(x, y)`, which has as many lines."""
    text = ["def long_program(x, y):", "    x, y = x.copy(), y.copy()", "    n = len(x)",
            "    s = 0.0"]
    for k, block in zip(count(1), cycle(BLOCKS)):
        body = block.format(k=k).strip("\n").rstrip().split("\n")
        if len(text) + len(body) >= lines:
            break
        text += body
    text += [f"    s += {k}" for k in range(lines - len(text) - 1)]
    return "\n".join([*text, "    return s, x, y"]) + "\n"


# Library calls of x, y and A, all float64, that give a number, and that give an array like x.
NUMBERS = (
    "np.mean(x)", "np.std(y)", "np.linalg.norm(y)", "np.max(x)", "np.median(y)", "np.mean(A[0])",
    "np.std(A)", "np.dot(x, y)", "np.var(x)", "np.argmax(y)",
)  # fmt: skip
ARRAYS = (
    "np.clip(x, -{k}, {k})", "np.where(x > y, x, y + {k})", "np.roll(x, {k} % 5)", "np.cumsum(y)",
    "np.maximum(x, y)", "np.flip(y)", "np.tanh(x / {k})", "np.linspace(0, {k}, n)",
    "np.mean(A, axis=0)", "np.sort(x)",
)  # fmt: skip


def calls_of(lines: int) -> str:
    """The text of `long_program(x, y, A)`, which has as many lines: four library calls on each,
    which read what earlier lines made."""
    text = ["def long_program(x, y, A):", "    n = len(x)", "    s = 0.0"]
    for k in range(1, lines - 3):
        a, b = NUMBERS[k % 10], NUMBERS[(k * 7 + 3) % 10]
        c, d = ARRAYS[k % 10].format(k=k), ARRAYS[(k * 3 + 1) % 10].format(k=k)
        if k % 2:
            text.append(f"    s += {a} + {b} + np.sum({c}) - ({d})[{k % 3}]")
        elif k % 4 == 0:
            text.append(f"    x = ({c} + {d}) / (1 + {a} + {b})")
        else:
            text.append(f"    y = ({c}) * 0.5 + ({d}) / (2.0 + np.abs({a} - {b}))")
    return "\n".join([*text, "    return s, x, y"]) + "\n"
