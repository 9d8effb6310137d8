"""Random numeric programs as users write them: one kind of fuzz.py.

A program of 10 to 40 lines strings together what such programs are made of: recurrences, searches,
tables of dynamic programming, stencils, sorts by hand, pairs of loops, small functions that call
themselves or see the names around them; each with its own bounds, operators, ways out and values.
NumPy runs each part as it is added, so that a program raises only for other arguments.
"""

import contextlib
import random
import re
import signal
import textwrap
import warnings

import numpy as np
from layouts import lay_out

SIZES = ((5, 3), (9, 9), (40, 7), (1, 1), (17, 33), (130, 2), (0, 3), (3, 300))
FLAVOURS = (("float64", "int64", "C"), ("float64", "int64", "C"), ("float32", "int32", "C"),
            ("float64", "int32", "Fortran"), ("float64", "int64", "reversed"),
            ("float64", "uint8", "strided"), ("float32", "int64", "broken_stride"),
            ("float64", "int64", "read_only"), ("float64", "int16", "shared"))
TRIED_ON = (0, 1)
HEAD = "def f(x, y, p, q, A, B, n, m, k, a):\n"
FUNCTIONS = """\
def power_of(base, times):
    if times <= 0:
        return 1.0
    half = power_of(base, times // 2)
    return half * half * (base if times % 2 == 1 else 1.0) % 8.0


def common(u, w):
    while w != 0:
        u, w = w, u % w
    return u


def place_of(u, value):
    low = 0
    high = len(u)
    while low < high:
        middle = (low + high) // 2
        if u[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def extremes(u, start=0):
    least = most = u[start]
    for value in u:
        if value < least:
            least = value
        elif value > most:
            most = value
    return least, most


def paths(i, j):
    if i <= 0 or j <= 0:
        return 1
    return (paths(i - 1, j) + paths(i, j - 1)) % 1000


def steps_down(v, limit):
    count = 0
    while v != 1 and count < limit:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        count += 1
    return count


def smoothed(u, by=0.5):
    out = u.copy()
    for i in range(1, len(u) - 1):
        out[i] = (u[i - 1] + u[i + 1]) * 0.25 + u[i] * by
    return out


def swap(u, i, j):
    u[i], u[j] = u[j], u[i]


def is_sorted(u):
    for i in range(1, len(u)):
        if u[i] < u[i - 1]:
            return False
    return True


"""
NAMES = {"vec": ["x", "y"], "ints": ["p", "q"], "mat": ["A", "B"], "num": ["a"], "int": ["k"]}
JOINS = re.compile(r"^     +(\w+)(, \w+)? = [gv]\d+(, \1)?$", re.M)
ATTEMPTS = 8
MOST = 1e4  # What a number may be.


class Unsuitable(Exception):
    pass


def cases(seed: int) -> list[int]:
    """Three sizes of one flavour."""
    chance = random.Random(seed)
    flavour = chance.choice((0, *range(len(FLAVOURS))))
    if FLAVOURS[flavour][0] != "float64" and JOINS.search(make_program(seed)[0]):
        flavour = 0  # What may be of float32 or of float64 is joined, as docs/differences.md says.
    return [flavour * len(SIZES) + size for size in chance.sample(range(len(SIZES)), 3)]


