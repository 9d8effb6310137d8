"""The suite `page`: writes what `./dev bench --json FILE` measured into docs/benchmarks.md."""

import json
import re
from pathlib import Path

import chart
import measure_devices
import report

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKED = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)
MARKED_ON_DEVICE = re.compile(r"(<!-- measured on a GPU -->\n).*?(<!-- end -->)", re.DOTALL)


def run(options):
    if options.json is None:
        raise SystemExit("page: --json names the file of an earlier run")
    measured = json.loads(options.json.read_text())
    rows = measured.get("rows")
    if rows is None:
        has = ", ".join(sorted(set(measured) - {"machine"})) or "nothing"
        raise SystemExit(f"page: {options.json} has no rows of the suite workloads, but {has}; "
                         f"./dev bench --json {options.json} measures them")  # fmt: skip
    if "shared" not in measured:
        yield _write_device(measured["heading"], rows)
        return
    measure = "processor" if measured["shared"] else "median"
    (DOCS / "benchmarks.svg").write_text(chart.draw(rows, measure))
    page = DOCS / "benchmarks.md"
    heading = [f"* {line}" for line in measured["heading"]]
    if measured["shared"]:
        heading.append("* others used the machine: look at the processors' time, and at no "
                       "absolute number")  # fmt: skip
    text = "\n".join([*heading, "", *_table(report.summary(rows)), "", *_reasons(rows)])
    page.write_text(MARKED.sub(lambda match: match[1] + text + match[2], page.read_text()))
    yield f"written to {page}", report.summary(rows)


def _reasons(rows: list[dict]) -> list[str]:
    lines = [f"* {line['contestant']}: {line['cell']} in {line['rows']}: {line['reason']}"
             for line in report.reasons(rows)]  # fmt: skip
    return ["Cells without a time:", "", *lines, ""] if lines else []


def _write_device(heading: list[str], rows: list[dict]) -> tuple[str, list[dict]]:
    (DOCS / "benchmarks-gpu.svg").write_text(chart.draw(rows, "median", chart.ON_DEVICE))
    lines = [measure_devices.summary_line(row) for row in rows]
    text = "\n".join([*(f"* {line}" for line in heading), f"* {measure_devices.title(rows)}", "",
                      *_table(lines), "", "![times as fast as the best peer](benchmarks-gpu.svg)",
                      ""])  # fmt: skip
    page = DOCS / "benchmarks.md"
    page.write_text(MARKED_ON_DEVICE.sub(lambda match: match[1] + text + match[2],
                                         page.read_text()))  # fmt: skip
    return f"written to {page}", lines


def _table(lines: list[dict]) -> list[str]:
    columns = list(dict.fromkeys(name for line in lines for name in line))
    cells = [columns, ["---"] * len(columns),
             *([report.show(line.get(name)) for name in columns] for line in lines)]  # fmt: skip
    return ["| " + " | ".join(line) + " |" for line in cells]
