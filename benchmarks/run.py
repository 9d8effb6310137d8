"""The one runner of benchmarks: `./dev bench [suite...]`.

Prints tables, and writes their numbers as JSON with --json. No time is asserted anywhere.
"""

import argparse
import importlib
import json
import platform
import sys
import time
from pathlib import Path

import machine
import numpy as np
from contest import PEERS
from device_contest import DEVICE_PEERS
from report import print_table

import parakeet

# Each is a module here with `run(options)`, which gives titles and lists of rows (dictionaries).
SUITES = {"workloads": "measure_workloads", "latency": "latency", "compile": "compile",
          "device": "device", "dispatch": "dispatch", "kernels": "measure_kernels",
          "page": "page", "assemblers": "gpu_assemblers"}  # fmt: skip


def describe_machine() -> str:
    return (f"parakeet {parakeet.__version__}, Python {platform.python_version()}, "
            f"NumPy {np.__version__}, {parakeet.get_num_threads()} threads, "
            f"{machine.processor()}, {machine.vector_width()}, BLAS core {machine.blas_core()}")


class Options(argparse.Namespace):
    """What was asked for, and what has been measured so far: `document`, in --json's file."""

    def __init__(self):
        super().__init__(document={"machine": describe_machine()})

    def keep(self, measured: dict) -> None:
        """Adds to the file, where there is one, so that a run that is ended leaves its rows."""
        self.document |= measured
        if self.json:
            self.json.write_text(json.dumps(self.document, indent=1))


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def parse(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__)
    parser.add_argument("suites", nargs="*", default=["workloads"], metavar="suite",
                        help=f"which to run: {', '.join(SUITES)}; workloads if none is named")
    parser.add_argument("--only", type=words, default=[],
                        help="workloads or groups, with commas; the beginning of a name will do")
    parser.add_argument("--peers", type=words, default=[],
                        help=f"of {', '.join(PEERS)}; on a GPU of {', '.join(DEVICE_PEERS)}")
    parser.add_argument("--targets", type=words, default=["serial", "parallel"],
                        help="serial, parallel; gpu (or gpu:1, emulated_gpu) measures the device")
    parser.add_argument("--threads", type=int, help="of each contestant; else every core")
    parser.add_argument("--shared", action="store_true",
                        help="others use the machine: no thread spins, see 'x C++ processor'")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and forms")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help="on a GPU: no row begins later, and what there is is printed")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    options = parser.parse_args(arguments, namespace=Options())
    options.deadline = options.limit and time.monotonic() + options.limit
    for given, known in ((options.suites, SUITES), (options.peers, (*PEERS, *DEVICE_PEERS))):
        if unknown := set(given) - set(known):
            parser.error(f"there is no {min(unknown)}; there are {', '.join(known)}")
    return options


def main() -> None:
    options = parse(sys.argv[1:])
    print(describe_machine())
    for suite in options.suites:
        tables = {}
        for title, rows in importlib.import_module(SUITES[suite]).run(options):
            print_table(title, rows)
            sys.stdout.flush()
            tables[title] = rows
            # These keep what their tables are made of; `page` reads the file.
            if suite not in ("workloads", "kernels", "page"):
                options.keep({suite: tables})


if __name__ == "__main__":
    main()
