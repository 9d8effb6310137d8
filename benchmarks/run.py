"""The one runner of benchmarks: `./dev bench [suite...]`.

Prints tables, and writes their numbers as JSON with --json. No time is asserted anywhere.
"""

import argparse
import importlib
import json
import platform
import re
import sys
from pathlib import Path

import numpy as np

import parakeet

# Each is a module here with `run(quick)`, which gives a title and a list of rows (dictionaries).
SUITES = ("latency", "compile")


def print_table(title: str, rows: list[dict]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, *([_show(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    print(f"\n{title}")
    for line in lines:
        first, *rest = zip(line, widths, strict=True)
        print(first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest), sep="  ")


def _show(value) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def processor() -> str:
    """The processor's name; Linux keeps it where Python's `platform` does not look."""
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def describe_machine() -> str:
    return (f"parakeet {parakeet.__version__}, Python {platform.python_version()}, "
            f"NumPy {np.__version__}, {parakeet.get_num_threads()} threads, {processor()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", default=SUITES, metavar="suite",
                        help=f"which to run: {', '.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite is called {min(unknown)}; there are {', '.join(SUITES)}")
    print(describe_machine())
    results = {"machine": describe_machine()}
    for suite in arguments.suites:
        for title, rows in importlib.import_module(suite).run(arguments.quick):
            print_table(title, rows)
            results.setdefault(suite, {})[title] = rows
            sys.stdout.flush()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
