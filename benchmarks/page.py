"""The suite `page`: writes what `./dev bench --json FILE` measured into docs/benchmarks.md."""

import json
import re
from pathlib import Path

import chart
import report

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKED = re.compile(r"(<!-- measured -->\n).*(<!-- end -->)", re.DOTALL)


def run(options):
    if options.json is None:
        raise SystemExit("page: --json names the file of an earlier run")
    measured = json.loads(options.json.read_text())
    rows = measured["rows"]
    measure = "processor" if measured["shared"] else "median"
    (DOCS / "benchmarks.svg").write_text(chart.draw(rows, measure))
    page = DOCS / "benchmarks.md"
    heading = [f"* {line}" for line in measured["heading"]]
    if measured["shared"]:
        heading.append("* others used the machine: look at the processors' time, and at no "
                       "absolute number")  # fmt: skip
    text = "\n".join([*heading, "", *_table(rows), ""])
    page.write_text(MARKED.sub(lambda match: match[1] + text + match[2], page.read_text()))
    yield f"written to {page}", report.summary(rows)


def _table(rows: list[dict]) -> list[str]:
    lines = report.summary(rows)
    columns = list(dict.fromkeys(name for line in lines for name in line))
    cells = [columns, ["---"] * len(columns),
             *([report.show(line.get(name)) for name in columns] for line in lines)]  # fmt: skip
    return ["| " + " | ".join(line) + " |" for line in cells]
