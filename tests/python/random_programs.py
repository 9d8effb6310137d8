"""Random programs as text: of the subset, and near it.

Every program defines `f(x, y, m, n, a)`: two vectors of one length, a matrix, an int and a float.
A program of the subset keeps what a name holds to one kind, its Python ints below 64 bits and its
floats to few binary digits, so that plain Python and a fixed tree of sums agree. A program near
the subset is one of them with a few lines or names broken.
"""

import random
import re
import warnings

import numpy as np

# Lengths of the vectors, shapes of the matrix, the int and the float; and how the vectors lie.
ARGUMENTS = ((5, (3, 4), 3, 0.5, "apart"), (1, (1, 2), 0, -1.5, "apart"),
             (0, (2, 3), 7, 2.0, "apart"), (40, (6, 7), 2, 3.25, "apart"),
             (7, (4, 3), 1, 1.5, "overlapping"), (6, (3, 5), 4, -0.25, "reversed"),
             (9, (5, 5), 2, 0.75, "one"))
# What a name may hold, and the names that f starts with.
PARAMETERS = {"x": "vector", "y": "vector", "m": "matrix", "n": "int", "a": "float"}
KINDS = ("int", "float", "bool", "element", "vector", "ints", "matrix")

# Ways to write a value of a kind: {kind} stands for a smaller value of that kind.
FORMS = {
    "int": ["{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} // 3", "{int} % 5",
            "len({vector})", "{matrix}.shape[0]", "abs({int})", "min({int}, {int})",
            "{int} if {bool} else {int}", "-{int}", "{ints}.size", "(({int}) & 7)",
            "int({float} % 4)", "max({int}, 2, {int})", "{vector}.ndim", "triple({int})"],
    "float": ["{float} + {float}", "{float} - {int}", "{float} * 0.5", "{int} / 4",
              "{float} % 4.0", "abs({float})", "float({int})", "{float} if {bool} else {float}",
              "-{float}", "float({element})", "triple({float})"],
    "bool": ["{int} < {int}", "{int} == {int}", "{float} >= {float}", "{bool} and {bool}",
             "not {bool}", "{bool} or {bool}", "0 < {int} < 5", "bool({element} > {element})",
             "{int} in (1, 2, 3)"],
    "element": ["{vector}[{int} % len({vector})]", "{vector}.sum()", "{vector}[-1]",
                "{matrix}[0, -1]", "{element} + {float}", "{element} * 0.5",
                "{element} - {element}",
                "np.maximum({element}, {float})", "{matrix}.max()", "np.abs({element})",
                "{vector}[{int}]", "parakeet_sum({vector})", "{vector}.min()",
                "{matrix}[{int} % 2].sum()"],
    "vector": ["{vector} + {vector}", "{vector} * {float}", "{vector} - {element}",
               "{vector}[::-1]",
               "{vector}[1:]", "{vector}[:-1]", "{vector}[{int}:]", "{vector}[:{int}:2]",
               "np.where({vector} > {float}, {vector}, {element})", "{matrix}[0]",
               "{matrix}[:, -1]",
               "{matrix}.sum(axis=0)", "{matrix}.T[0]", "np.abs({vector})", "{vector}.copy()",
               "np.array([v * 0.5 + {element} for v in {vector}])", "{ints} * 0.5",
               "np.array([{vector}[i % len({vector})] + i for i in range({int} % 6)])",
               "np.zeros({int} % 5)", "np.minimum({vector}, {vector})", "-{vector}",
               "np.array([r.sum() for r in {matrix}])", "np.ones_like({vector})",
               "({vector} - {vector}[0]) % 8.0", "np.arange({int} % 7) + {float}",
               "scale({vector})",
               "np.array([u - v for u, v in zip({vector}, {vector})])", "twice(scale, {vector})",
               "(lambda v: v + {int})({vector})",
               "parakeet.map(lambda v: v * 0.5 + {element}, {vector})",
               "parakeet.scan(parakeet.add, {vector})", "parakeet.map(lambda r: r.max(), {matrix})",
               "parakeet.imap(lambda i: {vector}[i % len({vector})] - i, {int} % 6)",
               "np.array([{vector}[i:i + 2].sum() for i in range(len({vector}))])",
               "np.array([(v if v > {element} else -v) for v in {vector}])",
               "np.where({matrix}[:, 0] > 0.0, {matrix}[:, 0], {matrix}[:, -1])",
               "np.array([np.dot(r, r[::-1]) * 0.125 for r in {matrix}])", "{matrix}.ravel()"],
    "ints": ["np.arange({int} % 6)", "{ints} + {int}", "{ints} * 2", "{ints} // 2", "{ints}[::-1]",
             "np.arange(len({vector}))", "np.array([i * i for i in range({int} % 5)])",
             "np.array([{int} + j for j in {ints}])", "{ints} % 3", "{ints}[1:]"],
    "matrix": ["{matrix} + {matrix}", "{matrix} * {float}", "{matrix}.T", "{matrix}[::-1, 1:]",
               "{matrix} - {vector}", "{vector}[:, None] * {vector}[None, :]", "{matrix}[1:, :]",
               "np.array([[u + v for v in {vector}] for u in {vector}])", "{matrix}.copy()",
               "{matrix} - {matrix}.sum(axis=0) * 0.25",
               "np.where({matrix} < {float}, 0.0, {matrix})",
               "np.array([r * 0.5 for r in {matrix}])", "{matrix}[:, ::-1]",
               "parakeet.imap(lambda i, j: {matrix}[i, -1] - {matrix}[0, j], {matrix}.shape)",
               "np.array([[{matrix}[i, j] + i for j in range({matrix}.shape[1])] "
               "for i in range({matrix}.shape[0])])",
               "np.array([[(a * b).sum() * 0.125 for a in {matrix}] for b in {matrix}])"],
}
LEAVES = {
    "int": ["0", "1", "2", "3", "-1", "7"], "float": ["0.0", "0.5", "-1.25", "2.0"],
    "bool": ["True", "False"], "element": ["x[0]", "y[-1]", "m[0, 0]"], "vector": ["x", "y"],
    "ints": ["np.arange(4)", "np.arange(n % 5)"], "matrix": ["m"],
}
# What keeps a value small whatever a loop does with it.
BOUNDED = {"int": "({}) % 50", "float": "({}) % 16.0", "element": "({}) % np.float64(16.0)",
           "vector": "({}) % 16.0", "ints": "({}) % 50", "matrix": "({}) % 16.0"}
