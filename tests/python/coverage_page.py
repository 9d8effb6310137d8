"""What of NumPy jitted code has, found by calling: each function, each argument, against NumPy.

A probe is a call of numpy_table.py with one argument added or changed. It works where the jitted
function gives in the interpreter what NumPy gives: value, dtype, shape, exception, what is left in
the arguments, whose memory the result is.
"""

import ast
import functools
import inspect
import math
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy_table as table
from agreement import Tolerance, bound_for, check_outcome, run
from from_source import define
from layouts import values

import parakeet

CLOSE = Tolerance("sums of rounded products", ulps=256.0, of_sum=64.0, of_one=64.0)
DTYPES = ("float32", "int64", "uint8", "bool", "complex128")
MATRIX = (3, 4)
# What is cast for each dtype that a call is tried on, by shape.
CAST = {"x": MATRIX, "y": MATRIX, "r": MATRIX, "s": (3, 3), "t": (3, 3), "v": 6, "w": 6, "p": 6,
        "i": MATRIX, "j": MATRIX}


@functools.cache
def operands(dtype="float64") -> dict:
    """What calls are given, by name; nothing of it may be written."""
    made = {name: (values(shape, seed=ord(name)) * 3).astype(dtype)
            for name, shape in CAST.items()}
    made["p"] = np.sort((values(6, seed=5) * 3).astype(dtype))
    if np.dtype(dtype).kind in "fc":
        made["r"][0, 1] = np.nan
    if np.dtype(dtype).kind not in "iub":
        made |= {"i": values(MATRIX, "int64"), "j": values(MATRIX, "int64", 1)}
    return made | {
        "b": values(MATRIX, "bool"),
        "c": values(MATRIX, "complex128"), "q": values(MATRIX, "float32"),
        "k": np.array([1, 0, 3, 1]), "n": 3, "m": values(MATRIX) > 0,
    }


@dataclass
class Probe:
    """A call and the argument that it asks about; None asks about the function itself."""

    call: ast.expr
    argument: str | None = None
    value: str = ""
    dtype: str = "float64"


def name_of(call: ast.expr) -> str:
    """The function that a call is of, as the page writes it."""
    while isinstance(call, (ast.Compare, ast.Subscript, ast.Call)):
        is_call = isinstance(call, ast.Call)
        call = call.left if isinstance(call, ast.Compare) else (
            call.func if is_call else call.value)
    text = ast.unparse(call)
    return re.sub(r"^(\(.*\)|[a-z](\[.*?\])?)\.(?=\w+(\.\w+)?$)", "ndarray.", text)


