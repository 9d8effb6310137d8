"""The suite `workloads` (or `kernels`) on a GPU: data that is there, and from end to end.

It is what `--targets gpu` means, or `emulated_gpu`, which runs it without peers and at small sizes.
"""

import time
from argparse import Namespace

from device_contest import DEVICE_PEERS, OWN, DeviceContest
from device_rows import DeviceRow
from report import geometric_mean, show, size_text


def is_device(target: str) -> bool:
    return target.startswith(("gpu", "emulated_gpu"))


def measure(chosen: list[DeviceRow], options: Namespace):
    target = next(target for target in options.targets if is_device(target))
    is_real = target.startswith("gpu")
    # On the emulated GPU only those that are named, which need no device then.
    wanted = options.peers or (DEVICE_PEERS if is_real else ())
    peers = [*OWN, *(peer for peer in DEVICE_PEERS if peer in wanted)]
    contest = DeviceContest(target, peers, options.quick or not is_real)
    rows = []
    try:
        heading = [*(f"{peer}: {text}" for peer, text in contest.described.items()),
                   *(f"{peer}: absent, {why}" for peer, why in contest.absent.items())]
        print("\n".join(heading), flush=True)
        for number, row in enumerate(chosen):
            if options.deadline and time.monotonic() > options.deadline:
                print(f"the limit of time: {len(chosen) - number} rows not measured", flush=True)
                break
            rows.append(_measured(contest, row))
            print(_in_words(rows[-1]), flush=True)
            options.keep({"heading": heading, "rows": rows})
    finally:
        contest.close()
    if not rows:
        return
    yield "every contestant, data on the device", details(rows)
    yield title(rows), [summary_line(row) for row in rows]
    if beside := means(rows):
        yield "times as fast as each peer", beside


def _measured(contest: DeviceContest, row: DeviceRow) -> dict:
    """Nothing that goes wrong in one row ends the run."""
    try:
        return contest.run(row)
    except Exception as problem:
        return {"workload": row.name, "size": row.size, "wanted": row.wanted, "rates": {},
                "bytes": 0.0, "flops": 0.0, "up": 0.0, "down": 0.0, "ends": None,
                "entries": [{"peer": "parakeet", "form": "", "refused": str(problem)[:200]}]}


def _in_words(row: dict) -> str:
    cells = {name: show(value) for name, value in summary_line(row).items()}
    refused = [f"{entry['peer']}: {entry['refused']}" for entry in row["entries"]
               if "refused" in entry]  # fmt: skip
    return "  ".join([*(f"{name} {cell}" for name, cell in cells.items() if cell), *refused])


def title(rows: list[dict]) -> str:
    middle = [row["rates"] for row in rows if row["rates"]]
    if not middle:
        return "medians in ms"
    rates = {name: sorted(rate[name] for rate in middle)[len(middle) // 2] / 1e9
             for name in middle[0]}  # fmt: skip
    return (f"medians in ms, data on the device; copies: {rates['copy']:.0f} GB/s there, pinned "
            f"{rates['up']:.1f} up and {rates['down']:.1f} down")


def timed(row: dict, *peers: str) -> list[dict]:
    return [entry for entry in row["entries"] if entry["peer"] in peers and "median" in entry]


def summary_line(row: dict) -> dict:
    """Ratios above 1 are good for us; "of copy" is the floor by bytes over our time."""
    line = {"workload": row["workload"], "size": size_text(row["size"])}
    for entry in row["entries"]:
        if entry["peer"] != "numpy":
            line[entry["peer"]] = entry["median"] * 1e3 if "median" in entry else "-"
    ours = timed(row, "parakeet")
    if not ours:
        return line | {"wanted": row["wanted"]}
    mine, rates = ours[0], row["rates"]
    best = min(timed(row, *DEVICE_PEERS), key=lambda entry: entry["median"], default=None)
    line["best"] = best["peer"] if best else None
    line["x best"] = best["median"] / mine["median"] if best else None
    line["x best min"] = best["min"] / mine["min"] if best else None
    line["first"] = mine["first"] * 1e3
    line["GB/s"] = row["bytes"] / mine["median"] / 1e9
    line["of copy"] = f"{row['bytes'] / mine['median'] / rates['copy']:.0%}" if rates else None
    line["GF/s"] = row["flops"] / mine["median"] / 1e9 if row["flops"] else None
    line |= {"ends": row["ends"] * 1e3 if row["ends"] else None}
    if rates and row["ends"]:
        floor = row["up"] / rates["up"] + row["down"] / rates["down"]
        line["of link"] = f"{floor / row['ends']:.0%}"
    return line | {"wanted": row["wanted"]}


def details(rows: list[dict]) -> list[dict]:
    return [_detail(row, entry) for row in rows for entry in row["entries"]
            if entry["peer"] != "numpy"]  # fmt: skip


def _detail(row: dict, entry: dict) -> dict:
    line = {"workload": row["workload"], "contestant": entry["peer"], "form": entry["form"]}
    if "median" not in entry:
        return line | {"note": entry.get("refused", "not timed")[:80]}
    return line | {"first ms": entry["first"] * 1e3, "median ms": entry["median"] * 1e3,
                   "min ms": entry["min"] * 1e3, "samples": entry["count"],
                   "GB/s": row["bytes"] / entry["median"] / 1e9,
                   "error": entry.get("error")}  # fmt: skip


def means(rows: list[dict]) -> list[dict]:
    """How many times as fast as each peer we are, over the rows that both do."""
    lines = []
    for peer in DEVICE_PEERS:
        ratios = [theirs["median"] / mine["median"] for row in rows
                  for mine in timed(row, "parakeet") for theirs in timed(row, peer)]  # fmt: skip
        if ratios:
            lines.append({"beside": peer, "rows": len(ratios), "mean": geometric_mean(ratios),
                          "least": min(ratios), "most": max(ratios)})  # fmt: skip
    return lines
