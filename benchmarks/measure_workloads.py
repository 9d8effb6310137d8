"""The suite `workloads`: every row of the table against its peers, interleaved."""

import json
from argparse import Namespace
from collections.abc import Sequence

import measure_devices
import report
from contest import PEERS, Contest
from device_rows import DEVICE_ROWS
from workload import Workload, all_workloads


def select(workloads: list[Workload], words: list[str]) -> list[Workload]:
    """Those whose name or group is among the words, or whose name begins with one."""
    if not words:
        return workloads
    return [w for w in workloads
            if any(w.group == word or w.name.startswith(word) for word in words)]  # fmt: skip


def run(options: Namespace):
    if any(measure_devices.is_device(target) for target in options.targets):
        chosen = measure_devices.select(DEVICE_ROWS, options.only)
        yield from measure_devices.measure(chosen, options)
        return
    yield from measure(select(all_workloads(), options.only), options.peers or PEERS, options)


def measure(chosen: list[Workload], wanted: Sequence[str], options: Namespace):
    peers = ["numpy", "parakeet", *(p for p in wanted if p not in ("numpy", "parakeet"))]
    contest = Contest(peers, options)
    rows = []
    try:
        for line in heading(contest):
            print(line, flush=True)
        for workload in chosen:
            rows.append(contest.run(workload))
            line = {k: report.show(v) for k, v in report.summary_line(rows[-1]).items()}
            print("  ".join(f"{k} {v}" for k, v in line.items() if v), flush=True)
            if options.json:
                options.json.write_text(json.dumps(
                    {"heading": list(heading(contest)), "shared": options.shared, "rows": rows},
                    indent=1))
    finally:
        contest.close()
    yield "medians in ms; higher ratios are better for us; bounds checks on", report.summary(rows)
    yield "every contestant", report.details(rows)


def heading(contest: Contest):
    for peer, seat in contest.described.items():
        versions = ", ".join(f"{name} {version}" for name, version in seat["versions"].items())
        print_versions = versions or "g++"
        yield f"{peer}: {print_versions}; {seat['threads']} threads; BLAS core {seat['blas']}"
    for peer, reason in contest.absent.items():
        yield f"{peer}: skipped, {reason}"