def callee(name: str):
    if name.startswith("ndarray."):
        return getattr(np.ndarray, name[8:], None)
    root, *path = name.split(".")
    found = {"np": np, "math": math}.get(root)
    for part in path:
        found = getattr(found, part, None)
    return found


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """The arguments of a function by name, without `self`; none of what is no function."""
    try:
        found = dict(inspect.signature(callee(name)).parameters)
    except (TypeError, ValueError):
        return {}
    found.pop("self", None)
    kinds = inspect.Parameter
    named = {n: p for n, p in found.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    short = re.sub(r"^np\.(?=\w+$)", "", re.sub(r"^np\.\w+\.(?=reduce$)", "ufunc.", name))
    for hidden in table.HIDDEN.get(short, "").split():
        named.setdefault(hidden, kinds(hidden, kinds.KEYWORD_ONLY))
    return named


def rewritten(call: ast.Call, names: list[str], changes: list[ast.keyword]) -> ast.Call:
    """The call with arguments changed, in place where they stand by position, or added by name."""
    args, keywords = list(call.args), list(call.keywords)
    for change in changes:
        if change.arg in names[: len(args)]:
            args[names.index(change.arg)] = change.value
        else:
            keywords = [k for k in keywords if k.arg != change.arg] + [change]
    return ast.Call(call.func, args, keywords)


def value_calls(argument: str, value: str) -> list[ast.keyword]:
    """A value, or a value with the other arguments that give it a meaning: (5, mode='wrap')."""
    inner = value[1:-1] if re.match(r"\(.*\w=", value) else value
    return ast.parse(f"f({argument}={inner})", mode="eval").body.keywords


def by_name(call: ast.Call, known: dict[str, inspect.Parameter]) -> ast.Call:
    """The same call with every argument by name that may be."""
    args, keywords = [], list(call.keywords)
    for arg, parameter in zip(call.args, known.values(), strict=False):
        if parameter.kind is parameter.POSITIONAL_ONLY:
            args.append(arg)
        else:
            keywords.append(ast.keyword(parameter.name, arg))
    if len(call.args) > len(known):
        return call  # Any number of them, of no name.
    return ast.Call(call.func, args, keywords)


def probes_of(text: str) -> tuple[str, list[Probe], list[str]]:
    """The function that a line of the table is about, its probes, and arguments without one."""
    source, _, given = text.partition(" | ")
    title, _, source = source.rpartition(" := ")
    call = ast.parse(source.strip(), mode="eval").body
    name = title or name_of(call)
    found = [Probe(call)]
    if CAST.keys() & {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}:
        found += [Probe(call, dtype=dtype) for dtype in DTYPES]
    known = parameters(name)
    if title or not isinstance(call, ast.Call) or not known:
        return name, found, []
    own = dict(row.strip().split("=", 1) for row in re.split(r";", given) if row.strip())
    names = list(known)
    by_place = [] if name in table.OF_MANY else names
    passed = by_place[: len(call.args)] + [k.arg for k in call.keywords]
    silent = []
    for argument in names:
        if own.get(argument) == "-":
            continue
        chosen = own.get(argument) or (None if argument in passed else table.ALWAYS.get(argument))
        if chosen is None:
            silent += [] if argument in passed else [argument]
            continue
        for value in chosen.split(" / "):
            changed = rewritten(call, by_place, value_calls(argument, value.strip()))
            found.append(Probe(changed, argument, value.strip()))
    named = by_name(call, known)
    if len(named.args) < len(call.args) and len(named.keywords) > len(call.keywords):
        found.append(Probe(named, "by name"))
    return name, found, silent


def why(error: BaseException) -> str:
    """The reason for a refusal, without where it stands."""
    first = re.sub(r"^\S+:\d+:\d+: |^<program \d+>:\d+:\d+: ", "", str(error).split("\n")[0])
    first = re.sub(r"^\w+\(\) got an unexpected keyword argument .*", "no such argument", first)
    return re.sub("^.* is not among (the functions|what).*", "not there", first)


def arguments_of(probe: Probe, function, names: list[str]) -> dict | None:
    """The operands that the call names; z is like what NumPy gives, None where it gives nothing."""
    given = {n: x.copy() if isinstance(x, np.ndarray) else x
             for n, x in operands(probe.dtype).items()}
    if "z" in names:
        shown = rewritten(probe.call, [], [])
        shown.keywords = [k for k in shown.keywords if k.arg != "out"]
        others = [n for n in names if n != "z"]
        like = define(f"import math\ndef f({', '.join(others)}):\n"
                      f"    return {ast.unparse(shown)}\n")
        made = run(like, lambda: tuple(given[n] for n in others)).result
        if made is None:
            return None
        given["z"] = tuple(map(np.zeros_like, made)) if isinstance(made, tuple) else (
            np.zeros_like(np.asarray(made)))
    return {n: given[n] for n in names}


def shares(outcome) -> list[bool]:
    """Whether the result's memory is that of each argument."""
    return [isinstance(outcome.result, np.ndarray) and isinstance(a, np.ndarray)
            and np.shares_memory(outcome.result, a) for a in outcome.arguments]


def layout_of(outcome):
    flags = getattr(outcome.result, "flags", None)
    return flags and (flags.c_contiguous, flags.f_contiguous)


def judge(probe: Probe) -> tuple[str, str] | None:
    """"works", "differs" or "refused", and why; None where NumPy says that the call is wrong."""
    used = [n.id for n in ast.walk(probe.call) if isinstance(n, ast.Name)]
    names = sorted({n for n in used if n in operands() or n == "z"})
    plain = define(f"import math\ndef f({', '.join(names)}):\n"
                   f"    return {ast.unparse(probe.call)}\n")
    given = arguments_of(probe, plain, names)
    if given is None:
        return None

    def fresh():
        return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given.values())

    expected = run(plain, fresh)
    if expected.error is not None:
        return None
    actual = run(parakeet.jit(plain), fresh, target="interpreter")
    if actual.error is not None:
        return "refused", why(actual.error)
    if isinstance(expected.result, list) and isinstance(actual.result, tuple):
        return "differs", "a tuple"
    try:
        with np.errstate(all="ignore"):
            if "empty" not in ast.unparse(probe.call):  # What it holds is nobody's business.
                check_outcome(actual, expected, bound_for(CLOSE, fresh()), "jitted")
    except AssertionError as error:
        said = str(error).strip().split("\n")[0]
        return "differs", re.sub("^(Not|Arrays are not) equal.*", "other values", said)
    if shares(actual) != shares(expected):
        return "differs", "a copy" if any(shares(expected)) else "a view"
    if probe.argument == "order" and layout_of(actual) != layout_of(expected):
        return "differs", "the order in memory"
    return "works", ""


