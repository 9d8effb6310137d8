"""Compares random programs across plain Python and all targets.

    ./dev fuzz [--kind KIND] [--count N] [--seed S] [--targets serial,gpu]

A kind is a module that makes programs and arguments: *statements* of the language and near it,
*aliases* of arrays that are stored to, operations on *arrays*, *steps* of time loops, *numeric*
programs as users write them, arrays and scalars of all *dtypes*, *rows* that are few and long
between others, and what our own *kernels* do. A crash, a difference, a hang or an exception that is
no user's error is a failure: printed with its seed and a reduced program, which the command that is
printed with it runs again.
"""

import argparse
import collections
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fuzz_judge import ALL_TARGETS, KINDS
from random_programs import is_python

PATIENCE = 60.0  # seconds for one program on every target
BATCH = 200  # programs that one child judges
ATTEMPTS = 300  # smaller programs tried for one failure


@dataclass
class Failure:
    seed: int
    which: int
    source: str
    target: str
    reason: str

    @property
    def category(self) -> str:
        """What a smaller program must still show: the reason without its numbers and names."""
        return self.target + ": " + re.sub(r"[^a-z ]+|\b\w{1,2}\b", "", self.reason.lower())[:40]


class Child:
    """A process that judges programs, started again when it crashes or hangs."""

    def __init__(self, kind: str = "statements", targets=ALL_TARGETS):
        self.kind = kind
        self.targets = targets
        self.process = None
        self.judged = 0

    def start(self) -> None:
        judge = Path(__file__).with_name("fuzz_judge.py")
        environment = os.environ | {"PYTHONFAULTHANDLER": "", "KMP_BLOCKTIME": "0",
                                    "PARAKEET_CACHE": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(judge), self.kind, ",".join(self.targets)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment)
        self.judged = 0

    def stop(self) -> int:
        """Ends the process; returns its status, which is that of a crash if it crashed."""
        if self.process is None:
            return 0
        with contextlib.suppress(BrokenPipeError):  # What was asked last may not have left yet.
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        self.process = None
        return status

    def judge(self, source: str, in_subset: bool, which: int) -> dict:
        if self.process is None or self.judged >= BATCH:
            self.stop()
            self.start()
        self.judged += 1
        request = {"source": source, "in_subset": in_subset, "which": which}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            line = self.process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        if line is None:
            self.process.kill()
            self.stop()
            return {"verdict": "failed", "target": "process", "reason": "does not finish"}
        status = self.stop()
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        return {"verdict": "failed", "target": "process", "reason": f"crashed: {name}"}


# Reduction: a program as blocks of lines, of which any that is not needed is left out.


def block_end(lines: list[str], start: int) -> int:
    """The end of the statement at `start`, its indented lines included."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (not lines[end].strip()
                                or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end


def smaller(lines: list[str]):
    """Yields programs without one statement, or with a block in the place of its statement."""
    for start in range(len(lines)):
        if not lines[start].strip() or lines[start].startswith("def f("):
            continue
        end = block_end(lines, start)
        yield lines[:start] + lines[end:]
        if end > start + 1:
            yield lines[:start] + [line[4:] for line in lines[start + 1:end]] + lines[end:]
    for start, line in enumerate(lines):
        # A parenthesised value gives way to one of its parts.
        for match in re.finditer(r"\(([^()]*)\)", line):
            for part in re.split(r" (?:[-+*/%]|//|if|else|and|or) |, ", match[1]):
                if part != match[1] or " " not in part:
                    shorter = line[:match.start()] + part + line[match.end():]
                    yield lines[:start] + [shorter] + lines[start + 1:]
        # What is assigned gives way to a name in it, and of several results some are left.
        name, is_assigned, value = line.partition(" = ")
        for part in set(re.findall(r"\b[A-Za-z]\w*\b(?![.(])", value)) if is_assigned else ():
            yield lines[:start] + [f"{name} = {part}"] + lines[start + 1:]
        if returned := re.fullmatch(r"    return \((.*),\)", line):
            parts = returned[1].split(", ")
            for at in range(len(parts)) if len(parts) > 1 else ():
                left = ", ".join(parts[:at] + parts[at + 1:])
                yield lines[:start] + [f"    return ({left},)"] + lines[start + 1:]


def reduce_failure(child: Child, failure: Failure, in_subset: bool) -> Failure:
    attempts, found = 0, True
    while found:
        found = False
        for lines in smaller(failure.source.split("\n")):
            source = "\n".join(lines)
            if len(source) >= len(failure.source) or not is_python(source):
                continue
            attempts += 1
            if attempts > ATTEMPTS:
                return failure
            answer = child.judge(source, in_subset, failure.which)
            candidate = Failure(failure.seed, failure.which, source, answer.get("target", ""),
                                answer["reason"])
            if answer["verdict"] == "failed" and candidate.category == failure.category:
                failure, found = candidate, True
                break
    return failure


def report(failure: Failure, child: Child) -> None:
    print(f"\nfuzz: seed {failure.seed}, arguments {failure.which}: {failure.target} "
          f"{failure.reason}\n\n{failure.source}\nagain: ./dev fuzz --kind {child.kind} "
          f"--targets {','.join(child.targets)} --count 1 --seed {failure.seed}", flush=True)


def fuzz(seed: int, count: int, kind: str = "statements", targets=ALL_TARGETS,
         reduced: bool = True) -> tuple[list[Failure], collections.Counter]:
    """Judges the programs of `count` seeds from `seed` on; returns failures, one a category."""
    child, failures, verdicts = Child(kind, targets), {}, collections.Counter()
    for number in range(seed, seed + count):
        source, in_subset = KINDS[kind].make_program(number)
        for which in KINDS[kind].cases(number):
            answer = child.judge(source, in_subset, which)
            verdicts[answer["verdict"]] += 1
            if answer["verdict"] != "failed":
                continue
            failure = Failure(number, which, source, answer["target"], answer["reason"])
            if failure.category not in failures:
                first = reduce_failure(child, failure, in_subset) if reduced else failure
                failures[failure.category] = first
                report(first, child)
            break
    child.stop()
    return list(failures.values()), verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="statements", help="of programs")
    parser.add_argument("--targets", default=",".join(ALL_TARGETS), help="separated by commas")
    parser.add_argument("--count", type=int, default=1000, help="programs (default 1000)")
    parser.add_argument("--seed", type=int, default=None, help="of the first (default: the time)")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"fuzz: {options.count} programs from seed {seed}", flush=True)
    failures, verdicts = fuzz(seed, options.count, options.kind, options.targets.split(","))
    print(f"fuzz: {dict(verdicts)}, {len(failures)} kinds of failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
