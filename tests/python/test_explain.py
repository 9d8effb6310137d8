"""What f.explain says: which lines, what became of them, and which reasons are worth a line."""

import numpy as np
import pytest

import parakeet
from parakeet import jit

X = np.linspace(0, 1, 100)
A = np.ones((5, 4))


def spread(x):
    return ((x - x.mean()) ** 2).mean()


def half(x):
    return x * 0.5


def chained(x):
    y = half(x) + 1.0
    z = np.exp(y)
    return z / np.sum(z)


def product(a, b):
    return np.array([[np.dot(x, y) for y in b.T] for x in a])


def loops(x, index):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2.0
    level = 0.0
    for i in index:
        level = level * 0.5 + x[i]
    return out, level


def line_of(function, text):
    """The number of the first line of the function that holds the text."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def rows_at(report, line):
    return [row for row in report.rows if row.line == line]


def test_operators_of_one_line():
    report = jit(spread).explain(X)
    line = line_of(spread, "mean")
    assert {row.line for row in report.rows} == {line}
    by_text = {row.text: row for row in report.rows}
    assert list(by_text) == [
        "((x - x.mean()) ** 2).mean()", "(x - x.mean()) ** 2", "x - x.mean()", "x.mean()",
    ]  # fmt: skip
    assert [row.own for row in report.rows] == [False, False, False, True]
    assert by_text["x - x.mean()"].fused_into == (line,)
    assert {row.kind for row in report.rows if row.own} == {"reduction"}
    assert all(row.threads == "own" and row.lanes > 1 for row in report.rows if row.own)
    assert (report.traversals, report.parallel_regions, report.temporaries) == (1, 1, 0)
    assert not any(row.reasons for row in report.rows)  # of sums beside it that it was before
    text = " ".join(report.split())  # rows are wrapped
    assert "takes in 3 operators" in text
    assert "no checks left" in text
    assert repr(report) == str(report) and isinstance(report, str)


def test_lines_are_told_of_in_order_with_what_takes_them_in():
    report = jit(chained).explain(X)
    inner = line_of(half, "0.5")
    first, second, third = (line_of(chained, text) for text in ("half", "exp", "return"))
    assert [row.line for row in report.rows] == sorted(row.line for row in report.rows)
    (scaled,) = rows_at(report, inner)
    assert not scaled.own and scaled.fused_into == (second,) and scaled.text == "x * 0.5"
    assert all(row.fused_into == (second,) for row in rows_at(report, first))
    (made,) = rows_at(report, second)
    assert set(made.takes_in) == {inner, first}
    assert made.reasons and made.reasons[0].startswith("not fused: it is dear")
    kinds = {row.text: row.kind for row in rows_at(report, third)}
    assert kinds == {"z / np.sum(z)": "map", "np.sum(z)": "reduction"}
    assert report.results == 1 and "library" not in report


def test_contractions_say_their_route():
    report = jit(product).explain(A, A.T.copy())
    (row,) = [row for row in report.rows if row.kind == "contraction" and row.own]
    assert row.route.startswith("packed in tiles of ") and row.route in report
    assert row.threads == "own" and not row.reasons


def test_loops_checks_and_reasons():
    report = jit(loops).explain(X, np.arange(9))
    (filled,) = rows_at(report, line_of(loops, "range(len"))
    assert filled.own and filled.threads == "own" and not filled.reasons
    (decays,) = rows_at(report, line_of(loops, "in index"))
    assert decays.threads == "none" and decays.checks == ("IndexError",)
    assert decays.reasons == ("not parallel: level is carried from one iteration to the next",)
    assert "loop: sequential, 1 check left inside (IndexError)" in report
    assert report.checks_in_loops == 1
    notes = {(note.topic, note.verdict) for note in report.notes if note.line == decays.line}
    assert ("threads", "refused") in notes
    # On one thread nobody asks why it is not on several.
    serial = jit(loops).explain(X, np.arange(9), target="serial")
    assert "not parallel" not in serial and "loop: one thread" in serial
    (decays,) = rows_at(serial, line_of(loops, "in index"))
    assert decays.reasons == ("no lanes: level is carried from one iteration to the next",)


def test_every_note_is_kept():
    notes = jit(spread).explain(X).notes
    assert any(note.topic == "siblings" and note.verdict == "done" for note in notes)
    fused = [note for note in notes if note.topic == "fusion" and note.verdict == "done"]
    assert fused and all(note.other == note.line for note in fused)
    assert str(notes).startswith("fuse-elements\n  test_explain.py:")
    assert repr(notes) == str(notes)


def test_which_compilation_is_explained():
    f = jit(chained)
    with pytest.raises(ValueError, match="has not been called yet"):
        f.explain()
    interpreted = f.explain(X, target="interpreter")
    assert "interpreted" in interpreted and interpreted.traversals == 0
    assert interpreted.target == "interpreter" and not any(row.own for row in interpreted.rows)
    f(X, target="serial")
    assert f.explain() == f.explain(X, target="serial")
    with pytest.raises(ValueError, match="compiles nothing"):
        f.explain(X, target="python")


def test_what_a_call_would_raise():
    f = jit(spread)
    with pytest.raises(TypeError) as called:
        f(X, X)
    with pytest.raises(TypeError) as explained:
        f.explain(X, X)
    assert str(explained.value) == str(called.value)

    @jit
    def refused(x):
        return {1: x}

    with pytest.raises(parakeet.Limitation, match="a dict is not supported"):
        refused.explain(X)


def test_scalar_code_and_no_parameters():
    report = jit(lambda: 1).explain()
    assert report.rows == () and "scalar code alone" in report