def make_arguments(which: int) -> tuple:
    """Floats are quarters; p holds places, q small integers."""
    floats, ints, layout = FLAVOURS[which // len(SIZES)]
    n, m = SIZES[which % len(SIZES)]
    chance = np.random.default_rng(which)
    arrays = [*((chance.integers(-12, 13, shape) / 4.0).astype(floats) for shape in (n, n)),
              chance.integers(0, max(n, 1), n).astype(ints), chance.integers(0, 12, n).astype(ints),
              *((chance.integers(-12, 13, shape) / 4.0).astype(floats)
                for shape in ((n, m), (n, m)))]
    if layout == "shared":
        arrays[1] = arrays[0]
        arrays[5] = arrays[4][::-1]
    elif layout != "C":
        arrays = [lay_out(array, layout) for array in arrays]
    x, y, p, q, A, B = arrays
    return x, y, p, q, A, B, n, m, 3, 0.75


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names = {kind: list(names) for kind, names in NAMES.items()}
        self.loops: list[tuple[str, str]] = []  # An index and what it runs to.
        self.lines: list[str] = []
        self.fresh = 0

    def any(self, *choices):
        return self.random.choice(choices)

    def new(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def known(self, kind: str) -> str:
        """Those made last count most."""
        names = self.names[kind]
        return self.random.choice(names + names[-2:] * 2)

    # Places and values.

    def place(self) -> str:
        """Of a vector, within it."""
        inner = [form.format(i) for i, to in self.loops if to == "n"
                 for form in ("{}", "{}", "{}", "n - 1 - {}", "({} + 1) % n", "{} - 1")]
        others = [f"{i} % n" for i, to in self.loops if to != "n"]
        return self.any(*inner, *inner, *others, f"{self.known('ints')}[{self.index()}] % n",
                        f"{self.known('int')} % n", "0", "-1")

    def index(self) -> str:
        return self.any(*[i for i, to in self.loops if to == "n"] or ["0"])

    def column(self) -> str:
        inner = [i for i, to in self.loops if to == "m"]
        return self.any(*inner, *inner, *(f"{i} % m" for i, _ in self.loops), "0", "-1", "m // 2")

    def element(self) -> str:
        return self.any(f"{self.known('vec')}[{self.place()}]", f"{self.known('vec')}"
                        f"[{self.index()}]", f"{self.known('mat')}[{self.index()}, "
                        f"{self.column()}]", f"{self.known('vec')}[{self.place()}]")

    def number(self, depth: int = 1) -> str:
        if depth == 0:
            return self.any(self.element(), self.element(), self.known("num"), "0.5", "1.25",
                            *(f"{i}" for i, _ in self.loops))
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.any(one, f"({one} + {other})", f"({one} - {other})", f"{one} * 0.5",
                        f"({one} * {other}) % 4.0", f"max({one}, {other})", f"abs({one})",
                        f"min({one}, {other})", f"({one} if {self.truth(0)} else {other})",
                        f"({one}) / (1.0 + {other} * {other})", f"np.floor({one})")

    def integer(self, depth: int = 1) -> str:
        if depth == 0:
            return self.any(self.known("int"), f"int({self.known('ints')}[{self.place()}])", "2",
                            "7", *(i for i, _ in self.loops), "n", "m")
        one, other = self.integer(depth - 1), self.integer(depth - 1)
        return self.any(one, f"({one} + {other})", f"({one} * {other}) % 23", f"{one} // 2",
                        f"({one} - {other})", f"{one} % 5", f"max({one}, {other})",
                        f"({one} ^ {other})", f"({one} if {self.truth(0)} else {other})",
                        f"({one} & 7) << 1", f"common({one} % 60, {other} % 60 + 1)")

    def truth(self, depth: int = 1) -> str:
        if depth == 0:
            compare = self.any("<", ">", "<=", ">=", "==", "!=")
            if self.random.random() < 0.5:
                return f"{self.number(0)} {compare} {self.number(0)}"
            return f"{self.integer(0)} % 3 {compare} {self.integer(0)} % 3"
        return self.any(self.truth(0), f"{self.truth(0)} and {self.truth(0)}",
                        f"{self.truth(0)} or {self.truth(0)}", f"not ({self.truth(0)})",
                        f"{self.known('ints')}[{self.place()}] > {self.integer(0)}")

    def vector(self, depth: int = 1) -> str:
        if depth == 0:
            return self.any(self.known("vec"), self.known("vec"),
                            f"{self.known('mat')}[:, {self.column()}]",
                            f"{self.known('ints')} * 0.25", f"{self.known('vec')}[::-1]")
        one, other = self.vector(depth - 1), self.vector(depth - 1)
        return self.any(f"{one} + {other}", f"{one} - {other} * 0.5", f"np.maximum({one}, {other})",
                        f"np.where({one} > {other}, {one}, {self.number(0)})", f"np.abs({one})",
                        f"np.cumsum({one}) % 8.0", f"np.sort({one})", f"np.roll({one}, 1)",
                        f"{one} * {self.number(0)} % 4.0", f"smoothed({one})",
                        f"{self.known('mat')}.sum(axis=1) % 16.0",
                        f"{self.known('mat')}.max(axis=1)",
                        f"{self.known('vec')}[{self.known('ints')} % n]",
                        f"np.minimum.accumulate({one})", f"({one}) ** 2 % 8.0",
                        f"np.clip({one}, -2, {self.number(0)})")

    def exit(self, indent: str = "    ") -> list[str]:
        """A way out of a loop, or none."""
        condition = self.truth()
        return self.any([], [], [], [f"{indent}if {condition}:", f"{indent}    break"],
                        [f"{indent}if {condition}:", f"{indent}    continue"])

    def bounds(self, to: str = "n") -> str:
        return self.any(to, to, to, f"1, {to}", f"{to} - 1, -1, -1", f"0, {to}, 2", f"{to} - 1",
                        f"1, {to} - 1", f"{to} // 2")

    @contextlib.contextmanager
    def within(self, *loops: tuple[str, str]):
        before = len(self.loops)
        self.loops += loops
        yield
        del self.loops[before:]

    # Parts: each gives lines, and the names that it makes by kind.

    def over_elements(self):
        out, s, i = self.new("v"), self.new("s"), self.new("i")
        with self.within((i, "n")):
            body = [self.any(f"{out}[{i}] = {self.number(2)}", f"{out}[{i}] += {self.number()}",
                             f"{s} += {self.number()}", f"{s} = {s} * 0.5 + {self.number()}",
                             f"{s} = max({s}, {self.number()})", f"{out}[{self.place()}] = {s}",
                             f"{out}[{i}] = {out}[{i} - 1] * 0.5 + {self.number()}",
                             f"{out}[{self.place()}] -= {self.number(0)}")
                    for _ in range(self.random.randint(1, 3))]
            leave = self.exit()
            if self.random.random() < 0.4:
                body = [f"if {self.truth()}:", *(f"    {line}" for line in body),
                        *self.any([], ["else:", f"    {out}[{i}] = {self.number(0)}"],
                                  [f"elif {self.truth()}:", f"    {s} -= 0.5"])]
        body = [f"    {line}" for line in body]
        body = body + leave if self.random.random() < 0.5 else leave + body
        return [f"{out} = {self.any('np.zeros(n)', self.known('vec') + ' * 1.0')}",
                f"{s} = {self.any('0.0', '1.0', 'a', '-99.0')}",
                f"for {i} in range({self.bounds()}):", *body, f"{s} = float({s}) % 64.0"], {
            "vec": out, "num": s}

    def over_pairs(self):
        out, i, j, s = self.new("g"), self.new("i"), self.new("j"), self.new("s")
        with self.within((i, "n"), (j, "m")):
            line = self.any(f"{out}[{i}, {j}] = {self.number(2)}", f"{s} += {self.number()}",
                            f"{out}[{i}, {j}] += {self.number()}",
                            f"{out}[{i}, {j}] = {out}[{i}, {j} - 1] * 0.5 + {self.number(0)}",
                            f"{out}[{i}, {j}] = max({out}[{i} - 1, {j}], {out}[{i}, {j} - 1]) * 0.5"
                            f" + {self.number(0)}", f"{out}[{self.place()}, {j}] = {s}")
            leave = self.exit("        ")
            after = self.any([], [], [f"    {out}[{i}, 0] = {s}"],
                             [f"    if {s} > {self.number(0)}:", "        break"])
            start = self.any([], [f"    {s} = 0.0"])
        return [f"{out} = {self.any('np.zeros((n, m))', self.known('mat') + '.copy()')}",
                f"{s} = 0.0", f"for {i} in range({self.bounds()}):", *start,
                f"    for {j} in range({self.bounds('m')}):", *leave, f"        {line}", *after,
                f"{s} = float({s}) % 64.0"], {"mat": out, "num": s}

    def triangle(self):
        """All pairs of elements, one of which is behind the other."""
        out, i, j, c = self.new("v"), self.new("i"), self.new("j"), self.new("c")
        with self.within((i, "n"), (j, "n")):
            condition, line = self.truth(), self.any(
                f"{out}[{i}] += {self.number(0)}",
                f"{out}[{j}] = max({out}[{j}], {self.number(0)})",
                f"{out}[{i}], {out}[{j}] = {out}[{j}], {out}[{i}]", f"{c} += 1")
        bounds = self.any(f"{i} + 1, n", f"{i}", f"{i}, n", f"n - 1, {i}, -1")
        leave = self.any([], ["            break"], [])
        return [f"{out} = {self.known('vec')} * 1.0", f"{c} = 0", f"for {i} in range(n):",
                f"    for {j} in range({bounds}):", f"        if {condition}:",
                f"            {line}", f"            {c} += 1", *leave], {"vec": out, "int": c}

    def insertion(self):
        out, i, j = self.new("v"), self.new("i"), self.new("j")
        compare = self.any(">", "<", ">=")
        return [f"{out} = {self.vector()}", f"{out} = {out} * 1.0", f"for {i} in range(1, n):",
                f"    t = {out}[{i}]", f"    {j} = {i} - 1",
                f"    while {j} >= 0 and {out}[{j}] {compare} t:",
                f"        {out}[{j} + 1] = {out}[{j}]", f"        {j} -= 1",
                f"    {out}[{j} + 1] = t"], {"vec": out}

    def until(self):
        """A while that counts, with what may end it before."""
        c, s = self.new("c"), self.new("s")
        with self.within((c, "k")):
            step = self.any(f"{s} = {s} * 0.5 + {self.number(0)}", f"{s} += {self.element()}",
                            f"{s} = 0.5 * ({s} + 2.0 / (abs({s}) + 1.0))",
                            f"{s} = power_of(abs({s}), {c})")
            leave, condition = self.exit(), self.truth(0)
        leave = [] if "        continue" in leave else leave  # It would not count.
        ends = self.any("", f" and {s} < {self.number(0)}", f" and not ({condition})")
        return [f"{c} = 0", f"{s} = {self.any('1.0', '0.0', 'a')}",
                f"while {c} < {self.any('n', 'k', '20', 'm')}{ends}:", f"    {step}", *leave,
                f"    {c} += {self.any('1', '1', '2')}", f"{s} = float({s}) % 64.0"], {
            "int": c, "num": s}

    def counts(self):
        out, i = self.new("p"), self.new("i")
        with self.within((i, "n")):
            line = self.any(f"{out}[{self.integer()} % n] += 1", f"{out}[{self.known('ints')}[{i}]"
                            f" % n] += {self.integer(0)} % 9", f"{out}[{i}] = {self.integer()}",
                            f"{out}[{i}] = {out}[{out}[{i} - 1] % n] + 1",
                            f"{out}[{i}] = steps_down({self.integer(0)} % 30 + 1, 40)",
                            f"{out}[int({self.element()} * 4) % n] = {i}")
            leave = self.exit()
        start = self.any("np.zeros(n, np.int64)", "np.arange(n)", "np.full(n, 3)")
        return [f"{out} = {start}", f"for {i} in range({self.bounds()}):", *leave, f"    {line}",
                f"{out} %= {self.any('97', 'n', '13')}"], {"ints": out}

    def table(self):
        """Dynamic programming."""
        out, i, j, v = self.new("g"), self.new("i"), self.new("j"), self.known("vec")
        row = self.any(
            [f"if {v}[{i} - 1] == {self.known('vec')}[{j} % n]:",
             f"    {out}[{i}, {j}] = {out}[{i} - 1, {j} - 1] + 1", "else:",
             f"    {out}[{i}, {j}] = max({out}[{i} - 1, {j}], {out}[{i}, {j} - 1])"],
            [f"{out}[{i}, {j}] = min({out}[{i} - 1, {j}], {out}[{i}, {j} - 1], "
             f"{out}[{i} - 1, {j} - 1]) * 0.5 + abs({v}[{i}] - {j})"],
            [f"cost = int({self.known('ints')}[{i}]) % 4 + 1", f"{out}[{i}, {j}] = {out}[{i} - 1, "
             f"{j}]", f"if {j} >= cost:", f"    {out}[{i}, {j}] = max({out}[{i}, {j}], "
             f"{out}[{i} - 1, {j} - cost] + {v}[{i}])"],
            [f"best = {out}[{i} - 1, {j}]", f"for t in range({j}):",
             f"    best = max(best, {out}[{i} - 1, t] + 0.25 * t)", f"{out}[{i}, {j}] = best * 0.5"
             f" + {v}[{i}]"])
        return [f"{out} = {self.any('np.zeros((n, m))', self.known('mat') + ' * 1.0')}",
                f"for {i} in range(1, n):", f"    for {j} in range(1, m):",
                *(f"        {line}" for line in row)], {"mat": out}

    def rows(self):
        """A loop over rows as arrays."""
        out, i, mat = self.new("g"), self.new("i"), self.known("mat")
        line = self.any(f"{out}[{i}] = {mat}[{i}] - {mat}[{i}].mean()",
                        f"{out}[{i}] -= {mat}[{i} - 1] * 0.5",
                        f"{out}[{i}] = np.sort({mat}[{i}])[::-1]",
                        f"{out}[{i}, ::2] = {self.known('vec')}[{i}]",
                        f"{out}[{i}] = np.where({mat}[{i}] > {out}[{i} - 1], 1.0, {mat}[{i}])",
                        f"{out}[{i}] += {mat}[{self.known('ints')}[{i}] % n]",
                        f"{out}[{i}] = np.cumsum({mat}[{i}]) * 0.25",
                        f"{out}[{i}, {mat}[{i}].argmax()] = 9.0", f"{out}[{i}, :] = {mat}[:, "
                        f"{i} % m].max()", f"{out}[{i}] = {mat}[n - 1 - {i}]",
                        f"swap({out}[:, 0], {i}, n - 1 - {i})")
        with self.within((i, "n")):
            leave = self.exit()
        return [f"{out} = {mat}.copy()", f"for {i} in range({self.bounds()}):", *leave,
                f"    {line}"], {"mat": out}

    def steps(self):
        """Steps in time of a vector or a matrix."""
        u, t = self.new("v"), self.new("t")
        with self.within((t, "k")):
            line = self.any(f"{u}[1:-1] = 0.25 * ({u}[2:] + {u}[:-2]) + 0.5 * {u}[1:-1]",
                            f"{u} = np.roll({u}, 1) * 0.5 + {self.known('vec')}",
                            f"{u} = {self.vector(0)} - 0.5 * {u}",
                            f"{u}[{t} % n] = {u}.sum() % 4.0",
                            f"{u} = np.where({u} > {self.number(0)}, {u} * 0.5, {u} + 0.25)",
                            f"{u}[::2] += {u}[::-1][::2] * 0.5", f"{u} -= {u}.max()",
                            f"{u}[1:] += 0.5 * {u}[:-1]", f"{u} = smoothed({u}, 0.25)")
            leave = self.any([], [], [f"    if np.abs({u}).max() > 6:", "        break"],
                             [f"    if {t} == 2:", "        continue"])
        return [f"{u} = {self.known('vec')} * 1.0", f"for {t} in range({self.any('k', '5', 'n')}):",
                f"    {line}", *leave, f"{u} %= 16.0"], {"vec": u}

    def whole(self):
        out = self.new("v")
        return [f"{out} = ({self.vector(2)}) * 1.0"], {"vec": out}

    def found(self):
        c, s = self.new("c"), self.new("s")
        v = self.known("vec")
        line = self.any(f"{c} = place_of(np.sort({v}), {self.number(0)})",
                        f"{c} = int({v}.argmin())",
                        f"{c} = paths({self.integer(0)} % 6, {self.integer(0)} % 6)",
                        f"{c} = int(({v} > {self.number(0)}).sum())",
                        f"{c} = len(np.unique({self.known('ints')}))",
                        f"{c} = steps_down(abs({self.integer(0)}) % 50 + 1, 60)")
        return [line, f"{s}, _ = extremes({v})", f"{s} = float({s}) + is_sorted({v})"], {
            "int": c, "num": s}

    def closure(self):
        """A function that sees the names around it."""
        g, out, i, c = self.new("h"), self.new("v"), self.new("i"), self.known("num")
        v, w = self.known("vec"), self.known("vec")
        self.loops.append(("i", "n"))
        body = self.any([f"return {v}[i] * t + {c}"], [f"if t > {c}:", f"    return {v}[i]",
                                                     f"return {w}[i] - t"],
                        ["total = 0.0", "for j in range(i + 1):",
                         f"    total += {v}[j] * {w}[i - j]", f"return total % 8.0 + {c} * t"],
                        ["while t > 1.0:", "    t = t * 0.5", f"return t + {v}[i]"])
        self.loops.pop()
        use = self.any([f"{out} = np.array([{g}({i}, {self.number(0)}) for {i} in range(n)])"],
                       [f"{out} = np.zeros(n)", f"for {i} in range({self.bounds()}):",
                        f"    {out}[{i}] = {g}({i}, {out}[{i} - 1])"],
                       [f"{out} = np.zeros(n)", f"for {i} in range({self.bounds()}):",
                        f"    if {g}({i}, {self.number(0)}) > {c}:",
                        f"        {out}[{i}] = {g}({i}, 0.5)"])
        return [f"def {g}(i, t):", *(f"    {line}" for line in body), *use, f"{out} %= 16.0"], {
            "vec": out}

    def tuples(self):
        """Several values that go on from step to step."""
        s, t, i, c = self.new("s"), self.new("s"), self.new("i"), self.new("c")
        with self.within((i, "n")):
            line = self.any(f"{s}, {t} = {t}, ({s} + {t}) % 8.0",
                            f"{s}, {t} = {self.number(0)}, {s}",
                            f"{s}, {t}, {c} = max({s}, {self.number(0)}), {s}, {c} + 1",
                            f"({s}, {t}), {c} = ({t} * 0.5, {self.number(0)}), {i}")
            leave = self.exit()
            condition = self.truth()
        other = self.any([], [f"    if {condition}:", f"        {c} += {i}"])
        return [f"{s}, {t} = 0.0, 1.0", f"{c} = 0", f"for {i} in range({self.bounds()}):",
                *leave, f"    {line}", *other, f"{s}, {t} = float({s}), float({t})"], {
            "num": s, "int": c}

    def nested(self):
        """A part in a loop or in a branch, which leaves its arrays to those that follow."""
        is_loop, r = self.random.random() < 0.7, self.new("r")
        part = self.any(self.over_elements, self.over_pairs, self.counts, self.rows, self.steps,
                        self.triangle)
        with self.within(*[(r, "k")] * is_loop):
            lines, made = part()
        kind, name = next(iter(made.items()))
        kept = self.known(kind)
        out = self.new(kind[0] if kind != "mat" else "g")
        start = f"{out} = {kept}.copy()"
        last = self.any(f"{out} = {name}", f"{out} += ({name} % 4).astype({out}.dtype)",
                        f"{out}, {name} = {name}, {out}", f"{out}[:] = {name}")
        if kind == "ints":
            start, last = f"{out} = {kept} * 1 % 13", f"{out} += ({name} % 4).astype({out}.dtype)"
        if not is_loop:
            return [start, f"if {self.truth()}:", *(f"    {line}" for line in lines),
                    f"    {last}"], {kind: out}
        head = f"for {r} in range({self.any('k', '2', '3', 'n % 4')}):"
        leave = self.any([], [f"    if {r} == 1:", f"        {self.any('break', 'continue')}"])
        return [start, head, *leave, *(f"    {line}" for line in lines), f"    {last}"], {kind: out}

    def run(self, lines: list[str]) -> bool:
        try:
            for which in TRIED_ON:
                execute([*self.lines, *lines], which)
        except Unsuitable:
            return False
        self.lines += lines
        return True

    def add(self) -> None:
        part = self.any(self.over_elements, self.over_elements, self.over_pairs, self.over_pairs,
                        self.triangle, self.insertion, self.until, self.counts, self.table,
                        self.rows, self.steps, self.whole, self.whole, self.found, self.closure,
                        self.tuples, self.nested, self.nested, self.nested)
        for _ in range(ATTEMPTS):
            lines, made = part()
            if self.run(lines):
                for kind, name in made.items():
                    self.names[kind].append(name)
                return

    def program(self) -> str:
        for _ in range(self.random.randint(2, 5)):
            self.add()
        made = [(kind, name) for kind, names in self.names.items() for name in names
                if name not in NAMES[kind]] or [("vec", "x")]
        kept = self.random.sample(made, min(len(made), self.random.randint(2, 5)))
        words = {"num": "float({})", "int": "int({})"}
        returned = ", ".join(words.get(kind, "{}").format(name) for kind, name in kept)
        body = textwrap.indent("\n".join(self.lines), "    ")
        return f"{FUNCTIONS}{HEAD}{body}\n    return ({returned},)\n"


def is_small(value) -> bool:
    if not isinstance(value, np.ndarray | np.generic | int | float):
        return True
    x = np.asarray(value)
    return bool(x.size == 0 or np.isfinite(x).all() and np.abs(x.astype(float)).max() < MOST)


def stop(signum, frame):
    raise TimeoutError


def execute(lines: list[str], which: int) -> None:
    body = textwrap.indent("\n".join(lines), "    ")
    text = f"{FUNCTIONS}{HEAD}{body}\n    return locals()\n"
    names = {"np": np}
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(text, names)
            world = names["f"](*make_arguments(which))
    except Exception as error:
        raise Unsuitable from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    if not all(is_small(value) for value in world.values()):
        raise Unsuitable


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
