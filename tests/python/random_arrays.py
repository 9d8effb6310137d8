"""Random programs of array operations, each statement of which NumPy takes: one kind of fuzz.py.

A program makes 4 to 12 arrays of its arguments and of one another, stores to them, goes through
them in loops and branches, and returns some. Whether a form of array_forms.py suits the arrays that
it is filled with is not derived but tried: NumPy runs it on arguments of two sizes. So a program
raises only where other sizes, dtypes and layouts make it raise.
"""

import random
import re
import warnings

import array_forms
import numpy as np
from layouts import lay_out

SIZES = ((5, 3, 2), (7, 4, 3), (33, 8, 3), (1, 4, 2), (70, 45, 2), (0, 3, 2), (3, 300, 1),
         (260, 1, 4), (2, 2, 2))  # n, m and the depth.
TRIED_ON = (0, 1)  # Where a form must work for a program to have it.
# dtypes of floats, of integers and of narrow ones; how arrays lie.
FLAVOURS = (("float64", "int64", "uint8", "C"), ("float32", "int64", "int8", "C"),
            ("float64", "int32", "uint16", "Fortran"), ("float64", "int64", "uint64", "reversed"),
            ("float32", "int32", "int16", "strided"), ("float64", "int64", "uint32", "unaligned"),
            ("float64", "int16", "int32", "read_only"), ("float32", "uint8", "uint8", "Fortran"),
            ("float64", "int64", "int8", "overlapping"), ("float16", "int64", "int16", "C"),
            ("float64", "uint32", "int32", "broken_stride"),
            ("float32", "int64", "uint16", "overlapping"),
            ("float64", "int64", "uint8", "unusual"), ("float32", "int32", "int8", "unusual"))
HEAD = "def f(x, y, v, A, B, C, T, i, j, D, u, b, P, z, Z, g, k, a):\n"
NAMES = HEAD[len("def f("):-len("):\n")].split(", ")
FUNCTIONS = """\
def scaled(u, by=0.5):
    if u.ndim > 1:
        return u[0] * by
    return u * by + 1


def centred(u, axis=0):
    return u - u.mean(axis=axis, keepdims=True)


def both(u, w, *, low=0.0):
    return np.maximum(u, low), w - u.max()


def clamp(u, low=-1.0, high=2.0):
    return np.minimum(np.maximum(u, low), high)


def first_above(u, least):
    place = 0
    while place < len(u) and not u[place] > least:
        place += 1
    return place


def halvings(value):
    steps = 0
    while abs(value) > 0.01 and steps < 40:
        value = value / 2
        steps += 1
    return steps, value


@parakeet.jit
def compiled(u, k=3):
    total = u * 1
    for step in range(k):
        total = total + u * step
    return total


"""
KINDS = {"f": "f", "i": "iu", "u": "iu", "b": "b", "z": "c", "r": "fiu", "a": "fiub", "w": "fi"}
PLACE = re.compile(r"{([a-z])(\d?)(?::(\w))?}")
MAKES_INTEGERS = re.compile(r"int\(|astype\(np\.u?int")
MOST = 4000  # Elements that a value may have.
ATTEMPTS = 60


def cases(seed: int) -> list[int]:
    """Three sizes of one flavour; the first is one that the program was tried on. Or one function
    takes several flavours in turn, and the first once more."""
    chance = random.Random(seed)
    flavours = [chance.choice((0, 0, *range(len(FLAVOURS))))] * 3
    sizes = [0, *chance.sample(range(1, len(SIZES)), 2)]
    if chance.random() < 0.4:
        flavours = [flavours[0], *chance.sample(range(len(FLAVOURS)), 3), flavours[0]]
        sizes = [0, *sizes[1:], 1, 0]
    if MAKES_INTEGERS.search(make_program(seed)[0]):
        # What an integer of nan is, each processor decides.
        flavours = [0 if FLAVOURS[of][-1] == "unusual" else of for of in flavours]
    return [of * len(SIZES) + size for of, size in zip(flavours, sizes, strict=True)]


