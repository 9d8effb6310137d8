"""compute-sanitizer over every workload of the benchmarks, and memory over many calls.

With arguments for pytest, the sanitizer watches those tests instead.
"""

import re
import shutil
import subprocess
import time
from pathlib import Path

from environment import ROOT, Environment

HERE = Path(__file__).resolve().parent
TOOLS = ("memcheck", "racecheck", "synccheck")
FOUND = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


def run(made: Environment, target: str, limit: float, folder: Path, tests: list[str]) -> int:
    """Prints a line for each check; gives 1 if one of them found something."""
    deadline = time.monotonic() + limit
    programs = [HERE / "workloads_once.py", target]
    if tests:
        made.variables["PARAKEET_TEST_TARGETS"] = f"{target},only"
        programs = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    lines = [_run(made, "growth", [], [HERE / "growth.py", target], deadline, folder)]
    sanitizer = shutil.which("compute-sanitizer")
    for tool in TOOLS if target.startswith("gpu") else ():
        if sanitizer is None:
            lines.append((tool, True, "skipped: no compute-sanitizer on PATH"))
        else:
            command = [sanitizer, "--tool", tool, "--print-limit", "20", "--error-exitcode", "9"]
            lines.append(_run(made, tool, command, programs, deadline, folder))
    # Without it, the same programs still run, and their answers are looked at.
    lines.append(_run(made, "answers", [], programs, deadline, folder))
    for name, is_good, text in lines:
        print(f"{name:12} {'good' if is_good else 'FAILED':7} {text}")
    return 0 if all(is_good for _, is_good, _ in lines) else 1


def _run(made: Environment, name: str, command: list[str], what: list, deadline: float,
         folder: Path) -> tuple[str, bool, str]:  # fmt: skip
    log, start = folder / f"check-{name}.log", time.monotonic()
    try:
        with open(log, "w") as output:
            status = subprocess.run(
                [*command, made.python, "-P", *what], env=made.variables, cwd=ROOT, stdout=output,
                stderr=subprocess.STDOUT, timeout=max(1.0, deadline - start)).returncode
    except subprocess.TimeoutExpired:
        return name, False, f"stopped at the limit; {_last_line(log)}"
    seconds = time.monotonic() - start
    found = [int(a or b) for a, b in FOUND.findall(log.read_text(errors="replace"))]
    count = f"{sum(found)} errors, " if found else ""
    text = f"{count}{_last_line(log)} ({seconds:.0f} s; {log})"
    return name, status == 0 and not sum(found), text


def _last_line(log: Path) -> str:
    """Of the program, or where it printed nothing, of the tool."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith("=========")]
    return (own or lines or ["it printed nothing"])[-1][:300]
