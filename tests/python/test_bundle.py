"""The bundle for machines with a GPU: what it carries, and how it runs the suite there."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "tools/bundle"
sys.path.insert(0, str(BUNDLE))

import environment  # noqa: E402
import pack  # noqa: E402
from environment import Environment, require  # noqa: E402
from suite import Suite, report  # noqa: E402

TESTS = """
import os, time
import pytest

def test_that_passes(): pass
def test_that_fails(): assert 1 == 2
@pytest.mark.skip(reason="it is not asked for")
def test_that_is_skipped(): pass
@pytest.mark.xfail
def test_that_may_fail(): assert False
def test_that_ends_its_process(): os._exit(3)
def test_that_hangs(): time.sleep(60)
def test_that_loses_the_device(): raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")
@pytest.mark.parametrize("n", range(30))
def test_of_many(n): pass
"""


def test_it_carries_the_suite():
    carried = set(pack.carried_files())
    assert all((ROOT / name).is_file() for name in carried)
    assert {"tests/python/test_programs.py", "tests/python/whole_programs/inputs.py",
            "tests/python/refused.txt", "benchmarks/run.py", "benchmarks/workloads/cub.cu",
            "examples/demo.py", "tools/bundle/run.py", "constraints.txt"} <= carried
    assert not [name for name in carried if "__pycache__" in name]


def test_what_wheels_have_alike_is_there_once():
    trees = {"cp311": {"a.py": b"1", "b.so": b"2", "c.py": b"3"},
             "cp312": {"a.py": b"1", "b.so": b"4"}}
    assert pack.share(trees) == {"any/a.py": b"1", "cp311/b.so": b"2", "cp311/c.py": b"3",
                                 "cp312/b.so": b"4"}
    assert pack.share({"cp312": {"a.py": b"1"}}) == {"cp312/a.py": b"1"}


@pytest.mark.parametrize(("name", "place"), [
    ("numpy/version.py", "numpy/version.py"), ("x-1.data/purelib/x.py", "x.py"),
    ("x-1.data/platlib/x/y.so", "x/y.so"), ("x-1.data/scripts/x", None),
])
def test_where_a_wheels_file_goes(name, place):
    assert pack.installed_name(name) == place


def test_the_runner_says_how_it_is_used():
    done = subprocess.run([sys.executable, str(BUNDLE / "run.py"), "--help"], check=True,
                          capture_output=True, text=True)
    for verb in ("test", "bench", "check", "fuzz", "demo"):
        assert f"run.py {verb}" in done.stdout


def test_a_device_that_is_not_there_is_named():
    here = Environment(Path(sys.executable), dict(os.environ), "this one")
    require(here, "emulated_gpu")
    with pytest.raises(SystemExit, match="not run: .*gpu:99"):
        require(here, "serial,gpu:99")


@pytest.mark.parametrize("targets, here", [
    ("", "emulated_gpu"), ("emulated_gpu,only", "emulated_gpu"), ("gpu,only", "gpu:0"),
    ("cuda", "gpu:0"), ("emulated_gpu,gpu:1", "gpu:1"), ("serial,only", "emulated_gpu"),
])
def test_tests_of_devices_run_on_the_gpu_that_a_run_asks_for(targets, here):
    code = "import agreement; print(agreement.HERE, agreement.IS_EMULATED)"
    variables = {**os.environ, "PARAKEET_TEST_TARGETS": targets,
                 "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], env=variables, check=True,
                          capture_output=True, text=True)
    assert done.stdout.split() == [here, str(here == "emulated_gpu")]


def test_no_test_says_by_itself_which_device_it_runs_on():
    """But takes it from agreement.py, so that all of a run are on one."""
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    assert not [f.name for f in files if re.search(r"^HERE = ", f.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("here, needed, says", [
    ((2, 31), (2, 36), "need glibc 2.36 or newer, and this machine has 2.31; run it on a newer"),
    ((), (2, 36), "need glibc 2.36 or newer, and this machine has another C library; run it"),
    ((2, 36), (2, 36), None), ((2, 41), (2, 36), None), ((2, 100), (2, 36), None),
])
def test_a_glibc_that_is_too_old_is_named(here, needed, says, monkeypatch, tmp_path):
    names = b"\0".join([b"", b"GLIBC_2.2.5", f"GLIBC_{'.'.join(map(str, needed))}".encode(), b""])
    wheel = tmp_path / "dist/parakeet-1.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("parakeet/one.so", names)
        archive.writestr("parakeet/lib/two.so.5", b"\0GLIBC_2.14\0memcpy\0GLIBC_PRIVATE\0")
        archive.writestr("parakeet/text.py", b"\0GLIBC_9.9\0")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_glibc_here", lambda: here)
    if says is None:
        environment.require_glibc()
    else:
        with pytest.raises(SystemExit, match="^not run: the libraries of parakeet-1.whl " + says):
            environment.require_glibc()


def test_this_machine_has_the_glibc_that_its_own_wheel_needs():
    needed = environment._needed_glibc(environment._wheel())
    assert (2, 17) <= needed <= environment._glibc_here()


def test_packages_that_are_not_there_are_named(tmp_path):
    """In a copy of its own: a bundle that has them would run its suite within the suite."""
    copied = shutil.copytree(BUNDLE, tmp_path / "tools/bundle")
    command = [sys.executable, str(copied / "run.py"), "test", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode and "no packages for cp3" in done.stderr


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "test_cases.py").write_text(TESTS)
    here = Environment(Path(sys.executable), dict(os.environ), "this one")
    suite = Suite(here, [str(folder / "test_cases.py")], processes=2, limit=60.0, test_limit=5.0,
                  folder=folder / "out")
    return suite.run(), folder / "out"


def test_each_test_runs_once_whatever_the_others_do(outcomes):
    found, _ = outcomes
    ends = {name.split("::")[1]: found.of.get(n) for n, name in enumerate(found.names)}
    assert len(ends) == 37 and None not in ends.values()
    kinds = {name: outcome for name, (outcome, _) in ends.items()}
    assert [name for name, kind in kinds.items() if kind == "failed"] == [
        "test_that_fails", "test_that_ends_its_process", "test_that_hangs",
        "test_that_loses_the_device"]
    assert kinds["test_that_is_skipped"] == "skipped" and kinds["test_that_may_fail"] == "passed"
    assert ends["test_that_ends_its_process"][1] == "the process ended with status 3"
    assert ends["test_that_hangs"][1] == "it took longer than 5 s"


def test_its_table_comes_last_and_names_what_failed(outcomes, capsys):
    found, folder = outcomes
    assert report(found, 1.0, folder) == 4
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("32 passed, 4 failed, 1 skipped, 0 not run in 1 s")
    assert any("test_that_fails: assert 1 == 2" in line for line in printed)
    assert "assert 1 == 2" in (folder / "failures.log").read_text()


def test_nothing_runs_behind_the_limit(tmp_path):
    (tmp_path / "test_cases.py").write_text("def test_it(): pass\n")
    here = Environment(Path(sys.executable), dict(os.environ), "this one")
    suite = Suite(here, [str(tmp_path)], processes=1, limit=0.0, test_limit=3.0,
                  folder=tmp_path / "out")
    assert not suite.run().of
    assert report(suite.outcomes, 0.0, tmp_path / "out")
