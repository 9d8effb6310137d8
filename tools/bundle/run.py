"""Runs Parakeet's tests, benchmarks and demo on this machine; it needs Python 3.11+, a driver and
the glibc of the machine that built it, or a newer one.

    python3 run.py test  [pytest arguments]   the suite, on target "gpu", in several processes
    python3 run.py bench [arguments]          `./dev bench --targets gpu`, beside the peers here
    python3 run.py check [pytest arguments]   compute-sanitizer, and 10,000 calls without growth
    python3 run.py fuzz  [arguments]          random programs, for --seconds and from --seed on
    python3 run.py demo  [arguments]          the programs in examples/

Environments are made of what lies beside this file, without a network. A short table comes last;
the whole is in the folder of --out.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import check
import environment
import suite
from environment import ROOT


def main() -> int:
    options, rest = parse(sys.argv[1:])
    if sys.version_info < (3, 11) or platform.machine() != "x86_64":
        raise SystemExit("a bundle needs Python 3.11 or newer on x86-64")
    environment.require_glibc()
    options.out.mkdir(parents=True, exist_ok=True)
    verbs = {"test": test, "bench": bench, "check": sanitize, "fuzz": fuzz, "demo": demo}
    return verbs[options.verb](options, rest)


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("test", "bench", "check", "fuzz", "demo"))
    parser.add_argument("--targets", default="gpu",
                        help="what the tests run on, or the benchmarks: gpu, emulated_gpu, ...")
    parser.add_argument("-j", "--processes", type=int, metavar="N",
                        help="of tests and of random programs; else one a core, 12 at most")
    parser.add_argument("--limit", type=float, default=3600.0, metavar="SECONDS",
                        help="stop then, with what there is")
    parser.add_argument("--test-limit", type=float, default=180.0, metavar="SECONDS",
                        help="a test that takes longer has failed")
    parser.add_argument("--out", type=Path, default=Path("parakeet-output"), metavar="FOLDER",
                        help="for logs and JSON")
    options, rest = parser.parse_known_args(arguments)
    options.out = options.out.resolve()
    return options, rest


def test(options: argparse.Namespace, rest: list[str]) -> int:
    start = time.monotonic()
    cores = len(os.sched_getaffinity(0))
    processes = options.processes or min(cores, 12)
    made = environment.for_tests()
    environment.require(made, options.targets)
    threads = str(max(1, cores // processes))
    made.variables.update(PARAKEET_TEST_TARGETS=f"{options.targets},only",
                          PARAKEET_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    running = suite.Suite(made, rest, processes, options.limit, options.test_limit, options.out)
    outcomes = running.run()
    return min(1, suite.report(outcomes, time.monotonic() - start, options.out))


def bench(options: argparse.Namespace, rest: list[str]) -> int:
    made = environment.for_benchmarks()
    environment.require(made, options.targets)
    print(f"{sys.executable}, with {made.described}", flush=True)
    command = [str(made.python), str(ROOT / "benchmarks/run.py"), *rest]
    if not any(word.startswith("--json") for word in rest):
        command += ["--json", str(options.out / "bench.json")]
    command += ["--targets", options.targets, "--limit", str(options.limit)]
    return subprocess.run(command, env=made.variables).returncode


def sanitize(options: argparse.Namespace, rest: list[str]) -> int:
    made = environment.for_tests()
    environment.require(made, options.targets)
    return check.run(made, options.targets, options.limit, options.out, rest)


def fuzz(options: argparse.Namespace, rest: list[str]) -> int:
    made = environment.for_tests()
    environment.require(made, options.targets)
    made.variables.update(PARAKEET_NUM_THREADS="2", OMP_NUM_THREADS="2")
    processes = options.processes or min(len(os.sched_getaffinity(0)), 12)
    command = [str(made.python), str(ROOT / "tests/python/fuzz_processes.py"), "--targets",
               options.targets, "-j", str(processes), "--out", str(options.out / "fuzz.jsonl")]
    return subprocess.run([*command, *rest], env=made.variables).returncode


def demo(options: argparse.Namespace, rest: list[str]) -> int:
    made = environment.for_benchmarks()
    command = [str(made.python), str(ROOT / "examples/demo.py"), *rest]
    return subprocess.run(command, env=made.variables).returncode


if __name__ == "__main__":
    sys.exit(main())
