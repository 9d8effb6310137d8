"""Each optimisation can be switched off by name, and answers stay what they are."""

import re
from pathlib import Path

import numpy as np
import pytest

import parakeet
from parakeet import jit

PASSES = Path(__file__).parents[2] / "passes" / "passes.def"
ROW = re.compile(r'^PARAKEET_PASS\(\w+, "([a-z-]+)", (\w+), (\w+),', re.MULTILINE)
REQUIRED = {"write-one-by-one"}
NO_PASS = ["vector-math"]


FORMS = re.findall(r'^PARAKEET_FORM\("([a-z-]+)"', PASSES.with_name("forms.def").read_text(),
                   re.MULTILINE)  # fmt: skip


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*names(True), *NO_PASS])
def test_answers_without(name, meant, monkeypatch):
    spelled = name.replace("-", "_") if len(name) % 2 else name
    monkeypatch.setenv("PARAKEET_DEBUG", f"disable:{spelled},verify")
    for program, (results, arguments) in meant.items():
        got, left = run(program, "serial")
        for each, expected in zip([*got, *left], [*results, *arguments], strict=True):
            # Sums may have another order.
            np.testing.assert_allclose(each, expected, rtol=1e-12, atol=1e-12)


def test_lanes_and_their_functions_are_left_out(monkeypatch):
    def program(x):
        return np.sum(np.tanh(x)), np.exp(x)

    x = np.linspace(0, 1, 1000)
    told = jit(program, cache=False, target="serial")
    assert any(row.lanes > 1 for row in told.explain(x).rows) and "_ZGV" in told.llvm(x)
    bits = [np.asarray(part).tobytes() for part in told(x)]
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:vectorize_loops")
    plain = jit(program, cache=False, target="serial")
    assert all(row.lanes == 1 for row in plain.explain(x).rows)
    assert "_ZGV" not in plain.llvm(x) and "tanh" in plain.llvm(x)
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:vector-math,disable:eliminate_dead_code")
    of_lanes = jit(program, cache=False, target="serial")
    assert "_ZGV" not in of_lanes.llvm(x) and any(row.lanes > 1 for row in of_lanes.explain(x).rows)
    # Both call libm's functions, in one order of the sum.
    assert [np.asarray(part).tobytes() for part in of_lanes(x)] == [
        np.asarray(part).tobytes() for part in plain(x)]  # fmt: skip
    assert len(bits) == 2


def test_lanes_one_by_one_give_the_bits_of_lanes(monkeypatch):
    def program(x, y):
        at = np.argmax(x * y)
        total = 0.0
        for i in range(len(x)):
            total += x[i] * y[i]
        return x.sum(), x.mean(), (x * y).max(), at, total, np.cumsum(x), x @ y

    x, y = np.random.default_rng(3).standard_normal((2, 20_011))
    bits = [np.asarray(part).tobytes() for part in jit(program, cache=False)(x, y)]
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:vectorize_loops")
    again = jit(program, cache=False)(x, y)
    assert [np.asarray(part).tobytes() for part in again] == bits


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


def forms(x, m):
    total = parakeet.reduce(lambda a, b: a + b + a * b, x, init=0.0)
    sums = np.cumsum(m, axis=0), np.cumsum(m, axis=1)
    smoothed = np.empty(m.shape)
    for i in range(len(m)):
        row = m[i].copy()
        for j in range(1, len(row)):
            row[j] = row[j] * 0.5 + row[j - 1]
        for j in range(len(row)):
            smoothed[i, j] = row[len(row) - 1 - j]
    return total, x * 0.5 + 1, *sums, (m - m.mean(0)) / m.std(0), smoothed


def test_forms_of_a_gpu_keep_bits(monkeypatch):
    r = np.random.default_rng(4)
    arguments = r.standard_normal(5000) / 5000, r.standard_normal((2100, 70))

    def made():
        f = jit(forms, cache=False, target="emulated_gpu")
        results = [np.asarray(each).tobytes() for each in f(*arguments)]
        return results, f.ir(*arguments, stage="keep-scalars-on-device")

    expected, text = made()
    assert len(FORMS) > 3
    for form in FORMS:
        monkeypatch.setenv("PARAKEET_DEBUG", f"disable:{form}")
        results, without = made()
        assert results == expected and without != text, form
