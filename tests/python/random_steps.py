"""Random time loops whose steps make arrays of those of the last step: one kind of fuzz.py.

A program is one loop: of one array or two that take turns, of vectors, matrices or boxes, that
keep their size, shrink or are stored to in place, with ways out and what is summed beside.
"""

import random

import numpy as np
from layouts import lay_out

HEAD = "def f(x, y, A, B, T, w, c, n, m, k):\n"
SIZES = ((5, 2), (40, 8), (33, 17), (12, 0), (100, 9), (1, 3))  # n and m, the steps.
LAYOUTS = ("C", "C", "Fortran", "reversed", "strided", "unaligned", "aliased")
FLOATS = ("float64", "float64", "float32")
# What a step reads of the last one's array, `{v}`, and of another, `{o}`.
VECTORS = """\
{v}
{v}
{o}
np.roll({v}, 1)
np.roll({v}, -2)
np.roll({v}, t)
{v}[::-1]
{v}[k % n]
{v}[t % n]
t * 0.25
np.abs({v})
np.maximum({v}, {o})
np.minimum({v}, {o}[::-1])
np.where({v} > 0.25, {v}, {o})
w[t % 5] * {v}
{v}.mean()
{v}.max()
np.cumsum({v}) * 0.125
np.concatenate(({v}[1:], {v}[:1]))
np.concatenate(({v}[:1], {v}[:-1]))
np.pad({v}, 1)[2:]
np.pad({v}, 1, mode='edge')[:-2]
{v}[c]
np.clip({v}, -2, 2)
np.floor({v})
A[t % n]
A[:, t % n] * 0.5
A @ {v} * 0.03125""".split("\n")
MATRICES = """\
{v}
{v}
{o}
np.roll({v}, 1, axis=0)
np.roll({v}, -1, axis=1)
{v}[::-1]
{v}[:, ::-1]
{v}.T
{v}[t % n][None, :]
{v}[:, t % n][:, None]
np.minimum({v}, {o})
0.25
w[t % 5] * {v}
np.where({v} > {o}, {v}, 0.5)
{v}.mean(axis=0)
{v}.max(axis=1)[:, None]
{v}.sum(axis=0, keepdims=True) * 0.125
x[:, None]
y
np.outer(x, y) * 0.25
np.abs({v})
np.pad({v}, 1)[2:, 1:-1]
np.pad({v}, 1, mode='edge')[1:-1, :-2]
np.pad({v}, 1, mode='wrap')[:-2, 2:]
np.cumsum({v}, axis=1) * 0.125
np.tril({v})
{v}[c]
{v}[:, c]""".split("\n")
BOXES = """\
{v}
{v}
{o}
np.roll({v}, 1, axis=0)
np.roll({v}, -1, axis=2)
np.roll({v}, 1, axis=1)
{v}[::-1]
{v}[:, :, ::-1]
{v}.mean(axis=0)
{v}[0]
{v}.max(axis=2)[:, :, None]
w[t % 5] * {v}
np.maximum({v}, {o})
np.swapaxes({v}, 1, 2)
0.25""".split("\n")
SHORTER = ("0.5 * (u[1:] + u[:-1])", "u[2:] * 0.5 - u[:-2] + 0.125 * u[1:-1]",
           "np.maximum(u[1:], u[:-1]) * w[t % 5]", "u[1:] - u[0]", "u[:-1] + u[-1] * 0.125",
           "np.diff(u) * 0.5", "u[:len(u) // 2] + u[-(len(u) // 2):] if len(u) > 1 else u[:]",
           "u[::2]", "u[u > -2.0]")
WHOLE = ("u + np.roll(u, 1)", "u * 3 - u[::-1]", "u ^ np.roll(u, -1)",
         "np.maximum(u, np.roll(u, 2)) + t", "u[c] + 1", "np.cumsum(u)", "u // 2 + c",
         "np.where(u % 2 == 0, u // 2, 3 * u + 1)")