FUNCTIONS = """\
def triple(v, k=3):
    return v * k


def scale(v, by=0.5):
    if len(v) > 2:
        return v[1:] * by
    return v[0:] + 1.0


def twice(g, v):
    return g(g(v))


def parakeet_sum(v):
    return parakeet.reduce(parakeet.add, v, init=0.0)
"""


class Writer:
    """Writes one program of the subset."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names = dict(PARAMETERS)
        self.lines: list[str] = []
        self.fresh = 0
        self.functions: list[str] = []  # Nested functions written so far.
        self.returns = False  # Whether a statement may leave: all ways out give a float.

    def value(self, kind: str, depth: int) -> str:
        known = [name for name, of in self.names.items() if of == kind]
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(known or LEAVES[kind])
        form = self.random.choice(FORMS[kind])
        if kind == "float" and self.functions and self.random.random() < 0.3:
            form = self.random.choice(self.functions) + "({vector}, {int})"
        filled = re.sub(r"{(\w+)}", lambda match: self.value(match[1], depth - 1), form)
        return f"({filled})"

    def pick(self, kind: str) -> str | None:
        known = [name for name, of in self.names.items() if of == kind]
        return self.random.choice(known) if known else None

    def new_name(self, kind: str) -> str:
        self.fresh += 1
        self.names[f"{kind[0]}{self.fresh}"] = kind
        return f"{kind[0]}{self.fresh}"

    def write(self, line: str, indent: int) -> None:
        self.lines.append("    " * indent + line)

    def assign(self, indent: int, in_loop: bool) -> None:
        kind = self.random.choice(KINDS)
        value = self.value(kind, 2)
        if in_loop:
            value = BOUNDED.get(kind, "{}").format(value)
        old = self.pick(kind)
        name = old if old and (in_loop or self.random.random() < 0.5) else self.new_name(kind)
        self.write(f"{name} = {value}", indent)

    def augment(self, indent: int, in_loop: bool) -> None:
        kind = self.random.choice(("int", "float", "element", "vector"))
        name = self.pick(kind)
        if name is None:
            return self.assign(indent, in_loop)
        value = self.value("float" if kind == "vector" else kind, 1)
        self.write(f"{name} {self.random.choice(('+=', '-=', '+='))} {value}", indent)
        if in_loop and kind != "vector":
            self.write(f"{name} = {BOUNDED[kind].format(name)}", indent)

    def store(self, indent: int, in_loop: bool) -> None:
        vector, matrix = self.pick("vector"), self.pick("matrix")
        line = self.random.choice((
            f"{vector}[{self.value('int', 1)} % len({vector})] = {self.value('element', 1)}",
            f"{vector}[{self.value('int', 1)}] = {self.value('float', 1)}",
            f"{vector}[1:] = {vector}[:-1] * 0.5",
            f"{vector}[::2] += {self.value('float', 1)}",
            f"{matrix}[0] = {self.value('float', 1)}",
            f"{matrix}[:, 0] = {matrix}[:, -1]",
            f"{matrix}[-1, {self.value('int', 1)} % {matrix}.shape[1]] -= 1",
            f"{vector}[:] = {vector}[::-1]"))
        self.write(line, indent)

    def branch(self, indent: int, in_loop: bool) -> None:
        self.write(f"if {self.value('bool', 2)}:", indent)
        self.block(indent + 1, in_loop, 2)
        if self.random.random() < 0.6:
            self.write("else:", indent)
            self.block(indent + 1, in_loop, 2)

    def loop(self, indent: int, in_loop: bool) -> None:
        self.fresh += 1
        head, names = self.random.choice((
            (f"for i{self.fresh} in range({self.value('int', 1)} % 6):", {f"i{self.fresh}": "int"}),
            (f"for v{self.fresh} in {self.value('vector', 1)}:", {f"v{self.fresh}": "element"}),
            (f"for i{self.fresh}, v{self.fresh} in enumerate({self.value('vector', 1)}):",
             {f"i{self.fresh}": "int", f"v{self.fresh}": "element"}),
            (f"for r{self.fresh} in {self.value('matrix', 1)}:", {f"r{self.fresh}": "vector"})))
        before = dict(self.names)
        self.write(head, indent)
        self.names.update(names)
        self.block(indent + 1, True, 3)
        if self.random.random() < 0.2:
            self.write(f"if {self.value('bool', 1)}:", indent + 1)
            self.write(self.random.choice(("break", "continue")), indent + 2)
            self.assign(indent + 1, True)
        self.names = before

    def element_at(self, index: str) -> str:
        """An element near `index` of a loop that stays one away from both ends."""
        vector = self.pick("vector")
        shift = self.random.choice(("", "", " + 1", " - 1"))
        at = self.random.choice((f"{index}{shift}", f"{index}{shift}", "-1", f"-1 - {index}",
                                 f"{index} // 2", f"int(abs({vector}[{index}])) % len({vector})"))
        return f"{vector}[{at}]"

    def sum_at(self, index: str) -> str:
        parts = [self.element_at(index) for _ in range(self.random.randint(1, 3))]
        return "(" + " + ".join(parts) + ") * " + self.random.choice(("0.5", "0.25", "-0.5"))

    def step_of_nest(self, index: str, total: str, indent: int) -> None:
        value, place = self.sum_at(index), self.element_at(index)
        lines = self.random.choice((
            [f"{place} = {value}"], [f"{place} += {value}"], [f"{total} += {value}"],
            [f"if {value} > {total}:", f"    {total} = {value}"],
            [f"if {place} < {value}:", f"    {place} = {value}", "else:", f"    {total} -= 1.0"],
            [f"{place} = {total}", f"{total} = {total} * 0.5 + {value}"],
            [f"if {place} > 2.0:", "    continue"], [f"if {total} > 100.0:", "    break"],
            [f"{place}, {self.element_at(index)} = {self.element_at(index)}, {place}"]))
        for line in lines:
            self.write(line, indent)

    def nest(self, indent: int, in_loop: bool) -> None:
        """A loop over an index, as users write it element by element; or two, over a matrix."""
        self.fresh += 1
        i, j = f"i{self.fresh}", f"j{self.fresh}"
        total = self.pick("element") or "None"
        if total == "None":
            total = self.new_name("element")
            self.write(f"{total} = np.float64(0.0)", indent)
        length = f"len({self.pick('vector')})"
        vectors = [name for name, of in self.names.items() if of == "vector"]
        shortest = f"min({', '.join(f'len({name})' for name in vectors)}, 9)"
        if self.random.random() < 0.3:
            matrix = self.pick("matrix")
            self.write(f"for {i} in range(1, {matrix}.shape[0]):", indent)
            self.write(f"for {j} in range({matrix}.shape[1]):", indent + 1)
            near = self.random.choice((f"{i} - 1, {j}", f"{i}, {j}", f"{i}, -1", f"0, {j}"))
            self.write(f"{matrix}[{i}, {j}] = {matrix}[{near}] * 0.5 + {self.pick('vector')}[0]",
                       indent + 2)
            if self.random.random() < 0.5:
                self.write(f"{total} += {matrix}[{near}]", indent + 2)
            return
        bound = shortest if self.random.random() < 0.8 else length
        self.write(f"for {i} in range(1, {bound} - 1):", indent)
        for _ in range(self.random.randint(1, 3)):
            self.step_of_nest(i, total, indent + 1)

    def swaps(self, indent: int, in_loop: bool) -> None:
        """A time loop over two arrays that change places."""
        value = self.value("vector", 1)
        u, v = self.new_name("vector"), self.new_name("vector")
        self.write(f"{u} = {value} + 0.0", indent)
        self.write(f"{v} = {u} * 0.0", indent)
        self.write(f"for t in range({self.value('int', 0)} % 5):", indent)
        self.write(f"{v}[1:-1] = ({u}[:-2] + {u}[2:]) * 0.5", indent + 1)
        self.write(self.random.choice((f"{u}, {v} = {v}, {u}", f"{u} = {v}", f"{u}[:] = {v}",
                                       f"{u}, {v} = {v} * 0.5, {u}")), indent + 1)

    def steps(self, indent: int, in_loop: bool) -> None:
        """A time loop whose steps store to nearly all of an array what they make of it."""
        u, v = self.pick("vector"), self.pick("vector")
        old = self.new_name("vector")
        if self.random.random() < 0.5:
            u = self.new_name("vector")
            self.write(f"{u} = {self.value('vector', 1)} + 0.0", indent)
        self.write(f"{old} = {u}[:] * 1.0", indent)
        self.write(f"for t in range({self.value('int', 0)} % 5):", indent)
        if self.random.random() < 0.6:
            self.write(f"{old} = {u}.copy()", indent + 1)
        read = [self.random.choice((u, old, v)) for _ in range(3)]
        step = f"{u}[1:-1] = ({read[0]}[:len({u})][:-2] + {read[1]}[-len({u}):][2:]) * 0.5"
        self.write(step, indent + 1)
        for line in (f"{v}[1:-1] = {v}[2:] - {read[2]}[0]", f"{u}[0] = {u}[-1]",
                     f"{u}[-1] = {old}[0]", f"{v}[:-1] = {old}[0] + {v}[1:] * 0.5"):
            if self.random.random() < 0.3:
                self.write(line, indent + 1)

    def adds_into(self, indent: int, in_loop: bool) -> None:
        """Loops that add to an element that only the outer one moves, in branches or not."""
        u, m = self.pick("vector"), self.pick("matrix")
        self.fresh += 1
        i, j = f"i{self.fresh}", f"j{self.fresh}"
        self.write(f"for {i} in range(min(len({u}), {m}.shape[0], 7)):", indent)
        self.write(f"for {j} in range(min({m}.shape[1], 9)):", indent + 1)
        places = [f"{u}[{i}]", f"{u}[{i}]", f"{u}[0]", f"{u}[-1]", f"{m}[{i}, {j}]",
                  f"{m}[{i}, 0]"]  # fmt: skip
        deeper = indent + 2
        if self.random.random() < 0.6:
            condition = (f"{i} != {j}", f"{m}[{i}, {j}] > {self.value('float', 0)}")
            self.write(f"if {self.random.choice(condition)}:", deeper)
            self.write(f"{self.random.choice(places)} += {m}[{i}, {j}] * 0.5", deeper + 1)
            if self.random.random() < 0.5:
                self.write("else:", deeper)
                self.write(f"{self.random.choice(places)} -= 0.25", deeper + 1)
        else:
            self.write(f"{self.random.choice(places)} += {self.random.choice(places)} * 0.25",
                       deeper)
        if self.random.random() < 0.3:
            self.write(f"{self.random.choice(places)} -= {m}[{i}, {j}]", deeper)

    def triangle(self, indent: int, in_loop: bool) -> None:
        """Loops over what lies behind a row and a column."""
        m = self.pick("matrix")
        self.fresh += 1
        i, j, k = f"i{self.fresh}", f"j{self.fresh}", f"k{self.fresh}"
        begins = [self.random.choice((f"{k} + 1", f"{k} + 1", f"{k}", "0")) for _ in range(2)]
        self.write(f"{k} = abs({self.value('int', 0)}) % 3", indent)
        self.write(f"for {i} in range({begins[0]}, min({m}.shape)):", indent)
        if self.random.random() < 0.5:
            self.write(f"{m}[{i}, {k} - {k}] *= 0.5", indent + 1)
        self.write(f"for {j} in range({begins[1]}, min({m}.shape)):", indent + 1)
        near = self.random.choice((f"{i}, {k} % {m}.shape[1]", f"{k} % {m}.shape[0], {j}",
                                   f"{j}, {i}", f"{i} - 1, {j}"))
        self.write(f"{m}[{i}, {j}] -= {m}[{near}] * 0.5", indent + 2)

    def leave(self, indent: int, in_loop: bool) -> None:
        """A way out of a nested function, or a chain of them."""
        self.write(f"if {self.value('bool', 1)}:", indent)
        self.write(f"return float({self.value('float', 1)})", indent + 1)
        if self.random.random() < 0.4:
            self.write(f"elif {self.value('bool', 1)}:", indent)
            self.random.choice((self.leave, self.assign, self.loop))(indent + 1, in_loop)
        if self.random.random() < 0.3:
            self.write("else:", indent)
            self.block(indent + 1, in_loop, 2)

    def function(self, indent: int, in_loop: bool) -> None:
        """A nested function with ways out of branches and loops; it captures the matrix."""
        self.fresh += 1
        name = f"g{self.fresh}"
        before, outer = dict(self.names), self.returns
        self.write(f"def {name}(u{self.fresh}, k{self.fresh}):", indent)
        # Only parameters may be captured: what is assigned below would be a name of its own.
        self.names = {"m": "matrix", f"u{self.fresh}": "vector", f"k{self.fresh}": "int"}
        self.returns = True
        for _ in range(self.random.randint(2, 4)):
            self.statement(indent + 1, False)
        self.write(f"return float({self.value('float', 1)})", indent + 1)
        self.names, self.returns = before, outer
        self.functions.append(name)

    def bounded_while(self, indent: int, in_loop: bool) -> None:
        counter = f"w{self.fresh}"
        self.fresh += 1
        self.write(f"{counter} = {self.value('int', 1)} % 5", indent)
        self.write(f"while {counter} > 0 and {self.value('bool', 1)}:", indent)
        self.write(f"{counter} -= 1", indent + 1)
        self.block(indent + 1, True, 2)

    def block(self, indent: int, in_loop: bool, most: int) -> None:
        """Names that are new inside a block may be unbound after it, so it leaves none."""
        before = dict(self.names)
        for _ in range(self.random.randint(1, most)):
            self.statement(indent, in_loop)
        self.names = before

    def statement(self, indent: int, in_loop: bool) -> None:
        steps = [self.assign, self.assign, self.assign, self.augment, self.store]
        if self.returns:
            steps += [self.leave, self.leave]
        if indent == 1 and not self.returns:
            steps.append(self.function)
        if indent < 3:
            steps += [self.branch, self.loop, self.bounded_while, self.nest, self.nest, self.swaps,
                      self.steps, self.adds_into, self.triangle]
        self.random.choice(steps)(indent, in_loop)

    def program(self) -> str:
        for _ in range(self.random.randint(2, 7)):
            self.statement(1, False)
        results = [name for name in self.names if name not in PARAMETERS] or ["n"]
        self.write(f"return {', '.join(results)},", 1)
        body = "\n".join(self.lines)
        return f"{FUNCTIONS}\n\ndef f(x, y, m, n, a):\n{body}\n"


# What breaks a program: lines, and values put in the place of names and numbers.
BAD_LINES = (
    "try:\n    pass\nexcept ValueError:\n    pass", "global x", "nonlocal x", "import os",
    "del x[0]", "del x", "with x:\n    pass", "yield x", "yield", "return", "return x",
    "return None, x", "raise ValueError(f'bad {n}')", "raise x", "assert n > 100, 'small'",
    "assert x", "x = x,", "x = None", "n = x", "x = n", "m = m[0]", "x = m",
    "while True:\n    break", "for x in x:\n    pass", "for i in 3:\n    pass",
    "for i in range(0, 5, 0):\n    pass", "x.shape = 3, 1", "x.foo = 1", "x, y = y", "n, *a = x",
    "a, b = n", "x[0] = x", "x[0] = 'a'", "x[...] = m", "m[0, 0, 0] = 1", "x[1.5] = 1", "x += m",
    "n += x", "class C:\n    pass", "match n:\n    case 1:\n        pass",
    "async def g():\n    pass", "x = lambda: x", "x = [x, m]", "x = f(x, y, m, n, a)", "f(x)",
    "unknown(x)", "x = np.unknown(x)", "x.unknown()", "print(x)", "x = parakeet.map(x, x)",
    "x = parakeet.reduce(lambda v: v, x)", "n = 1 // 0", "n = n / 0", "x = x[:0].max()",
    "n = 1 << n % 60", "x = np.array([])", "x = np.array([[1], [1, 2]])", "x = np.zeros(-1)",
    "x = np.zeros((2, 'a'))", "x = np.zeros(10**15)", "x = x.reshape(3, -1, -1)",
    "x = x.sum(axis=5)", "x = x.sum(axis=n)", "n = 10**18 * 10", "n = 99999999999999999999",
    "pass", "continue", "break", "def g(v):\n    return g(v)\nn = g(n)",
    "def g(v):\n    return g(v - 1) if v > 0 else v\nn = g(n)", "x = x @ m", "x = x @ x.T @ m",
    "n = len(n)", "n = int('3')", "n = ~a", "x = x if n else m",
    "x = np.array([v for v in x if v > 0])", "n = sum(v for v in x)", "x = (v for v in x)",
    "n = {1: n}[1]", "n = {n}", "n = [n][0]", "n = (n, x)[n]", "n = 'abc'[0]", "x = x == None",
    "if x is None:\n    n = 1", "if x:\n    n = 1", "n = n and x", "n = x or n", "x = x[[0, 1]]",
    "x = x[x > 0]", "x = x[None, ..., None]", "x = x[..., ...]", "n: int = 3", "n: int",
    "(n := 4)", "x = -'a'", "x = x.T.T.T", "x = x[slice(None, n)]", "f.x = 1", "np.pi = 3",
    "x = np", "n = np.pi", "x = parakeet", "n = f", "x = type(x)", "x = x.dtype", "n = n.real",
)
BAD_VALUES = ("None", "'a'", "1.5", "x", "m", "n", "()", "(1, x)", "-1", "True",
              "unknown", "np.nan", "lambda v: v", "f", "np", "10**30", "2**62", "2**63",
              "-2**62", "1j", "x[0]", "slice(1, 2)", "...", "b'a'", "f'{n}'",
              "np.float32(1.5)", "np.int8(100)", "{}", "{1}", "*x", "x[n]", "0", "1e400",
              "len", "range(3)", "1 if n else x")
TOKENS = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|[^\s\w]")


def break_lines(lines: list[str], chance: random.Random) -> list[str]:
    """Inserts a bad line, or deletes, repeats or swaps lines."""
    at = chance.randrange(len(lines))
    what = chance.random()
    if what < 0.6:
        indent = re.match(r" *", lines[at])[0]
        bad = [indent + part for part in chance.choice(BAD_LINES).split("\n")]
        return lines[:at] + bad + lines[at:]
    if what < 0.75:
        return lines[:at] + lines[at + 1:]
    if what < 0.85:
        return lines[:at] + [lines[at]] + lines[at:]
    other = chance.randrange(len(lines))
    lines = list(lines)
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def break_tokens(lines: list[str], chance: random.Random) -> list[str]:
    """Puts a bad value in the place of a token, or deletes it or repeats it."""
    at = chance.randrange(len(lines))
    tokens = list(TOKENS.finditer(lines[at]))
    if not tokens:
        return lines
    token = chance.choice(tokens)
    new = chance.choice((chance.choice(BAD_VALUES), chance.choice(BAD_VALUES), "", token[0] * 2))
    line = lines[at][:token.start()] + new + lines[at][token.end():]
    return lines[:at] + [line] + lines[at + 1:]


def is_python(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<program>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def break_program(source: str, chance: random.Random) -> str:
    """A program near the subset that Python still compiles."""
    opening, body = source.split("def f(x, y, m, n, a):\n")
    wanted = chance.randint(1, 3)
    for _ in range(40):
        change = break_lines if chance.random() < 0.6 else break_tokens
        lines = change(body.rstrip("\n").split("\n"), chance)
        changed = f"{opening}def f(x, y, m, n, a):\n" + "\n".join(lines) + "\n"
        if is_python(changed):
            source, body, wanted = changed, "\n".join(lines) + "\n", wanted - 1
        if wanted == 0:
            break
    return source


def cases(seed: int) -> list[int]:
    """Which arguments a program is judged on."""
    return [0, 1 + seed % (len(ARGUMENTS) - 1)]


def make_arguments(which: int) -> tuple:
    """Floats of few binary digits, so that their sums are exact in any order."""
    length, shape, n, a, how = ARGUMENTS[which]
    random = np.random.default_rng(which)
    buffer, m = (random.integers(-16, 17, size) / 4.0 for size in (2 * length, shape))
    x, y = {"apart": (buffer[:length].copy(), buffer[length:].copy()),
            "overlapping": (buffer[:length], buffer[1:length + 1]),
            "reversed": (buffer[::-2], buffer[1::2].copy()),
            "one": (buffer, buffer)}[how]
    return x, y, m if how != "reversed" else np.asfortranarray(m), n, a


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and whether it is of the subset: two of three are."""
    source = Writer(seed).program()
    chance = random.Random(seed ^ 0x5EED)
    if seed % 3:
        return source, True
    return break_program(source, chance), False
