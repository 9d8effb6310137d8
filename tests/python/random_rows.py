"""Random programs of rows and planes that are few and long, or many, or short: one kind of fuzz.py.

One function takes arrays of one shape after another, of which the first comes once more: what was
compiled since, for few long rows or for another layout, changes no bit of what it gives.
"""

import random

import numpy as np
from layouts import lay_out

# Of x and y; z has the last axis of them, w all but that.
SHAPES = ((3, 66_000), (40, 30), (1, 70_001), (5, 65_537), (7, 20_000), (300, 300), (2, 65_536),
          (70_000, 2), (0, 9), (3, 0), (1, 1), (33, 257), (6, 66_000), (70_000, 1), (64, 8))
PLANES = ((2, 300, 300), (40, 5, 6), (3, 1, 70_000), (1, 400, 200), (5, 260, 256), (2, 3, 4),
          (70, 33, 17), (3, 0, 5), (200, 300, 2), (1, 1, 66_000))
FLAVOURS = (("float64", "C"), ("float64", "C"), ("float32", "C"), ("float64", "Fortran"),
            ("float64", "reversed"), ("float64", "strided"), ("float32", "read_only"),
            ("float64", "same"), ("float64", "overlapping"), ("int32", "C"), ("uint8", "C"),
            ("int8", "C"), ("float16", "C"))
HEAD = "def f(x, y, z, w, k):\n"
# What each element is made of: of x and y, of the row's numbers and of the columns'.
ELEMENTS = """\
{x}
{x}
{y}
{x} + {y}
{x} - {y} * 2
{x} * {y}
np.maximum({x}, {y})
np.abs({x})
np.where({x} > {y}, {x}, {y})
{x} + z
{x} * w[..., None]
np.minimum({x}, z)
{x} * k
{x} // 2
{x} % 3
np.where({x} > 1, {x}, 0)
{x}[..., ::-1]
{x}[::-1]
np.roll({x}, 1, axis=-1)
np.roll({x}, -3, axis=0)
{x} - {x}[..., :1]
np.clip({x}, 0, 3)
-{x}
{x} ** 2""".split("\n")
FLOATS = """\
np.sin({x})
np.exp({x} * 0.25)
np.sqrt(np.abs({x}))
{x} / ({y} * {y} + 1)
np.tanh({x}) + {y}
np.log1p(np.abs({x}))""".split("\n")
# Numbers of rows, of all but the last axis.
ROWS = """\
{e}.sum(axis=-1)
{e}.max(axis=-1)
{e}.min(axis=-1)
{e}.mean(axis=-1)
{e}.argmax(axis=-1)
{e}.argmin(axis=-1)
({e} > {y}).sum(axis=-1)
({e} == {y}).any(axis=-1)
({e} > 2).all(axis=-1)
np.count_nonzero({e}, axis=-1)
{e}.std(axis=-1)
{e}.var(axis=-1)
np.ptp({e}, axis=-1)
np.cumsum({e}, axis=-1)[..., -1]
np.median({e}[..., :9], axis=-1)
({e} * {y}).sum(axis=-1)
{e} @ z
np.linalg.norm({e}, axis=-1)
np.diff({e}, axis=-1).sum(axis=-1)
{e}[..., 1:].max(axis=-1)
{e}[..., ::2].sum(axis=-1)
{e}[..., -1]""".split("\n")
OTHERS = """\
{e}.sum(axis=0)
{e}.max(axis=0)
{e}.argmin(axis=0)
{e}.mean(axis=0)
{e}.sum()
{e}.min()
{e}.argmax()
({e} > {y}).sum()
np.cumsum({e}, axis=-1)
np.cumsum({e}, axis=0)
np.cumsum({e}, axis=-1) * 2 - {y}
np.cumsum({e}, axis=-1)[..., ::2]
np.maximum.accumulate({e}, axis=-1)
np.minimum.accumulate({e}, axis=-1) + {y}
np.cumsum({e}[..., ::-1], axis=-1)[..., ::-1]
np.cumsum(np.abs({e}))
np.cumsum({e}, axis=-1).max(axis=-1)
np.diff({e}, axis=-1)
{e}[..., 1:] - {e}[..., :-1]
{e}[..., 2:] + {e}[..., :-2] - {e}[..., 1:-1]
{e}.T * 2
np.ascontiguousarray({e}.T)
{e}.ravel()
{e}.reshape(-1)[::3]
np.concatenate(({e}, {y}), axis=-1)
np.concatenate(({e}, {y}))
np.stack(({e}, {y}))
np.sort({e}, axis=-1)
np.argsort({e}, axis=-1, kind='stable')
{e}[{e} > {y}]
np.flatnonzero({e} > {y})
np.pad({e}, 1)
np.repeat({e}, 2, axis=0)
{e}[..., ::-2]
{e}[::2]
{e}[1:]
{e} - {e}.mean(axis=-1)[..., None]
{e} - {e}.max(axis=-1, keepdims=True)
{e} / ({e}.max(axis=-1, keepdims=True) + 9)
{e} - {e}.sum(axis=0)
{e} == {e}.max(axis=-1, keepdims=True)
{e} * {e}.argmax(axis=-1)[..., None]
np.array([r.sum() for r in {e}])
np.array([r.max() - r.min() for r in {e}])
np.array([r[::-1] * 2 for r in {e}])
np.array([np.cumsum(r) for r in {e}])""".split("\n")
# Of planes alone.
OF_PLANES = """\
{e}.sum(axis=(1, 2))
{e}.max(axis=(0, 2))
{e}.sum(axis=(0, 1))
{e}.transpose(2, 0, 1) * 2
np.ascontiguousarray({e}.transpose(1, 2, 0))
{e} - {e}.mean(axis=(1, 2), keepdims=True)
{e}[:, 1:-1] - {e}[:, 2:]
{e}.argmax(axis=1)
np.cumsum({e}, axis=1)
np.swapaxes({e}, 0, 1) + 1
{e}[0]
{e}.reshape(len({e}), -1).sum(axis=1)""".split("\n")
ROWS_OF = "for i in range(t.shape[0]):"
OVER = {"rows": ROWS_OF, "each": f"{ROWS_OF}|    for j in range(t.shape[1]):",
        "later": f"{ROWS_OF}|    for j in range(1, t.shape[1]):",
        "earlier": f"{ROWS_OF}|    for j in range(t.shape[1] - 1):"}
