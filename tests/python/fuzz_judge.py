"""Judges one program: plain Python and all targets must agree.

As a program it is the child of fuzz.py: it reads programs, one JSON line each, and answers each
with a JSON line. What crashes it is the parent's to report.
"""

import collections
import functools
import json
import re
import signal
import sys
import types
import warnings

import numpy as np
import random_aliases
import random_arrays
import random_dtypes
import random_kernels
import random_numeric
import random_programs
import random_rows
import random_steps
from agreement import bits, python_type
from from_source import define
from fuzz_rounding import reduce_in_long_double, tolerance_of, widen, widened
from tested_targets import ADDED

import parakeet

# Each has make_program(seed), cases(seed) and make_arguments(case).
KINDS = {"statements": random_programs, "aliases": random_aliases, "arrays": random_arrays,
         "steps": random_steps, "numeric": random_numeric, "dtypes": random_dtypes,
         "rows": random_rows, "kernels": random_kernels}
# What a compiler that refuses a program may raise, beside what plain Python raises.
LIMITATION = "Limitation"
# Held to each other too; others only to plain Python.
JUDGED = ("interpreter", "serial", "parallel")
ALL_TARGETS = (*JUDGED, *ADDED)
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
    scan=lambda f, x: f.accumulate(x), map=plain_map, imap=plain_imap, jit=lambda f: f)


def run(function, make_arguments, **keywords):
    """('value', result, arguments) or ('error', type, message)."""
    arguments = make_arguments()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return "value", function(*arguments, **keywords), arguments
    except (EmptyList, TooLong):
        raise
    except Exception as error:
        return "error", python_type(error).__name__, str(error)


def stop(signum, frame):
    raise TooLong


def shows_rounding(source: str, make_arguments, plain) -> bool:
    """Whether plain Python itself gives something else where it rounds in other places."""
    return any(rounds_to_another(source, make_arguments, plain, towards) for towards in (-1, 1))


def rounds_to_another(source: str, make_arguments, plain, towards: int) -> bool:
    try:
        wide = run_plain(widen(source), make_arguments, widened=widened,
                         reduce_wide=reduce_in_long_double(towards))
    except (EmptyList, TooLong):
        return False
    if wide[0] != plain[0] or wide[0] == "error":
        return wide[:2] != plain[:2]
    tolerance = 1e-3 * tolerance_of(source, *make_arguments())
    return bool(differ(wide[1:], plain[1:], strict=False, tolerance=tolerance))


def run_plain(source: str, make_arguments, **names):
    plain = define(source, parakeet=PLAIN_OPERATORS)
    plain.__globals__.update(np=PlainNumPy("numpy"), **names)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(3)
    try:
        return run(plain, make_arguments)
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
    near = a.dtype.kind != "O" and are_near(a, e, tolerance)
    return "" if near else f"{shortly(actual)} is not {shortly(expected)}"


def shortly(value) -> str:
    with np.printoptions(threshold=60, edgeitems=2):
        return repr(value)


def are_near(actual, expected, tolerance: float) -> bool:
    """Floats within the tolerance, which is of the greatest of them where they may cancel."""
    if actual.dtype.kind in "iub" and expected.dtype.kind in "iub":
        return np.array_equal(actual, expected)
    finite = np.abs(expected[np.isfinite(expected)])
    of_all = tolerance * (1.0 + float(finite.max(initial=0.0)))
    return np.allclose(actual, expected, tolerance, of_all, equal_nan=True)


def judge_run(ours, plain, in_subset: bool, tolerance: float = 1e-9) -> str:
    """Why one target's outcome is a failure beside plain Python's, or an empty string."""
    if ours[0] == "value" and plain[0] == "value":
        return differ(ours[1:], plain[1:], in_subset, tolerance)
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


@functools.lru_cache(maxsize=1)
def compiled(source: str):
    """One function for all arguments of a program, as users have."""
    return parakeet.jit(define(source))


