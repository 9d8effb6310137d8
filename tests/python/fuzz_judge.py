"""Judges one program: plain Python, interpreter, serial and parallel must agree.

As a program it is the child of fuzz.py: it reads programs, one JSON line each, and answers each
with a JSON line. What crashes it is the parent's to report.
"""

import ast
import json
import re
import signal
import sys
import types
import warnings

import numpy as np
from from_source import define
from tested_targets import ADDED

import parakeet

# Lengths of the vectors, shapes of the matrix, the int and the float; and how the vectors lie.
ARGUMENTS = ((5, (3, 4), 3, 0.5, "apart"), (1, (1, 2), 0, -1.5, "apart"),
             (0, (2, 3), 7, 2.0, "apart"), (40, (6, 7), 2, 3.25, "apart"),
             (7, (4, 3), 1, 1.5, "overlapping"), (6, (3, 5), 4, -0.25, "reversed"),
             (9, (5, 5), 2, 0.75, "one"))
# What a compiler that refuses a program may raise, beside what plain Python raises.
LIMITATION = "Limitation"
# Held to each other too; others only to plain Python.
JUDGED = ("interpreter", "serial", "parallel")
SEQUENCES = (tuple, list, np.ndarray)
# An error of Python's lists, which are arrays in ours.
SPEAKS_OF_LISTS = re.compile(r"\blist\b")
# An int of Python's that NumPy cannot take; ours have 64 bits, and wrap.
OUTGROWS_64_BITS = re.compile(r"int too (large|big)")
# Refused by name in docs/differences.md, whatever a program does beside.
DOCUMENTED = re.compile("whether this reshape is a copy depends on the array's strides|"
                        "a negative float to a fractional power is complex in Python")
UNBOUND = {"NameError", "UnboundLocalError"}
BUGS = {"CompilerBug", "SystemError", "InternalError"}
HAS_PLACE = re.compile(r"^<program \d+>:\d+:\d+: ")


class EmptyList(Exception):
    """An empty comprehension is typed on purpose in ours, which plain Python cannot follow."""


class TooLong(Exception):
    """Plain Python does not finish in time."""


class PlainNumPy(types.ModuleType):
    """NumPy as plain Python sees it in a fuzzed program."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def array(values, *args, **keywords):
        if isinstance(values, list) and not values:
            raise EmptyList
        return np.array(values, *args, **keywords)


def plain_map(f, x):
    return PlainNumPy.array([f(part) for part in x])


def plain_imap(f, shape):
    shape = tuple(np.atleast_1d(shape))
    if 0 in shape:
        raise EmptyList
    values = np.array([f(*map(int, index)) for index in np.ndindex(*shape)])
    return values.reshape(shape + values.shape[1:])


PLAIN_OPERATORS = types.SimpleNamespace(
    add=np.add, reduce=lambda f, x, axis=None, init=0: f.reduce(x, axis=axis, initial=init),
    scan=lambda f, x: f.accumulate(x), map=plain_map, imap=plain_imap)


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


def run(function, which: int, **keywords):
    """('value', result, arguments) or ('error', type, message)."""
    arguments = make_arguments(which)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return "value", function(*arguments, **keywords), arguments
    except (EmptyList, TooLong):
        raise
    except Exception as error:
        return "error", type(error).__name__, str(error)


def stop(signum, frame):
    raise TooLong


REDUCTIONS = frozenset({"sum", "mean", "prod", "dot", "cumsum", "cumprod", "var", "std", "inner",
                        "trace", "matmul", "einsum", "average", "reduce", "scan"})


def widened(value):
    """Floats in long double, which rounds in other places; anything else as it is."""
    if isinstance(value, float | np.floating):
        return np.longdouble(value)
    is_floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return value.astype(np.longdouble) if is_floats else value


def nudged(value, towards: int):
    """A long double as a float64, and some units of the last place aside where it was no such."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype != np.longdouble:
        return value
    rounded = value.astype(np.float64)
    aside = rounded + towards * 4.0 * np.finfo(np.float64).eps * np.abs(rounded)
    return np.where(rounded == value, rounded, aside)[()]


def reduce_in_long_double(towards: int):
    def reduce(owner, name, *arguments, **keywords):
        arguments = [widened(argument) for argument in arguments]
        return nudged(getattr(widened(owner), name)(*arguments, **keywords), towards)
    return reduce