LOOPS = """\
{rows}|    t[i] = t[i] - {y}[i]
{each}|        t[i, j] = t[i, j] * 2 + {y}[i, j]
{later}|        t[i, j] += t[i, j - 1]
{later}|        t[i, j] = max(t[i, j - 1], {y}[i, j])
{each}|        s[i] += {y}[i, j]
{each}|        if {y}[i, j] > t[i, j]:|            s[i] += 1
{each}|        if {y}[i, j] > 2:|            s[i] = j|            break
{earlier}|        t[i, j] = {y}[i, j + 1] - {y}[i, j]
for i in range(1, t.shape[0]):|    t[i] += t[i - 1]
{rows}|    s[i] = t[i].max() - t[i].min()
{rows}|    t[i] -= t[i].mean()
t[:, 1:] += {y}[:, :-1]
t[:, 1:] = t[:, :-1] * 2
t[::-1] = {y}
t[:, ::-1] += t
t[{y} > 1] = 0
t += {y}
t[:] = t[::-1]
t[:, ::2] *= 2""".split("\n")


def cases(seed: int) -> list[int]:
    """Four shapes of one flavour, and the first once more."""
    chance = random.Random(seed)
    flavour, shapes = chance.randrange(len(FLAVOURS)), SHAPES if has_rows(seed) else PLANES
    at = [flavour * 100 + (0 if has_rows(seed) else 50) + k
          for k in chance.sample(range(len(shapes)), 4)]
    return [*at, at[0]]


def has_rows(seed: int) -> bool:
    return random.Random(seed).random() < 0.7


def make_arguments(which: int) -> tuple:
    """Small whole numbers, so that sums are exact."""
    dtype, layout = FLAVOURS[which // 100]
    shape = (SHAPES if which % 100 < 50 else PLANES)[which % 50]
    chance = np.random.default_rng(which)
    least = 0 if dtype == "uint8" else -4
    x, y = (chance.integers(least, 5, shape).astype(dtype) for _ in range(2))
    z, w = (chance.integers(0, 4, part).astype(dtype) for part in (shape[-1], shape[:-1]))
    if layout == "same":
        y = x
    elif layout == "overlapping":
        y = x[::-1]
    elif layout != "C":
        x, y = lay_out(x, layout), lay_out(y, layout)
    return x, y, z, w, 3


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.is_of_rows = has_rows(seed)
        self.whole = ["x", "y"]  # Of the arguments' shape.
        self.lines: list[str] = []
        self.made: list[str] = []

    def element(self, depth: int = 0) -> str:
        name = self.random.choice(self.whole + self.whole[-1:])
        if depth == 2 or self.random.random() < 0.3:
            return name
        form = self.random.choice(ELEMENTS + FLOATS * 2)
        parts = {"x": self.element(depth + 1), "y": self.random.choice(self.whole)}
        return f"({form.format(**parts)})"

    def add(self) -> None:
        name = f"t{len(self.lines)}"
        kind = self.random.random()
        parts = {"e": self.element(), "y": self.random.choice(self.whole)}
        if kind < 0.3:
            self.lines.append(f"{name} = {parts['e']}")
            self.whole.append(name)
        elif kind < 0.5:
            form = self.random.choice(ROWS)
            self.lines.append(f"{name} = {form.format(**parts)}")
            if self.random.random() < 0.5:
                after = self.random.choice(("{0} - {1}[..., None]", "{0} * ({1}[..., None] > 1)",
                                            "{0} == {1}[..., None]"))
                last = f"t{len(self.lines)}"
                self.lines.append(f"{last} = {after.format(self.element(1), name)}")
                self.made.append(name)
                name = last
        elif kind < 0.65 and self.is_of_rows:
            self.lines += [f"t = {self.random.choice(self.whole)} * 1",
                           "s = np.zeros(len(x))",
                           *self.random.choice(LOOPS).format(**parts, **OVER).split("|"),
                           f"{name}, s{name} = t, s"]
            self.made.append(f"s{name}")
        else:
            others = OTHERS if self.is_of_rows else OTHERS + OF_PLANES * 3
            self.lines.append(f"{name} = {self.random.choice(others).format(**parts)}")
        self.made.append(name)

    def program(self) -> str:
        for _ in range(self.random.randint(1, 4)):
            self.add()
        kept = self.random.sample(self.made, min(len(self.made), self.random.randint(1, 3)))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"{HEAD}{body}    return ({', '.join(kept)},)\n"


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
