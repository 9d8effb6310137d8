"""One contestant on a device, in a process of its own: `device_serve.py PEER TARGET`.

It obeys lines of JSON on standard input, as serve.py does:

load  {row, size, expected, seconds}: makes the data, puts it on the device, calls each form once,
      and answers with what each took and how far its results are from those in the file `expected`,
      which NumPy writes meanwhile. A call that takes longer than `seconds` is given up.
time  {form, samples, seconds}: the seconds of a call, measured so many times: each over as many
      calls as take a hundredth of a second, between two waits for the device.
ends  {samples, seconds}: the same of calls from the host's arrays to the host's, with ours alone.
rates {}: the device's copies.
"""

import json
import os
import signal
import sys
import time
import traceback
import warnings

import numpy as np
from device_peers import open_library
from device_rows import find_row
from workload import Workload, largest_difference

# As long as the clock and the wait are small beside it.
SAMPLE_SECONDS, MOST_CALLS = 0.01, 2000
NUMPY_SECONDS = 60.0
CHUNK = 1 << 16


class TooLong(Exception):
    pass


def give_up(signal_number, frame):
    raise TooLong


class DeviceContestant:
    def __init__(self, peer: str, target: str):
        self.peer, self.target = peer, target
        self.library = open_library(peer, target)
        self.row = None
        self.calls: dict = {}

    def describe(self) -> dict:
        return {"described": self.library.describe()}

    def load(self, row: str, size: str, expected: str, seconds: float) -> dict:
        self.calls.clear()
        self.library.release()
        self.row = find_row(row)
        self.host = self.row.workload.arguments(getattr(self.row, size))
        put = [self.library.put(a) if isinstance(a, np.ndarray) else a for a in self.host]
        forms = self.library.forms(self.row.workload)
        return {"forms": [self._first_call(name, make, put, expected, seconds)
                          for name, make in forms]}  # fmt: skip

    def _first_call(self, name, make, arguments, expected: str, seconds: float) -> dict:
        workload = self.row.workload
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            call = make()
            given = self._fresh(arguments)
            self.library.wait()
            start = time.perf_counter()
            result = call(*given)
            self.library.wait()
            first = time.perf_counter() - start
            results = self._outcome(result, given)
        except TooLong:
            return self._refused(name, f"longer than {seconds:.0f} s", expected)
        except Exception as problem:
            traceback.print_exc()
            text = " ".join(f"{type(problem).__name__}: {problem}".split())
            return self._refused(name, text[:200], expected)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        report = {"form": name, "first": first}
        if self.peer == "numpy":
            _write(expected, results)
            report["bytes"] = float(self.row.traffic(self.host, results))
            report["flops"] = float(workload.flops(self.host, results))
            report["up"] = float(sum(a.nbytes for a in self.host if isinstance(a, np.ndarray)))
            report["down"] = float(sum(r.nbytes for r in results))
        else:
            report["error"] = error_of(workload, results, _read(expected))
        self.calls[name] = call, arguments
        return report

    def _refused(self, name: str, why: str, expected: str) -> dict:
        if self.peer == "numpy":
            _write(expected, [])  # With which nothing agrees.
        return {"form": name, "refused": why}

    def _fresh(self, arguments) -> list:
        if not self.row.workload.mutates:
            return arguments
        return [a.copy() if isinstance(a, np.ndarray) else self.library.copy(a)
                if hasattr(a, "shape") else a for a in arguments]  # fmt: skip

    def _outcome(self, result, given) -> list[np.ndarray]:
        stored = [a for a in given if hasattr(a, "shape")] if self.row.workload.mutates else []
        parts = [] if result is None else self.library.get(result)
        return [*parts, *(part for a in stored for part in self.library.get(a))]

    def time(self, form: str, samples: int, seconds: float) -> dict:
        call, arguments = self.calls[form]
        count = 1
        if not self.row.workload.mutates:
            once = min(self._sample(call, arguments, 1) for _ in range(2))
            count = min(MOST_CALLS, max(1, int(SAMPLE_SECONDS / max(once, 1e-7))))
        return {"times": self._samples(call, arguments, count, samples, seconds), "calls": count}

    def ends(self, samples: int, seconds: float) -> dict:
        from parakeet import jit

        call = jit(self.row.workload.program, target=self.target)
        call(*self._fresh(self.host))
        return {"times": self._samples(call, self.host, 1, samples, seconds)}

    def _samples(self, call, arguments, count, samples, seconds) -> list[float]:
        times, end = [], time.perf_counter() + seconds
        while len(times) < samples and (not times or time.perf_counter() < end):
            times.append(self._sample(call, arguments, count))
        return times

    def _sample(self, call, arguments, count: int) -> float:
        given = self._fresh(arguments)
        self.library.wait()
        start = time.perf_counter()
        for _ in range(count):
            result = call(*given)
        self.library.wait()
        seconds = (time.perf_counter() - start) / count
        del result
        return seconds

    def rates(self) -> dict:
        driver = getattr(self.library, "driver", None)
        return driver.rates() if driver else {}


def _write(expected: str, results: list[np.ndarray]) -> None:
    """The file is there when it is whole."""
    np.savez(f"{expected}.part.npz", *results)
    os.replace(f"{expected}.part.npz", expected)


def _read(expected: str) -> list[np.ndarray]:
    end = time.monotonic() + NUMPY_SECONDS
    while not os.path.exists(expected) and time.monotonic() < end:
        time.sleep(0.02)
    with np.load(expected) as file:
        return [file[key] for key in file.files]


def error_of(workload: Workload, results, expected) -> float:
    """As the workload measures it; large arrays piece by piece, which a cache holds."""
    if workload.error is not largest_difference:
        return float(workload.error(results, expected))
    if [r.shape for r in results] != [e.shape for e in expected]:
        return float("inf")
    return max((_largest(r.reshape(-1), e.reshape(-1))
                for r, e in zip(results, expected, strict=True)), default=0.0)  # fmt: skip


def _largest(result: np.ndarray, wanted: np.ndarray) -> float:
    pieces = [slice(at, at + CHUNK) for at in range(0, wanted.size, CHUNK)]
    scale = max((_magnitude(wanted[piece]) for piece in pieces), default=0.0) or 1.0
    worst = 0.0
    for piece in pieces:
        a, b = result[piece], wanted[piece]
        if not np.array_equal(a, b):
            difference = largest_difference([a], [b]) * (_magnitude(b) or 1.0)
            worst = max(worst, difference / scale)
    return worst


def _magnitude(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite), initial=0.0))


def main() -> None:
    # What libraries print goes where errors go; answers have the pipe to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, give_up)
    try:
        contestant = DeviceContestant(*sys.argv[1:])
        answer = contestant.describe()
    except Exception as problem:
        traceback.print_exc()
        answer = {"absent": " ".join(f"{type(problem).__name__}: {problem}".split())[:150]}
    print(json.dumps(answer), file=answers, flush=True)
    for line in sys.stdin if "absent" not in answer else ():
        request = json.loads(line)
        try:
            answer = getattr(contestant, request.pop("do"))(**request)
        except Exception as problem:
            traceback.print_exc()
            answer = {"failed": " ".join(f"{type(problem).__name__}: {problem}".split())[:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
