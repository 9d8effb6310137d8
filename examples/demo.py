"""Runs the three programs of the original's slides on one core, all cores, a GPU and plain Python.

Checks that all agree, prints one table of compile time beside execution time, and writes what the
convolution makes of a photograph as PNGs. Compiles afresh: its cache is an empty folder. Without
matplotlib, whose photograph it is, there is a drawn image and no PNG; without a GPU, no row for it.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_fresh_cache = tempfile.TemporaryDirectory(prefix="parakeet-demo-")
os.environ["PARAKEET_CACHE_DIR"] = _fresh_cache.name

import numpy as np  # noqa: E402
from convolve import EDGES, conv_3x3_trim  # noqa: E402
from matmult import matmult  # noqa: E402
from regression import fit_simple_regression  # noqa: E402

import parakeet  # noqa: E402

try:
    import matplotlib.image
    from PIL import Image
except ImportError:
    matplotlib = None

REPETITIONS = 20
SECONDS = 2.0  # of repeating one measurement, at most


@dataclass
class Row:
    """One line of the table; times in seconds. `part` is what the time was scaled up from."""

    name: str
    execution: float
    compilation: float | None = None
    part: str = ""


@dataclass
class Peer:
    """What users would write without us. `scale` times its work is the whole of the program's."""

    name: str
    run: Callable
    scale: float = 1.0
    part: str = ""


@dataclass
class Job:
    """A program, its arguments, what it must give within `tolerance` (relative to the largest).

    The first of `peers` is the program itself without @jit.
    """

    title: str
    function: Callable
    arguments: tuple
    expected: Callable
    tolerance: float
    peers: list[Peer]
    rows: list[Row] = field(default_factory=list)
    agrees: bool = True
    result: object = None


def photograph(shape: tuple[int, int] | None = None) -> np.ndarray:
    """The photograph that matplotlib carries, as grey float64 in [0, 1], resized when asked."""
    if matplotlib is None:
        return drawing(shape or (600, 512))
    path = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    image = Image.open(path).convert("L")
    if shape is not None:
        image = image.resize(shape[::-1], Image.Resampling.BICUBIC)
    return np.asarray(image, dtype=np.float64) / 255.0


def drawing(shape: tuple[int, int]) -> np.ndarray:
    """Rings around the middle with sharp edges, as grey float64 in [0, 1]."""
    y, x = (np.linspace(-1.0, 1.0, n) for n in shape)
    return 20.0 * np.hypot(x, y[:, None]) % 1.0


