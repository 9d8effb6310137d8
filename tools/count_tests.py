"""Counts test cases in reports, and prints `passed failed skipped`.

A report is a JUnit XML file, as pytest and GoogleTest write it, or the event file of a Bazel run,
which names the XML file of each test target that ran or was cached.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlparse


def outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def count_junit(report: Path) -> Counter:
    """An empty report is a runner that died before it wrote one; its exit status says so."""
    if report.stat().st_size == 0:
        return Counter()
    return Counter(outcome(case) for case in ElementTree.parse(report).iter("testcase"))


def count_events(events: Path) -> Counter:
    """A target may fail outside its cases, as by a leak found at exit: that counts as one."""
    total = Counter()
    for line in events.read_text().splitlines():
        result = json.loads(line).get("testResult", {})
        counts = Counter()
        for output in result.get("testActionOutput", []):
            if output["name"] == "test.xml":
                counts += count_junit(Path(unquote(urlparse(output["uri"]).path)))
        if result.get("status", "PASSED") != "PASSED" and not counts["failed"]:
            counts["failed"] = 1
        total += counts
    return total


def main(names: list[str]) -> None:
    total = Counter()
    for path in map(Path, names):
        total += count_events(path) if path.suffix == ".json" else count_junit(path)
    print(total["passed"], total["failed"], total["skipped"])


if __name__ == "__main__":
    main(sys.argv[1:])
