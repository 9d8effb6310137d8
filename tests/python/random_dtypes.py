"""Random programs of arrays and scalars of every dtype, at its edges: one kind of fuzz.py.

Integers wrap around, floats are nan, infinite or -0, NumPy's scalars and Python's meet arrays of
other dtypes, and every result has the dtype that NumPy gives it. Forms are tried, as those of
random_arrays.py: NumPy runs each statement as it is added.
"""

import random
import re
import warnings

import numpy as np
from layouts import lay_out

DTYPES = {"b": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
          "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32",
          "f8": "float64", "c8": "complex64", "c16": "complex128"}
NAMES = [*DTYPES, "M1", "M2", "N2", "N4", "s1", "s2", "s4", "s8", "k", "a", "is_so"]
HEAD = f"def f({', '.join(NAMES)}):\n"
SIZES = (7, 33, 1, 70, 4, 300)
TRIED_ON = (0, 1)
LAYOUTS = ("C", "C", "reversed", "strided", "unaligned", "broken_stride", "read_only")
TYPES = tuple(DTYPES.values())
# {i} is an array of integers, {u} an unsigned one, {f} of floats, {b} of bools, {c} complex, {n} of
# integers or floats, {a} of anything; {v}, {q} and {o} are vectors of what {n}, {i} and {u} are of;
# {e} is a NumPy scalar, {p} a Python one, {t} a dtype, {d} one of integers. {=n} is the same {n}
# once more, and {=x} what was called so in {n:x}.
FORMS = """\
{n} + {n}
{n} - {n}
{n} * {n}
{n} / {n}
{n} // {n}
{n} % {n}
{i} + {i}
{i} * {i}
{i} - {i}
{i} // {i}
{i} % {i}
{i} & {i}
{i} | {i}
{i} ^ {i}
~{i}
-{n}
abs({n})
{i} << ({i} & 7)
{i} >> ({i} & 7)
{i} << {i}
{u} >> {u}
{i} ** 2
{u} ** 3
2 ** {u}
{u} ** {u}
{n} + {p}
{p} - {n}
{n} * {p}
{n} // {p}
{p} // {n}
{n} % {p}
{n} / {p}
{n} + {e}
{e} * {n}
{e} - {n}
{n} // {e}
{n} % {e}
{n} > {n}
{n} <= {n}
{n} == {n}
{n} != {p}
{n} < {p}
{e} < {n}
{i} > {i}
{i} == {i}
{b} + {b}
{b} * {b}
{b} & {b}
{b} | {b}
{b} ^ {b}
~{b}
{b} + {n}
{b} * {n}
{b} + 1
{b} * 2.5
{b} / {b}
{b} < {b}
np.where({b}, {n}, {n})
np.where({b}, {n}, {p})
np.where({b}, {p}, {n})
np.where({b}, {e}, {n})
np.where({n} > {n}, {i}, {i})
np.minimum({n}, {n})
np.maximum({n}, {n})
np.minimum({n}, {p})
np.maximum({e}, {n})
np.fmin({f}, {f})
np.fmax({f}, {n})
np.clip({n}, 1, 5)
np.clip({n}, {e}, None)
np.clip({f}, -1, 2.5)
np.sign({n})
np.signbit({f})
np.copysign({f}, {f})
np.square({n})
np.sqrt({u})
np.sqrt(abs({f}))
np.exp(-abs({f}))
np.exp(-({u} % 5).astype(np.float32))
np.log1p({u})
np.sin({b})
np.floor({n})
np.rint({f})
np.trunc({f})
np.ceil({f} * 0.5)
np.isnan({f})
np.isfinite({f})
np.hypot({n}, {f})
np.arctan2({f}, {n})
np.reciprocal({f})
1 / {f}
1 / ({f} * 0)
np.logical_and({n}, {n})
np.logical_xor({b}, {n})
np.logical_not({n})
np.bitwise_count({i})
np.gcd({i} // 3, {i})
np.left_shift({i}, 3)
np.floor_divide({n}, {n})
np.remainder({n}, {n})
np.fmod({n}, {n})
np.divmod({n}, {n})[0]
np.divmod({i}, 3)[1]
np.power({f}, 2)
np.heaviside({f}, 0.5)
np.nan_to_num({f})
np.add({n}, {n}, dtype=np.float64)
np.multiply({i}, {i}, dtype=np.int64)
np.subtract({n}, {n})
np.float32({p}) * {n}
np.float16(1.5) + {n}
np.int8(100) + {i}
np.uint8(200) * {u}
np.uint64(3) + {i}
np.int64(3) * {f}
np.bool_(True) + {n}
{i}.astype(np.{t})
{b}.astype(np.{t})
np.clip(np.nan_to_num({f}), 0, 100).astype(np.{d})
{f}.astype(np.float16)
{f}.astype(np.float32)
{c}.astype(np.complex64)
{c} + {n}
{c} * {f}
{c} - {c}
{c} * {c}
{c} * {p}
{c} * 1j
abs({c})
{c}.real
{c}.imag + {n}
{c} == {c}
np.conj({c})
{n} * 1j
{n} + 2j
{n}.sum()
{n}.sum(axis=0)
{i}.prod()
{n}.mean()
{f}.max()
{n}.min()
{n}.argmax()
{n}.argmin()
{b}.sum()
{b}.any()
{b}.mean()
{n}.any()
{n}.all()
{i}.sum(dtype=np.{d})
{u}.sum(dtype=np.uint8)
{i}.mean(dtype=np.float32)
{n}.cumsum()
{i}.cumprod()
{b}.cumsum()
np.cumsum({i}, dtype=np.{d})
np.add.reduce({i})
np.bitwise_xor.reduce({i})
np.bitwise_and.reduce({i})
np.maximum.accumulate({n})
np.minimum.accumulate({f})
np.multiply.accumulate({u})
np.subtract.accumulate({i})
np.nanmax({f})
np.nansum({f})
np.ptp({n})
np.diff({n})
np.diff({b})
np.sort({n})
np.sort({b})
np.argsort({n}, kind='stable')
np.unique({i})
np.dot({i}, {i})
np.dot({n}, {i})
({i} @ {u})
({b} @ {b})
np.outer({i}, {i})
np.inner({u}, {u})
np.bincount({u} % 9)
np.concatenate(({n}, {n}))
np.stack(({n}, {n}))
np.array([{e}, {p}, {e}])
np.array([{p}, {p}])
np.full(3, {e})
np.full_like({n}, 3)
np.zeros(2, np.{t}) + {p}
np.arange({e} % 9)
np.arange(3, dtype=np.{d}) * {i}[:1]
np.isclose({f}, {f})
np.searchsorted(np.sort({n}), {n})
{n}[{b}]
{a}[::-1]
{i}[{u} % {i}.shape[0]]
np.take({n}, {i} % len({n}))
{n}[:, None] * {n}
({n} * {n}).sum()
({i} == {i}).sum()
({u} - {u}).max()
({i} + {i}).argmin()
({n} > {p}).sum()
{e} + {e}
{e} * {e}
{e} - {e}
{e} // {e}
{e} % {e}
{e} / {e}
{e} + {p}
{p} * {e}
{e} - {p}
{p} // {e}
{e} % {p}
{e} ** 2
{e} & {e}
{e} << 3
{e} >> 1
~{e}
-{e}
abs({e})
{e} < {e}
{e} == {p}
bool({e} and {e})
bool({e} or {p})
not {e}
float({e} if {e} > {e} else {p})
float(max({e}, {e}))
float(min({e}, {p}))
int(max({e}, {e}, {e}) > 0)
int({e})
float({e})
bool({e})
round({e})
divmod({e}, {e})[1]
np.{t}({p})
np.{t}({e})
np.sqrt({e})
np.abs({e})
np.maximum({e}, {p})
np.where({e} > {p}, {e}, {p})
({e} + {e}) * {n}
{n}[0] + {n}[-1]
{n}[0] * {p}
{p} - {n}[0]
sum({v})
max({v})
min({v})
{e}.dtype == np.{t}""".split("\n")
STORES = """\
{w} += 1
{w} -= {w}
{w} *= 2
{w} //= 3
{w} %= 5
{w} <<= 1
{w} ^= {w}
{w} &= 15
{w} += {n}
{w} -= {i}
{w} *= {f}
{w} /= 2
{w} **= 2
{w}[0] = {w}[-1]
{w}[0] = {w}[1] * 0
{w}[0] = s1 % 9
{w}[-1] += {e} % 3
{w}[1:] = {i}[:-1]
{w}[:] = {i}
{w}[:] = {b}
{w}[::2] = {p}
{w}[{b}] = {=w}[1]
{w}[{b}] += 1
{w}[{=w:x} > {p}] = 0
{w}[0] *= {w}[-1]
{w}[0] -= 1
{w}.fill({p})
np.add({w}, {w}, out={=w})
np.add.at({w}, {u} % len({=w}), 1)""".split("\n")
LOOPS = """\
{m} = {z}|for v in {v}:|    {m} = {m} + v
{m} = {z}|for v in {v}:|    {m} += v * {p}
{m} = {z}|for v in {v}:|    if v > {m}:|        {m} = v
{m} = {z}|for v in {q}:|    {m} = {m} ^ v
{m} = {z}|for v in {q}:|    {m} = ({m} * 31 + v) & 255
{m} = {v}[0]|for v in {=v}:|    {m} = max({m}, v)
{m} = {q}[0]|for v in {=q}:|    {m} += v
{m} = {q}[0]|for v in {=q}:|    {m} = {m} * 3 - v
{m} = {e}|for v in range(5):|    {m} = {m} * {p}
{m} = {e}|for v in range(9):|    {m} += {m}
{m} = {v} * 1|for v in range(len({=v})):|    {m}[v] = {v}[v]
{m} = {q} + 0|for v in range(len({m})):|    {m}[v] = {m}[v - 1] + {=q}[v]
{m} = {q} + 0|for v in range(1, len({m})):|    {m}[v] += {m}[v - 1] * 3
{m} = {o} + 0|for v in range(len({m})):|    {m}[v] -= {=o}[0]
{m} = np.zeros(len(b), np.{d})|for v in range(len(b)):|    {m}[v] = v * 77 % 100
{m} = np.zeros(len(b), np.{d})|for v in range(len(b)):|    {m}[{o}[v] % len(b)] += 1
{m} = 0|for v in range(len(b)):|    {m} += {b}[v] and {v}[v] > 1
{m} = 0|for v in range(len(b)):|    {m} += int({q}[v]) & 63
{m} = 0|for v in range(len(b)):|    if {q}[v] > {q}[v]:|        {m} += 1
{m} = 0|for v in range(len(b)):|    if {v}[v] != {v}[v - 1]:|        {m} = v|        break
{m} = np.array([v + {p} for v in {v}])
{m} = np.array([v * v for v in {q}])
{m} = np.array([-v for v in {v}])
{m} = np.array([v > {e} for v in {v}])""".split("\n")
KINDS = {"v": "iuf", "q": "iu", "o": "u", "i": "iu", "u": "u", "f": "f", "b": "b", "c": "c",
         "n": "iuf", "a": "iufbc", "w": "iuf"}