class Widener(ast.NodeTransformer):
    """Reductions, and sums and products that a loop accumulates, in long double."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in REDUCTIONS:
            return node
        arguments = [node.func.value, ast.Constant(node.func.attr), *node.args]
        return ast.Call(ast.Name("reduce_wide", ast.Load()), arguments, node.keywords)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            node.value = ast.Call(ast.Name("widened", ast.Load()), [node.value], [])
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        arguments = [ast.Name("np", ast.Load()), ast.Constant("matmul"), node.left, node.right]
        return ast.Call(ast.Name("reduce_wide", ast.Load()), arguments, [])


def widen(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(Widener().visit(ast.parse(source))))


def shows_rounding(source: str, which: int, plain) -> bool:
    """Whether plain Python itself gives something else where its sums round in other places: then
    a difference, which `%`, `int()` or a comparison may have made of any size, says nothing. Sums
    that are exact, as those of few digits are, show none."""
    return any(rounds_to_another(widen(source), which, plain, towards) for towards in (-1, 1))


def rounds_to_another(source: str, which: int, plain, towards: int) -> bool:
    try:
        wide = run_plain(source, which, reduce_wide=reduce_in_long_double(towards),
                         widened=widened)
    except (EmptyList, TooLong):
        return False
    if wide[0] != plain[0] or wide[0] == "error":
        return wide[:2] != plain[:2]
    return bool(differ(wide[1:], plain[1:], strict=False, tolerance=1e-12))


def run_plain(source: str, which: int, **names):
    plain = define(source)
    plain.__globals__.update(np=PlainNumPy("numpy"), parakeet=PLAIN_OPERATORS, **names)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(3)
    try:
        return run(plain, which)
    finally:
        signal.alarm(0)


def differ(actual, expected, strict: bool, tolerance: float = 1e-9) -> str:
    """Why two values differ, or an empty string. Near the subset, types may be joined ones."""
    if isinstance(expected, (tuple, list)) or isinstance(actual, (tuple, list)):
        both = isinstance(actual, SEQUENCES) and isinstance(expected, SEQUENCES)
        if not both or len(actual) != len(expected):
            return f"{actual!r} is not {expected!r}"
        return next(filter(None, (differ(a, e, strict, tolerance)
                                  for a, e in zip(actual, expected, strict=True))), "")
    if not isinstance(expected, (np.ndarray, np.generic, int, float, complex)):
        return "" if actual is expected or not strict else f"{actual!r} is not {expected!r}"
    if strict and type(actual) is not type(expected):
        return f"{actual!r} is no {type(expected).__name__}"
    a, e = np.asarray(actual), np.asarray(expected)
    if a.shape != e.shape:
        return f"shape {a.shape} is not {e.shape}"
    if strict and a.dtype != e.dtype:
        return f"dtype {a.dtype} is not {e.dtype}"
    close = a.dtype.kind != "O" and np.allclose(a, e, tolerance, tolerance, equal_nan=True)
    return "" if close else f"{actual!r} is not {expected!r}"


def judge_run(ours, plain, in_subset: bool) -> str:
    """Why one target's outcome is a failure beside plain Python's, or an empty string."""
    if ours[0] == "value" and plain[0] == "value":
        return differ(ours[1:], plain[1:], in_subset)
    if ours[0] == "error" and ours[1] in BUGS:
        return f"raised {ours[1]}: {ours[2]}"
    if plain[0] == "error" and (plain[1] == "MemoryError" or SPEAKS_OF_LISTS.search(plain[2])):
        return ""  # What nobody reads is not made; then ours go on, as they do with a list.
    if ours[0] == "value":
        return f"gave a value where Python raises {plain[1]}: {plain[2]}"
    if plain[0] == "error" and plain[1] == ours[1]:
        return ""
    # A refusal has a place; it may come before what Python finds when it gets there.
    is_refusal = ours[1] == LIMITATION or HAS_PLACE.match(ours[2])
    # A name that is always read unbound has no type: what follows it may be refused.
    is_untyped = plain[0] == "error" and plain[1] in UNBOUND and ours[1] == LIMITATION
    is_documented = DOCUMENTED.search(ours[2])
    if is_untyped or is_documented or (not in_subset and is_refusal):
        return ""
    wanted = f"Python raises {plain[1]}" if plain[0] == "error" else "Python gives a value"
    return f"raised {ours[1]}: {ours[2]} where {wanted}"


def judge(source: str, in_subset: bool, which: int) -> dict:
    """A verdict: ok, skipped or failed, with the target and the reason."""
    try:
        plain = run_plain(source, which)
    except (EmptyList, TooLong) as reason:
        return {"verdict": "skipped", "reason": type(reason).__name__}
    if plain[:2] == ("error", "RecursionError"):
        # Ours may go deeper, and find something else there.
        return {"verdict": "skipped", "reason": "RecursionError"}
    if plain[:2] == ("error", "OverflowError") and OUTGROWS_64_BITS.search(plain[2]):
        return {"verdict": "skipped", "reason": "OverflowError"}  # Ours wrap.
    jitted = parakeet.jit(define(source))
    outcomes = {target: run(jitted, which, target=target) for target in (*JUDGED, *ADDED)}
    for target, outcome in outcomes.items():
        reason = judge_run(outcome, plain, in_subset)
        if reason:
            is_answer = outcome[0] == "value" or outcome[1] not in BUGS | {LIMITATION}
            if is_answer and shows_rounding(source, which, plain):
                return {"verdict": "skipped", "reason": "Rounding"}
            return {"verdict": "failed", "target": target, "reason": reason}
    serial, parallel = outcomes["serial"], outcomes["parallel"]
    if serial[:2] == ("error", LIMITATION) and (not in_subset or DOCUMENTED.search(serial[2])):
        return {"verdict": "ok", "reason": LIMITATION}  # The passes refuse what is near the subset.
    interpreted = outcomes["interpreter"]
    if interpreted[:2] == ("error", "MemoryError"):
        return {"verdict": "ok", "reason": "MemoryError"}  # It makes also what nobody reads.
    if serial[0] == "error" and serial[1:] != interpreted[1:]:
        return {"verdict": "failed", "target": "serial", "reason":
                f"raised {serial[1:]}, the interpreter {interpreted[1:]}"}
    if repr(serial[1]) != repr(parallel[1]):
        return {"verdict": "failed", "target": "parallel", "reason":
                f"gave {parallel[1]!r}, serial {serial[1]!r}"}
    return {"verdict": "ok", "reason": plain[0]}


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # A program that prints is no answer.
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = judge(request["source"], request["in_subset"], request["which"])
        except BaseException as error:  # The parent reports it as a failure of this program.
            answer = {"verdict": "failed", "target": "judge", "reason": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
