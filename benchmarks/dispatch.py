"""How many instructions a call takes beside its work, counted by valgrind: the same on every run.

Where valgrind is absent, that is said and nothing is counted.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from latency import CALLS, COUNTS

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
with block_of({name!r}):
    repeat({number})
"""
_COUNTED_CALLS = 12_000


def run(options):
    if shutil.which("valgrind") is None:
        print("\ndispatch: skipped, no valgrind (apt-get install valgrind)")
        return
    yield "instructions of a call, the interpreter's own part with it", count_calls()


def count_calls() -> list[dict]:
    """What each call adds to an empty loop."""
    _count("pass")  # From here on all that is compiled comes from disk.
    empty = _count("pass")
    rows = []
    for name, code in CALLS.items():
        number = _COUNTED_CALLS // COUNTS.get(name, 1)
        added = _count(code, name, number) - empty
        rows.append({"call": name, "instructions": round(added / _COUNTED_CALLS)})
    return rows


def _count(code: str, name: str = "", number: int = _COUNTED_CALLS) -> int:
    script = _COUNTED.format(folder=str(Path(__file__).parent), code=code, name=name,
                             number=number)  # fmt: skip
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               sys.executable, "-c", script]  # fmt: skip
    # Threads of others would add what they spin, and hashes what their order costs.
    environment = {**os.environ, "PARAKEET_TARGET": "serial", "OPENBLAS_NUM_THREADS": "1",
                   "PYTHONHASHSEED": "0"}  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])
