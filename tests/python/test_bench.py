"""The programs of the benchmarks still compile, and still give what NumPy gives.

At tiny sizes, and no time is asserted: `./dev bench` measures (benchmarks/workload.py).
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from parakeet import jit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from workload import KERNELS, all_workloads, fresh, outcome  # noqa: E402

WORKLOADS = all_workloads()
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
    for target in ("serial", "parallel"):
        given = fresh(kept)
        results = outcome(workload, compiled(*given, target=target), given)
        assert [r.dtype for r in results] == [e.dtype for e in expected]
        assert workload.error(results, expected) <= workload.tolerance, target
        # Repetitions call with the same arguments again.
        assert workload.mutates or all(
            np.array_equal(a, b) for a, b in zip(given, kept, strict=True))  # fmt: skip
