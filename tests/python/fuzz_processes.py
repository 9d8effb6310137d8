"""Random programs of all kinds for a time, in several processes: fuzz.py for a machine to itself.

    python run.py fuzz --seconds 400 --seed 1000000000 --targets gpu

In a bundle (tools/bundle/run.py), or here as it is. A short table comes first, then the failures by
category, each with its seeds and a program that is reduced where there is time for it: first what
one of the targets beside does right, and so is the fault of the others.
"""

import argparse
import collections
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import fuzz
from fuzz_judge import KINDS

BETWEEN_WORKERS = 1_000_000  # seeds
TURN = 30.0  # Seconds at most that a process keeps to one kind.
ATTEMPTS = 120  # Smaller programs tried for one failure.


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=400.0, help="of judging")
    parser.add_argument("--reduce-seconds", type=float, default=60.0, help="of reducing, then")
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000, help="of the first")
    parser.add_argument("--targets", default="gpu", help="separated by commas")
    parser.add_argument("--beside", default="serial", help="also asked about what fails")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of programs, else all")
    parser.add_argument("-j", "--processes", type=int, default=default_processes())
    parser.add_argument("--out", type=Path, help="file for all failures, one JSON line each")
    return parser.parse_args()


def default_processes() -> int:
    return max(1, min(len(os.sched_getaffinity(0)) - 1, 14))


def work(number: int, options: argparse.Namespace):
    """Verdicts by kind, and failures as dictionaries."""
    kinds, end = options.kinds.split(","), time.monotonic() + options.seconds
    turn = min(TURN, options.seconds / len(kinds))
    seed, at, found = options.seed + number * BETWEEN_WORKERS, number, []
    verdicts = collections.defaultdict(collections.Counter)
    while time.monotonic() < end:
        kind = kinds[at % len(kinds)]
        at += 1
        child = fuzz.Child(kind, options.targets.split(","))
        turn_ends = min(end, time.monotonic() + turn)
        while time.monotonic() < turn_ends:
            failure = judge(child, kind, seed, verdicts[kind])
            found += [failure] if failure else []
            seed += 1
        child.stop()
    return verdicts, finished(found, options)


def judge(child: fuzz.Child, kind: str, seed: int, verdicts) -> tuple | None:
    """The first failure of a program, with its kind and whether it is of the subset."""
    source, in_subset = KINDS[kind].make_program(seed)
    verdicts["programs"] += 1
    for which in KINDS[kind].cases(seed):
        answer = child.judge(source, in_subset, which)
        verdicts[answer["verdict"]] += 1
        if answer["verdict"] == "failed":
            reason = (answer["target"], answer["reason"])
            return kind, fuzz.Failure(seed, which, source, *reason), in_subset
    return None


def finished(found: list[tuple], options: argparse.Namespace) -> list[dict]:
    """What is told of each failure; the first of each category is reduced."""
    end, seen, told = time.monotonic() + options.reduce_seconds, set(), []
    fuzz.ATTEMPTS = ATTEMPTS
    for kind, failure, in_subset in found:
        child, beside = fuzz.Child(kind, options.targets.split(",")), fuzz.Child(
            kind, options.beside.split(","))
        other = beside.judge(failure.source, in_subset, failure.which)
        least = failure
        if failure.category not in seen and time.monotonic() < end:
            least = fuzz.reduce_failure(child, failure, in_subset)
        seen.add(failure.category)
        told.append({"kind": kind, "seed": failure.seed, "arguments": failure.which,
                     "category": failure.category, "reason": f"{least.target} {least.reason}",
                     "beside": other["reason"] if other["verdict"] == "failed" else "",
                     "source": least.source})
        child.stop()
        beside.stop()
    return told


def report(verdicts, failures: list[dict]) -> None:
    columns = ("programs", "ok", "skipped", "failed")
    print(f"{'kind':12}" + "".join(f"{column:>10}" for column in columns))
    for kind, counts in sorted(verdicts.items()):
        print(f"{kind:12}" + "".join(f"{counts[column]:10}" for column in columns))
    groups = collections.defaultdict(list)
    for failure in failures:
        groups[bool(failure["beside"]), failure["category"]].append(failure)
    print(f"{len(failures)} failures of {len(groups)} categories")
    for (is_failing_beside, _), group in sorted(groups.items()):
        least = min(group, key=lambda failure: len(failure["source"]))
        seeds = " ".join(f"{each['kind']}:{each['seed']}:{each['arguments']}" for each in group[:9])
        print(f"\n{len(group)} x {least['reason']}\nkind:seed:arguments {seeds}\nbeside: "
              f"{least['beside'] if is_failing_beside else 'right'}\n\n{least['source']}")


def main() -> int:
    options = parse()
    print(f"fuzz: {options.seconds:.0f} s on {options.targets}, {options.processes} processes, "
          f"seeds from {options.seed}", flush=True)
    jobs = [(number, options) for number in range(options.processes)]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        results = pool.starmap(work, jobs, chunksize=1)
    verdicts = collections.defaultdict(collections.Counter)
    for counts, _ in results:
        for kind, counted in counts.items():
            verdicts[kind].update(counted)
    failures = [failure for _, found in results for failure in found]
    if options.out:
        options.out.write_text("".join(json.dumps(failure) + "\n" for failure in failures))
    report(verdicts, failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
