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
    yield "first call in a fresh process, ms", _measure_first_calls(2 if quick else 5)


def _measure_call(name: str, code: str, quick: bool) -> dict:
    exec(code, globals())  # compiles
    number, repeat = (20_000, 5) if quick else (200_000, 11)
    with block_of(name):
        times = timeit.repeat(code, globals=globals(), number=number, repeat=repeat)
    return {"call": name, "ns": min(times) / number / COUNTS.get(name, 1) * 1e9}


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
assert {target!r} == "python" or fast.timings()[0].from_disk == {from_disk}
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
    rows = []
    for target in ("serial", "parallel"):
        with tempfile.TemporaryDirectory() as folder:
            off, on = {"PARAKEET_CACHE": "0"}, {"PARAKEET_CACHE_DIR": folder}
            rows.append(_measure_first_call(f"{target}, not kept", target, [off] * repeat, False))
            # Each of these writes its entry into a folder of its own.
            fresh = [{"PARAKEET_CACHE_DIR": os.path.join(folder, str(i))} for i in range(repeat)]
            rows.append(_measure_first_call(f"{target}, kept on disk", target, fresh, False))
            _run_first_call(target, on, False)
            rows.append(_measure_first_call(f"{target}, from disk", target, [on] * repeat, True))
    return rows


def _run_first_call(target: str, settings: dict, from_disk: bool) -> list:
    script = _FIRST.format(definition=_DEFINITION, target=target, from_disk=from_disk)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                          text=True, env={**os.environ, "PARAKEET_CACHE": "1", **settings})
    return json.loads(done.stdout)


def _measure_first_call(name: str, target: str, settings: list[dict], from_disk: bool) -> dict:
    runs = [_run_first_call(target, one, from_disk) for one in settings]
    imported, called, phases = min(runs, key=lambda run: run[1])
    shown = {name: ms for name, ms in phases.items() if ms >= 0.2}
    return {"target": name, "import over NumPy": imported, "first call": called, **shown}
