"""The demo and the examples run at small sizes; what the demo prints and writes is there."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run_example(name: str, *arguments) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    output = tmp_path_factory.mktemp("demo")
    arguments = ("--quick", "--output", output, "--devices", "emulated_gpu")
    return run_example("demo.py", *arguments), output


def test_every_job_agrees(demo):
    text, _ = demo
    assert text.count("all agree") == 4
    assert "RESULTS DIFFER" not in text


def test_every_row_is_there(demo):
    text, _ = demo
    rows = [line.strip().split("  ")[0] for line in text.splitlines() if line.startswith("  ")]
    for name in ("one core", "emulated_gpu"):
        assert rows.count(f"Parakeet, {name}") == 4
    assert {"Python + NumPy dot", "Python, dot as sum(row * col)", "NumPy's X @ Y (BLAS)",
            "Python", "NumPy, nine shifted images", "NumPy"} <= set(rows)


def test_times_are_labelled(demo):
    text, _ = demo
    assert "execution" in text and "compilation" in text
    assert "scaled up from 1 of 64 rows" in text


def test_pictures_are_written(demo):
    pytest.importorskip("matplotlib")
    text, output = demo
    for name in ("edges.png", "edges_resized.png"):
        assert f"picture: {output / name}" in text
        assert (output / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "printed"), [
    ("matmult.py", "[[ 5. 14.]\n [14. 50.]]\n"),
    ("convolve.py", "[[ 0. -3.  3.  0.]\n [ 0. -3.  3.  0.]\n [ 0. -3.  3.  0.]]\n"),
    ("regression.py", "slope 3.000000, offset 2.000000\n"),
])
def test_an_example_alone(name, printed):
    assert run_example(name) == printed
