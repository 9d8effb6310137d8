"""The suite `workloads`: every row of the table against its peers, interleaved."""

from argparse import Namespace
from collections.abc import Sequence

import measure_devices
import report
from contest import PEERS, Contest
from device_rows import DEVICE_ROWS
from workload import Workload, all_workloads


def select(workloads: list, words: list[str]) -> list:
    """Those whose name or group is among the words, or whose name begins with one; a word that
    stands for none ends the run, with what there is."""
    for word in words:
        if not any(_is_meant(w, word) for w in workloads):
            groups, names = (dict.fromkeys(getattr(w, kind) for w in workloads)
                             for kind in ("group", "name"))  # fmt: skip
            raise SystemExit(f"--only: there is no {word!r}; there are the groups "
                             f"{', '.join(groups)} and the workloads {', '.join(names)}")
    return [w for w in workloads if not words or any(_is_meant(w, word) for word in words)]


def _is_meant(workload, word: str) -> bool:
    return workload.group == word or workload.name.startswith(word)


def run(options: Namespace):
    if any(measure_devices.is_device(target) for target in options.targets):
        chosen = select(DEVICE_ROWS, options.only)
        yield from measure_devices.measure(chosen, options)
        return
    yield from measure(select(all_workloads(), options.only), options.peers or PEERS, options)


def measure(chosen: list[Workload], wanted: Sequence[str], options: Namespace, kept_as: str = ""):
    """`kept_as`: under which name of the file the numbers are, "" for its top."""
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
            measured = {"heading": list(heading(contest)), "shared": options.shared, "rows": rows}
            options.keep({kept_as: measured} if kept_as else measured)
    finally:
        contest.close()
    yield "medians in ms; higher ratios are better for us; bounds checks on", report.summary(rows)
    yield "cells without a time", report.reasons(rows)
    yield "every contestant", report.details(rows)


def heading(contest: Contest):
    for peer, seat in contest.described.items():
        versions = ", ".join(f"{name} {version}" for name, version in seat["versions"].items())
        print_versions = versions or "g++"
        yield f"{peer}: {print_versions}; {seat['threads']} threads; BLAS core {seat['blas']}"
    for peer, reason in contest.absent.items():
        yield f"{peer}: absent, {reason}"
    for peer in PEERS:
        if peer not in contest.described and peer not in contest.absent:
            yield f"{peer}: not asked for"
