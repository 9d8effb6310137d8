"""What a row of the table of workloads is: a program, its data, its costs, and its peers' forms."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

# Each is a module of `workloads` with a list WORKLOADS; beside it stand NAME.cc, and NAME_numba.py
# and NAME_jax.py with what is rewritten by hand for these two.
GROUPS = ("elementwise", "rows", "reductions", "scans", "counting", "products",
          "stencils", "divergent", "simulations")  # fmt: skip


def largest_difference(results, expected) -> float:
    """The largest difference over all results, relative to the largest magnitude of each."""
    if [r.shape for r in results] != [e.shape for e in expected]:
        return np.inf
    worst = 0.0
    for result, wanted in zip(results, expected, strict=True):
        if wanted.size:
            largest = float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0))
            # Python's max would pass over nan.
            worst = np.maximum(worst, np.max(_differences(result, wanted)) / (largest or 1.0))
    return np.inf if np.isnan(worst) else float(worst)


def share_that_differs(results, expected) -> float:
    """For counts of steps that hang on a last bit: how many of all elements are not the same."""
    if [r.shape for r in results] != [e.shape for e in expected]:
        return np.inf
    pairs = zip(results, expected, strict=True)
    return max(float(np.mean(result != wanted)) for result, wanted in pairs)


def _differences(result, wanted) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        difference = np.abs(result.astype(np.float64) - wanted.astype(np.float64))
    same = (result == wanted) | ((result != result) & (wanted != wanted))
    return np.where(same, 0.0, difference)


def no_flops(arguments, results):
    return 0.0


@dataclass(frozen=True)
class Workload:
    """One row.

    `program` is NumPy-style Python: under @jit it is what we measure, unedited. `make` takes a
    random generator and the numbers of a size, and gives the arguments; what is costed is known
    from those and the results. `tolerance` is of what `error` measures.
    """

    name: str
    program: Callable
    make: Callable
    size: tuple
    tiny: tuple
    tolerance: float
    flops: Callable = no_flops
    error: Callable = largest_difference
    # NumPy's best form, where the program is not that; None runs the program.
    numpy: Callable | None = None
    # Peers that take the program as it stands, beside what is rewritten for them.
    portable: tuple[str, ...] = ("numba", "jax", "pythran")
    # It stores into its arguments: each call gets copies, made outside its time, and is judged by
    # these too.
    mutates: bool = False
    # (evaluate, *arguments) -> result.
    numexpr: Callable | None = None
    # (library, *arguments) -> result, where library has the functions of the group's NAME.cc.
    cpp: Callable | None = None
    # What the target page asks: our time at most that of C++ divided by this.
    against_cpp: float | None = None
    group: str = ""

    def arguments(self, size: tuple) -> tuple:
        return self.make(np.random.default_rng(0), *size)


def fresh(arguments: tuple) -> tuple:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def outcome(workload: Workload, result, arguments: tuple) -> list[np.ndarray]:
    """All that a call gives: its result, and what it left in its arguments."""
    stored = [a for a in arguments if isinstance(a, np.ndarray)] if workload.mutates else []
    return [*([] if result is None else as_arrays(result)), *stored]


def bytes_moved(arguments, results) -> float:
    """Inputs once and outputs once."""
    return float(sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
                 + sum(r.nbytes for r in results))  # fmt: skip


def as_arrays(result) -> list[np.ndarray]:
    """A result of any peer as arrays, whose number and shapes are to agree."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [np.asarray(part) for part in parts]


# NumPy code by others, S and M: a suite of its own, beside NumPy and Numba alone.
KERNELS = ("kernels_algebra", "kernels_science")


def all_workloads(groups: tuple[str, ...] = GROUPS) -> list[Workload]:
    found = []
    for group in groups:
        module = importlib.import_module(f"workloads.{group}")
        found += [replace(workload, group=group) for workload in module.WORKLOADS]
    return found
