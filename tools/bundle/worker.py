"""A plugin of pytest: the process collects once, and runs the tests that it is told to, by number.

suite.py starts several such processes. What is told, and what became of each test, are lines of
JSON on two pipes, whose numbers PARAKEET_SUITE_PIPES gives.
"""

import json
import os

_told, _tell = (os.fdopen(int(number), mode) for number, mode in zip(
    os.environ.pop("PARAKEET_SUITE_PIPES").split(","), "rw", strict=True))  # fmt: skip
_outcome: dict = {}
for _pipe in (_told, _tell):
    os.set_inheritable(_pipe.fileno(), False)


def say(**what) -> None:
    print(json.dumps(what), file=_tell, flush=True)


def pytest_collectreport(report):
    if report.failed:
        say(uncollected=report.nodeid, text=str(report.longrepr))


def pytest_runtestloop(session):
    say(collected=[item.nodeid for item in session.items])
    for line in _told:
        numbers = json.loads(line)
        for number, following in zip(numbers, [*numbers[1:], None], strict=True):
            _run(session.items, number, following)
        say(idle=True)
    return True


def _run(items, number, following) -> None:
    say(start=number)
    _outcome.clear()
    item = items[number]
    behind = None if following is None else items[following]
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=behind)
    say(end=number, outcome=_outcome.get("is", "passed"), text=_outcome.get("text", ""))


def pytest_runtest_logreport(report):
    """Of a test's three phases, the worst counts; an expected failure is a pass."""
    if report.failed:
        _outcome.update({"is": "failed", "text": str(report.longrepr)})
    elif report.skipped and "is" not in _outcome and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _outcome.update({"is": "skipped", "text": reason})
