"""What a run stands on: the processor and its rates, threads, and the BLAS that NumPy carries."""

import ctypes
import importlib.metadata
import os
import platform
import re
import time
from pathlib import Path

import numpy as np

# As many doubles as no cache holds: three arrays of 64 MiB.
TRIAD = 8 << 20
FMA_STEPS = 200_000


def processor() -> str:
    """The processor's name; Linux keeps it where Python's `platform` does not look."""
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def vector_width() -> str:
    flags = Path("/proc/cpuinfo").read_text()
    widest = [name for name in ("avx512f", "avx2", "sse2") if name in flags]
    return widest[0] if widest else "unknown vectors"


def blas_core() -> str:
    """The core type that NumPy's OpenBLAS runs for, which decides how fast it is."""
    np.ones((2, 2)) @ np.ones((2, 2))
    paths = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()
             if "openblas" in line}  # fmt: skip
    for path in paths:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename",
                     "openblas_get_corename64_", "openblas_get_corename"):
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                return function().decode()
    return "unknown"


PACKAGES = {"parakeet": ("parakeet", "numpy"), "cpp": (), "numpy": ("numpy",),
            "numba": ("numba", "numpy"), "jax": ("jax",), "numexpr": ("numexpr", "numpy"),
            "pythran": ("pythran", "numpy")}  # fmt: skip


def describe_process(peer: str) -> dict:
    versions = {name: importlib.metadata.version(name) for name in PACKAGES[peer]}
    return {"versions": versions, "threads": len(os.sched_getaffinity(0)), "blas": blas_core()}


class Rates:
    """Bytes a second of a triad and operations a second of fused multiply-adds, by g++."""

    def __init__(self):
        from peers import library

        self.library = library("machine")
        self.b, self.c, self.a = (np.ones(TRIAD) for _ in range(3))
        self.threads = len(os.sched_getaffinity(0))

    def measure(self) -> dict:
        triad = _best(lambda: self.library.triad(self.b, self.c, self.a, TRIAD))
        steps = FMA_STEPS * self.threads
        f64 = _best(lambda: self.library.peak_f64(FMA_STEPS))
        f32 = _best(lambda: self.library.peak_f32(FMA_STEPS))
        in_step = self.library.operations_of_step
        return {"triad": 24 * TRIAD / triad, "f64": steps * in_step(8) / f64,
                "f32": steps * in_step(4) / f32}  # fmt: skip


_rates: list[Rates] = []


def measure_rates() -> dict:
    if not _rates:
        _rates.append(Rates())
    return _rates[0].measure()


def _best(call) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
