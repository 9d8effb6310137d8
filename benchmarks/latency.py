"""What a call costs beside its work: nanoseconds, and the first call in a fresh process."""

import json
import subprocess
import sys
import timeit

import numpy as np

from parakeet import jit

x = np.ones(4)
y = np.ones(4)


@jit
def first_element(a):
    return a[0]


@jit
def add(a, b):
    return a + b


@jit
def scale_in_place(a, k):
    a[0] = k


@jit
def fast(a, alpha=0.5, beta=0.3):
    return np.tanh(a * alpha) + beta


# What is called, and NumPy's own price for the like.
CALLS = {
    "two floats, a float": "add(1.0, 2.0)",
    "an array, a scalar": "first_element(x)",
    "an array and a float, nothing": "scale_in_place(x, 1.0)",
    "an array and a float, a new array": "add(x, 1.0)",
    "two arrays, a new array": "add(x, y)",
    "two defaults": "fast(x)",
    "a target by keyword": "first_element(x, target='serial')",
    "NumPy: two arrays, a new array": "np.add(x, y)",
}


def run(options):
    quick = options.quick
    rows = [_measure_call(name, code, quick) for name, code in CALLS.items()]
    yield "call overhead, arrays of 4 elements", rows
    yield "first call in a fresh process, ms", _measure_first_calls(2 if quick else 5)


def _measure_call(name: str, code: str, quick: bool) -> dict:
    exec(code, globals())  # compiles
    number, repeat = (20_000, 5) if quick else (200_000, 11)
    times = timeit.repeat(code, globals=globals(), number=number, repeat=repeat)
    return {"call": name, "ns": min(times) / number * 1e9}


_FIRST = """
import json, time
import numpy as np
t0 = time.perf_counter()
import parakeet
t1 = time.perf_counter()
{definition}
x = np.ones(1000)
t2 = time.perf_counter()
fast(x, target={target!r})
t3 = time.perf_counter()
phases = {{}} if {target!r} == "python" else fast.timings()[0].phases
print(json.dumps([(t1 - t0) * 1e3, (t3 - t2) * 1e3, phases]))
"""
_DEFINITION = '''
import linecache
source = """def fast(x, alpha=0.5, beta=0.3):
    return np.tanh(x * alpha) + beta
"""
linecache.cache["<bench>"] = (len(source), None, source.splitlines(True), "<bench>")
exec(compile(source, "<bench>", "exec"))
fast = parakeet.jit(fast)
'''


def _measure_first_calls(repeat: int) -> list[dict]:
    return [_measure_first_call(target, repeat) for target in ("serial", "parallel")]


def _measure_first_call(target: str, repeat: int) -> dict:
    script = _FIRST.format(definition=_DEFINITION, target=target)
    runs = [json.loads(subprocess.run([sys.executable, "-c", script], check=True,
                                      capture_output=True, text=True).stdout)
            for _ in range(repeat)]
    imported, called, phases = min(runs, key=lambda run: run[1])
    shown = {name: ms for name, ms in phases.items() if ms >= 0.2}
    return {"target": target, "import over NumPy": imported, "first call": called, **shown}
