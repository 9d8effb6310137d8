"""The suite in several processes, within a limit of time, each test once.

Each process is pytest with the plugin worker.py. A process that dies or hangs costs the one test it
was in, which counts as failed; a new one goes on behind it. So does one where a kernel has left the
device unusable for its process.
"""

import json
import os
import re
import selectors
import subprocess
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

from environment import ROOT, Environment

# Behind these errors of the driver every later call of the process fails too.
LOST_DEVICE = re.compile(r"CUDA_ERROR_(ILLEGAL|LAUNCH|MISALIGNED|ASSERT|HARDWARE|INVALID_PC|"
                         r"INVALID_ADDRESS|CONTEXT|ECC)|illegal memory access|launch failed")
# Of the checkout's sources and pages and of what the wheel is made of, not of what programs do.
NOT_HERE = ("test_house.py", "test_wheel.py", "test_abi.py", "test_coverage.py")


@dataclass
class Outcomes:
    """What became of the tests, by their numbers."""

    names: list[str] = field(default_factory=list)
    of: dict[int, tuple[str, str]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)


class Worker:
    """One process of pytest, and the tests that it has been told to run."""

    def __init__(self, suite: "Suite"):
        told, self._tell = os.pipe()
        self.output, tell = os.pipe()
        variables = {**suite.environment.variables, "PARAKEET_SUITE_PIPES": f"{told},{tell}",
                     "PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": "0"}
        self.log = open(suite.folder / f"worker-{suite.started}.log", "wb")
        self.process = subprocess.Popen(
            [suite.environment.python, "-P", "-m", "pytest", "-p", "worker", "-q", "--no-header",
             "-p", "no:cacheprovider", *suite.arguments], cwd=ROOT, env=variables,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            pass_fds=(told, tell))  # fmt: skip
        os.close(told)
        os.close(tell)
        self.waiting: deque[int] = deque()
        self.running: int | None = None
        self.since = time.monotonic()
        self.ready, self.is_open = False, True
        self._rest = b""

    def tell(self, numbers: list[int]) -> None:
        self.waiting.extend(numbers)
        try:
            os.write(self._tell, (json.dumps(numbers) + "\n").encode())
        except BrokenPipeError:
            pass  # Its end is seen when its output is read.

    def read(self) -> list[dict] | None:
        """The messages that have come; None when it has ended."""
        data = os.read(self.output, 1 << 20)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines] if data else None

    def end(self) -> str:
        """Why its output has ended."""
        try:
            return f"the process ended with status {self.process.wait(timeout=10)}"
        except subprocess.TimeoutExpired:
            return "the process closed its pipes"

    def close(self) -> None:
        self.is_open = False
        for pipe in (self._tell, self.output):
            os.close(pipe)
        self.process.kill()
        self.process.wait()
        self.log.close()


