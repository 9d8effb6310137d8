"""`workloads_once.py TARGET`: every workload of the benchmarks, called once with few elements.

For a tool that watches each access: what runs is every kind of kernel, with several blocks of most.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from device_rows import DEVICE_ROWS  # noqa: E402
from workload import fresh, outcome  # noqa: E402

from parakeet import jit  # noqa: E402


def differs(row, target: str) -> str:
    """Why a call's answer is not NumPy's, or nothing."""
    workload, kept = row.workload, row.workload.arguments(row.quick)
    given, own = fresh(kept), fresh(kept)
    try:
        result = jit(workload.program)(*given, target=target)
        expected = (workload.numpy or workload.program)(*own)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    results = outcome(workload, result, given)
    error = workload.error(results, outcome(workload, expected, own))
    return "" if error <= row.tolerance else f"error {error:.1e}"


def main(target: str) -> int:
    np.seterr(all="ignore")
    wrong = []
    for row in DEVICE_ROWS:
        if why := differs(row, target):
            print(f"{row.name}: {why}", flush=True)
            wrong.append(row.name)
    names = f": {', '.join(wrong)}" if wrong else ""
    print(f"{len(DEVICE_ROWS) - len(wrong)} of {len(DEVICE_ROWS)} programs right{names}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
