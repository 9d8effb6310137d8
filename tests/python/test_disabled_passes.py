"""Each optimisation can be switched off by name, and answers stay what they are."""

import re
from pathlib import Path

import numpy as np
import pytest

from parakeet import jit

PASSES = Path(__file__).parents[2] / "passes" / "passes.def"
ROW = re.compile(r'^PARAKEET_PASS\(\w+, "([a-z-]+)", (\w+), (\w+),', re.MULTILINE)
REQUIRED = {"vectorize-loops"}


def names(is_optional):
    rows = ROW.findall(PASSES.read_text())
    assert len(rows) > 20
    return [
        name for name, before, after in rows
        if (before == after and name not in REQUIRED) == is_optional
    ]


def half(x):
    return x * 0.5


def expressions(x, m, v):
    y = half(x) + np.exp(-x)
    z = (y - y.mean()) ** 2
    rows = m @ m.T + v
    return z.sum(), np.max(y), rows.sum(axis=0), np.cumsum(z)[::-1], m.T.reshape(-1), z[z > 0.1]


def loops(x, places, n):
    counts = np.zeros(n, np.int64)
    for k in places:
        counts[k] += 1
    for t in range(3):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
    total = 0.0
    out = np.empty(len(x))
    for i in range(len(x)):
        total += x[i]
        out[i] = total if x[i] > 0.25 else x[i]
    return counts, total, out


CASES = {
    expressions: (np.linspace(0, 1, 70), np.arange(12.0).reshape(3, 4), np.arange(3.0)),
    loops: (np.linspace(0, 1, 70), np.arange(50) % 7, 7),
}


def run(program, target):
    arguments = [np.copy(each) if isinstance(each, np.ndarray) else each for each in CASES[program]]
    return jit(program, cache=False)(*arguments, target=target), arguments


@pytest.fixture(scope="module")
def meant():
    return {program: run(program, "interpreter") for program in CASES}


@pytest.mark.parametrize("name", names(True))
def test_answers_without(name, meant, monkeypatch):
    spelled = name.replace("-", "_") if len(name) % 2 else name
    monkeypatch.setenv("PARAKEET_DEBUG", f"disable:{spelled},verify")
    for program, (results, arguments) in meant.items():
        got, left = run(program, "serial")
        for each, expected in zip([*got, *left], [*results, *arguments], strict=True):
            # Sums may have another order.
            np.testing.assert_allclose(each, expected, rtol=1e-12, atol=1e-12)


def test_it_is_left_out(monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:fuse_elements,disable:fuse-vertically")
    report = jit(expressions, cache=False).explain(*CASES[expressions])
    assert not any(note.stage.startswith("fuse-") and note.topic == "fusion"
                   for note in report.notes)


@pytest.mark.parametrize("name", [*names(False), "vectorise_loops"])
def test_what_cannot_be_disabled(name, monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", f"disable:{name}")
    says = "no pass is called vectorise-loops; can be disabled: inline-calls, simplify, "
    if name != "vectorise_loops":
        says = f"pass {name} cannot be disabled: what comes after it takes only what it makes"
    with pytest.raises(ValueError, match=says):
        jit(half, cache=False)(1.0)
