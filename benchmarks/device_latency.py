"""The suite `latency` on a GPU: the first calls of a fresh process, compiled and from the disk.

What a small call costs the host is in the suite `workloads`, beside peers: `small_call` and
`small_steps`.
"""

import json
import os
import subprocess
import sys
import tempfile

_SCRIPT = '''
import json, linecache, time
start = time.perf_counter()
import numpy as np
import parakeet
times = {"import": time.perf_counter() - start}

def define(name, expression):
    source = f"def {name}(x, alpha=0.5, beta=0.3):\\n    return {expression}\\n"
    linecache.cache[f"<{name}>"] = (len(source), None, source.splitlines(True), f"<{name}>")
    names = {"np": np}
    exec(compile(source, f"<{name}>", "exec"), names)
    return parakeet.jit(names[name], target=TARGET)

def timed(name, call):
    start = time.perf_counter()
    result = call()
    times[name] = time.perf_counter() - start
    return result

x = timed("context, and an array there", lambda: parakeet.to_gpu(np.ones(1000), TARGET))
functions = {"the first function": define("first", "np.tanh(x * alpha) + beta"),
             "a second": define("second", "np.exp(x * alpha) - beta"),
             "a sum": define("third", "np.sum(x * alpha) + beta")}
for name, f in functions.items():
    timed(name, lambda: np.asarray(f(x) if name == "a sum" else f(x).to_host()))
for name, f in functions.items():
    timed(f"{name}, again", lambda: np.asarray(f(x) if name == "a sum" else f(x).to_host()))
for f in functions.values():
    assert f.timings()[0].from_disk == FROM_DISK
print(json.dumps({name: seconds * 1e3 for name, seconds in times.items()}))
'''


def run(target: str, quick: bool):
    """Titles and rows, as every suite gives them; a failure is a row that says so."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"PARAKEET_CACHE": "1", "PARAKEET_CACHE_DIR": folder}
        rows = [_best("compiled", target, {"PARAKEET_CACHE": "0"}, False, 2 if quick else 4)]
        _best("written", target, kept, False, 1)
        rows.append(_best("from disk", target, kept, True, 2 if quick else 4))
    yield f"first calls in a fresh process on {target}, ms, result on the host", rows


def _best(name: str, target: str, settings: dict, from_disk: bool, times: int) -> dict:
    text = f"TARGET, FROM_DISK = {target!r}, {from_disk!r}\n{_SCRIPT}"
    runs = []
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                              env={**os.environ, **settings}, timeout=120)
        if done.returncode:
            problem = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            return {"code": name, "note": problem[:150]}
        runs.append(json.loads(done.stdout))
    return {"code": name, **{key: min(run[key] for run in runs) for key in runs[0]}}