IN_PLACE = {
    "vector": ("u[1:-1] = {0}[1:-1]", "u[1:] = {0}[:-1]", "u[:] = {0}", "u += {0}", "u *= 0.5",
               "u[c] = {0}", "u[t % n] = {0}[0]", "u[::2] -= {0}[::2]", "u[0] = u[-1]",
               "u[-1], u[0] = u[0], 1.5", "u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])",
               "v = {0}", "s += {0}.sum()", "s = {0}.max()", "u[u > 1] = 0.5"),
    "matrix": ("u[1:-1, 1:-1] = {0}[1:-1, 1:-1]", "u[:, 1:] = {0}[:, :-1]", "u[:] = {0}",
               "u += {0}", "u[0] = {0}[-1]", "u[:, 0] = u[:, -1]", "u[t % n] *= 0.5",
               "u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])",
               "v = {0}", "s += {0}.sum()", "s = np.abs({0} - u).max()", "u[u < -1] += 1",
               "u[c] = {0}"),
    "box": ("u[1:-1] = {0}[1:-1]", "u[:, 0] = {0}[:, -1]", "u += {0}",
            "u[:, :, 1:] -= {0}[:, :, :-1]", "v = {0}", "s += {0}.sum()"),
}
TERMS = {"vector": VECTORS, "matrix": MATRICES, "box": BOXES}
BEGIN = {"vector": ("x", "y"), "matrix": ("A", "B"), "box": ("T", "T[::-1]")}


def cases(seed: int) -> list[int]:
    """Three sizes of one layout and dtype."""
    chance = random.Random(seed)
    flavour = chance.randrange(len(LAYOUTS) * len(FLOATS))
    return [flavour * len(SIZES) + size for size in chance.sample(range(len(SIZES)), 3)]


