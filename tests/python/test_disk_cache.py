"""Compiled code on disk: found by content, in other processes, and never where it would be wrong.

Each test runs small programs in processes of their own. A program says what it did by `report`.
"""

import json
import os
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from from_source import define

import parakeet
from parakeet import jit

# What every program begins with. `report(f, ...)` prints values, and where the code of the
# functions among them came from: one word a specialization.
PRELUDE = """\
import json, os, sys
import numpy as np
import parakeet
from parakeet import jit

def report(*what):
    def show(value):
        if not hasattr(value, "timings"):
            return np.asarray(value).tolist() if isinstance(value, np.ndarray) else value
        return [["compiled", "disk"][timing.from_disk] for timing in value.timings()]
    print(json.dumps([show(value) for value in what], default=float))
"""


@pytest.fixture
def run(tmp_path):
    """Runs a program in a fresh process against one cache; gives what it reported."""

    def run_program(program, file="program.py", check=True, flags=(), **environment):
        (tmp_path / file).write_text(PRELUDE + textwrap.dedent(program))
        environment = {**os.environ, "PARAKEET_CACHE_DIR": str(tmp_path / "cache"),
                       "PARAKEET_TARGET": "serial", **environment}
        done = subprocess.run([sys.executable, *flags, tmp_path / file], capture_output=True,
                              text=True, env=environment, timeout=120)
        if check:
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)
        return done.stderr

    return run_program


def entries(tmp_path):
    return sorted(path for path in (tmp_path / "cache").rglob("*-?") if path.is_file())


SCALED = """
    @jit
    def scaled(x):
        return (x * {0}).sum()

    report(scaled(np.arange(4.0)), scaled)
"""


def test_a_second_process_loads_no_compiler(run):
    program = SCALED.format(2) + """
    maps = open("/proc/self/maps").read()
    assert scaled.timings()[0].from_disk != ("libparakeet_compiler" in maps)
    assert scaled.timings()[0].from_disk != ("parakeet.library.registry" in sys.modules)
    """
    assert run(program) == [12.0, ["compiled"]]
    assert run(program) == [12.0, ["disk"]]


def test_an_edited_constant_and_another_dtype_miss(run):
    assert run(SCALED.format(2)) == [12.0, ["compiled"]]
    assert run(SCALED.format(3)) == [18.0, ["compiled"]]
    assert run(SCALED.format("2.0")) == [12.0, ["compiled"]]
    assert run(SCALED.format(2).replace("4.0", "4")) == [12, ["compiled"]]
    assert run(SCALED.format(2)) == [12.0, ["disk"]]


# One program that reads its outside in every way there is.
OUTSIDE = """
    import consts
    from consts import helper, SETTINGS

    GLOBAL = 2.0
    TABLE = np.array([1.0, 2.0])
    PAIR = (3.0, (4.0, helper))

    def callee(x):
        return inner(x) + GLOBAL

    def inner(x, k=5.0):
        return x * k

    def make(c):
        @jit
        def f(x):
            return (callee(x) + helper(x) + PAIR[1][1](x) * PAIR[0] + SETTINGS.scale
                    + consts.OFFSET + consts.twice(x) + TABLE[0] + c + max(x, 0.0))
        return f

    f = make(6.0)
    report(f(1.0), f)
"""
CONSTS = """
OFFSET = 7.0

class SETTINGS:
    scale = 8.0

def helper(x):
    return x + 9.0

def twice(x):
    return x * 2.0
"""


