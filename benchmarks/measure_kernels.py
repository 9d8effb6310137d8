"""The suite `kernels`: NumPy code by others, unedited, at two sizes, beside NumPy and Numba."""

import measure_devices
import measure_workloads
import report
from device_rows import kernels_by_others
from workload import KERNELS, all_workloads


def run(options):
    if any(measure_devices.is_device(target) for target in options.targets):
        rows = measure_workloads.select(kernels_by_others(), options.only)
        if options.json:  # Beside the workloads' own, where a run has both.
            options.json = options.json.with_stem(f"{options.json.stem}-kernels")
            options.document.clear()
        yield from measure_devices.measure(rows, options)
        return
    chosen = measure_workloads.select(all_workloads(KERNELS), options.only)
    rows = []
    for title, lines in measure_workloads.measure(chosen, options.peers or ("numba",), options,
                                                 "kernels"):  # fmt: skip
        rows = rows or lines
        yield title, lines
    yield "how many times as fast as NumPy, geometric means", _means(rows)


def _means(lines: list[dict]) -> list[dict]:
    """For each size and contestant; a kernel that one refuses counts as NumPy's own time."""
    means = []
    for size in ("S", "M"):
        own = [line for line in lines if line["workload"].endswith(f" {size}")]
        mean = {"size": size, "kernels": len(own)}
        for name in ("serial", "parallel", "numba"):
            ratios = [_ratio(line, name) for line in own]
            if any(ratio != 1.0 for ratio in ratios):
                mean[name] = report.geometric_mean(ratios)
                mean[f"least of {name}"] = min(ratios)
        means.append(mean)
    return means


def _ratio(line: dict, name: str) -> float:
    own = line.get(name)
    return line["numpy"] / own if isinstance(own, float) else 1.0