def make_arguments(which: int) -> tuple:
    n, steps = SIZES[which % len(SIZES)]
    flavour = which // len(SIZES)
    layout, floats = LAYOUTS[flavour % len(LAYOUTS)], FLOATS[flavour // len(LAYOUTS)]
    chance = np.random.default_rng(which)
    shapes = ((n,), (n,), (n, n), (n, n), (min(n, 6), n, n) if n < 100 else (2, 3, n))
    arrays = [(chance.integers(-8, 9, shape) / 4.0).astype(floats) for shape in shapes]
    if layout == "aliased":
        arrays[0] = arrays[2][0]
        arrays[3] = arrays[2][:, ::-1]
    elif layout != "C":
        arrays = [lay_out(array, layout) for array in arrays]
    weights = (chance.integers(0, 5, 5) / 4.0).astype(floats)
    return (*arrays, weights, chance.permutation(n), n, steps, 4)


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.rank = self.random.choice(("vector", "vector", "matrix", "matrix", "box"))

    def expression(self, v: str, o: str, depth: int = 0) -> str:
        """Sums of terms, that stay about as large as the terms."""
        if depth == 2 or depth and self.random.random() < 0.35:
            return self.random.choice(TERMS[self.rank]).format(v=v, o=o)
        operator = self.random.choice(("+", "-", "* 0.5 +", "* 0.25 -"))
        return (f"({self.expression(v, o, depth + 1)} {operator} "
                f"{self.expression(v, o, depth + 1)})")

    def step(self, v: str, o: str) -> str:
        """What is as large as `v`, of whatever rank the terms are."""
        return f"0.25 * ({v} {self.random.choice('+-')} {self.expression(v, o)})"

    def head(self) -> str:
        return self.random.choice(("for t in range(m):", "for t in range(m):",
                                   "for t in range(1, m):", "for t in range(m, 0, -1):",
                                   "for t in range(0, m, 2):", "for t in range(3):",
                                   "for t in range(9):", "t = 0\n    while t < m:"))

    def leave(self) -> list[str]:
        return self.random.choice(([], [], [], ["if t == k:", "    break"],
                                   ["if t % 3 == 1:", "    continue"],
                                   ["if u.sum() > 8:", "    break"],
                                   ["if np.abs(u).max() < 0.125:", "    break"]))

    def loop(self, before: list[str], body: list[str], after: str) -> list[str]:
        head = self.head()
        leave = self.leave()
        if "while" in head:
            body = [*body, "t += 1"]
            leave = [] if "    continue" in leave else leave
        if self.random.random() < 0.5:
            body = [*leave, *body]
        else:
            body = [*body, *leave]
        return [*before, head, *(f"    {line}" for line in body), after]

    def one(self) -> list[str]:
        first, second = BEGIN[self.rank]
        beside = self.random.choice(([], [], ["s += u.sum()"], ["s = max(s, float(u.max()))"],
                                     ["s += u[0].sum() * t"], ["z[t % 10] = u.mean()"]))
        return self.loop([f"u = {first}", f"o = {second}", "s = 0.0", "z = np.zeros(10)"],
                         [f"u = {self.step('u', 'o')}", *beside], "return (u, float(s), z,)")

    def two(self) -> list[str]:
        first, second = BEGIN[self.rank]
        body = self.random.choice((
            [f"u, v = v, {self.step('u', 'v')}"],
            [f"u, v = {self.step('v', 'u')}, {self.step('u', 'v')}"],
            [f"z = {self.step('u', 'v')}", "u = v", "v = z"],
            [f"u = {self.step('u', 'v')}", f"v = {self.step('v', 'u')}"]))
        before = self.random.choice(([f"u, v = {first}, {second}"],
                                     [f"u = {first}", f"v = {first}"],
                                     [f"u = {first}", f"v = np.zeros_like({first})"]))
        after = self.random.choice(("return (u, v,)", "u[0] = 5.0\n    return (u, v,)",
                                    "return (u + v,)", "return (v,)"))
        return self.loop(before, body, after)

    def in_place(self) -> list[str]:
        first, second = BEGIN[self.rank]
        body = [self.random.choice(IN_PLACE[self.rank]).format(self.step("u", "v"))
                for _ in range(self.random.randint(1, 3))]
        before = self.random.choice(([f"u, v = {first}, {second}"],
                                     [f"u = {first}.copy()", f"v = {second}"],
                                     [f"u = {first}.copy()", f"v = {second} + 0.0"],
                                     [f"u = np.zeros_like({first})", f"v = {first}"]))
        if self.random.random() < 0.3:
            body.append("u, v = v, u")
        if self.random.random() < 0.2:
            body.insert(0, "v = u.copy()")
        return self.loop([*before, "s = 0.0"], body, "return (u, v, float(s),)")

    def shorter(self) -> list[str]:
        return self.loop(["u = x"], [f"u = {self.random.choice(SHORTER)}"], "return (u,)")

    def whole(self) -> list[str]:
        dtype = self.random.choice(("int64", "int32", "uint8", "int8", "uint64"))
        small = self.random.choice(("", f" % {self.random.choice((7, 100))}"))
        step = f"u = (({self.random.choice(WHOLE)}){small}).astype(np.{dtype})"
        return self.loop([f"u = np.abs(x * 8).astype(np.{dtype})"], [step], "return (u,)")

    def state(self) -> list[str]:
        """Scalars and short tuples that go from step to step."""
        body = self.random.choice((
            ["p, q = q, p + 0.25 * q"], ["p = p * 0.5 + x[t % n]", "u[t % n] = p"],
            ["q = max(p, q)", "p = x[t % n] - q"], ["if x[t % n] > p:", "    p = x[t % n]",
                                                    "    q = float(t)"],
            ["p += y[t % n]", "if p > 2:", "    p -= 2", "    q += 1.0"],
            ["e = np.array([p, q]) * 0.5", "p = e[0] + e[1]", "q = e[0] - e[1]"],
            ["u[t % n] = u[t % n - 1] * 0.5 + y[t % n]", "q = u[t % n]"]))
        return self.loop(["u = x.copy()", "p = 0.0", "q = 1.0"], body,
                         "return (u, float(p), float(q),)")

    def program(self) -> str:
        kind = self.random.choice((self.one, self.one, self.two, self.two, self.in_place,
                                   self.in_place, self.shorter, self.whole, self.state))
        return HEAD + "".join(f"    {line}\n" for line in kind())


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