def judge(source: str, in_subset: bool, make_arguments, targets=ALL_TARGETS,
          before: dict | None = None) -> dict:
    """A verdict: ok, skipped or failed, with the target and the reason. `before` has what targets
    gave of the same arguments, to the bit, and takes what they give now."""
    try:
        plain = run_plain(source, make_arguments)
    except (EmptyList, TooLong) as reason:
        return {"verdict": "skipped", "reason": type(reason).__name__}
    if plain[:2] == ("error", "RecursionError"):
        # Ours may go deeper, and find something else there.
        return {"verdict": "skipped", "reason": "RecursionError"}
    if plain[:2] == ("error", "OverflowError") and OUTGROWS_64_BITS.search(plain[2]):
        return {"verdict": "skipped", "reason": "OverflowError"}  # Ours wrap.
    outcomes = {target: run(compiled(source), make_arguments, target=target) for target in targets}
    tolerance = tolerance_of(source, *make_arguments())
    for target, outcome in outcomes.items():
        reason = judge_run(outcome, plain, in_subset, tolerance)
        if reason:
            is_answer = outcome[0] == "value" or outcome[1] not in BUGS | {LIMITATION}
            if is_answer and shows_rounding(source, make_arguments, plain):
                return {"verdict": "skipped", "reason": "Rounding"}
            return {"verdict": "failed", "target": target, "reason": reason}
    if is_refused(outcomes, in_subset):
        return {"verdict": "ok", "reason": LIMITATION}
    return (judge_each_other(outcomes) or judge_again(outcomes, {} if before is None else before)
            or {"verdict": "ok", "reason": plain[0]})


def judge_again(outcomes: dict, before: dict) -> dict | None:
    """A failure where a target gives other bits than when it was asked first."""
    for target, outcome in outcomes.items():
        if before.setdefault(target, bits(outcome)) != bits(outcome):
            return {"verdict": "failed", "target": target, "reason":
                    "gives other bits than before calls of other shapes"}
    return None


def is_refused(outcomes: dict, in_subset: bool) -> bool:
    """Whether the passes refuse what is near the subset."""
    kind, what, *why = outcomes.get("serial", ("value", None))
    return (kind, what) == ("error", LIMITATION) and (
        not in_subset or bool(DOCUMENTED.search(why[0])))


def judge_each_other(outcomes: dict) -> dict | None:
    """A failure where targets differ that must give the same messages or the same bits."""
    interpreted, serial, parallel = map(outcomes.get, JUDGED)
    if interpreted and interpreted[:2] == ("error", "MemoryError"):
        return {"verdict": "ok", "reason": "MemoryError"}  # It makes also what nobody reads.
    if serial and interpreted and serial[0] == "error" and serial[1:] != interpreted[1:]:
        return {"verdict": "failed", "target": "serial", "reason":
                f"raised {serial[1:]}, the interpreter {interpreted[1:]}"}
    if serial and parallel and bits(serial) != bits(parallel):
        return {"verdict": "failed", "target": "parallel", "reason":
                f"gave {parallel[1]!r}, serial {serial[1]!r}"}
    return None


def main() -> None:
    kind, targets = KINDS[sys.argv[1]], sys.argv[2].split(",")
    before = collections.defaultdict(dict)  # By the arguments of the program judged last.
    last = None
    answers, sys.stdout = sys.stdout, sys.stderr  # A program that prints is no answer.
    for line in sys.stdin:
        request = json.loads(line)
        make_arguments = functools.partial(kind.make_arguments, request["which"])
        if request["source"] != last:
            before.clear()
            last = request["source"]
        try:
            answer = judge(request["source"], request["in_subset"], make_arguments, targets,
                           before[request["which"]])
        except BaseException as error:  # The parent reports it as a failure of this program.
            answer = {"verdict": "failed", "target": "judge", "reason": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
