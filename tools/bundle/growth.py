"""`growth.py TARGET`: 10,000 calls, behind which memory is what it was behind the first hundred.

Counted are the bytes and buffers that calls hold on the device, what the driver has given out to
anyone (where there is a driver), and the process's own memory.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

import parakeet
from parakeet import jit

CALLS = 10_000
# Of other processes on the device and of allocators, which keep what may be asked for again.
DRIVER_SLACK, HOST_SLACK = 64 << 20, 64 << 20


def elements(x):
    return np.sin(x) * 2.0 + x


def sums(x):
    return x.sum(), np.cumsum(x)


def chosen(x):
    return x[x > 0.5]


def steps(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def fails(x):
    return x[x.shape[0] + 1]


def call(functions, number: int, resident, host) -> None:
    function = functions[number % len(functions)]
    x = host if number % 7 == 0 else resident
    try:
        # What is on the device says where a call runs.
        function(x) if x is resident else function(x, target=TARGET)
    except IndexError:
        pass


def driver_bytes() -> int:
    """What is taken of the device's memory, by all processes; 0 where there is no driver."""
    if not TARGET.startswith("gpu"):
        return 0
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    device = int(TARGET.partition(":")[2] or 0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    status = driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    driver.cuDevicePrimaryCtxRelease_v2(device)
    return total.value - free.value if status == 0 else 0


def measure() -> dict[str, int]:
    info = parakeet.memory_info(TARGET)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"bytes in use": info.in_use, "buffers": info.buffers, "driver": driver_bytes(),
            "host": pages * 4096}  # fmt: skip


def main() -> int:
    functions = [jit(f) for f in (elements, sums, chosen, steps, fails)]
    host = np.random.default_rng(0).random(4096)
    resident = parakeet.to_gpu(host, TARGET)
    count = CALLS if TARGET.startswith("gpu") else CALLS // 10
    for number in range(100):
        call(functions, number, resident, host)
    before = measure()
    for number in range(count):
        call(functions, number, resident, host)
    after = measure()
    grown = {name: after[name] - before[name] for name in before}
    print(f"{count:,} calls: growth of", ", ".join(f"{k} {v:,}" for k, v in grown.items()))
    is_good = (grown["bytes in use"] <= 0 and grown["buffers"] <= 0
               and grown["driver"] <= DRIVER_SLACK and grown["host"] <= HOST_SLACK)  # fmt: skip
    return 0 if is_good else 1


if __name__ == "__main__":
    TARGET = sys.argv[1]
    sys.exit(main())
