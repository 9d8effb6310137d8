"""Contestants take turns: each is a process, which is stopped while another one is timed.

A machine's rates drift within minutes, so the repetitions of all peers are interleaved. Threads of
OpenMP and BLAS that wait for work may spin; a stopped process takes nothing from the others.
"""

import ctypes
import functools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import BUILT, why_no_form
from workload import Workload

HERE = Path(__file__).resolve().parent
PEERS_PYTHON = HERE.parent / ".bench-venv/bin/python"
# Peers that run where parakeet is installed; the others have an environment of their own.
OWN = ("parakeet", "numpy", "cpp")
PEERS = (*OWN, "numexpr", "numba", "jax", "pythran")


class Seat:
    """The process of one peer."""

    def __init__(self, peer: str, threads: int, shared: bool):
        self.peer = peer
        python = sys.executable if peer in OWN else str(PEERS_PYTHON)
        BUILT.mkdir(parents=True, exist_ok=True)
        # What is refused, and why, stands there.
        with open(BUILT / f"{peer}.log", "a") as log:
            self.process = subprocess.Popen(
                [python, "-P", str(HERE / "serve.py"), peer], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True, env=_environment(threads, shared),
                preexec_fn=functools.partial(_settle, threads))  # fmt: skip

    def ask(self, **request) -> dict:
        """Sends one request, with the process running only until it has answered."""
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError(f"{self.peer} ended: {request}")
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(answer)

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def _settle(threads: int) -> None:
    """In the new process: its processors, and that it ends with the runner even while stopped."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _environment(threads: int, shared: bool) -> dict:
    count = str(threads)
    # Threads that spin while they wait take the processor from those that they wait for, where
    # others run too; and what they spin is no work.
    waiting = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"} if shared else {}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    # What PYTHONPATH names stays: a bundle has its packages there.
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, **waiting, "OMP_NUM_THREADS": count, "NUMBA_NUM_THREADS": count,
            "NUMEXPR_MAX_THREADS": count, "NUMEXPR_NUM_THREADS": count,
            "PARAKEET_NUM_THREADS": count, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu",
            "PARAKEET_CACHE": "0"}  # fmt: skip  # The first call compiles, as it does in peers.


class Contest:
    def __init__(self, peers: list[str], options):
        self.threads = options.threads or len(os.sched_getaffinity(0))
        self.targets, self.quick, self.shared = options.targets, options.quick, options.shared
        self.seats: dict[str, Seat] = {}
        self.absent: dict[str, str] = {}
        self.described: dict[str, dict] = {}
        for peer in peers:
            self._open(peer)

    def _open(self, peer: str) -> None:
        if peer not in OWN and not PEERS_PYTHON.exists():
            self.absent[peer] = "no .bench-venv: ./dev bench --install-peers"
            return
        seat = Seat(peer, self.threads, self.shared)
        try:
            self.described[peer] = seat.ask(do="describe")
            self.seats[peer] = seat
        except RuntimeError:
            self.absent[peer] = "not installed"
            seat.close()

    def close(self) -> None:
        for seat in self.seats.values():
            seat.close()

    def run(self, workload: Workload) -> dict:
        """One row: what each contestant's forms took, and the machine's rates beside them."""
        with tempfile.TemporaryDirectory() as folder:
            loaded = self._load(workload, f"{folder}/expected.npz")
        numpy = loaded["numpy"][0]
        entries = self._choose(workload, loaded)
        rates = self._take_turns(entries)
        middle = {name: statistics.median(rate[name] for rate in rates) for name in rates[0]}
        for entry in entries:
            times, used = entry.pop("times"), entry.pop("processor")
            if times:
                entry |= {"median": statistics.median(times), "min": min(times),
                          "processor": statistics.median(used), "count": len(times)}  # fmt: skip
        work = {name: numpy[name] for name in ("bytes", "flops", "single")}
        return {"workload": workload.name, "size": workload.size, **work, "rates": middle,
                "tolerance": workload.tolerance, "against_cpp": workload.against_cpp,
                "entries": entries}  # fmt: skip

    def _load(self, workload: Workload, expected: str) -> dict[str, list[dict]]:
        """All forms of all peers are called once, one after another; NumPy says what is right."""
        loaded = {}
        for peer in sorted(self.seats, key=lambda peer: peer != "numpy"):
            try:
                loaded[peer] = self.seats[peer].ask(
                    do="load", workload=workload.name, size="size", quick=self.quick,
                    targets=self.targets, expected=expected)["forms"]
            except RuntimeError:
                self.seats.pop(peer).close()
                self._open(peer)
                loaded[peer] = [{"form": "", "refused": "ended: its process ended in this row"}]
            if not loaded[peer]:
                loaded[peer] = [{"form": "", "refused": why_no_form(peer, workload, self.quick)}]
        for peer, reason in self.absent.items():
            loaded.setdefault(peer, [{"form": "", "refused": f"absent: {reason}"}])
        return loaded

    def _choose(self, workload: Workload, loaded: dict) -> list[dict]:
        """Of ours, a contestant for each target; of each peer, its fastest right form."""
        entries = []
        for peer, forms in loaded.items():
            for form in forms:
                wrong = form.get("error", 0.0) > workload.tolerance
                if wrong:
                    form["refused"] = (f"wrong: error {form['error']:.1e}, "
                                       f"tolerance {workload.tolerance:.1e}")  # fmt: skip
            right = [form for form in forms if "refused" not in form]
            if peer == "parakeet":
                chosen = forms
            elif len(right) > 1:
                chosen = [min(right, key=functools.partial(self._try, peer))]
            else:
                chosen = right or forms[:1]
            entries += [{"peer": peer, **form, "times": [], "processor": []} for form in chosen]
        return entries

    def _try(self, peer: str, form: dict) -> float:
        return min(self.seats[peer].ask(do="time", form=form["form"], count=2)["times"])

    def _take_turns(self, entries: list[dict]) -> list[dict]:
        """Rounds of short turns; one that has had its share of time or repetitions sits out."""
        repetitions, seconds = (6, 0.5) if self.quick else (20, 3.0)
        rates = []
        while True:
            waiting = [entry for entry in entries if "refused" not in entry
                       and _wants_more(entry["times"], repetitions, seconds)]  # fmt: skip
            if not waiting:
                return rates or [self._rates()]
            if not (self.quick and rates):
                rates.append(self._rates())
            for entry in waiting:
                answer = self.seats[entry["peer"]].ask(do="time", form=entry["form"], count=2)
                entry["times"] += answer["times"]
                entry["processor"] += answer["processor"]

    def _rates(self) -> dict:
        if "cpp" not in self.seats:
            return {}
        return self.seats["cpp"].ask(do="rates")


def _wants_more(times: list[float], repetitions: int, seconds: float) -> bool:
    return len(times) < repetitions and (len(times) < 4 or sum(times) < seconds)