def test_what_is_read_outside(run, tmp_path):
    def run_with(old, new):
        assert old in OUTSIDE + CONSTS
        (tmp_path / "consts.py").write_text(CONSTS.replace(old, new))
        return run(OUTSIDE.replace(old, new), PYTHONDONTWRITEBYTECODE="1")

    assert run_with("", "") == [72.0, ["compiled"]]
    assert run_with("GLOBAL = 2.0", "GLOBAL = 20.0") == [90.0, ["compiled"]]
    assert run_with("", "") == [72.0, ["disk"]]
    for old, new, value in (
        ("(3.0,", "(30.0,", 342.0), ("x * k", "x - k", 63.0), ("k=5.0", "k=50.0", 117.0),
        ("make(6.0)", "make(60.0)", 126.0), ("OFFSET = 7.0", "OFFSET = 70.0", 135.0),
        ("scale = 8.0", "scale = 80.0", 144.0), ("x + 9.0", "x + 90.0", 396.0),
        ("x * 2.0", "x * 20.0", 90.0), ("f = make", "max = min; f = make", 71.0),
        ("def inner(x, k=5.0)", "def inner(x, k=5)", 72.0),
    ):
        assert run_with(old, new) == [value, ["compiled"]], new
    assert run_with("def inner(x, k=5.0)", "def inner(x, k=5)") == [72.0, ["disk"]]
    assert run_with("[1.0, 2.0]", "[10.0]") == [81.0, ["compiled"]]  # the axis has length 1 now


def test_captured_arrays_are_read_at_each_call(run):
    program = """
    TABLE = np.array({0})

    @jit
    def f(x):
        return x * TABLE

    report(f(2), f)
    """
    assert run(program.format("[1.0, 2.0]")) == [[2.0, 4.0], ["compiled"]]
    assert run(program.format("[3.0, 4.0, 5.0]")) == [[6.0, 8.0, 10.0], ["disk"]]
    assert run(program.format("[3, 4]")) == [[6, 8], ["compiled"]]
    assert run(program.format("[7, 8, 9]")) == [[14, 16, 18], ["disk"]]


def test_closures_lambdas_recursion_defaults_and_methods(run):
    program = """
    def multiplier(k):
        return jit(lambda x: x * k)

    @jit
    def apply(f, x):
        return f(x) + 1

    @jit
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    class Line:
        def __init__(self, slope):
            self.slope = slope
        @jit
        def at(self, x, offset=1.5):
            return self.slope * x + offset

    double, triple = multiplier(2), multiplier(3)
    a, b = Line({0}), Line(20.0)
    report(double(4), triple(4), apply(lambda x: x * 2, 4), apply(lambda x: x * 3, 4),
           factorial(5), a.at(3.0), b.at(3.0), a.at(3.0, offset=0.0),
           double, triple, apply, factorial, Line.at)
    """
    values = [8, 12, 9, 13, 120, 31.5, 61.5, 30.0]
    first, second = run(program.format(10.0)), run(program.format(10.0))
    assert first[:8] == second[:8] == values
    assert {word for words in first[8:] for word in words} == {"compiled"}
    assert {word for words in second[8:] for word in words} == {"disk"}
    assert list(map(len, first[8:])) == list(map(len, second[8:]))
    other = run(program.format(11.0))
    assert other[5:8] == [34.5, 61.5, 33.0]
    assert "compiled" in other[12] and other[8:12] == second[8:12]


def test_static_parameters_are_known_before_the_compiler_is(run):
    program = """
    @jit
    def total(x, axis, keep=False):
        return np.sum(x, axis=axis, keepdims=keep)

    x = np.arange(6.0).reshape(2, 3)
    report(total(x, 0), total(x, 1), total(x, 1, True), total(x, -1), total,
           parakeet._core.compiler_is_open())
    """
    first, second = run(program), run(program)
    assert first[:4] == second[:4] == [[3.0, 5.0, 7.0], [3.0, 12.0], [[3.0], [12.0]], [3.0, 12.0]]
    assert first[4:] == [["compiled"] * 4, True] and second[4:] == [["disk"] * 4, False]


def test_short_axes_are_known_before_the_compiler_is(run):
    program = """
    @jit
    def reach(points):
        apart = points[None, :, :] - points[:, None, :]
        return np.max(np.sqrt(np.sum(apart * apart, axis=2)), axis=1)

    long, short = np.eye(6), np.eye(3)
    report(reach({0}), reach({1}), reach, parakeet._core.compiler_is_open())
    """
    expected = [[2**0.5] * 6, [2**0.5] * 3]
    assert run(program.format("short", "short")) == [expected[1], expected[1], ["compiled"], True]
    assert run(program.format("short", "short")) == [expected[1], expected[1], ["disk"], False]
    assert run(program.format("long", "short")) == [*expected, ["compiled", "disk"], True]
    assert run(program.format("long", "short")) == [*expected, ["disk"] * 2, False]


