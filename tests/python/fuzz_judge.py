"""Judges one program: plain Python, interpreter, serial and parallel must agree.

As a program it is the child of fuzz.py: it reads programs, one JSON line each, and answers each
with a JSON line. What crashes it is the parent's to report.
"""

import json
import re
import signal
import sys
import types
import warnings

import numpy as np
from from_source import define

import parakeet

TARGETS = ("interpreter", "serial", "parallel")
# Lengths of the vectors, shapes of the matrix, the int and the float; and how the vectors lie.
ARGUMENTS = ((5, (3, 4), 3, 0.5, "apart"), (1, (1, 2), 0, -1.5, "apart"),
             (0, (2, 3), 7, 2.0, "apart"), (40, (6, 7), 2, 3.25, "apart"),
             (7, (4, 3), 1, 1.5, "overlapping"), (6, (3, 5), 4, -0.25, "reversed"),
             (9, (5, 5), 2, 0.75, "one"))
# What a compiler that refuses a program may raise, beside what plain Python raises.
LIMITATION = "Limitation"
SEQUENCES = (tuple, list, np.ndarray)
# An error of Python's lists, which are arrays in ours.
SPEAKS_OF_LISTS = re.compile(r"\blist\b")
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
    shape = np.atleast_1d(shape)
    if 0 in shape:
        raise EmptyList
    return np.array([f(*map(int, index)) for index in np.ndindex(*shape)]).reshape(shape)


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


def run_plain(source: str, which: int):
    plain = define(source)
    plain.__globals__.update(np=PlainNumPy("numpy"), parakeet=PLAIN_OPERATORS)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(3)
    try:
        return run(plain, which)
    finally:
        signal.alarm(0)


def differ(actual, expected, strict: bool) -> str:
    """Why two values differ, or an empty string. Near the subset, types may be joined ones."""
    if isinstance(expected, (tuple, list)) or isinstance(actual, (tuple, list)):
        both = isinstance(actual, SEQUENCES) and isinstance(expected, SEQUENCES)
        if not both or len(actual) != len(expected):
            return f"{actual!r} is not {expected!r}"
        return next(filter(None, (differ(a, e, strict)
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
    close = a.dtype.kind != "O" and np.allclose(a, e, rtol=1e-9, atol=1e-9, equal_nan=True)
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
    if not in_subset and is_refusal:
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
    jitted = parakeet.jit(define(source))
    outcomes = {target: run(jitted, which, target=target) for target in TARGETS}
    for target, outcome in outcomes.items():
        reason = judge_run(outcome, plain, in_subset)
        if reason:
            return {"verdict": "failed", "target": target, "reason": reason}
    serial, parallel = outcomes["serial"], outcomes["parallel"]
    if not in_subset and serial[:2] == ("error", LIMITATION):
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
