"""Contestants on a device take turns, each in a process of its own, one row after another.

A contestant that fails in a row has its error in that row; one that dies or hangs is started anew
for the next. Within a row the turns of all are interleaved. The limit of time ends the run between
two rows, with what there is.
"""

import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contest import PEERS_PYTHON
from device_rows import DeviceRow
from peers import BUILT

HERE = Path(__file__).resolve().parent
DEVICE_PEERS = ("cupy", "torch", "jax", "cuda")
OWN = ("parakeet", "numpy")
# How long an answer may take, by request, beside what the request itself allows.
PATIENCE = 30.0
# Behind these errors every later call of the process fails too.
LOST_DEVICE = re.compile(r"CUDA_?ERROR|illegal (memory|address|instruction)|launch fail|misaligned",
                         re.IGNORECASE)  # fmt: skip


class DeviceSeat:
    """The process of one contestant."""

    def __init__(self, peer: str, target: str):
        self.peer = peer
        own = peer in (*OWN, "cuda") or not PEERS_PYTHON.exists()
        python = sys.executable if own else str(PEERS_PYTHON)
        BUILT.mkdir(parents=True, exist_ok=True)
        with open(BUILT / f"device-{peer}.log", "a") as log:
            self.process = subprocess.Popen(
                [python, "-P", str(HERE / "device_serve.py"), peer, target],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment())
        self._rest = b""

    def send(self, **request) -> None:
        try:
            self.process.stdin.write((json.dumps(request) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # Its end is seen when an answer is waited for.

    def answer(self, seconds: float) -> dict:
        """The next line that it prints. Raises RuntimeError where none comes."""
        end, pipe = time.monotonic() + seconds, self.process.stdout.fileno()
        while b"\n" not in self._rest:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            data = os.read(pipe, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("the process ended" if ready else f"hung for {seconds:.0f} s")
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        answer = json.loads(line)
        if "failed" in answer:
            raise ValueError(answer["failed"])
        return answer

    def ask(self, patience: float, **request) -> dict:
        self.send(**request)
        return self.answer(patience)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def _environment() -> dict:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    paths = [str(HERE), *filter(None, [kept.get("PYTHONPATH")])]
    return {"CUPY_ACCELERATORS": "cub", **kept, "PYTHONPATH": os.pathsep.join(paths),
            # JAX would take most of the memory that all share.
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "KMP_BLOCKTIME": "0",
            # The first call compiles, as it does in peers; the driver keeps what it assembled too.
            "PARAKEET_CACHE": "0", "CUDA_CACHE_DISABLE": "1"}  # fmt: skip


class DeviceContest:
    def __init__(self, target: str, peers: list[str], quick: bool):
        self.target, self.quick = target, quick
        self.seats: dict[str, DeviceSeat] = {}
        self.absent: dict[str, str] = {}
        self.described: dict[str, str] = {}
        opened = {peer: DeviceSeat(peer, target) for peer in peers}
        for peer, seat in opened.items():
            self._settle(peer, seat)

    def _settle(self, peer: str, seat: DeviceSeat) -> None:
        try:
            answer = seat.answer(120.0)
        except (RuntimeError, ValueError) as problem:
            answer = {"absent": str(problem)}
        if "absent" in answer:
            self.absent[peer] = answer["absent"]
            seat.close()
        else:
            self.seats[peer], self.described[peer] = seat, answer["described"]

    def _start_anew(self, peer: str) -> None:
        self.seats.pop(peer).close()
        self._settle(peer, DeviceSeat(peer, self.target))

    def close(self) -> None:
        for seat in self.seats.values():
            seat.close()

    def run(self, row: DeviceRow) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            loaded = self._load(row, f"{folder}/expected.npz")
        known = next((form for form in loaded.get("numpy", []) if "bytes" in form), {})
        entries = self._choose(row, loaded)
        rates = self._ask_ours({}, "rates")
        self._take_turns(entries)
        ends = self._ask_ours({}, "ends", samples=20, seconds=0.3 if self.quick else 1.0)
        for entry in entries:
            if times := entry.pop("times"):
                entry |= {"median": statistics.median(times), "min": min(times),
                          "count": len(times)}  # fmt: skip
            if LOST_DEVICE.search(entry.get("refused", "")) and entry["peer"] in self.seats:
                self._start_anew(entry["peer"])
        size = row.quick if self.quick else row.size
        return {"workload": row.name, "size": size, "wanted": row.wanted, "rates": rates,
                **{name: known.get(name, 0.0) for name in ("bytes", "flops", "up", "down")},
                "ends": statistics.median(ends["times"]) if ends.get("times") else None,
                "entries": entries}  # fmt: skip

    def _ask_ours(self, otherwise: dict, what: str, **request) -> dict:
        if "parakeet" not in self.seats:
            return otherwise
        try:
            return self.seats["parakeet"].ask(PATIENCE, do=what, **request)
        except ValueError:
            return otherwise
        except RuntimeError:
            self._start_anew("parakeet")
            return otherwise

    def _load(self, row: DeviceRow, expected: str) -> dict[str, list[dict]]:
        """All at once, and NumPy says what is right; ours alone, since its first call counts."""
        loaded = {}
        others = [peer for peer in self.seats if peer != "parakeet"]
        for turn in (others, ["parakeet"]):
            turn = [peer for peer in turn if peer in self.seats]
            for peer in turn:
                self.seats[peer].send(do="load", row=row.name, expected=expected,
                                      size="quick" if self.quick else "size", seconds=PATIENCE)
            for peer in turn:
                loaded[peer] = self._loaded(peer)
        return loaded

    def _loaded(self, peer: str) -> list[dict]:
        try:
            return self.seats[peer].answer(4 * PATIENCE)["forms"]
        except ValueError as problem:
            return [{"form": "", "refused": str(problem)}]
        except RuntimeError as problem:
            self._start_anew(peer)
            return [{"form": "", "refused": str(problem)}]

    def _choose(self, row: DeviceRow, loaded: dict) -> list[dict]:
        """Of each contestant, its fastest right form, or the reason of one that is not."""
        entries = []
        for peer, forms in loaded.items():
            for form in forms:
                if not form.get("error", 0.0) <= row.tolerance:
                    form["refused"] = f"wrong: error {form['error']:.1e}"
            right = [form for form in forms if "refused" not in form]
            if len(right) > 1:
                right = [min(right, key=lambda form: self._try(peer, form))]
            if chosen := right or forms[:1]:
                entries.append({"peer": peer, **chosen[0], "times": []})
        return entries

    def _try(self, peer: str, form: dict) -> float:
        entry = {"peer": peer, **form, "times": []}
        self._turn(entry, 2)
        return min(entry["times"], default=float("inf"))

    def _take_turns(self, entries: list[dict]) -> None:
        for _ in range(2 if self.quick else 4):
            for entry in entries:
                # NumPy's time on the host says little here: it is called once.
                if "refused" not in entry and entry["peer"] != "numpy":
                    self._turn(entry, 3 if self.quick else 6)

    def _turn(self, entry: dict, samples: int) -> None:
        peer = entry["peer"]
        if peer not in self.seats:
            return
        try:
            answer = self.seats[peer].ask(PATIENCE, do="time", form=entry["form"],
                                          samples=samples, seconds=1.0)
            entry["times"] += answer["times"]
        except ValueError as problem:
            entry["refused"] = str(problem)
        except RuntimeError as problem:
            entry["refused"] = str(problem)
            self._start_anew(peer)