PLACE = re.compile(r"{([a-z])(?::(\w))?}")
AGAIN = re.compile(r"{=(\w)(?::\w)?}")
ATTEMPTS = 60


def cases(seed: int) -> list[int]:
    """Three sizes of several layouts, with the first once more: code for others is there then."""
    chance = random.Random(seed)
    first, *others = (chance.randrange(len(LAYOUTS)) * len(SIZES) + size
                      for size in chance.sample(range(len(SIZES)), 3))
    return [first, *others, first]


def edges(dtype: str, n: int, chance) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return chance.random(n) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        special = [limits.min, limits.max, 0, 1, 2, limits.max // 2 + 1, limits.max - 1]
        special += [-1, -2, limits.min + 1] if dtype.kind == "i" else []
        x = chance.integers(max(limits.min, -20), min(limits.max, 100), n).astype(dtype)
        return np.where(chance.random(n) < 0.3, np.array(special, dtype)[
            chance.integers(0, len(special), n)], x)
    x = chance.integers(-14, 15, n) / 4.0
    if dtype.kind == "c":
        return (x + 0.5j * chance.integers(-9, 9, n)).astype(dtype)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])[chance.integers(0, 5, n)]
    return np.where(chance.random(n) < 0.15, special, x).astype(dtype)


def make_arguments(which: int) -> tuple:
    n, layout = SIZES[which % len(SIZES)], LAYOUTS[which // len(SIZES)]
    chance = np.random.default_rng(which)
    arrays = [edges(dtype, n, chance) for dtype in TYPES]
    planes = [edges(dtype, 3 * n, chance).reshape(3, n)
              for dtype in ("int8", "uint8", "float16", "float32")]
    if layout != "C":
        arrays, planes = ([lay_out(x, layout) for x in xs] for xs in (arrays, planes))
    scalars = [np.int8(chance.integers(-128, 128)), np.uint8(chance.integers(0, 256)),
               np.float32(chance.integers(-9, 9) / 4), np.uint64(2**63 + which)]
    return (*arrays, *planes, *scalars, 3, 0.75, bool(which % 2))


class Unsuitable(Exception):
    pass


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.made: list[str] = []
        self.writable: list[str] = []
        self.worlds = [execute([], which) for which in TRIED_ON]

    def word(self, kind: str) -> str | None:
        arrays = ["i1", "u1", "i2", "f4"]
        words = {"p": ["1", "2", "-1", "3", "0.5", "-2.5", "k", "a", "100", "True", "is_so", "7"],
                 "t": list(TYPES), "d": [t for t in TYPES if "int" in t],
                 "e": ["s1", "s2", "s4", "s8", *(f"{name}[{self.random.choice('0k')} - 1]"
                                                for name in (*DTYPES, *arrays) if name[0] != "c"),
                       *(name for name in self.made
                         if isinstance(self.worlds[0].get(name), np.generic))],
                 "z": ["0"],
                 "m": [f"t{len(self.lines)}"]}
        return self.random.choice(words[kind]) if kind in words else None

    def known(self, kind: str) -> str:
        names = self.writable if kind == "w" else [*NAMES, *self.made * 2]
        found = [name for name in names if isinstance(self.worlds[0].get(name), np.ndarray)
                 and self.worlds[0][name].dtype.kind in KINDS[kind]
                 and (kind not in "vqo" or self.worlds[0][name].ndim == 1)]
        if not found:
            raise Unsuitable
        return self.random.choice(found)

    def fill(self, form: str) -> str:
        called: dict[str, str] = {}

        def one(match):
            kind, name = match.groups()
            if kind == "m" and "m" in called:
                return called["m"]
            found = self.word(kind) or self.known(kind)
            called[name or kind] = found
            return found

        return AGAIN.sub(lambda match: called[match[1]], PLACE.sub(one, form))

    def run(self, lines: list[str]) -> bool:
        try:
            worlds = [execute([*self.lines, *lines], which) for which in TRIED_ON]
        except Unsuitable:
            return False
        self.lines, self.worlds = [*self.lines, *lines], worlds
        return True

    def attempt(self, forms, name: str = "") -> bool:
        for _ in range(ATTEMPTS):
            try:
                text = self.fill(self.random.choice(forms))
            except Unsuitable:
                continue
            if self.run([f"{name} = {text}"] if name else text.split("|")):
                return True
        return False

    def add(self) -> None:
        name = f"t{len(self.lines)}"
        kind = self.random.random()
        if kind < 0.7:
            if self.attempt(FORMS, name):
                self.made.append(name)
        elif kind < 0.85:
            if self.attempt(LOOPS):
                self.made.append(name)
        else:
            if self.run([f"{name} = {self.known('n')}.copy()"]):
                self.made.append(name)
                self.writable.append(name)
            self.attempt(STORES)

    def program(self) -> str:
        for _ in range(self.random.randint(3, 9)):
            self.add()
        made = self.made or ["i1"]
        kept = self.random.sample(made, min(len(made), self.random.randint(2, 5)))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"{HEAD}{body}    return ({', '.join(kept)},)\n"


def execute(lines: list[str], which: int) -> dict:
    world = dict(zip(NAMES, make_arguments(which), strict=True)) | {"np": np}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec("\n".join(lines), world)
        except Exception as error:
            raise Unsuitable from error
    for value in world.values():
        if isinstance(value, int) and not abs(value) < 2**62:
            raise Unsuitable
        if isinstance(value, np.ndarray) and value.size > 10_000:
            raise Unsuitable
    return world


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
