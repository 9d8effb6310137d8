"""How many instructions a call takes beside its work, counted by valgrind: the same on every run.

Where valgrind is absent, that is said and nothing is counted.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from latency import CALLS

# Run under valgrind, where counts do not vary: all is compiled first, then one call is repeated.
_COUNTED = """
import sys
sys.path.insert(0, {folder!r})
from latency import *
for code in CALLS.values():
    exec(code)
def repeat(n):
    for _ in range(n):
        {code}
repeat({number})
"""
_COUNTED_CALLS = 10_000


def run(options):
    if shutil.which("valgrind") is None:
        print("dispatch: skipped, no valgrind")
        return
    yield "instructions of a call, the interpreter's own part with it", count_calls()


def count_calls() -> list[dict]:
    """What each call adds to an empty loop."""
    _count("pass")  # From here on all that is compiled comes from disk.
    empty = _count("pass")
    counts = {name: _count(code) for name, code in CALLS.items()}
    return [{"call": name, "instructions": round((count - empty) / _COUNTED_CALLS)}
            for name, count in counts.items()]  # fmt: skip


def _count(code: str) -> int:
    script = _COUNTED.format(folder=str(Path(__file__).parent), code=code, number=_COUNTED_CALLS)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               sys.executable, "-c", script]  # fmt: skip
    # Threads of others would add what they spin, and hashes what their order costs.
    environment = {**os.environ, "PARAKEET_TARGET": "serial", "OPENBLAS_NUM_THREADS": "1",
                   "PYTHONHASHSEED": "0"}  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])
