"""The benchmarks on a device: their runner on the emulated GPU, and what stands in their table.

No time is asserted, and no peer is needed: `./dev bench --targets gpu` measures.
"""

import json
import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import chart  # noqa: E402
import measure_devices  # noqa: E402
from device_contest import DeviceContest  # noqa: E402
from device_rows import DEVICE_ROWS, find_row  # noqa: E402
from device_serve import error_of  # noqa: E402
from peers import rewritten  # noqa: E402
from workload import as_arrays, fresh  # noqa: E402


def test_the_runner_measures_a_row(tmp_path):
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--targets", "emulated_gpu", "--quick",
               "--only", "small_call,chain", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["workload"] for row in rows] == ["chain", "small_call"]
    for row in rows:
        [ours] = measure_devices.timed(row, "parakeet")
        assert ours["error"] == 0.0 and ours["count"] >= 4 and row["ends"] > 0.0
    assert "medians in ms" in done.stdout


def test_no_row_begins_behind_the_limit(tmp_path):
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--targets", "emulated_gpu", "--quick",
               "--limit", "0.001"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"the limit of time: {len(DEVICE_ROWS)} rows not measured" in done.stdout


def test_a_contestant_that_ends_costs_one_row():
    contest = DeviceContest("emulated_gpu", ["numpy", "parakeet", "cupy"], quick=True)
    try:
        assert "cupy" in contest.absent or "cupy" in contest.seats
        contest.seats["parakeet"].process.kill()
        [refused] = [entry for entry in contest.run(find_row("small_call"))["entries"]
                     if entry["peer"] == "parakeet"]
        assert refused["refused"] == "the process ended"
        again = contest.run(find_row("small_call"))
        assert measure_devices.timed(again, "parakeet")
    finally:
        contest.close()


def test_the_table_compares_with_the_best_peer_and_the_copy():
    def entry(peer, seconds):
        return {"peer": peer, "form": "", "first": 1.0, "median": seconds, "min": seconds,
                "count": 24}  # fmt: skip

    row = {"workload": "x", "size": [1000], "wanted": "3x", "bytes": 8e9, "flops": 0.0,
           "up": 4e9, "down": 1e9, "ends": 0.2, "rates": {"copy": 4e12, "up": 5e10, "down": 5e10},
           "entries": [entry("numpy", 0.3), entry("parakeet", 0.004), entry("cupy", 0.012),
                       entry("jax", 0.008), {"peer": "torch", "form": "", "refused": "no"}]}
    line = measure_devices.summary_line(row)
    assert (line["best"], line["x best"]) == ("jax", pytest.approx(2.0))
    assert line["of copy"] == "50%" and line["of link"] == "50%"
    assert line["torch"] == "-" and line["GF/s"] is None and "numpy" not in line
    means = {one["beside"]: one["mean"] for one in measure_devices.means([row])}
    assert means == {"cupy": pytest.approx(3.0), "jax": pytest.approx(2.0)}
    assert len(measure_devices.details([row])) == 4
    picture = ElementTree.fromstring(chart.draw([row], "median", chart.ON_DEVICE))
    # The legend's, and one for each contestant with a time, the best peer too.
    assert len(picture.findall("{*}circle")) == len(chart.DEVICE_COLOURS) + 3


def test_errors_are_found_in_every_piece():
    row = find_row("chain")
    wanted = np.random.default_rng(0).random(200_000)
    result = wanted.copy()
    assert error_of(row.workload, [result], [wanted]) == 0.0
    result[150_000] += 0.25
    assert error_of(row.workload, [result], [wanted]) == pytest.approx(0.25, rel=1e-3)
    result[150_000] = np.nan
    assert error_of(row.workload, [result], [wanted]) == np.inf
    assert error_of(row.workload, [result[1:]], [wanted]) == np.inf


class OneKernel:
    """What only a device can run, in a stand-in for CuPy."""

    def __init__(self, *arguments, **keywords):
        pass

    def __call__(self, *arguments, **keywords):
        raise NotImplementedError


@pytest.fixture
def cupy(monkeypatch):
    """NumPy in CuPy's place: the forms that are array code mean the same there."""
    module = types.ModuleType("cupy")
    vars(module).update({name: getattr(np, name) for name in np.__all__})
    module.fuse = lambda: lambda function: function
    module.ElementwiseKernel = module.ReductionKernel = OneKernel
    monkeypatch.setitem(sys.modules, "cupy", module)
    for name in [name for name in sys.modules if name.endswith("_cupy")]:
        monkeypatch.delitem(sys.modules, name)
    yield module
    for name in [name for name in sys.modules if name.endswith("_cupy")]:
        del sys.modules[name]


def test_forms_for_cupy_give_what_the_programs_give(cupy):
    checked = 0
    for row in DEVICE_ROWS:
        arguments = row.workload.arguments(row.quick)
        expected = as_arrays((row.workload.numpy or row.workload.program)(*fresh(arguments)))
        for variant, form in rewritten(row.workload, "cupy"):
            try:
                results = as_arrays(form(*fresh(arguments)))
            except NotImplementedError:
                continue
            assert error_of(row.workload, results, expected) <= row.tolerance, (row.name, variant)
            checked += 1
    assert checked > 10
