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
    assert row.route.startswith("packed in tiles of ") and row.route in " ".join(report.split())
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


def diffuses(u, n):
    for t in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])


def grows(x):
    i, s = 0, 0.0
    while s < 10.0 and i < len(x):
        s += x[i] * x[i]
        i += 1
    return s


def first_above(x, limit):
    at = -1
    for i in range(len(x)):
        if x[i] > limit:
            at = i
            break
    return at


def first_above_returned(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


def smoothed(x):
    for i in range(1, len(x)):
        x[i] = 0.9 * x[i - 1] + 0.1


def two_back(x):
    for i in range(2, len(x)):
        x[i] = x[i - 1] + x[i - 2]


def scattered(n, places):
    u = np.zeros(n)
    for i in range(len(places)):
        u[places[i]] = u[places[i] // 2] + 1.0
    return u


def counted(x):
    return np.bincount(x), np.histogram(x * 1.0, bins=4, range=(0.0, 9.0))[0]


def test_a_time_loop_goes_on_around_what_is_parallel():
    report = jit(diffuses).explain(X, 3)
    (loop,) = rows_at(report, line_of(diffuses, "for t"))
    assert (loop.threads, loop.lanes, loop.kind) == ("none", 1, "loop")
    assert [reason.split(":")[0] for reason in loop.reasons] == ["not parallel"]
    (step,) = [row for row in rows_at(report, line_of(diffuses, "u[1:-1] +=")) if row.own]
    assert step.threads == "own" and step.lanes > 1
    assert "loop: sequential" in report


@pytest.mark.parametrize(
    "program, arguments, text, kind",
    [
        (grows, (X,), "while", "while loop"),
        (first_above, (X, 0.5), "for i", "loop that may break off"),
        (first_above_returned, (X, 0.5), "for i", "loop that may break off"),
    ],
)
def test_loops_that_decide_as_they_go_say_so(program, arguments, text, kind):
    report = jit(program).explain(*arguments)
    (loop,) = rows_at(report, line_of(program, text))
    assert (loop.kind, loop.threads) == (kind, "none")
    assert loop.reasons == ("not parallel: each iteration decides whether another one follows",)
    assert f"{kind}: sequential" in report


@pytest.mark.parametrize("program", [smoothed, two_back])
def test_what_a_pass_has_named_is_told_of_by_the_source(program):
    report = jit(program).explain(X)
    (loop,) = rows_at(report, line_of(program, "for i"))
    assert loop.reasons == ("not parallel: what it stores to x is read in a later iteration",)


def test_arrays_are_called_what_they_are_assigned_to():
    report = jit(scattered).explain(100, np.arange(9))
    (loop,) = rows_at(report, line_of(scattered, "for i"))
    assert loop.reasons == ("not parallel: u may be touched at one place by two iterations",)
    assert "the array of line" not in str(report.notes)


def test_counts_have_no_matrix_and_no_loop_of_the_users():
    report = jit(counted).explain(np.arange(50) % 7)
    assert "matrix" not in report and "while loop" not in {row.kind for row in report.rows}


def test_long_programs_fit_on_a_screen_and_all_is_in_verbose():
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
    from workload import KERNELS, all_workloads

    names = ("adi S", "cavity_flow S", "vadv S", "nbody S")
    for workload in all_workloads(KERNELS):
        if workload.name not in names:
            continue
        report = jit(workload.program).explain(*workload.arguments(workload.tiny))
        assert len(report.splitlines()) <= 55, workload.name
        assert max(map(len, report.splitlines()[:-3])) <= 125
        # Nothing is left out that is a reason.
        words = " ".join(report.split())
        for row in report.rows:
            for reason in row.reasons:
                assert " ".join(reason.split()) in words
        lines = {row.line for row in report.rows}
        assert all(f" {line}  " in report.verbose for line in lines)
        assert len(report.verbose.splitlines()) >= len(report.splitlines())


def test_lines_of_which_the_same_has_become_stand_together():
    def edges(u):
        u[0, :] = 0.0
        u[-1, :] = 0.0
        u[:, 0] = 1.0
        return u

    report = jit(edges).explain(A.copy())
    first = line_of(edges, "u[0, :]")
    assert f"{first}-{first + 1}  " in report or f"{first}-{first + 2}  " in report
    assert f"{first + 1}  u[-1, :] = 0.0" in report.verbose
