"""Refused programs, each with its whole message, from refused.txt.

A section of that file is a title, a program, a call, and what it raises on every target. After a
change of messages, `python tests/python/test_refusals.py --update` rewrites it: review the diff.
"""

import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import parakeet

TABLE = Path(__file__).with_name("refused.txt")
TARGETS = ("interpreter", "serial", "parallel")
FILENAME = "demo.py"


@dataclass
class Refusal:
    title: str
    program: str
    call: str
    expected: str


def read_table() -> list[Refusal]:
    refusals = []
    for section in re.split(r"^## ", TABLE.read_text(), flags=re.MULTILINE)[1:]:
        head, expected = section.split("==>\n")
        title, rest = head.split("\n", 1)
        program, call = rest.rsplit(">>> ", 1)
        refusals.append(Refusal(title, program, call.strip(), expected.rstrip("\n")))
    return refusals


def write_table(refusals: list[Refusal]) -> None:
    opening = TABLE.read_text().split("\n## ", 1)[0].rstrip()
    sections = [f"## {r.title}\n{r.program}>>> {r.call}\n==>\n{r.expected}\n" for r in refusals]
    TABLE.write_text("\n\n".join([opening, *(s.rstrip("\n") for s in sections)]) + "\n")


def what_it_raises(refusal: Refusal, target: str) -> str:
    """The exception of one run: its type, and its message as it is."""
    linecache.cache[FILENAME] = (len(refusal.program), None,
                                 refusal.program.splitlines(keepends=True), FILENAME)
    names = {"np": np, "parakeet": parakeet, "jit": parakeet.jit}
    try:
        with parakeet.target(target), np.errstate(all="ignore"):
            exec(compile(refusal.program, FILENAME, "exec"), names)
            if "f" in names and not hasattr(names["f"], "__wrapped__"):
                names["f"] = parakeet.jit(names["f"])
            result = eval(refusal.call, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"nothing: {result!r}"


# Read when the tests are collected, so that each is a test of its own.
REFUSALS = read_table()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.title.replace(" ", "-"))
@pytest.mark.parametrize("target", TARGETS)
def test_refusal(refusal, target):
    assert what_it_raises(refusal, target) == refusal.expected


def test_titles_are_told_apart():
    assert len({refusal.title for refusal in REFUSALS}) == len(REFUSALS)


def test_a_limitation_is_not_implemented():
    @parakeet.jit
    def f(x):
        return {1: x}

    with pytest.raises(parakeet.Limitation):
        f(1)
    assert issubclass(parakeet.Limitation, NotImplementedError)


def test_a_refused_function_can_be_called_again():
    @parakeet.jit
    def f(x):
        return x[0]

    for _ in range(3):
        with pytest.raises(Exception, match=r"test_refusals\.py:\d+:\d+"):
            f(1.0)
        assert f(np.ones(2)) == 1.0


class TestMemoryAfterAnError:
    """A refused call stores nothing; a failed one what plain Python would have stored before."""

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("index", [5, -6, 10**9, -10**9, 2**62])
    def test_a_store_out_of_range(self, target, index):
        @parakeet.jit
        def f(x, i):
            x[i] = 7.0

        buffer = np.arange(15.0)
        with pytest.raises(IndexError):
            f(buffer[5:10], index, target=target)
        np.testing.assert_array_equal(buffer, np.arange(15.0))

    @pytest.mark.parametrize("target", TARGETS)
    def test_an_index_out_of_range_inside_a_parallel_loop(self, target):
        @parakeet.jit
        def f(x, indexes):
            return np.array([x[i] * 2 for i in indexes])

        x = np.arange(100.0)
        indexes = np.arange(10_000) % 100
        indexes[[7777, 8888]] = 100, -101
        kept = indexes.copy()
        for _ in range(3):
            with pytest.raises(IndexError, match="^index 100 is out of bounds for axis 0 with "
                                                 "size 100$"):
                f(x, indexes, target=target)
        np.testing.assert_array_equal(x, np.arange(100.0))
        np.testing.assert_array_equal(indexes, kept)
        np.testing.assert_array_equal(f(x, kept[:100], target=target), x * 2)

    @pytest.mark.parametrize("target", TARGETS)
    def test_shapes_that_do_not_broadcast_into_a_store(self, target):
        @parakeet.jit
        def f(x, y):
            x[:] = x + y

        x = np.arange(6.0)
        with pytest.raises(ValueError, match=r"\(6,\) \(4,\)"):
            f(x, np.ones(4), target=target)
        np.testing.assert_array_equal(x, np.arange(6.0))


if __name__ == "__main__" and "--update" in sys.argv:
    for refusal in REFUSALS:
        refusal.expected = what_it_raises(refusal, "serial")
    write_table(REFUSALS)