def test_short_sides_are_known_before_the_compiler_is(run):
    """Code for them takes long ones as well; where there is code for both, each is taken."""
    program = """
    @jit
    def ends(a, b):
        return a.T @ b

    report(*[ends(np.ones((30, n)), np.ones((30, n + 1))).shape[1] for n in {0}], ends,
           parakeet._core.compiler_is_open())
    """
    assert run(program.format([7])) == [8, ["compiled"], True]
    assert run(program.format([7, 50])) == [8, 51, ["disk"], False]
    assert run(program.format([50, 7])) == [51, 8, ["disk"], False]
    assert run(program.format([50, 7]).replace("ends", "last")) == [51, 8, ["compiled"] * 2, True]
    assert run(program.format([50, 7]).replace("ends", "last")) == [51, 8, ["disk"] * 2, False]


def test_objects_are_told_apart_by_identity(run):
    program = """
    import enum

    class Mode(enum.Enum):
        SLOW = 1
        FAST = 2

    @jit
    def f(x, mode):
        return x * 2 if mode is Mode.FAST else x

    report(f(1, Mode.{0}), f)
    """
    assert run(program.format("FAST")) == [2, ["compiled"]]
    assert run(program.format("SLOW")) == [1, ["compiled"]]
    assert run(program.format("FAST")) == [2, ["disk"]]
    assert run(program.format("SLOW")) == [1, ["disk"]]


def test_methods_of_ufuncs_are_told_apart_by_name(run):
    program = """
    method = {0}

    @jit
    def f(x):
        return method(x)

    report(f(np.arange(1.0, 4.0)), f)
    """
    for word in ("compiled", "disk"):
        assert run(program.format("np.add.reduce")) == [6, [word]]
        assert run(program.format("np.subtract.reduce")) == [-4, [word]]
        assert run(program.format("np.add.accumulate")) == [[1, 3, 6], [word]]


def test_overloads_are_part_of_what_holds(run):
    program = """
    def mean_of(x):
        return np.median(x) if False else x.sum() * {0}

    {1}
    @jit
    def f(x):
        return np.mean(x) + np.float32(np.clip(x, 0, 1).sum())

    report(f(np.arange(4.0)), f)
    """
    plain = program.format(1, "")
    assert run(plain) == [4.5, ["compiled"]] and run(plain) == [4.5, ["disk"]]
    registered = "parakeet.overload(np.mean)(mean_of)"
    assert run(program.format(10, registered)) == [63.0, ["compiled"]]
    assert run(program.format(10, registered)) == [63.0, ["disk"]]
    assert run(program.format(100, registered)) == [603.0, ["compiled"]]
    assert run(plain) == [4.5, ["disk"]]
    of_other = "parakeet.overload(np.median)(mean_of)"
    assert run(program.format(1, of_other))[0] == 4.5


FAILING = """
    {0}
    def callee(x, i):
        return x[i]

    {1}
    @jit
    def f(x, i):
        if i == 7:
            raise ValueError("seven")
        return callee(x, i) + 1

    f(np.arange(3.0), {2})
"""


def test_errors_name_the_lines_of_today(run):
    """Code that has moved is the same code: it is found, and its lines are where it is now."""
    lines = {}
    for above, between in (("", ""), ("# a comment\n" * 5, ""), ("", "UNUSED = 1\n" * 3)):
        for index in (7, 9):
            program = FAILING.format(above.replace("\n", "\n    "), between.replace("\n", "\n    "),
                                     index)
            said = run(program + "\n", check=False)
            text = PRELUDE + textwrap.dedent(program)
            wanted = "raise ValueError" if index == 7 else "return x[i]"
            number = next(n for n, line in enumerate(text.splitlines(), 1) if wanted in line)
            assert f"line {number}, in" in said, said
            lines.setdefault(index, set()).add(number)
    assert all(len(numbers) >= 2 for numbers in lines.values())
    # And it was found, each time but the first.
    program = FAILING.format("", "", 1) + "\n    report(f)\n"
    assert run(program) == [["disk"]]


