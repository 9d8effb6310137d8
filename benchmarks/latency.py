"""What a call costs beside its work: nanoseconds, and the first call in a fresh process."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import timeit

import device_latency
import numpy as np
from measure_devices import is_device

import parakeet
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


@jit
def second_of_pair(pair):
    return pair[1]


@jit
def first_of_list(numbers):
    return numbers[0]


@jit
def apply(function, a):
    return function(a)


def double(a):
    return a * 2


# One specialisation each, of `first_element`.
TURNS = [np.ones(4, code) for code in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8",
                                       "c8", "c16")]  # fmt: skip
pair, numbers = (1.0, 2.0), [1.0, 2.0, 3.0, 4.0]

# What is called, and NumPy's own price for the like.
CALLS = {
    "two floats, a float": "add(1.0, 2.0)",
    "an array, a scalar": "first_element(x)",
    "an array and a float, nothing": "scale_in_place(x, 1.0)",
    "an array and a float, a new array": "add(x, 1.0)",
    "two arrays, a new array": "add(x, y)",
    "two defaults": "fast(x)",
    "a target by keyword": "first_element(x, target='serial')",
    "an array, in a target's block": "first_element(x)",
    "a tuple of two floats": "second_of_pair(pair)",
    "a list of four floats": "first_of_list(numbers)",
    "a function and a float": "apply(double, 1.0)",
    "12 specialisations in turn": "for turn in TURNS: first_element(turn)",
    "NumPy: two arrays, a new array": "np.add(x, y)",
}
# Within what, where a call is not made as it stands; and how many calls that is.
BLOCKS = {"an array, in a target's block": lambda: parakeet.target("serial")}
COUNTS = {"12 specialisations in turn": len(TURNS)}


def block_of(name: str):
    """The context in which a call of that name is made."""
    return BLOCKS.get(name, contextlib.nullcontext)()


def run(options):
    for target in filter(is_device, options.targets):
        yield from device_latency.run(target, options.quick)
    if set(options.targets) & {"serial", "parallel"}:
        yield from _run_on_host(options)


def _run_on_host(options):
    quick = options.quick
    rows = [_measure_call(name, code, quick) for name, code in CALLS.items()]
    yield "call overhead, arrays of 4 elements", rows
    yield "first call in a fresh process, ms", _measure_first_calls(2 if quick else 7)


def _measure_call(name: str, code: str, quick: bool) -> dict:
    exec(code, globals())  # compiles
    number, repeat = (20_000, 5) if quick else (200_000, 11)
    with block_of(name):
        times = timeit.repeat(code, globals=globals(), number=number, repeat=repeat)
    return {"call": name, "ns": min(times) / number / COUNTS.get(name, 1) * 1e9}


_FIRST = """
import json, linecache, time
import numpy as np
t0 = time.perf_counter()
import parakeet
t1 = time.perf_counter()
source = {source!r}
linecache.cache["<bench>"] = (len(source), None, source.splitlines(True), "<bench>")
exec(compile(source, "<bench>", "exec"))
fast = parakeet.jit(fast)
x = {argument}
t2 = time.perf_counter()
fast(x, target={target!r})
t3 = time.perf_counter()
assert fast.timings()[0].from_disk == {from_disk}
print(json.dumps([(t1 - t0) * 1e3, (t3 - t2) * 1e3, fast.timings()[0].phases]))
"""
# By name: the function's text, and an argument.
_FIRST_CALLS = {
    "element-wise": ("def fast(x, a=0.5):\n    return np.tanh(x * a) + 0.3\n", "np.ones(1000)"),
    "product": ("def fast(x):\n    return x @ x\n", "np.ones((64, 64))"),
}
# The BLAS that NumPy carries has a thread that spins for a tenth of a second behind the import, on
# a core that compiling would use. With one thread it has none.
_QUIET = {"OPENBLAS_NUM_THREADS": "1"}


def _measure_first_calls(repeat: int) -> list[dict]:
    rows = []
    for name in _FIRST_CALLS:
        for target in ("serial", "parallel"):
            rows += _measure_first_calls_of(name, target, repeat)
    return rows


def _measure_first_calls_of(name: str, target: str, repeat: int):
    with tempfile.TemporaryDirectory() as folder:
        off, on = {"PARAKEET_CACHE": "0"}, {"PARAKEET_CACHE_DIR": folder}
        yield _measure_first_call(name, target, "not kept", [off] * repeat)
        yield _measure_first_call(name, target, "not kept, BLAS of one thread",
                                  [{**off, **_QUIET}] * repeat)
        # Each of these writes its entry into a folder of its own.
        fresh = [{"PARAKEET_CACHE_DIR": os.path.join(folder, str(i))} for i in range(repeat)]
        yield _measure_first_call(name, target, "kept on disk", fresh)
        _run_first_call(name, target, on, False)
        yield _measure_first_call(name, target, "from disk", [on] * repeat, from_disk=True)


def _run_first_call(name: str, target: str, settings: dict, from_disk: bool) -> list:
    source, argument = _FIRST_CALLS[name]
    script = _FIRST.format(source=source, argument=argument, target=target, from_disk=from_disk)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                          text=True, env={**os.environ, "PARAKEET_CACHE": "1", **settings})
    return json.loads(done.stdout)


def _measure_first_call(name: str, target: str, how: str, settings: list[dict],
                        from_disk: bool = False) -> dict:
    runs = sorted((_run_first_call(name, target, one, from_disk) for one in settings),
                  key=lambda run: run[1])
    imported, called, phases = runs[0]
    shown = {phase: ms for phase, ms in phases.items() if ms >= 0.2}
    return {"function": name, "target": target, "cache": how, "import over NumPy": imported,
            "first call": called, "median": runs[len(runs) // 2][1], **shown}
