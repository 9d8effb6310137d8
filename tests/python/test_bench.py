"""The programs of the benchmarks still compile, and still give what NumPy gives.

At tiny sizes, and no time is asserted: `./dev bench` measures (benchmarks/workload.py).
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from parakeet import jit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import chart  # noqa: E402
import report  # noqa: E402
from tested_targets import COMPILED
from workload import GROUPS, KERNELS, all_workloads, fresh, outcome  # noqa: E402

WORKLOADS = all_workloads((*GROUPS, "resident"))
# The two sizes are the same program.
BY_OTHERS = [workload for workload in all_workloads(KERNELS) if workload.name.endswith(" S")]


def test_names_differ():
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names) > 30


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_agrees_with_numpy(workload):
    check(workload)


@pytest.mark.long
@pytest.mark.parametrize("workload", BY_OTHERS, ids=lambda workload: workload.name)
def test_kernel_by_others_agrees_with_numpy(workload):
    check(workload)


def check(workload):
    kept = workload.arguments(workload.tiny)
    given = fresh(kept)
    with np.errstate(all="ignore"):
        result = (workload.numpy or workload.program)(*given)
    expected = outcome(workload, result, given)
    compiled = jit(workload.program)
    for target in COMPILED:
        given = fresh(kept)
        results = outcome(workload, compiled(*given, target=target), given)
        assert [r.dtype for r in results] == [e.dtype for e in expected]
        assert workload.error(results, expected) <= workload.tolerance, target
        # Repetitions call with the same arguments again.
        assert workload.mutates or all(
            np.array_equal(a, b) for a, b in zip(given, kept, strict=True))  # fmt: skip


def test_the_table_compares_with_the_best_peer_and_with_cpp():
    def entry(peer, form, seconds):
        return {"peer": peer, "form": form, "first": 1.0, "median": seconds, "min": seconds,
                "processor": 2 * seconds, "count": 20}  # fmt: skip

    row = {"workload": "x < y", "size": [[1200, 3], 7], "bytes": 8e6, "flops": 1e9,
           "single": False, "against_cpp": 1.2,
           "rates": {"triad": 1e10, "f64": 1e11, "f32": 2e11},
           "entries": [entry("numpy", "", 0.3), entry("parakeet", "serial", 0.04),
                       entry("parakeet", "parallel", 0.02), entry("cpp", "", 0.03),
                       entry("numba", "loops", 0.05),
                       {"peer": "jax", "form": "", "refused": "wrong"}]}  # fmt: skip
    line = report.summary_line(row)
    # Ten milliseconds of operations are longer than the eight tenths of one of bytes.
    assert line["size"] == "1,200x3 7"
    assert line["floor"] == pytest.approx(10.0) and line["of floor"] == "50%"
    assert (line["best peer"], line["x peer"]) == ("numba", pytest.approx(2.5))
    assert line["x C++"] == pytest.approx(1.5) and line["jax"] == "-"
    assert len(report.details([row])) == 6
    circles = ElementTree.fromstring(chart.draw([row], "median")).findall("{*}circle")
    # The legend's, and one for each contestant that is not the line itself.
    assert len(circles) == len(chart.COLOURS) + 3