def test_what_explain_says_moves_too(run, tmp_path):
    program = """
    @jit
    def f(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total * x[i] + 1.0
        return total

    x = np.arange(5.0)
    f(x)
    report(str(f.explain(x)), f)
    """
    before, origin = run(program)
    assert origin == ["compiled"]
    after, origin = run("\n" * 10 + textwrap.dedent(program))
    assert origin == ["disk"] and "loaded from disk in" in after
    line = (PRELUDE + program).split("for i in")[0].count("\n") + 1
    source = "for i in range(1, len(x)):"
    assert f"\n  {line}  {source}" in before and f"\n  {line + 10}  {source}" in after


def test_where_the_folder_is(run, tmp_path):
    program = "report(parakeet.config.cache_dir)"
    home = {"PARAKEET_CACHE_DIR": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    assert run(program, **home) == [str(tmp_path / ".cache/parakeet")]
    assert run(program, **{**home, "XDG_CACHE_HOME": "/x/y"}) == ["/x/y/parakeet"]
    assert run(program, **{**home, "XDG_CACHE_HOME": "relative"})[0].startswith(str(tmp_path))
    assert run(program, PARAKEET_CACHE_DIR="/some/where") == ["/some/where"]
    assert run(SCALED.format(2), **home)[1] == ["compiled"]
    folder = tmp_path / ".cache/parakeet"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert run(SCALED.format(2), **home)[1] == ["disk"]


def test_the_cache_can_be_switched_off(run, tmp_path):
    off = ({"PARAKEET_CACHE": "0"}, {"PARAKEET_DEBUG": "verify"}, {"flags": ["-O"]},
           {"PARAKEET_TARGET": "interpreter"})
    for settings in off:
        assert run(SCALED.format(2), **settings) == [12.0, ["compiled"]]
    assert not entries(tmp_path)


def test_processes_at_once(tmp_path):
    """All give the answer, and those that come later find what one of them has left."""
    program = tmp_path / "program.py"
    program.write_text(PRELUDE + textwrap.dedent(SCALED.format(2)))
    environment = {**os.environ, "PARAKEET_CACHE_DIR": str(tmp_path / "cache")}
    running = [subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True,
                                env=environment) for _ in range(3)]
    assert [json.loads(process.communicate()[0])[0] for process in running] == [12.0] * 3
    assert 1 <= len(entries(tmp_path)) <= 3
    done = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, text=True,
                          env=environment)
    assert json.loads(done.stdout) == [12.0, ["disk"]]


# --- in this process ---

@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(parakeet.config, "cache_dir", tmp_path / "cache")
    return tmp_path


def plus(x):
    return x + 41


FACTOR = 1


def times_factor(x):
    return x * FACTOR


def origin(function, argument, **options):
    """The value of a fresh jitted function, and where its code came from."""
    f = jit(function, **options)
    value = f(argument, target="serial")
    return value, "disk" if f.timings()[0].from_disk else "compiled"


def test_options_are_part_of_the_question(own_cache):
    for options in ({}, {"fastmath": True}, {"fastmath": {"nnan"}}, {"boundscheck": False}):
        assert origin(plus, 1, **options) == (42, "compiled")
        assert origin(plus, 1, **options) == (42, "disk")
    assert origin(plus, 1, cache=False) == (42, "compiled")


