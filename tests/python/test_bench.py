"""The programs of the benchmarks still compile, and still give what NumPy gives.

At tiny sizes, and no time is asserted: `./dev bench` measures (benchmarks/workload.py).
"""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from parakeet import jit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import chart  # noqa: E402
import measure_workloads  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from contest import PEERS, Contest  # noqa: E402
from peers import FORMS, why_no_form  # noqa: E402
from tested_targets import COMPILED
from workload import GROUPS, KERNELS, all_workloads, fresh, outcome  # noqa: E402

WORKLOADS = all_workloads((*GROUPS, "resident"))
# The two sizes are the same program.
BY_OTHERS = [workload for workload in all_workloads(KERNELS) if workload.name.endswith(" S")]


def test_names_differ():
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names) > 30


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_agrees_with_numpy(workload):
    check(workload)


@pytest.mark.long
@pytest.mark.parametrize("workload", BY_OTHERS, ids=lambda workload: workload.name)
def test_kernel_by_others_agrees_with_numpy(workload):
    check(workload)


def check(workload):
    kept = workload.arguments(workload.tiny)
    given = fresh(kept)
    with np.errstate(all="ignore"):
        result = (workload.numpy or workload.program)(*given)
    expected = outcome(workload, result, given)
    compiled = jit(workload.program)
    for target in COMPILED:
        given = fresh(kept)
        results = outcome(workload, compiled(*given, target=target), given)
        assert [r.dtype for r in results] == [e.dtype for e in expected]
        assert workload.error(results, expected) <= workload.tolerance, target
        # Repetitions call with the same arguments again.
        assert workload.mutates or all(
            np.array_equal(a, b) for a, b in zip(given, kept, strict=True))  # fmt: skip


def test_no_loop_of_a_workload_has_checks():
    left = {}
    for workload in all_workloads():
        told = jit(workload.program).explain(*workload.arguments(workload.tiny))
        if told.checks_in_loops:
            left[workload.name] = str(told)
    assert not left


def test_the_table_compares_with_the_best_peer_and_with_cpp():
    def entry(peer, form, seconds):
        return {"peer": peer, "form": form, "first": 1.0, "median": seconds, "min": seconds,
                "processor": 2 * seconds, "count": 20}  # fmt: skip

    row = {"workload": "x < y", "size": [[1200, 3], 7], "bytes": 8e6, "flops": 1e9,
           "single": False, "against_cpp": 1.2,
           "rates": {"triad": 1e10, "f64": 1e11, "f32": 2e11},
           "entries": [entry("numpy", "", 0.3), entry("parakeet", "serial", 0.04),
                       entry("parakeet", "parallel", 0.02), entry("cpp", "", 0.03),
                       entry("numba", "loops", 0.05),
                       {"peer": "jax", "form": "", "refused": "wrong"}]}  # fmt: skip
    line = report.summary_line(row)
    # Ten milliseconds of operations are longer than the eight tenths of one of bytes.
    assert line["size"] == "1,200x3 7"
    assert line["floor"] == pytest.approx(10.0) and line["of floor"] == "50%"
    assert (line["best peer"], line["x peer"]) == ("numba", pytest.approx(2.5))
    assert line["x C++"] == pytest.approx(1.5) and line["jax"] == "refused"
    assert len(report.details([row])) == 6
    circles = ElementTree.fromstring(chart.draw([row], "median")).findall("{*}circle")
    # The legend's, and one for each contestant that is not the line itself.
    assert len(circles) == len(chart.COLOURS) + 3


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(SystemExit) as refused:
        measure_workloads.select(WORKLOADS, ["chain", "nosuch"])
    text = str(refused.value)
    assert "there is no 'nosuch'" in text and "stencils" in text and "softmax" in text
    names = [workload.name for workload in measure_workloads.select(WORKLOADS, ["chain", "rows"])]
    assert "chain" in names and "softmax" in names and "jacobi" not in names


def test_every_cell_has_a_time_or_a_reason():
    for workload in WORKLOADS:
        for peer in FORMS:
            # What these would import need not be there.
            if peer == "numexpr" and not workload.numexpr:
                assert why_no_form(peer, workload, False).startswith("no form: ")
    contest = Contest.__new__(Contest)
    contest.seats, contest.absent = {}, {"numexpr": "no .bench-venv", "jax": "not installed"}
    loaded = contest._load(WORKLOADS[0], "")
    assert loaded["jax"] == [{"form": "", "refused": "absent: not installed"}]
    entries = [{"peer": peer, **form} for peer, forms in loaded.items() for form in forms]
    too_slow = why_no_form("pythran", WORKLOADS[0], True)
    entries += [{"peer": "pythran", "form": "", "refused": too_slow},
                {"peer": "numba", "form": "x", "refused": "TypingError: no: such"}]  # fmt: skip
    row = {"workload": "chain", "size": [10], "bytes": 1.0, "flops": 1.0, "single": False,
           "against_cpp": None, "rates": {}, "entries": entries}  # fmt: skip
    line = report.summary_line(row)
    assert [line[peer] for peer in ("numexpr", "jax", "pythran", "numba")] == [
        "absent", "absent", "not tried", "refused"]  # fmt: skip
    reasons = {told["contestant"]: told["reason"] for told in report.reasons([row])}
    assert reasons["numba"] == "TypingError: no: such" and reasons["jax"] == "not installed"
    assert all(told["rows"] == "chain" for told in report.reasons([row]))


def test_suites_of_one_run_share_the_file(tmp_path):
    file = tmp_path / "numbers.json"
    options = run.parse(["workloads", "latency", "--json", str(file)])
    options.keep({"heading": ["numpy: 2"], "shared": False, "rows": [{"workload": "chain"}]})
    options.keep({"latency": {"call overhead": [{"call": "f(x)", "ns": 30.0}]}})
    kept = json.loads(file.read_text())
    assert kept["rows"] == [{"workload": "chain"}] and "NumPy" in kept["machine"]
    assert kept["latency"] == {"call overhead": [{"call": "f(x)", "ns": 30.0}]}


def test_a_page_without_rows_says_what_the_file_has(tmp_path):
    file = tmp_path / "latency.json"
    options = run.parse(["page", "--json", str(file)])
    options.keep({"latency": {}})
    with pytest.raises(SystemExit, match="no rows of the suite workloads, but latency"):
        list(page.run(options))


def test_peers_are_all_named_in_the_heading():
    contest = Contest.__new__(Contest)
    contest.described = {"numpy": {"versions": {"numpy": "2"}, "threads": 2, "blas": "x"}}
    contest.absent = {"numexpr": "not installed"}
    lines = list(measure_workloads.heading(contest))
    assert [line.split(":")[0] for line in lines] == ["numpy", "numexpr", *(
        peer for peer in PEERS if peer not in ("numpy", "numexpr"))]  # fmt: skip
    assert "numexpr: absent, not installed" in lines and "pythran: not asked for" in lines


def test_counting_instructions_is_skipped_by_name_where_valgrind_is_not():
    """And what is asked for behind it is measured."""
    script = str(Path(run.__file__))
    done = subprocess.run([sys.executable, script, "dispatch", "nosuch"],
                          capture_output=True, text=True, env={"PATH": "/nowhere"})
    assert done.returncode == 2 and "there is no nosuch" in done.stderr
    done = subprocess.run([sys.executable, script, "dispatch"], capture_output=True,
                          text=True, env={"PATH": "/nowhere", "PARAKEET_CACHE": "0"})
    assert done.returncode == 0 and "dispatch: skipped, no valgrind" in done.stdout
