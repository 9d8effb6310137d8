"""The programs of the benchmarks still compile, and still give what NumPy gives.

At tiny sizes, and no time is asserted: `./dev bench` measures (benchmarks/workload.py).
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from parakeet import jit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from workload import all_workloads, as_arrays  # noqa: E402

WORKLOADS = all_workloads()


def test_names_differ():
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names) > 30


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_agrees_with_numpy(workload):
    arguments = workload.arguments(workload.tiny)
    with np.errstate(all="ignore"):
        expected = as_arrays((workload.numpy or workload.program)(*arguments))
    kept = [a.copy() for a in arguments if isinstance(a, np.ndarray)]
    compiled = jit(workload.program)
    for target in ("serial", "parallel"):
        results = as_arrays(compiled(*arguments, target=target))
        assert [r.dtype for r in results] == [e.dtype for e in expected]
        assert workload.error(results, expected) <= workload.tolerance, target
    # Repetitions call with the same arguments again.
    given = [a for a in arguments if isinstance(a, np.ndarray)]
    assert all(np.array_equal(a, b) for a, b in zip(given, kept, strict=True))
