"""One contestant in a process of its own: `serve.py PEER` obeys lines of JSON on standard input.

load  {workload, size, quick, targets, expected}: makes the data, calls each form once, and answers
      with what each took and how far its results are from those in the file `expected`, which NumPy
      writes.
time  {form, count}: answers with the seconds of `count` calls, behind some that do not count.
rates {}: answers with the machine's own, by C++.
"""

import gc
import json
import os
import sys
import time
import warnings

import machine
import numpy as np
from peers import forms_of
from workload import GROUPS, KERNELS, Workload, all_workloads, bytes_moved, fresh, outcome

# Threads that were stopped may all come back to one processor; the system spreads sixteen of them
# after some tens of milliseconds. Calls as long as this, and at least one, do not count.
SETTLING_SECONDS = 0.1


class Contestant:
    def __init__(self, peer: str):
        self.peer = peer
        self.workloads = {workload.name: workload for workload in all_workloads(GROUPS + KERNELS)}
        self.calls: dict = {}

    def describe(self) -> dict:
        return machine.describe_process(self.peer)

    def load(self, workload: str, size: str, quick: bool, targets: list[str],
             expected: str) -> dict:  # fmt: skip
        self.calls.clear()
        gc.collect()
        chosen = self.workloads[workload]
        arguments = chosen.arguments(getattr(chosen, size))
        forms = [self._first_call(chosen, name, make, arguments, expected)
                 for name, make in forms_of(self.peer, chosen, quick, targets)]  # fmt: skip
        return {"forms": forms}

    def _first_call(self, workload: Workload, name, make, arguments, expected: str) -> dict:
        try:
            call = make()
            if hasattr(call, "prepare"):
                arguments = call.prepare(arguments)
            given = fresh(arguments) if workload.mutates else arguments
            start = time.perf_counter()
            result = call(*given)
            first = time.perf_counter() - start
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}".strip().splitlines()[0]
            print(f"{workload.name}, {name}: {text}", file=sys.stderr, flush=True)
            return {"form": name, "refused": text[:200]}
        results = outcome(workload, result, given)
        report = {"form": name, "first": first}
        if self.peer == "numpy":
            np.savez(expected, *results)
            report["bytes"] = bytes_moved(arguments, results)
            report["flops"] = float(workload.flops(arguments, results))
            report["single"] = any(r.dtype == np.float32 for r in results)
        else:
            with np.load(expected) as file:
                report["error"] = workload.error(results, [file[key] for key in file.files])
        self.calls[name] = call, arguments, workload.mutates
        return report

    def time(self, form: str, count: int) -> dict:
        call, arguments, mutates = self.calls[form]

        def run() -> tuple[float, float]:
            return _once(call, fresh(arguments) if mutates else arguments)

        settled = 0.0
        while settled < SETTLING_SECONDS:
            settled += run()[0]
        runs = [run() for _ in range(count)]
        return {"times": [wall for wall, _ in runs], "processor": [used for _, used in runs]}

    def rates(self) -> dict:
        return machine.measure_rates()


def _once(call, arguments) -> tuple[float, float]:
    """One call with the allocation of its results, whose release is outside.

    Gives its seconds by the clock, and those of all processors together.
    """
    used, start = time.process_time(), time.perf_counter()
    result = call(*arguments)
    end, used_then = time.perf_counter(), time.process_time()
    del result
    return end - start, used_then - used


def main() -> None:
    # What libraries print goes where errors go; answers have the pipe to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    contestant = Contestant(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(contestant, request.pop("do"))(**request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
