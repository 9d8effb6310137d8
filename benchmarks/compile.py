"""How long compilation takes, by phase: whole programs, and functions of 75 to 300 lines.

Each number is the median over fresh compilations in one process whose compiler is open: what a
first call costs beside that is the suite `latency`'s. `processor` is the time of the processor
for all of it, which says the same on a machine that others use too.
"""

import inspect
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from parakeet import jit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python"))

from from_source import define  # noqa: E402
from long_program import calls_of, source_of  # noqa: E402
from test_whole_programs import CASES  # noqa: E402

# Twenty of tests/python/whole_programs: loops, broadcasting, library calls, closures, recursion.
PROGRAMS = (
    "polygon_area", "rotations", "floyd_warshall", "dijkstra", "mandelbrot", "harris", "blur",
    "otsu", "softmax", "attention", "convolution_layer", "train_network", "k_means",
    "conjugate_gradient", "lu", "distances_by_broadcasting", "huffman_lengths",
    "exchanged_halves", "page_rank", "occurrences",
)  # fmt: skip
LENGTHS = (75, 150, 300)
# The phases that are no pass of ours: before them, and after.
FRONT, BACK = ("frontend",), ("emit", "optimize", "generate", "link", "load")


def run(options):
    repeat = 3 if options.quick else 7
    cases = {case.name: case for case in CASES}
    chosen = [cases[name] for name in PROGRAMS]
    records = []
    for case in chosen:
        records.append(_measure(case.program, case.arguments(case.sizes[-1]), repeat))
    yield "compile time of programs, ms", [_row(record) for record in records]
    yield "the same programs by pass, ms", _by_pass(records)
    yield "compile time of long functions, ms", [_row(_long(lines, repeat)) for lines in LENGTHS]
    calls = [_row(_calls(lines, max(1, repeat // 3))) for lines in LENGTHS]
    yield "compile time of long functions with four library calls a line, ms", calls


def _measure(program, arguments, repeat: int) -> dict:
    """The median of each phase; the first compilation, which may import, does not count."""
    compiled = jit(program, cache=False)
    phases, cpu = [], []
    for _ in range(repeat + 1):
        compiled._clear()
        start = time.process_time()
        compiled.compile(*arguments)
        cpu.append((time.process_time() - start) * 1e3)
        phases.append(compiled.timings()[0].phases)
    median = {name: statistics.median(run.get(name, 0.0) for run in phases[1:])
              for name in phases[-1]}  # fmt: skip
    lines = len(inspect.getsourcelines(program)[0])
    return {"program": program.__name__, "lines": lines, "phases": median,
            "cpu": statistics.median(cpu[1:])}


def _long(lines: int, repeat: int) -> dict:
    arguments = np.linspace(-1.0, 1.0, 12), np.linspace(0.5, 2.0, 12) ** 2
    return _measure(define(source_of(lines), "long_program"), arguments, repeat)


def _calls(lines: int, repeat: int) -> dict:
    x, y = np.linspace(-1.0, 1.0, 12), np.linspace(0.5, 2.0, 12) ** 2
    program = define(calls_of(lines), "long_program")
    return _measure(program, (x, y, np.outer(y, y) + 0.1), repeat)


def _row(record: dict) -> dict:
    phases = record["phases"]
    passes = {name: ms for name, ms in phases.items() if name not in (*FRONT, *BACK, "open")}
    slowest = max(passes, key=passes.get)
    return {
        "program": record["program"],
        "lines": record["lines"],
        "all": sum(phases.values()),
        "processor": record["cpu"],
        "frontend": phases["frontend"],
        "passes": sum(passes.values()),
        **{name: phases[name] for name in BACK},
        "slowest pass": f"{slowest} {passes[slowest]:.2f}",
    }


def _by_pass(records: list[dict]) -> list[dict]:
    """The sum over all programs, the slowest first; what takes less than a thousandth is left."""
    sums = {}
    for record in records:
        for name, ms in record["phases"].items():
            sums[name] = sums.get(name, 0.0) + ms
    total = sum(sums.values())
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return [{"phase": name, "ms": ms, "share": f"{ms / total:.1%}"}
            for name, ms in ordered if ms >= total / 1000]  # fmt: skip
