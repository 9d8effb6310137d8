"""Tables of what the contestants took: one line a workload, and one line a contestant."""

import math


def print_table(title: str, rows: list[dict]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not columns:
        print(f"\n{title}: none")
        return
    lines = [columns, *([show(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    print(f"\n{title}")
    for line in lines:
        first, *rest = zip(line, widths, strict=True)
        print(first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest), sep="  ")


def show(value) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def best(row: dict, *peers: str) -> dict | None:
    """The contestant with the smallest median among those of these peers."""
    timed = [entry for entry in row["entries"] if entry["peer"] in peers and "median" in entry]
    return min(timed, key=lambda entry: entry["median"], default=None)


def ours(row: dict) -> dict | None:
    """We run parallel by default, so that is what counts, where it was asked for."""
    entries = [entry for entry in row["entries"] if entry["peer"] == "parakeet"]
    timed = [entry for entry in entries if "median" in entry]
    return next((entry for entry in timed if entry["form"] == "parallel"),
                timed[0] if timed else None)  # fmt: skip


def floor(row: dict) -> float:
    """Seconds below which no program gets, at this run's own rates, from bytes or operations."""
    return max(row["bytes"] / row["rates"]["triad"], row["flops"] / _peak(row))


PYTHON_PEERS = ("numpy", "numexpr", "numba", "jax", "pythran")


def summary(rows: list[dict]) -> list[dict]:
    return [summary_line(row) for row in rows]


def summary_line(row: dict) -> dict:
    line = {"workload": row["workload"], "size": size_text(row["size"])}
    for entry in row["entries"]:
        name = entry["form"] if entry["peer"] == "parakeet" else entry["peer"]
        line[name] = entry["median"] * 1e3 if "median" in entry else why_not(entry)[0]
    # Without C++ nobody has measured the machine's rates.
    line["floor"] = floor(row) * 1e3 if row["rates"] else None
    mine = ours(row)
    peer, cpp = best(row, *PYTHON_PEERS), best(row, "cpp")
    line["best peer"] = peer["peer"] if peer else None
    if mine:
        line["first"] = mine["first"] * 1e3
        if row["rates"]:
            line["of floor"] = f"{floor(row) / mine['median']:.0%}"
        line["x peer"] = peer["median"] / mine["median"] if peer else None
        line["x C++"] = cpp["median"] / mine["median"] if cpp else None
        line["x C++ min"] = cpp["min"] / mine["min"] if cpp else None
        line["x C++ processor"] = cpp["processor"] / mine["processor"] if cpp else None
    line["wanted"] = row["against_cpp"]
    return line


def why_not(entry: dict) -> tuple[str, str]:
    """Why a contestant has no time: the word of its cell, and the whole reason."""
    text = entry.get("refused", "not timed")
    word, colon, _ = text.partition(": ")
    is_word = bool(colon) and word in REASONS
    return (word if is_word else "refused"), text.removeprefix(f"{word}: ") if is_word else text


# Cells that are no refusal of a form by its own library: contest.py writes the words.
REASONS = ("absent", "wrong", "no form", "not tried", "ended")


def reasons(rows: list[dict]) -> list[dict]:
    """One line for each contestant and reason, with the rows that it is the reason of."""
    lines: dict[tuple, list[str]] = {}
    for row in rows:
        for entry in row["entries"]:
            if "median" not in entry:
                word, text = why_not(entry)
                lines.setdefault((entry["peer"], word, text), []).append(row["workload"])
    return [{"contestant": peer, "cell": word, "reason": text,
             "rows": "all" if len(names) == len(rows) > 1 else ", ".join(names)}
            for (peer, word, text), names in lines.items()]  # fmt: skip


def size_text(size) -> str:
    """((1200, 1200), 100) is "1,200x1,200 100"; a dtype stands in the row's own name."""
    parts = ["x".join(f"{n:,}" for n in part) if isinstance(part, (list, tuple)) else f"{part:,}"
             for part in size if not isinstance(part, str)]  # fmt: skip
    return " ".join(parts)


def details(rows: list[dict]) -> list[dict]:
    return [detail(row, entry) for row in rows for entry in row["entries"]]


def detail(row: dict, entry: dict) -> dict:
    line = {"workload": row["workload"], "contestant": entry["peer"], "form": entry["form"]}
    if "median" not in entry:
        return line | {"note": entry.get("refused", "not timed")}
    median = entry["median"]
    line |= {
        "first ms": entry["first"] * 1e3, "median ms": median * 1e3, "min ms": entry["min"] * 1e3,
        "processor ms": entry["processor"] * 1e3,
        "runs": entry["count"],
        "GB/s": row["bytes"] / median / 1e9, "GF/s": row["flops"] / median / 1e9,
        "error": entry.get("error")}  # fmt: skip
    if rates := row["rates"]:
        line["of triad"] = f"{row['bytes'] / median / rates['triad']:.0%}"
        line["of peak"] = f"{row['flops'] / median / _peak(row):.1%}" if row["flops"] else ""
    return line


def _peak(row: dict) -> float:
    return row["rates"]["f32" if row["single"] else "f64"]


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
