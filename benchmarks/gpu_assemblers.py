"""Kernels of a GPU by each assembler of `config.gpu_assembler`: how long they take to make and run.

A suite of `./dev bench`, and a program by itself where there is only a wheel and a GPU. Arrays are
on the device before anything is timed. Without a GPU, only the way to PTX is timed.
"""

import math
import os
import statistics
import time
from functools import partial

# The driver keeps what it has assembled, in the home folder.
os.environ.setdefault("CUDA_CACHE_DISABLE", "1")

import numpy as np  # noqa: E402

import parakeet  # noqa: E402
import parakeet.libnvvm  # noqa: E402
from parakeet import jit  # noqa: E402
from parakeet.config import GPU_ASSEMBLERS  # noqa: E402

MILLION = 1 << 20


def triad(x, y):
    return x + 2.5 * y


def polynomial(x):
    return ((((x * 0.1 + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * x + 0.6


def sines(x, y):
    return np.sin(x) * np.cos(y) + np.exp(-x * x)


def low(d):
    return 1 / (1 + np.exp(-1.702 * d))


def black_scholes(s, k, t):
    d1 = (np.log(s / k) + (0.05 + 0.02) * t) / (0.2 * np.sqrt(t))
    d2 = d1 - 0.2 * np.sqrt(t)
    return s * low(d1) - k * np.exp(-0.05 * t) * low(d2)


def integers(i, j):
    return (i * 31 + j) // 7 % 1000 + np.minimum(i, j)


def complex_square(z):
    return z * z + 0.25


def total(x):
    return x.sum()


def row_sums(x):
    return x.sum(axis=1)


def column_means(x):
    return x.mean(axis=0)


def variance(x):
    return ((x - x.mean()) ** 2).mean()


def softmax(x):
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


def product(a, b):
    return a @ b


def distances(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def steps_of(c):
    z = c
    steps = 0
    while steps < 200 and z.real * z.real + z.imag * z.imag < 4.0:
        z = z * z + c
        steps += 1
    return steps


def mandelbrot(c):
    return np.array([steps_of(value) for value in c])


def cumulated(x):
    return np.cumsum(x)


def positive(x):
    return x[x > 0]


def blurred(x):
    return (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25


def turned(x):
    return x.T * 2.0


def counted(i):
    counts = np.zeros(1024, np.int64)
    for each in i:
        counts[each] += 1
    return counts


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(1).random(shape).astype(dtype) + 0.5


def plane(side):
    real, imag = np.linspace(-2, 0.5, side), np.linspace(-1.2, 1.2, side)
    return (real[None, :] + 1j * imag[:, None]).ravel()


# Name: the program and its arguments, of one sixteenth of the size with --quick.
KERNELS = {
    "triad f32": (triad, lambda n: (floats(16 * n), floats(16 * n))),
    "polynomial f64": (polynomial, lambda n: (floats(8 * n, dtype=float),)),
    "sines f32": (sines, lambda n: (floats(8 * n), floats(8 * n))),
    "sines f64": (sines, lambda n: (floats(4 * n, dtype=float), floats(4 * n, dtype=float))),
    "black scholes f32": (black_scholes, lambda n: (floats(8 * n), floats(8 * n), floats(8 * n))),
    "integers i64": (integers, lambda n: (np.arange(8 * n), np.arange(8 * n)[::-1].copy())),
    "complex square c64": (complex_square, lambda n: (floats(8 * n).astype(np.complex64),)),
    "sum f64": (total, lambda n: (floats(8 * n, dtype=float),)),
    "row sums f32": (row_sums, lambda n: (floats(n // 256, 4096),)),
    "column means f32": (column_means, lambda n: (floats(n // 256, 4096),)),
    "variance f64": (variance, lambda n: (floats(8 * n, dtype=float),)),
    "softmax f32": (softmax, lambda n: (floats(n // 256, 4096),)),
    "product f32": (product, lambda n: (floats(n // 512, 2048), floats(2048, 2048))),
    "product f64": (product, lambda n: (floats(n // 1024, 1024, dtype=float),
                                        floats(1024, 1024, dtype=float))),
    "distances f32": (distances, lambda n: (floats(n // 512, 16), floats(2048, 16))),
    "mandelbrot c128": (mandelbrot, lambda n: (plane(math.isqrt(n)),)),
    "cumsum f32": (cumulated, lambda n: (floats(16 * n),)),
    "positive f32": (positive, lambda n: (floats(8 * n) - 1,)),
    "blur f32": (blurred, lambda n: (floats(4 * n // 1024, 4096),)),
    "turned f32": (turned, lambda n: (floats(4 * n // 1024, 4096),)),
    "counts i64": (counted, lambda n: (np.arange(4 * n) * 7919 % 1024,)),
}  # fmt: skip


def has_gpu() -> bool:
    return "gpu:0" in parakeet.devices()


def wait(result) -> None:
    """Until the device has made it: calls return before, where nothing can fail."""
    first = result[0] if isinstance(result, tuple) else result
    if hasattr(first, "to_host"):
        (first[:1] if first.ndim == 1 else first[:1, :1]).to_host()


def milliseconds(function) -> float:
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def measure(program, arguments, quick: bool) -> dict:
    """Milliseconds: to PTX, of the first call (`first`), of a call (`run`).

    The driver assembles equal PTX once a process, so that only one call is the first.
    """
    functions = [jit(program, cache=False) for _ in range(2 if quick else 3)]
    if not has_gpu():
        return {"to PTX": min(milliseconds(partial(f.ptx, *arguments)) for f in functions)}
    firsts = [milliseconds(lambda f=f: wait(f(*arguments))) for f in functions]
    return {
        "to PTX": min(f.timings()[0].phases["emit"] for f in functions),
        "first": firsts[0],
        "run": measure_calls(partial(functions[0], *arguments), quick),
    }


def measure_calls(call, quick: bool) -> float:
    """Of one call among as many as take some milliseconds: waiting is done once for all."""
    once = max(milliseconds(lambda: wait(call())), 0.01)
    count = max(1, min(200, int((5 if quick else 20) / once)))

    def several():
        for _ in range(count):
            result = call()
        wait(result)

    return statistics.median(milliseconds(several) for _ in range(5 if quick else 9)) / count


def measure_all(quick: bool) -> list[dict]:
    rows = {name: {"kernel": name} for name in KERNELS}
    before = parakeet.config.gpu_assembler, parakeet.config.cache
    parakeet.config.cache = False  # so that PTX is made anew
    for assembler in GPU_ASSEMBLERS:
        parakeet.config.gpu_assembler = assembler
        target = {"target": "gpu"} if has_gpu() else {}
        opening = jit(triad, cache=False, **target)
        opening.ptx(np.ones(3), np.ones(3))  # The compiler and the library are opened by now.
        for name, (program, make) in KERNELS.items():
            arguments = make(MILLION // 16 if quick else MILLION)
            if has_gpu():
                arguments = tuple(parakeet.to_gpu(each) for each in arguments)
            try:
                entry = measure(program, arguments, quick)
            except (RuntimeError, NotImplementedError) as error:
                print(f"{name}, {assembler}: {type(error).__name__}: {error}")
                continue
            rows[name].update({f"{assembler} {what}": value for what, value in entry.items()})
    parakeet.config.gpu_assembler, parakeet.config.cache = before
    return [*rows.values(), means(list(rows.values()))]


def means(rows: list[dict]) -> dict:
    """Geometric, over the kernels that both have run."""
    line = {"kernel": "geometric mean"}
    both = [row for row in rows if len(row) == max(map(len, rows))]
    for name in (key for key in both[0] if key != "kernel"):
        line[name] = math.exp(statistics.fmean(math.log(row[name]) for row in both))
    return line


def run(options):
    yield "kernels of a GPU by assembler, ms", measure_all(options.quick)


if __name__ == "__main__":
    import sys

    from report import print_table

    print(f"Parakeet {parakeet.__version__}, libNVVM {parakeet.libnvvm.files()[0]}")
    print_table("kernels of a GPU by assembler, ms", measure_all("--quick" in sys.argv))