def test_damaged_entries_are_compiled_again(own_cache):
    origin(plus, 1)
    (entry,) = entries(own_cache)
    good = entry.read_bytes()
    assert good.startswith(b"parakeet cache entry 03\n")
    damages = [b"", good[:20], good[:-1], good[:len(good) // 2], good + b"x",
               good.replace(b"entry 03", b"entry 99"),
               good[:-50] + bytes([good[-50] ^ 1]) + good[-49:]]
    for damaged in damages:
        entry.write_bytes(damaged)
        assert origin(plus, 1) == (42, "compiled")
        assert origin(plus, 1) == (42, "disk")
    assert entries(own_cache) == [entry]


def test_an_entry_under_another_name_is_no_answer(own_cache):
    """A hash that two questions share would look like this."""
    origin(plus, 1)
    (entry,) = entries(own_cache)
    origin(times_factor, 1)
    (other,) = set(entries(own_cache)) - {entry}
    entry.write_bytes(other.read_bytes())
    assert origin(plus, 1) == (42, "compiled")


def test_folders_that_cannot_be_used_are_passed_over(own_cache, monkeypatch):
    (own_cache / "file").write_text("no folder")
    open_to_all = own_cache / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for folder in (own_cache / "file", own_cache / "file" / "below", open_to_all, "/proc/nowhere"):
        monkeypatch.setattr(parakeet.config, "cache_dir", folder)
        for _ in range(2):
            assert origin(plus, 1) == (42, "compiled")
        assert parakeet.cache_info()["disk_entries"] == 0
    assert not list(open_to_all.iterdir())


def test_one_question_keeps_a_few_answers(own_cache, monkeypatch):
    for factor in range(6):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        assert origin(times_factor, 10) == (10 * factor, "compiled")
    assert len(entries(own_cache)) == 4
    assert origin(times_factor, 10) == (50, "disk")


def test_what_cannot_be_told_in_another_process_is_not_kept(own_cache):
    """A bound method of a generator of NumPy's: every such method has the same name."""
    draw = np.random.default_rng(1).random

    def f(x):
        return x if draw is None else x + 1

    assert origin(f, 1) == (2, "compiled")
    assert not entries(own_cache)


def test_clearing(own_cache):
    assert jit(plus)(1, target="serial") == 42
    again = jit(plus)
    assert again(1, target="serial") == 42 and again.timings()[0].from_disk
    assert "loaded from disk in" in str(again.timings()) and str(again.timings()[0].phases)
    parakeet.clear_cache(disk=False)
    assert parakeet.cache_info()["disk_entries"] == 1 and again.timings() == []
    assert again(1, target="serial") == 42 and again.timings()[0].from_disk
    parakeet.clear_cache()
    assert parakeet.cache_info()["disk_entries"] == 0 and not entries(own_cache)
    assert again(1, target="serial") == 42 and not again.timings()[0].from_disk
    assert parakeet.cache_info()["disk_bytes"] > 100


def test_a_small_bound_keeps_nothing(own_cache, monkeypatch):
    monkeypatch.setattr(parakeet.config, "cache_size", 100)
    assert jit(plus)(1, target="serial") == 42
    assert parakeet.cache_info()["disk_entries"] == 0


def test_the_bound_is_of_the_whole(own_cache, monkeypatch):
    """An entry may take more than a subfolder's share of it, and no more go than must."""
    monkeypatch.setattr(parakeet.config, "cache_size", 400_000)
    programs = [f"def made(x):\n    return np.sort(x) * {value}.0 + x.mean()\n"
                for value in range(30)]  # fmt: skip
    for source in programs:
        jit(define(source, "made"))(np.ones(3), target="serial")
    info = parakeet.cache_info()
    assert info["disk_entries"] == 30 and 30_000 < info["disk_bytes"] < 400_000


def test_what_is_loaded_can_be_looked_into(own_cache):
    x = np.arange(3.0)
    jit(plus)(x, target="serial")
    f = jit(plus)
    f(x, target="serial")
    assert f.timings()[0].from_disk and "fn @plus" in f.ir() and "define " in f.llvm()


def test_a_global_that_changes_after_loading(own_cache, monkeypatch):
    for _ in range(2):
        monkeypatch.setitem(globals(), "FACTOR", 2)
        f = jit(times_factor)
        assert f(3, target="serial") == 6
        monkeypatch.setitem(globals(), "FACTOR", 5)
        assert f(3, target="serial") == 15
