"""A bounded run of fuzz.py, and that the fuzzer finds what it looks for."""

import ast
import functools
import re

import array_forms
import fuzz
import fuzz_judge
import numpy as np
import pytest
import random_arrays
import random_programs
from random_programs import is_python, make_program

SEED = 20_000
COUNT = 40
COUNT_OF_SAMPLE = 16  # From the same seed on.
COUNT_OF_KIND = 4  # Each on three arguments.


def test_random_programs_agree(request):
    count = COUNT_OF_SAMPLE if request.config.getoption("--sample") else COUNT
    failures, verdicts = fuzz.fuzz(SEED, count)
    assert not [f"seed {failure.seed}: {failure.target} {failure.reason}" for failure in failures]
    # Most are compared: what plain Python cannot follow is the exception.
    assert verdicts["ok"] > count


@pytest.mark.parametrize("kind", ["aliases", "arrays", "steps", "numeric", "dtypes"])
def test_random_programs_of_a_kind_agree(kind):
    failures, verdicts = fuzz.fuzz(SEED, COUNT_OF_KIND, kind)
    assert not [f"seed {failure.seed}: {failure.target} {failure.reason}" for failure in failures]
    assert verdicts["ok"] > 2 * COUNT_OF_KIND


@pytest.mark.parametrize("kind", fuzz_judge.KINDS)
def test_a_kind_makes_the_same_programs_and_arguments_again(kind):
    module = fuzz_judge.KINDS[kind]
    programs = [module.make_program(seed) for seed in (3, 4)]
    assert programs == [module.make_program(seed) for seed in (3, 4)]
    assert programs[0] != programs[1]
    for case in module.cases(3):
        first, again = module.make_arguments(case), module.make_arguments(case)
        assert not fuzz_judge.differ(again, first, strict=True, tolerance=0.0)


def test_array_programs_hold_many_of_their_forms():
    text = "\n".join(random_arrays.make_program(seed)[0] for seed in range(60))
    called = set(re.findall(r"np\.(\w+)\(", text))
    known = set(re.findall(r"np\.(\w+)\(", "\n".join(table for table, _ in array_forms.TABLES)))
    assert len(known & called) > 0.4 * len(known)


def test_programs_are_python_and_varied():
    sources = [make_program(seed)[0] for seed in range(2000)]
    assert all(is_python(source) for source in sources)
    seen = {type(node).__name__ for source in sources for node in ast.walk(ast.parse(source))}
    assert {"For", "While", "If", "ListComp", "Lambda", "Subscript", "AugAssign", "BoolOp", "IfExp",
            "Break", "Continue", "Slice", "Try", "Dict"} <= seen


def test_a_seed_is_a_program():
    assert make_program(17) == make_program(17)
    assert make_program(17) != make_program(18)


@pytest.fixture
def child():
    child = fuzz.Child()
    yield child
    child.stop()


def answer(child, line: str, in_subset=True) -> dict:
    return child.judge(f"def f(x, y, m, n, a):\n    return {line}\n", in_subset, 0)


def test_a_crash_is_a_failure_and_the_next_program_runs(child):
    answer(child, "x")
    child.process.kill()
    assert answer(child, "x")["reason"] == "crashed: SIGKILL"
    assert answer(child, "x + 1")["verdict"] == "ok"


def test_a_refusal_of_the_subset_is_a_failure_and_near_it_is_none(child):
    assert answer(child, "{1: x}")["verdict"] == "failed"
    assert answer(child, "{1: x}", in_subset=False)["verdict"] == "ok"


@pytest.mark.parametrize(("actual", "expected"), [
    (1, 2), (1, 1.0), (np.float64(1), 1.0), ((1, 2), (1, 3)), ((1,), (1, 2)), (None, 1),
    (np.ones(2), np.ones(3)), (np.ones(2), np.zeros(2)), (np.ones(2), np.ones(2, np.float32)),
    (np.array([np.nan]), np.ones(1)), ((1, (np.ones(2),)), (1, (np.zeros(2),)))], ids=repr)
def test_a_difference_is_told(actual, expected):
    assert fuzz_judge.differ(actual, expected, strict=True)
    assert not fuzz_judge.differ(expected, expected, strict=True)


def test_types_may_be_joined_near_the_subset():
    assert not fuzz_judge.differ(np.float64(1), 1, strict=False)
    assert fuzz_judge.differ(np.float64(2), 1, strict=False)


@pytest.mark.parametrize(("ours", "plain", "in_subset", "fails"), [
    (("error", "IndexError", "index 3 is"), ("error", "IndexError", "index 3 is"), True, False),
    (("error", "IndexError", "index 3 is"), ("value", 1, ()), False, True),
    (("error", "TypeError", "<program 1>:2:3: no"), ("value", 1, ()), False, False),
    (("error", "TypeError", "<program 1>:2:3: no"), ("value", 1, ()), True, True),
    (("error", "CompilerBug", "in fuse"), ("error", "CompilerBug", ""), False, True),
    (("error", "Limitation", "no type"), ("error", "NameError", "name"), True, False),
    (("error", "NameError", "name"), ("error", "TypeError", "no"), True, True),
    (("value", 1, ()), ("error", "ValueError", "no"), False, True)])
def test_an_outcome_is_judged(ours, plain, in_subset, fails):
    assert bool(fuzz_judge.judge_run(ours, plain, in_subset)) == fails


@pytest.mark.parametrize(("result", "shows"), [
    ("(y / 3 * 1e9).sum() % 1e-3", True), ("int((y / 3).mean() * 3e17) % 7", True),
    ("s * 1e14 % 16.0", True), ("(y * 1e9).sum() % 16.0", False), ("y.sum() / 3", False),
    ("int(y @ x)", False), ("parakeet.reduce(np.add, y / 3) % 0.5", False)])
def test_what_rounding_decides_is_told(result, shows):
    source = ("def f(x, y, m, n, a):\n    s = 0.0\n    for v in y:\n        s += v / 3\n"
              f"    return {result}\n")
    make_arguments = functools.partial(random_programs.make_arguments, 3)
    plain = fuzz_judge.run_plain(source, make_arguments)
    assert fuzz_judge.shows_rounding(source, make_arguments, plain) == shows


def test_a_failure_is_reduced(child):
    source = ("def f(x, y, m, n, a):\n    b = 1\n    for i in range(3):\n        b += i\n"
              "    if b > 0:\n        c = {1: x}\n    return b, x\n")
    failure = fuzz.Failure(0, 0, source, *map(child.judge(source, True, 0).get,
                                              ("target", "reason")))
    reduced = fuzz.reduce_failure(child, failure, True)
    assert reduced.category == failure.category
    assert reduced.source.rstrip() == "def f(x, y, m, n, a):\n    c = {1: x}"