class Suite:
    def __init__(self, environment: Environment, arguments: list[str], processes: int,
                 limit: float, test_limit: float, folder: Path):  # fmt: skip
        self.environment, self.folder = environment, folder
        self.arguments = arguments or _everything()
        self.processes, self.test_limit = processes, test_limit
        self.deadline = time.monotonic() + limit
        self.outcomes = Outcomes()
        self.waiting: deque[int] = deque()
        self.started = 0
        self._selector = selectors.DefaultSelector()
        self._failed_starts = 0
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> Outcomes:
        for _ in range(self.processes):
            self._start()
        try:
            while self._selector.get_map() and time.monotonic() < self.deadline:
                for key, _ in self._selector.select(timeout=1.0):
                    self._hear(key.data)
                self._stop_those_that_hang()
        finally:
            for key in list(self._selector.get_map().values()):
                self._end(key.data)
        return self.outcomes

    def _start(self) -> None:
        worker = Worker(self)
        self.started += 1
        self._selector.register(worker.output, selectors.EVENT_READ, worker)

    def _end(self, worker: Worker) -> None:
        self._selector.unregister(worker.output)
        worker.close()

    def _hear(self, worker: Worker) -> None:
        messages = worker.read()
        if messages is None:
            self._lose(worker, worker.end())
            return
        for message in messages:
            if worker.is_open:
                self._take(worker, message)
        if worker.is_open and worker.ready and not worker.waiting:
            self._feed(worker)

    def _take(self, worker: Worker, message: dict) -> None:
        if "uncollected" in message:
            self.outcomes.uncollected[message["uncollected"]] = message["text"]
        elif "collected" in message:
            self._collected(worker, message["collected"])
        elif "start" in message:
            worker.running, worker.since = message["start"], time.monotonic()
        elif "end" in message:
            self._ended(worker, message["end"], message["outcome"], message["text"])

    def _collected(self, worker: Worker, names: list[str]) -> None:
        if not self.outcomes.names:
            self.outcomes.names = names
            self.waiting.extend(range(len(names)))
        elif names != self.outcomes.names:
            raise SystemExit("two processes collected different tests")
        worker.ready = True

    def _ended(self, worker: Worker, number: int, outcome: str, text: str) -> None:
        self.outcomes.of[number] = outcome, text
        self.outcomes.seconds[number] = time.monotonic() - worker.since
        worker.waiting.popleft()
        worker.running = None
        if outcome == "failed":
            with open(self.folder / "failures.log", "a") as log:
                log.write(f"==== {self.outcomes.names[number]}\n{text}\n")
            if LOST_DEVICE.search(text):
                self._replace(worker)

    def _feed(self, worker: Worker) -> None:
        """Some tests that follow one another; fewer when few are left, so that all end together."""
        count = min(20, max(1, len(self.waiting) // (4 * self.processes)))
        numbers = [self.waiting.popleft() for _ in range(min(count, len(self.waiting)))]
        if numbers:
            worker.tell(numbers)
        else:
            self._end(worker)

    def _lose(self, worker: Worker, why: str) -> None:
        if worker.running is not None:
            self._ended(worker, worker.running, "failed", why)
        elif not worker.ready:
            self._failed_starts += 1
        if worker.is_open:
            self._replace(worker)

    def _replace(self, worker: Worker) -> None:
        self.waiting.extendleft(reversed(worker.waiting))
        self._end(worker)
        if self.waiting or (not self.outcomes.names and self._failed_starts <= self.processes):
            self._start()

    def _stop_those_that_hang(self) -> None:
        now = time.monotonic()
        for key in list(self._selector.get_map().values()):
            worker = key.data
            if worker.running is not None and now - worker.since > self.test_limit:
                self._lose(worker, f"it took longer than {self.test_limit:g} s")


def _everything() -> list[str]:
    folder = ROOT / "tests/python"
    return [str(path) for path in sorted(folder.glob("test_*.py")) if path.name not in NOT_HERE]


def report(outcomes: Outcomes, seconds: float, folder: Path) -> int:
    """Prints a short table, the worst last; gives the number of tests that did not pass."""
    files: dict[str, Counter] = {}
    spent: Counter = Counter()
    for number, name in enumerate(outcomes.names):
        file = name.split("::")[0].rsplit("/", 1)[-1]
        outcome, _ = outcomes.of.get(number, ("not run", ""))
        files.setdefault(file, Counter())[outcome] += 1
        spent[file] += outcomes.seconds.get(number, 0.0)
    _write_outcomes(outcomes, folder)
    kinds = ("passed", "failed", "skipped", "not run")
    print(f"\n{'file':34}", *(f"{kind:>8}" for kind in kinds), f"{'s':>7}")
    for file, counts in files.items():
        print(f"{file:34}", *(f"{counts[kind] or '':>8}" for kind in kinds), f"{spent[file]:7.1f}")
    _print_reasons(outcomes)
    total = Counter(outcomes.of.get(n, ("not run",))[0] for n in range(len(outcomes.names)))
    print(", ".join(f"{total[kind]} {kind}" for kind in kinds), f"in {seconds:.0f} s; {folder}")
    return total["failed"] + total["not run"] + len(outcomes.uncollected) or not outcomes.names


def _write_outcomes(outcomes: Outcomes, folder: Path) -> None:
    lines = [{"test": name, "outcome": outcomes.of.get(n, ("not run", ""))[0],
              "seconds": round(outcomes.seconds.get(n, 0.0), 3),
              "text": outcomes.of.get(n, ("", ""))[1][-2000:]}
             for n, name in enumerate(outcomes.names)]  # fmt: skip
    (folder / "outcomes.json").write_text(json.dumps(lines, indent=1))


def _print_reasons(outcomes: Outcomes, most: int = 40) -> None:
    """The tests that failed, together where they say the same."""
    reasons: dict[str, list[str]] = {}
    for number, (outcome, text) in sorted(outcomes.of.items()):
        if outcome == "failed":
            reasons.setdefault(_reason(text), []).append(outcomes.names[number])
    for name, text in outcomes.uncollected.items():
        reasons.setdefault(_reason(text), []).append(name)
    for reason, names in list(reasons.items())[:most]:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"FAILED {names[0].removeprefix('tests/python/')}{more}: {reason}")
    if len(reasons) > most:
        print(f"and {len(reasons) - most} other reasons: see failures.log")


def _reason(text: str) -> str:
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines[:1] or text.strip().splitlines()[-1:] or [""])[0][:160]