def make_arguments(which: int) -> tuple:
    """Floats are quarters, so that sums are exact and there are ties; integers meet zero."""
    floats, ints, narrow, layout = FLAVOURS[which // len(SIZES)]
    n, m, depth = SIZES[which % len(SIZES)]
    chance = np.random.default_rng(which)

    def quarters(*shape):
        return (chance.integers(-14, 15, shape) / 4.0).astype(floats)

    def whole(low, high, dtype, *shape):
        if np.dtype(dtype).kind == "u":
            low = 0
        return chance.integers(low, high, shape).astype(dtype)

    limits = np.iinfo(narrow)
    edge = chance.integers(limits.min, limits.max, n, narrow)
    arrays = [quarters(n), quarters(n), quarters(m), quarters(n, m), quarters(n, m), quarters(m, n),
              quarters(depth, n, m), whole(0, 90, ints, n), whole(-9, 9, ints, n),
              whole(-40, 40, ints, n, m), edge, whole(0, 2, bool, n), whole(0, 2, bool, n, m),
              quarters(n) + 1j * quarters(n), quarters(n, m) - 1j * quarters(n, m),
              whole(-2, 2, "int64", n)]
    if which % 4 == 3 and n:
        arrays[-1][chance.integers(n)] = 5  # A place that a short array has not.
    if layout == "overlapping":
        arrays[:4] = overlapping(arrays[0], arrays[3])
        arrays[4] = arrays[3][::-1]
    elif layout == "unusual":
        for array in arrays[:7]:
            put_unusual(array, chance)
    elif layout != "C":
        arrays = [lay_out(array, layout) for array in arrays]
    return (*arrays, 2, 0.75)


def put_unusual(x, chance) -> None:
    """Some of what is no number, infinite or -0."""
    x[chance.random(x.shape) < 0.1] = np.nan
    for value in (np.inf, -np.inf, -0.0):
        x[chance.random(x.shape) < 0.05] = value


def overlapping(x, matrix):
    """Vectors one element apart in one buffer, a row of the matrix that is given as well."""
    buffer = np.concatenate((x, x[:1] + 1))
    row = matrix[0] if len(matrix) else matrix.sum(axis=0)
    return [buffer[:len(x)], buffer[-len(x):] if len(x) else buffer[:0], row, matrix]


class Unsuitable(Exception):
    """NumPy does not take a statement, or makes something large of it."""


class Writer:
    """Writes one program, and keeps what its names hold for arguments of two sizes."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.fresh = 0
        self.writable: list[str] = []
        self.made: list[str] = []
        self.worlds = [dict(zip(NAMES, make_arguments(which), strict=True)) | made_functions()
                       for which in TRIED_ON]

    def new_name(self, letter: str = "t") -> str:
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def known(self, kind: str, rank: str) -> list[str]:
        """Names of arrays of a kind; those made last count most."""
        world = self.worlds[0]
        names = self.writable if kind == "w" else [*NAMES, *self.made]
        found = [name for name in names if is_of(world.get(name), kind, rank)]
        return found + [name for name in found if name in self.made[-3:]] * 3

    def fill(self, form: str) -> str:
        called: dict[str, str] = {}

        def one(match):
            kind, rank, name = match.groups()
            found = self.word(kind) or self.random.choice(self.known(kind, rank) or [""])
            if not found:
                raise Unsuitable
            called[name or kind] = found
            return found

        filled = PLACE.sub(one, form)
        return re.sub(r"{=(\w)}", lambda match: called[match[1]], filled)

    def word(self, kind: str) -> str:
        """What stands for a scalar, a dtype or an axis."""
        scalars = [name for name in self.made if isinstance(self.worlds[0].get(name), np.floating)]
        words = {"s": ["0.5", "-1.25", "2.0", "a", *scalars],
                 "k": ["1", "2", "3", "-1", "-2", "k", "k - 1"], "n": ["0", "1", "-1"],
                 "t": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                       "float32", "float64"],
                 "x": ["axis=None", "axis=0", "axis=1", "axis=-1", "axis=(0, 1)",
                       "axis=0, keepdims=True"]}
        return self.random.choice(words.get(kind, [""]))

    def form(self) -> str:
        tables, weights = zip(*array_forms.TABLES, strict=True)
        table = self.random.choices(tables, weights)[0]
        return self.random.choice(table.split("\n"))

    def expression(self) -> str:
        """An expression that NumPy takes."""
        for _ in range(ATTEMPTS):
            try:
                text = self.fill(self.form())
                for world in self.worlds:
                    check_size(quietly(lambda world=world: eval(text, dict(world))))
                return text
            except Unsuitable:
                continue
        return "x"

    def run(self, lines: list[str]) -> bool:
        """Adds statements where NumPy takes all of the program with them."""
        try:
            worlds = [execute([*self.lines, *lines], which) for which in TRIED_ON]
        except Unsuitable:
            return False
        self.lines, self.worlds = [*self.lines, *lines], worlds
        return True

    # Statements, each of which may find nothing to write.

    def assign(self) -> None:
        text = self.expression()
        name = self.new_name()
        if self.run([f"{name} = {text}"]):
            self.made.append(name)

    def store(self) -> None:
        """Into a copy, or into an argument or something that may be a view of one."""
        if not self.writable or self.random.random() < 0.5:
            name = self.new_name()
            of = self.random.choice(self.known("r", "") or ["x"])
            line = self.random.choice((f"{name} = {of}.copy()", f"{name} = {of}.copy()",
                                       f"{name} = {of}", f"{name} = {of} * 1"))
            if self.run([line]):
                self.made.append(name)
                self.writable.append(name)
        self.attempt(lambda: [self.store_line()])

    def store_line(self) -> str:
        return self.fill(self.random.choice(array_forms.STORES.split("\n")))

    def attempt(self, lines) -> bool:
        for _ in range(ATTEMPTS):
            try:
                if self.run(lines()):
                    return True
            except Unsuitable:
                continue
        return False

    def loop(self) -> None:
        """A few steps that make an array anew, store to it or leave early."""
        name, old = self.new_name(), self.random.choice(self.known("r", ""))
        head = self.random.choice(("for q in range(3):", "for q in range(k):", "for q in range(7):",
                                   f"for q in range(min(len({old}), 4)):",
                                   "for q in range(2, 0, -1):"))
        skip = self.random.choice(([], [], ["    if q == 1:", "        continue"]))
        leave = self.random.choice(([], [f"    if {name}.sum() > 40:", "        break"]))

        def lines():
            self.worlds = [world | {name: world[old], "q": 1} for world in self.worlds]
            self.made, self.writable = [*made, name], [*writable, name]
            body = [self.step(name) for _ in range(self.random.randint(1, 2))]
            return [f"{name} = {old} * 1", head, *skip, *(f"    {line}" for line in body), *leave]

        made, writable, written, worlds = self.made, self.writable, self.lines, self.worlds
        if not self.attempt(lines) or not self.keeps_types(worlds, name, old):
            self.made, self.writable, self.lines, self.worlds = made, writable, written, worlds

    def keeps_types(self, before: list[dict], name: str, old: str) -> bool:
        """Whether a loop leaves every name its type, as one that may not run must."""
        pairs = [(world[of], after[to]) for world, after in zip(before, self.worlds, strict=True)
                 for of, to in [(old, name), *((made, made) for made in world if made in NAMES
                                               or made in self.made and made != name)]]
        return all(type_of(was) == type_of(now) for was, now in pairs)

    def step(self, name: str) -> str:
        if self.random.random() < 0.4:
            return self.store_line()
        alike = [other for other in self.known("r", "") if other != name and all(
            type_of(world[other]) == type_of(world[name]) for world in self.worlds)]
        other = self.random.choice(alike or ["x"])
        swap = ["{0}, {1} = {1}, {0} * 0.5"] if other in self.made else []
        step = self.random.choice((
            *swap,
            "{0} = {0} * 0.5 + {1}", "{0} = np.roll({0}, 1, axis=0) + {1} * q",
            "{0} = np.maximum({0}, {1} - q)", "{0} = np.where({0} > 0, {0} - {1}, {0} + 0.5)",
            "{0} = {0}[::-1] * 0.5 + {1}", "{0} = {0} + {1}[q]", "{0} += {1}", "{0} = {0} ^ {1}",
            "{0} = np.minimum({0}, {1}.max(axis=0))", "{0} = {0} - {0}.mean(axis=0)",
            "{0}[q] = {1}[-1]", "{0}[:, q] = {1}[:, 0] * 2", "{0}[q % len({0})] += {1}[q]",
            "{0} = np.sort({0}, axis=0)", "{0} = {0} @ {1} * 0.125",
            "{0} = ({0} + {0}.T) * 0.5",
            "{0}[q:] = {0}[:len({0}) - q] + {1}[0]", "{0} = np.cumsum({0}, axis=0) * 0.25"))
        return step.format(name, other)

    def branch(self) -> None:
        """Two values of one type, of which a condition that the arguments decide chooses."""
        text = self.expression()
        name, other = self.new_name(), self.new_name()
        condition = self.random.choice(("x.sum() > 0", "k > 1", "A[0, 0] < 0.5", "len(x) % 2 == 0",
                                        "i.max() > 60", "b.any()", "x[0] > x[-1] or k > 2"))
        end = self.random.choice((f"{name} = {other} * 0 + 1", f"{name} = {other}[::-1]",
                                  f"{name} = -{other}", f"{name} = {other}.copy()",
                                  f"{name} = {other}[:1] + {other}"))
        try:
            either = [[execute([*self.lines, f"{other} = {text}", line], which)
                       for which in TRIED_ON] for line in (f"{name} = {other}", end)]
        except Unsuitable:
            return
        if any(type_of(before[name]) != type_of(after[name])
               for before, after in zip(*either, strict=True)):
            return
        if self.run([f"{other} = {text}", f"if {condition}:", f"    {name} = {other}", "else:",
                     f"    {end}"]):
            self.made += [other, name]

    def integers(self) -> None:
        """What bounds of integers are found of: masks, shifts, quotients, choices."""
        arrays = self.known("i", "1")
        leaves = [self.random.choice(arrays) for _ in range(2)]
        name = self.new_name()
        if self.random.random() < 0.4:
            text = self.integer(leaves, 3)
            if self.run([f"{name} = {text}"]):
                self.made.append(name)
            return
        bound = f"min(len(x), {', '.join(f'len({leaf})' for leaf in leaves)})"
        # Of uint64, Python's int may have more than our 64 bits.
        leaves = [self.random.choice((f"int({leaf}[q] % 97)", f"(int({leaf}[q]) & 4095)",
                                      "int(j[q])", "int(g[q])")) for leaf in leaves]
        text, other = (self.integer(leaves, 3, scalar=True) for _ in range(2))
        body = self.random.choice(([f"{name}[q] = {text}"], [f"{name}[q] += {text} % 1000"],
                                   [f"if {text} > {other}:", f"    {name}[q] = {text} % 1000"],
                                   [f"{name}[{text} % len({name})] += {other} % 9"],
                                   [f"w = {text}", "if w < 3:", "    continue",
                                    f"{name}[w % len({name})] = {other} % 77"]))
        lines = [f"{name} = np.zeros(len(x), np.int64)", f"for q in range({bound}):",
                 *(f"    {line}" for line in body)]
        if self.run(lines):
            self.made.append(name)

    def integer(self, leaves: list[str], depth: int, scalar: bool = False) -> str:
        if depth == 0:
            return self.random.choice(leaves)
        x, y = (self.integer(leaves, depth - self.random.randint(1, 2) if depth > 1 else 0, scalar)
                for _ in range(2))
        least, most, choice = (("min({}, {})", "max({}, {})", "({0} if {0} > {1} else {1} + 1)")
                               if scalar else ("np.minimum({}, {})", "np.maximum({}, {})",
                                               "np.where({0} > {1}, {0}, {1} + 1)"))
        constant = self.random.choice(("1", "2", "3", "7", "15", "100", "255"))
        form = self.random.choice((
            f"({{}} & {constant})", f"({{}} % {constant})", f"({{}} // {constant})",
            f"({{0}} + {constant})", f"({{0}} - {constant})", "({} + {})", "({} - {})",
            "(({} & 255) * ({} & 15))", "({} | {})", "({} ^ {})", "(({} & 31) << ({} & 7))",
            "({} >> ({} & 7))", "abs({})", "(-{})", "(~{})", least, most, choice,
            least.replace("{}", "{0}", 1).replace("{}", constant),
            most.replace("{}", "{0}", 1).replace("{}", constant), "(({} & 3) ** 2)",
            f"({{}} * {constant} >> 3)"))
        return form.format(x, y)

    def elements(self) -> None:
        """A loop over indexes, as users write it."""
        vectors = self.known("r", "1")
        u, w = self.random.choice(vectors), self.random.choice(vectors)
        name, total = self.new_name(), self.new_name("s")
        body = self.random.choice((
            ["{0}[q] = {1}[q] * 0.5 - {2}[q]"], ["{0}[q] = {0}[q - 1] * 0.5 + {1}[q]"],
            ["{0}[q - 1] += {1}[q]", "{3} += {2}[q] * {0}[q]"],
            ["if {1}[q] > {2}[q]:", "    {0}[q] = {1}[q]", "else:", "    {3} += 1"],
            ["{0}[i[q] % len({0})] += {1}[q]"], ["if {1}[q] > {3}:", "    {3} = {3} * 0 + {1}[q]"],
            ["if {1}[q] == 0:", "    break", "{3} += {1}[q]"], ["{3} = {3} * 0.5 + {1}[q]",
                                                                 "{0}[q] = {3}"],
            ["if {1}[q] < 0:", "    continue", "{0}[q] = {2}[q - 1]"],
            ["for r in range(q):", "    {0}[q] += {1}[r] * 0.25"],
            ["{0}[q] = max({1}[q], {2}[q - 1])"], ["{3} += {1}[q] * {1}[q - 1]"],
            ["{0}[-q] = {1}[q]"], ["r = q", "while r > 0 and {0}[r - 1] > {0}[r]:",
                                    "    {0}[r - 1], {0}[r] = {0}[r], {0}[r - 1]", "    r -= 1"]))
        start = self.random.choice(("0", "1"))
        bound = self.random.choice((f"min(len({u}), len({w}))", f"len({w})", "len(x)", "5", "3"))
        lines = [f"{name} = {u} * 1.0", f"{total} = ({u}[:1] * {w}[:1] * 1.0).sum() * 0",
                 f"for q in range({start}, {bound}):",
                 *("    " + line.format(name, u, w, total) for line in body)]
        if self.run(lines):
            self.made += [name, total]
            self.writable.append(name)

    def program(self) -> str:
        steps = ([self.assign] * 9 + [self.store] * 3
                 + [self.loop, self.loop, self.branch, self.elements, self.integers])
        for _ in range(self.random.randint(4, 12)):
            self.random.choice(steps)()
        made = self.made or ["x"]
        kept = self.random.sample(made, min(len(made), self.random.randint(1, 4)))
        kept = list(dict.fromkeys([*kept, made[-1]]))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"{FUNCTIONS}{HEAD}{body}    return ({', '.join(kept)},)\n"


class Jit:
    """What `@parakeet.jit` is to plain Python."""

    @staticmethod
    def jit(f):
        return f


def made_functions() -> dict:
    names = {"np": np, "parakeet": Jit}
    exec(FUNCTIONS, names)
    return names


def is_of(value, kind: str, rank: str) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in KINDS[kind]:
        return False
    if kind == "u" and value.dtype.itemsize == 8:
        return False
    return value.ndim == int(rank) if rank else value.ndim > 0


def type_of(value):
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    return type(value)


def check_size(value) -> None:
    """Large floats cancel to anything, and Python's ints outgrow 64 bits."""
    if isinstance(value, (tuple, list)):
        for part in value:
            check_size(part)
        return
    if isinstance(value, np.ndarray) and (value.size > MOST or value.ndim > 4
                                          or value.dtype.kind not in "fiubc"):
        raise Unsuitable
    if isinstance(value, np.ndarray | np.inexact) and value.dtype.kind in "fc":
        finite = np.abs(value[np.isfinite(value)])
        if finite.size and finite.max() > 1e6 or np.isinf(value).any():
            raise Unsuitable
    if isinstance(value, int | float) and not abs(value) < 2**31:
        raise Unsuitable


def quietly(run):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            raise Unsuitable from error


def execute(lines: list[str], which: int) -> dict:
    world = dict(zip(NAMES, make_arguments(which), strict=True)) | made_functions()
    quietly(lambda: exec("\n".join(lines), world))
    for name, value in world.items():
        if name[0] in "ts" and name[1:].isdigit():
            check_size(value)
    return world


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
