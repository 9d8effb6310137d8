"""What calls on a GPU cost beside their kernels: launches, first calls, memory that stays.

On the first GPU; where there is none, on the emulated one, whose times say nothing.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import parakeet
from parakeet import _core, jit
from parakeet.targets import number_of


@jit
def smoothed(x, steps):
    """Two launches a step, which cannot fail."""
    for _ in range(steps):
        x[1:-1] = x[:-2] + x[2:]


@jit
def doubled(x):
    return x * 2.0


@jit
def picked(x, i):
    """Its kernel can fail."""
    return x[i] * 2.0


def run(options):
    target = "gpu" if "gpu:0" in parakeet.devices() else "emulated_gpu"
    if target == "emulated_gpu":
        print("device: skipped where it is about time, no CUDA device")
    yield f"host time of calls on {target}, us", list(_measure_calls(target, options.quick))
    yield f"first calls in fresh processes on {target}, ms", list(_measure_first_calls(target))
    yield f"memory over many calls on {target}", [_measure_growth(target, options.quick)]


# ---------------------------------------------------------------------------------------------
# Host time
# ---------------------------------------------------------------------------------------------


def _measure_calls(target: str, quick: bool):
    n = 1000 if target == "gpu" else 10
    x = np.ones(1000)
    there, at = parakeet.to_gpu(x, target), parakeet.to_gpu(np.arange(1000), target)
    calls = {
        f"{2 * n} kernels of one call": lambda: smoothed(there, n),
        "one kernel, device arrays": lambda: doubled(there),
        "one that can fail, device arrays": lambda: picked(there, at),
        "one kernel, arrays of the host": lambda: doubled(x, target=target),
    }
    for name, call in calls.items():
        yield {"call": name, **_host_time(call, there, target, 3 if quick else 10)}


def _host_time(call, there, target: str, repeat: int) -> dict:
    """Until the call returns, and until its work is done, for each kernel that it launches."""
    call()
    before = parakeet.memory_info(target).launches
    call()
    launches = parakeet.memory_info(target).launches - before
    times = min(_time_once(call, there, max(1, 1000 // launches)) for _ in range(repeat))
    returned, done = (seconds / launches * 1e6 for seconds in times)
    return {"kernels": launches, "returned, a kernel": returned, "done, a kernel": done}


def _time_once(call, there, number: int) -> tuple[float, float]:
    there.to_host()
    begin = time.perf_counter()
    for _ in range(number):
        call()
    returned = time.perf_counter()
    there.to_host()
    return (returned - begin) / number, (time.perf_counter() - begin) / number


# ---------------------------------------------------------------------------------------------
# First calls
# ---------------------------------------------------------------------------------------------

_FIRST = """
import json, linecache, time
import numpy as np
import parakeet
from parakeet import _core
from parakeet.targets import number_of

source = '''{source}'''
linecache.cache["<bench>"] = (len(source), None, source.splitlines(True), "<bench>")
exec(compile(source, "<bench>", "exec"))
f = parakeet.jit(f)
x = np.linspace(0.1, 1, 1000)
begin = time.perf_counter()
there = parakeet.to_gpu(x, "{target}")
there.to_host()
opened = time.perf_counter()
f(there)
there.to_host()
called = time.perf_counter()
f(there)
there.to_host()
again = time.perf_counter()
assembled = _core.device_counters(number_of("{target}"))["assembled"]
timing = f.timings()[0]
compiled = 0 if timing.from_disk else timing.compile_ms
print(json.dumps([opened - begin, called - opened, again - called, compiled / 1e3, assembled]))
"""
_SOURCES = {
    "elementwise": "def f(x):\n    return np.tanh(x * 0.5) + 0.3\n",
    "several kernels": "def f(x):\n    y = np.exp(x) / np.exp(x).sum()\n"
                       "    return np.cumsum(y * np.sin(x)), y.max(), np.sort(y)\n",
}  # fmt: skip


def _measure_first_calls(target: str):
    for name, source in _SOURCES.items():
        with tempfile.TemporaryDirectory() as folder:
            off = {"PARAKEET_CACHE": "0", "CUDA_CACHE_DISABLE": "1"}
            on = {"PARAKEET_CACHE_DIR": f"{folder}/ours", "CUDA_CACHE_PATH": f"{folder}/driver"}
            yield _measure_first_call(f"{name}, not kept", source, target, [off] * 2)
            yield _measure_first_call(f"{name}, kept", source, target, [on])
            yield _measure_first_call(f"{name}, from disk", source, target, [on] * 3)


def _measure_first_call(name: str, source: str, target: str, settings: list[dict]) -> dict:
    runs = []
    for one in settings:
        environment = {**os.environ, "PARAKEET_CACHE": "1", "CUDA_CACHE_DISABLE": "0", **one}
        script = _FIRST.format(source=source, target=target)
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                              text=True, env=environment)  # fmt: skip
        runs.append(json.loads(done.stdout))
    opened, called, again, compiled, assembled = min(runs, key=lambda run: run[1])
    return {"function": name, "context": opened * 1e3, "first call": called * 1e3,
            "of it compiling": compiled * 1e3, "second call": again * 1e3,
            "modules of PTX": assembled}  # fmt: skip


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


def _measure_growth(target: str, quick: bool) -> dict:
    """A third of the calls fail."""
    x, i, bad = np.ones(10_000), np.arange(10_000), np.full(10_000, 10_000)
    there, at = parakeet.to_gpu(x, target), parakeet.to_gpu(i, target)

    def call_all(count):
        for _ in range(count):
            picked(x, i, target=target)
            picked(there, at)
            try:
                picked(there, bad)
            except IndexError:
                continue
            raise AssertionError("an index that is out of bounds was taken")

    call_all(100)
    number = number_of(target)
    before, free_before = parakeet.memory_info(target), _core.device_memory(number)[0]
    count = 300 if quick or target != "gpu" else 10_000
    call_all(count)
    after, free_after = parakeet.memory_info(target), _core.device_memory(number)[0]
    return {"calls": 3 * count, "in use before": before.in_use, "after": after.in_use,
            "buffers before": before.buffers, "buffers after": after.buffers,
            "driver's free bytes lost": free_before - free_after}  # fmt: skip