def lines() -> list[tuple[str, str]]:
    """The groups of the table with their lines."""
    found = []
    for group, text in table.ELEMENT_WISE.items():
        unary, _, binary = text.partition("|")
        x, y = ("i", "j") if group == "bits and integers" else ("x", "y")
        found += [(group, f"np.{name}({x}){table.INTO}") for name in unary.split()]
        found += [(group, f"np.{name}({x}, {y}){table.INTO}") for name in binary.split()]
    for group, text in table.CALLS.items():
        for line in text.splitlines():
            # Values are those of the last call before them.
            calls, bar, given = line.partition(" | ")
            found += [(group, call.strip()) for call in calls.split(";") if call.strip()]
            if bar:
                found[-1] = (group, found[-1][1] + bar + given)
    return found


@dataclass
class Row:
    """A function, with what was found of each argument and each of its values."""

    group: str
    name: str
    silent: list[str]  # arguments without a probe
    found: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def is_there(self) -> bool:
        return self.found[""]["float64"][0] != "refused"

    def unproved(self) -> list[str]:
        """Arguments that no probe shows anything of."""
        if not self.is_there():
            return []
        return self.silent + [argument for argument, values in self.found.items()
                              if not values and argument != "by name"]

    def column(self, verdict: str) -> list[str]:
        """What the page says in the column of a verdict."""
        if verdict == "works":
            return [argument or "yes" for argument, found in self.found.items()
                    if any(v[0] == "works" for v in found.values()) and argument != "by name"]
        said = []
        for argument, found in self.found.items():
            reasons = {value: v[1] for value, v in found.items() if v[0] == verdict}
            is_all = len(reasons) == len(found) and len(set(reasons.values())) == 1
            if is_all and reasons:
                reasons = {"": next(iter(reasons.values()))}
            said += [f"{subject(argument, value)}{reason}" for value, reason in reasons.items()]
        return said


def subject(argument: str, value: str) -> str:
    """What a reason is about; nothing where it is about the function."""
    if not argument:
        return f"of {value}: " if value else ""
    if argument == "by name":
        return "arguments by name: "
    shown = re.sub(r"^\((.*\w=.*)\)$", r"\1", value)
    return f"`{argument}={shown}`: " if value else f"`{argument}`: "


def row_of(group: str, line: str) -> Row:
    name, probes, silent = probes_of(line)
    row = Row(group, name, silent)
    for probe in probes:
        found = row.found.setdefault(probe.argument or "", {})
        verdict = judge(probe)
        assert found or verdict or probe.argument, f"NumPy refuses {line}"
        if verdict is not None:
            found[probe.value or ("" if probe.argument else probe.dtype)] = verdict
        if probe.argument is None and verdict is not None and verdict[0] == "refused":
            if probe.dtype == "float64":
                break
    return row


def all_rows() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [row_of(group, line) for group, line in lines()]


PAGE = Path(__file__).parents[2] / "docs/coverage.md"
OPENING = """# What of NumPy jitted code has

Made by calling: `tests/python/test_coverage.py` calls each function in the interpreter and compares
with NumPy {numpy}, once for each dtype, once for each value of each argument of NumPy's signature
that `tests/python/numpy_table.py` names. `python tests/python/test_coverage.py --update` writes
this page anew. *works*: the same value, dtype, shape and exception, stores and views too; "yes" is
the call with what it must have, on float64, float32, int64, uint8, bool and complex128 where NumPy
takes them. *differs*: on purpose, said in [differences](differences.md). *refused*: at once, with
that reason. `signature=` of element-wise functions, which names a loop of NumPy's own, is refused
everywhere.

{total} functions: {there} are there, {whole} of them with everything that was asked; {not_there}
are not.
"""


def cell(said: list[str]) -> str:
    return "; ".join(said).replace("|", "\\|")


def page(rows: list[Row]) -> str:
    there = [row for row in rows if row.is_there()]
    whole = [row for row in there if not row.column("refused") and not row.column("differs")]
    parts = [OPENING.format(numpy=".".join(np.__version__.split(".")[:2]), total=len(rows),
                            there=len(there), whole=len(whole), not_there=len(rows) - len(there))]
    for group in dict.fromkeys(row.group for row in rows):
        parts.append(f"\n## {group[0].upper()}{group[1:]}\n\n"
                     "| function | works | differs | refused |\n|---|---|---|---|\n")
        for row in rows:
            if row.group == group:
                columns = [cell(row.column(verdict)) for verdict in ("works", "differs", "refused")]
                parts.append(f"| `{row.name}` | {' | '.join(columns)} |\n")
    return "".join(parts)
