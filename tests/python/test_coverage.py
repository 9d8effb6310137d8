"""docs/coverage.md says what calling NumPy's functions shows. `--update` writes it anew."""

import re
import sys

import coverage_page as coverage
import numpy as np
import numpy_table
import pytest

from parakeet.library import registry


@pytest.fixture(scope="module")
def rows():
    if not np.__version__.startswith("2.4."):
        pytest.skip(f"the page is made with the signatures of NumPy 2.4, this is {np.__version__}")
    return coverage.all_rows()


def test_the_page_is_what_calls_show(rows):
    assert coverage.PAGE.read_text() == coverage.page(rows), (
        "run python tests/python/test_coverage.py --update, and read the difference")


def test_every_argument_is_asked_about(rows):
    assert {row.name: row.unproved() for row in rows if row.unproved()} == {}


def test_no_name_stands_twice(rows):
    names = [row.name for row in rows]
    assert sorted(set(names)) == sorted(names)


def test_what_differs_is_documented(rows):
    undocumented = [f"{row.name}: {said}" for row in rows for said in row.column("differs")
                    if not any(re.fullmatch(pattern, f"{row.name}: {said}")
                               for pattern in numpy_table.DOCUMENTED)]
    assert not undocumented


def test_every_function_of_the_library_has_a_row(rows):
    named = {row.name.split(".", 1)[1] for row in rows if row.name.startswith(("np.", "ndarray."))}
    known = {name for name in registry.functions if hasattr(np, name)} | set(registry.methods)
    contexts = {"errstate"}  # test_warned_of.py
    assert sorted(known - named - contexts) == []


if __name__ == "__main__" and "--update" in sys.argv:
    coverage.PAGE.write_text(coverage.page(coverage.all_rows()))
