"""Random programs of names that share arrays, loops and stores in place: one kind of fuzz.py.

Vectors of one length and matrices of such rows are given to one another's names, swapped, copied,
stored to whole, by slices and by elements, in loops that may not run and in branches.
"""

import random

import numpy as np

HEAD = "def f(a, b, M, n, m, r, z, k):\n"
BEGIN = ("c = a * 0.5", "d = b", "N = M.copy()", "s = 0.0", "q = 1.0")
END = "return (a, b, c, d, M, N, float(s), float(q),)"
VECTORS, MATRICES = "abcd", "MN"
# n, m (what loops run to), and how the arguments lie: z is 0, and r the rows of a matrix.
LENGTHS = ((4, 2), (5, 0), (37, 3), (1, 2), (2, 3))
ARGUMENTS = tuple((n, m, how) for how in ("apart", "same", "overlapping", "row", "turned")
                  for n, m in LENGTHS)


def cases(seed: int) -> list[int]:
    """Three lengths of one way to lie."""
    chance = random.Random(seed)
    way = chance.choice((0, 0, 0, 1, 2, 3, 4))
    return [len(LENGTHS) * way + k for k in chance.sample(range(len(LENGTHS)), 3)]


def make_arguments(which: int) -> tuple:
    n, m, how = ARGUMENTS[which]
    chance = np.random.default_rng(which)
    buffer, matrix = (chance.integers(-8, 9, size) / 4.0 for size in (2 * n, (3, n)))
    a, b = buffer[:n].copy(), buffer[n:].copy()
    if how == "same":
        b = a
    if how == "overlapping":
        a, b = buffer[:n], buffer[1:n + 1]
    if how == "row":
        b = matrix[1]
    if how == "turned":
        matrix, b = np.asfortranarray(matrix), buffer[::-2]
    return a, b, matrix, n, m, 3, 0, 2


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.fresh = 0

    def any(self, *choices: str) -> str:
        return self.random.choice(choices)

    def write(self, indent: int, *lines: str) -> None:
        self.lines += ["    " * indent + line for line in lines]

    # Places, of which indexes of the loops around are the likeliest.

    def place(self, loops) -> str:
        plain = ("0", "n - 1", "k", "-1", "1")
        of_loops = [form.format(loop) for loop in loops
                    for form in ("{} % n", "{} % n", "({} + 1) % n", "n - 1 - {} % n")]
        return self.any(*plain, *of_loops)

    def row(self, loops) -> str:
        return self.any("0", "1", "-1", *(f"{loop} % r" for loop in loops))

    def vector_name(self) -> str:
        return self.any(*VECTORS)

    def matrix_name(self) -> str:
        return self.any(*MATRICES)

    # Values.

    def scalar(self, loops, depth: int = 0) -> str:
        v, w = self.vector_name(), self.matrix_name()
        choices = ["0.5", "2.0", "s", "q", f"{v}[{self.place(loops)}]",
                   f"{w}[{self.row(loops)}, {self.place(loops)}]",
                   *(f"float({loop})" for loop in loops)]
        if depth < 2:
            first, second = self.scalar(loops, depth + 1), self.scalar(loops, depth + 1)
            choices += [f"({first} {self.any('+', '-', '*')} 0.5 * {second})",
                        f"max({first}, {second})", f"{v}.sum() * 0.125", f"{v}.max()",
                        f"{w}.min()", f"({first} if {second} > 0.25 else {second})"]
        return self.any(*choices)

    def vector(self, loops, depth: int = 0) -> str:
        v, w = self.vector_name(), self.matrix_name()
        choices = [v, v, f"{w}[{self.row(loops)}]", f"{v}[::-1]", f"np.roll({v}, 1)"]
        if depth < 2:
            first, second = self.vector(loops, depth + 1), self.vector(loops, depth + 1)
            operator = self.any("+", "-", "* 0.5 *", "* 0.25 +")
            choices += [f"({first} {operator} {second})", f"({self.scalar(loops, 1)} * {first})",
                        f"np.maximum({first}, {second})",
                        f"np.where({first} > {self.scalar(loops, 2)}, {first}, {second})",
                        f"np.abs({first})", f"{w}.sum(axis=0) * 0.25",
                        f"np.cumsum({first}) * 0.125", f"np.sort({first})",
                        f"{w}.T[:, 0]", f"np.concatenate(({v}[1:], {v}[:1]))"]
        return self.any(*choices)

    def matrix(self, loops) -> str:
        w, other = self.matrix_name(), self.matrix_name()
        return self.any(f"{w} * 0.5", f"{w} + {self.vector(loops, 1)}", f"{w} - {other}",
                        f"{w}[::-1] + 0.0", f"{w}[::-1]", f"np.roll({w}, 1, axis=0)",
                        f"np.stack(({self.vector(loops, 2)}, {self.vector_name()}, "
                        f"{self.vector_name()}))")

    def near(self, loops, index: str, low: str, high: str) -> str:
        """An element at or beside the index of a loop over elements, or two of them."""
        v = self.vector_name()
        choices = [f"{v}[{index}]", f"{self.matrix_name()}[{self.row(loops)}, {index}]", "s",
                   f"{v}[{self.place(loops)}]"]
        choices += [f"{v}[{index} - 1]"] if low == "1" else []
        choices += [f"{v}[{index} + 1]"] if high == "n - 1" else []
        first, second = self.any(*choices), self.any(*choices)
        return self.any(first, f"{first} + 0.5 * {second}", f"{first} * 0.5 - {second}",
                        f"max({first}, {second})")

    # Statements.

    def simple(self, loops) -> list[str]:
        u, v, w = self.vector_name(), self.vector_name(), self.matrix_name()
        other = self.random.choice([name for name in VECTORS if name != u])
        vector, scalar = self.vector(loops), self.scalar(loops)
        at, row = self.place(loops), self.row(loops)
        return self.random.choice((
            [f"{u} = {v}"], [f"{u} = {vector}"], [f"{u} = {vector}"], [f"{u} = {v}.copy()"],
            [f"{u}[{at}] = {scalar}"], [f"{u}[{at}] += {scalar}"], [f"{u}[1:] = {v}[:-1]"],
            [f"{u}[1:-1] += 0.5 * {v}[2:] - {v}[:-2] * 0.25"], [f"{u}[:] = {vector}"],
            [f"{u} += {vector}"], [f"{u} *= 0.5"], [f"{u}, {other} = {other}, {u}"],
            [f"{u}, {other} = {other}, {vector}"], [f"s = {scalar} * 0.5"], [f"q = {scalar}"],
            [f"s += {u}[{at}] * 0.25"], [f"{u} = np.zeros(n)"], [f"{u} = np.ones_like({v})"],
            [f"{u} = {w}[{row}]"], [f"M[{row}] = {vector}"], [f"N[:, {at}] = s"],
            [f"N[{row}] += {vector}"], [f"M = {self.matrix(loops)}"], ["N = M"], ["M, N = N, M"],
            [f"M, N = N, {self.matrix(loops)}"], [f"{u}[::2] = {scalar}"],
            [f"{u}[n // 2:] *= {scalar}"], [f"{u} = np.empty(n)", f"{u}[:] = s * 0.5"],
            [f"{u} = np.minimum(np.abs({vector}), 3.0)"], [f"{u}[::-1] = {v}"],
            [f"{u}[{v} > 0.25] = 0.5"], ["M[:, 1:] = N[:, :-1]"], ["M[0], M[1] = M[1], M[0]"],
            [f"{u} = {v}[::-1]"], [f"M[1:] = {w}[:-1]"], [f"{u} = M[:, 0] if n == 3 else {v}"],
            [f"{u}[{at}], {u}[0] = {v}[0], {v}[{at}]"], [f"M += {w}"], [f"{u}.sort()"],
            [f"{u}[:] = {w}[{row}]"], [f"np.add({u}, {v}, out={u})"]))

    def over_elements(self, loops, indent: int, index: str) -> None:
        low, high = self.random.choice((("0", "n"), ("1", "n"), ("1", "n - 1"), ("0", "n - 1")))
        u, v = self.vector_name(), self.vector_name()
        value, other = (self.near(loops, index, low, high) for _ in range(2))
        self.write(indent, f"for {index} in range({low}, {high}):")
        self.write(indent + 1, self.any(
            f"{u}[{index}] = {value}", f"{u}[{index}] += {value}", f"s = max(s, {value})",
            f"s += {value} * 0.125", f"M[{self.row(loops)}, {index}] = {value}"))
        self.write(indent + 1, *self.random.choice((
            [], [], [f"{v}[{index}] = {other}"], [f"q += {other} * 0.125"],
            [f"N[{self.row(loops)}, {index}] *= 0.5"],
            [f"if {other} > s:", f"    {v}[{index}] = {self.scalar(loops, 1)}"],
            [f"if {other} > 3:", "    break"], [f"if {other} < 0:", "    continue", "q += 0.25"])))

    def nested(self, loops, depth: int, indent: int) -> None:
        self.fresh += 1
        index = f"t{self.fresh}"
        kind = self.any("for", "for", "for", "if", "while", "elements", "elements")
        if kind == "elements":
            self.over_elements(loops, indent, index)
        elif kind == "for":
            self.write(indent, f"for {index} in range({self.any('m', 'm', '2', '3', 'n', 'z')}):")
            self.block([*loops, index], depth + 1, indent + 1)
        elif kind == "while":
            self.write(indent, f"{index} = 0", f"while {index} < m and s < 50.0:")
            self.block([*loops, index], depth + 1, indent + 1)
            self.write(indent + 1, f"{index} += 1")
        else:
            self.write(indent, f"if {self.scalar(loops)} > {self.scalar(loops)}:")
            self.block(loops, depth + 1, indent + 1)
            if self.random.random() < 0.5:
                self.write(indent, "else:")
                self.block(loops, depth + 1, indent + 1)

    def block(self, loops, depth: int, indent: int) -> None:
        for _ in range(self.random.randint(1, 4 if depth else 5)):
            if depth < 3 and self.random.random() < 0.22:
                self.nested(loops, depth, indent)
            else:
                self.write(indent, *self.simple(loops))

    def program(self) -> str:
        self.write(1, *BEGIN)
        self.block([], 0, 1)
        self.write(1, END)
        return HEAD + "".join(f"{line}\n" for line in self.lines)


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