def multiplication(n: int) -> Job:
    random = np.random.default_rng(0)
    X, Y = (random.random((n, n), dtype=np.float32) for _ in range(2))
    rows = max(1, n // 600)

    def python_dot(X, Y):
        return np.array([[sum(row * col) for col in Y.T] for row in X[:rows]])

    return Job(
        title=f"matrix multiply, {n} x {n} float32", function=matmult, arguments=(X, Y),
        expected=lambda: X.astype(np.float64) @ Y,
        # A float32 sum of n products, all positive, in blocks: a few roundings on top of 6e-8.
        tolerance=1e-5,
        peers=[Peer("Python + NumPy dot", matmult.__wrapped__),
               Peer("Python, dot as sum(row * col)", python_dot, n / rows, f"{rows} of {n} rows"),
               Peer("NumPy's X @ Y (BLAS)", np.matmul)])


def shifted_sum(image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same convolution as a NumPy user writes it for speed: nine shifted images."""
    h, w = image.shape[0] - 2, image.shape[1] - 2
    return sum(weights[p, q] * image[p:p + h, q:q + w] for p in range(3) for q in range(3))


def convolution(title: str, image: np.ndarray) -> Job:
    return Job(
        title=f"3x3 convolution, {title}, {image.shape[0]} x {image.shape[1]} float64",
        # Jitted anew: two jobs with one function would share its code.
        function=parakeet.jit(conv_3x3_trim.__wrapped__), arguments=(image, EDGES),
        expected=lambda: shifted_sum(image, EDGES),
        # Nine products of numbers up to 8, in another order.
        tolerance=1e-14,
        peers=[Peer("Python", conv_3x3_trim.__wrapped__),
               Peer("NumPy, nine shifted images", shifted_sum)])


def regression(n: int) -> Job:
    random = np.random.default_rng(1)
    x = random.random(n)
    y = 3.0 * x + 2.0 + random.normal(scale=0.1, size=n)
    return Job(
        title=f"simple regression, {n:,} doubles", function=fit_simple_regression,
        arguments=(x, y), expected=lambda: np.array(np.polyfit(x, y, 1)),
        # polyfit solves the same least squares by another way, with its own rounding.
        tolerance=1e-9,
        peers=[Peer("NumPy", fit_simple_regression.__wrapped__)])


def once(call: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def steady(call: Callable) -> float:
    """The median time of a call that has been made before."""
    times: list[float] = []
    while len(times) < REPETITIONS and (len(times) < 3 or sum(times) < SECONDS):
        times.append(once(call)[0])
    return statistics.median(times)


def close(result, expected: np.ndarray, tolerance: float) -> bool:
    result = np.asarray(result)
    return (result.shape == expected.shape
            and float(np.abs(result - expected).max()) <= tolerance * np.abs(expected).max())


def run_targets(job: Job, expected: np.ndarray, devices: list[str]) -> None:
    names = {"serial": "Parakeet, one core",
             "parallel": f"Parakeet, {parakeet.get_num_threads()} cores"}
    results = []
    for target, name in {**names, **{d: f"Parakeet, {d}" for d in devices}}.items():
        def call(target=target):
            return job.function(*job.arguments, target=target)

        first, result = once(call)
        execution = steady(call)
        job.rows.append(Row(name, execution, max(first - execution, 0.0)))
        job.agrees &= close(result, expected, job.tolerance)
        results.append(np.asarray(result))
    job.agrees &= results[0].tobytes() == results[1].tobytes()
    job.result = results[0]


def run_peers(job: Job, expected: np.ndarray) -> None:
    for peer in job.peers:
        def call(peer=peer):
            return peer.run(*job.arguments)

        execution, result = once(call)
        if execution < SECONDS / 10:
            execution = steady(call)
        share = expected[:len(result)] if peer.scale > 1.0 else expected
        job.agrees &= close(result, share, job.tolerance)
        job.rows.append(Row(peer.name, execution * peer.scale, part=peer.part))


def time_text(seconds: float) -> str:
    if seconds >= 100.0:
        return f"{seconds / 60.0:.1f} min"
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.2f} ms"


def print_table(jobs: list[Job]) -> None:
    print(f"\n{'':36}{'execution':>12}{'compilation':>14}{'speed-up':>12}")
    for job in jobs:
        print(f"\n{job.title}: {'all agree' if job.agrees else 'RESULTS DIFFER'}")
        plain = next(row for row in job.rows if row.name == job.peers[0].name).execution
        for row in job.rows:
            compilation = "" if row.compilation is None else time_text(row.compilation)
            ratio = f"{plain / row.execution:.2f} x"
            scaled = f"   scaled up from {row.part}" if row.part else ""
            print(f"  {row.name:34}{time_text(row.execution):>12}{compilation:>14}{ratio:>12}"
                  f"{scaled}")
    print("\ncompilation: the first call less a later one. speed-up: over the same function "
          "without @jit.\n"
          "One core and all cores give the same bits; the rest agrees within rounding.\n"
          "A GPU's rows have the arrays' way there and back in them.\n")


def write_picture(path: Path, edges: np.ndarray) -> None:
    """Writes brightness changes as white on black, cut at what is strong in a photograph."""
    if matplotlib is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    matplotlib.image.imsave(path, np.abs(edges), cmap="gray", vmin=0.0, vmax=1.0)
    print(f"picture: {path}")


def make_jobs(quick: bool) -> list[Job]:
    image = photograph()
    side, length = (64, 10_000) if quick else (1200, 10_000_000)
    return [multiplication(side),
            convolution("a photograph", image[200:260, 200:280] if quick else image),
            convolution("the photograph resized", photograph((side, side))),
            regression(length)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works")
    parser.add_argument("--devices", nargs="*",
                        default=[d for d in parakeet.devices() if d.startswith("gpu")],
                        help="that run it too; every GPU unless named: gpu:1, emulated_gpu")
    parser.add_argument("--output", type=Path, help="folder for the pictures",
                        default=Path(__file__).resolve().parent / "output")
    options = parser.parse_args(arguments)

    # The first compilation of a process also opens the compiler.
    opening, _ = once(lambda: parakeet.jit(lambda x: x + 1)(1))
    print(f"opening the compiler, once a process: {time_text(opening)}")

    jobs = make_jobs(options.quick)
    for job in jobs:
        expected = job.expected()
        run_targets(job, expected, options.devices)
        run_peers(job, expected)
    print_table(jobs)
    write_picture(options.output / "edges.png", jobs[1].result)
    write_picture(options.output / "edges_resized.png", jobs[2].result)
    return 0 if all(job.agrees for job in jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
