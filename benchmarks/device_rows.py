"""The rows of a device's table: workloads at sizes that a GPU needs, and what is asked of each.

The programs are those of the CPU's table, unedited; `workloads/resident.py` adds what only a device
is asked. The floor of a row is its bytes over the copy bandwidth of the run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from workload import GROUPS, KERNELS, Workload, all_workloads, bytes_moved


@dataclass(frozen=True)
class DeviceRow:
    """`size` is measured; `quick` is for the emulated device, for --quick and for sanitizers.

    `wanted` is the target page's words. `traffic` gives the bytes that must move: inputs once and
    outputs once unless it says otherwise.
    """

    workload: Workload
    size: tuple
    quick: tuple
    wanted: str = ""
    traffic: Callable = bytes_moved

    @property
    def name(self) -> str:
        return self.workload.name

    @property
    def tolerance(self) -> float:
        """Where a size is larger than the CPU's, so are sums in another order."""
        return self.workload.tolerance * 10

    @property
    def group(self) -> str:
        return self.workload.group


def each_sweep(arguments, results) -> float:
    """A time loop's grid, too large for a cache, is read and written by each sweep."""
    return 2.0 * results[0].nbytes * arguments[1]


def each_step_of_fields(arguments, results) -> float:
    return 2.0 * sum(r.nbytes for r in results) * arguments[3].size


def each_node(arguments, results) -> float:
    return 2.0 * results[0].nbytes * arguments[0].shape[0]


def results_alone(arguments, results) -> float:
    return float(sum(r.nbytes for r in results))


_CHAIN = "0.95 of copy, 3x CuPy"
_SUM = "0.97 of CUB"
# Name: size, quick size, what is wanted, bytes.
_ROWS: dict[str, tuple] = {
    "chain": ((20_000_000,), (20_000,), _CHAIN),
    "tanh float64": ((20_000_000, "float64"), (20_000, "float64"), _CHAIN),
    "tanh float32": ((40_000_000, "float32"), (20_000, "float32"), _CHAIN),
    "black_scholes": ((10_000_000,), (5_000,), _CHAIN),
    "transposed_like": ((100_000_000, 1000), (20_000, 100), "2.5x CuPy", results_alone),
    "softmax": ((16384, 2048), (40, 300), "0.85 of copy"),
    "layer_norm": ((16384, 2048), (40, 300), "0.85 of copy"),
    "regression": ((20_000_000,), (20_000,), "0.92 of copy; 0.9 of link"),
    "mean_and_variance": ((40_000_000,), (20_000,), "0.92 of copy"),
    "sum_columns": ((8000, 8000), (100, 200), _SUM),
    "sum_rows": ((8000, 8000), (100, 200), _SUM),
    "sum_all": ((8000, 8000), (100, 200), _SUM),
    "sum_singles": ((100_000_000,), (20_000,), _SUM),
    "argmax": ((40_000_000,), (20_000,), _SUM),
    "largest_of_rows": ((8000, 8000), (100, 200), _SUM),
    "cumsum": ((20_000_000,), (20_000,), "0.93 of CUB"),
    "cumsum float32": ((40_000_000,), (20_000,), "0.93 of CUB"),
    "running_logsumexp": ((4_000_000,), (10_000,), "0.93 of CUB"),
    "histogram": ((40_000_000, 256), (20_000, 256), "0.9 of CUB"),
    "compaction": ((40_000_000,), (20_000,), "0.9 of CUB"),
    "sort": ((10_000_000,), (3_000,), "0.9 of CUB"),
    "transpose": ((8000, 8000), (70, 90), "0.9 of copy"),
    "matmul": (((1200, 1200), (1200, 1200)), ((64, 48), (48, 40)), "0.85 of cuBLAS"),
    "matmul 4096": (((4096, 4096), (4096, 4096)), ((64, 48), (48, 40)), "0.85 of cuBLAS"),
    "product float64": ((4096,), (50,), "0.85 of cuBLAS"),
    "dense_layer": (((1024, 784), (784, 1024), (1024,)), ((64, 48), (48, 40), (40,)),
                    "1.0x torch.compile"),
    "tropical": (((1000, 1000), (1000, 1000)), ((40, 50), (50, 30)), "3x"),
    "distances": (((8000, 10), (8000, 10)), ((60, 10), (50, 10)), "3x"),
    "convolution 3x3": ((4800, 3), (60, 3), "0.90 of copy"),
    "convolution 5x5": ((4800, 5), (60, 5), "0.90 of copy"),
    "hdiff": ((512, 512, 64), (16, 16, 20), "0.85 of copy, 3x CuPy"),
    "jacobi": (((4000, 4000), 20), ((60, 70), 4), "0.85 of copy, 3x CuPy", each_sweep),
    "heat": (((240, 240, 240), 10), ((20, 21, 22), 2), "0.85 of copy, 3x CuPy", each_sweep),
    "fdtd": ((3000, 3000, 20), (60, 70, 3), "0.85 of copy, 3x CuPy", each_step_of_fields),
    "julia": ((2000, 300), (50, 40), "1.0x CUDA C"),
    "mandelbrot": ((2000, 100), (50, 40), "1.0x CUDA C"),
    "collatz": ((2_000_000,), (2_000,), "1.0x CUDA C"),
    "k_means": ((1_000_000, 50, 8), (600, 10, 8), "1.5x"),
    "n_body": ((8000,), (150,), "1.5x"),
    "floyd_warshall": ((1000,), (40,), "1.5x", each_node),
    "small_call": ((16,), (16,), "3 us of the host a kernel"),
    "small_steps": (((16, 16), 20), ((16, 16), 20), "3 us of the host a kernel"),
}  # fmt: skip


def _workloads() -> list[Workload]:
    named = {workload.name: workload for workload in all_workloads((*GROUPS, "resident"))}
    return [named[name] for name in _ROWS]


DEVICE_ROWS = [DeviceRow(workload, *_ROWS[workload.name]) for workload in _workloads()]


def kernels_by_others() -> list[DeviceRow]:
    """At their own sizes: unedited, beside CuPy, which runs them unedited too."""
    return [DeviceRow(workload, workload.size, workload.tiny, "5x CuPy")
            for workload in all_workloads(KERNELS)]  # fmt: skip


def find_row(name: str) -> DeviceRow:
    return next(row for row in [*DEVICE_ROWS, *kernels_by_others()] if row.name == name)
