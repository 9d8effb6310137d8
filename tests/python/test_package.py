"""The package's surface: jit's options, methods, settings, looking inside, pickling, comparing."""

import copy
import inspect
import linecache
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import parakeet
from parakeet import jit, testing_helpers


@jit
def fast(x, alpha=0.5, beta=0.3):
    """Adds beta."""
    return np.tanh(x * alpha) + beta


X = np.linspace(-2.0, 2.0, 50)


def run_python(text, **environment):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          env={**os.environ, **environment})


# --- jit ---

def test_a_jitted_function_keeps_what_describes_it():
    assert fast.__name__ == "fast" and fast.__qualname__ == "fast"
    assert fast.__doc__ == "Adds beta." and fast.__module__ == __name__
    assert str(inspect.signature(fast)) == "(x, alpha=0.5, beta=0.3)"
    assert inspect.isfunction(fast.__wrapped__)
    assert callable(fast) and hash(fast) == hash(fast) and fast == fast
    assert repr(fast).startswith("<jitted function fast at 0x")


def test_jit_with_and_without_arguments():
    def f(x):
        return x + 1

    for make in (jit, jit(), jit(target="serial"), lambda f: jit(f, fastmath=True),
                 jit(fastmath={"contract", "nsz"}), jit(boundscheck=False, cache=False)):
        assert make(f)(1) == 2
    assert jit(target="serial")(f).__name__ == "f"
    assert jit(f, name="other").__name__ == "other"


def test_jit_of_a_jitted_function_is_of_what_it_wraps():
    assert jit(fast, target="serial").__wrapped__ is fast.__wrapped__


class Generator:
    def __call__(self):
        return 1


@pytest.mark.parametrize("thing,word", [
    (Generator, "class Generator"), (np.add, "ufunc add"), (len, "builtin len"), (3, "int"),
    (Generator(), "Generator"), (Generator().__call__, "bound method"),
    ((i for i in ()), "generator"),
])
def test_jit_refuses_by_name(thing, word):
    with pytest.raises(TypeError, match=word):
        jit(thing)


def test_jit_refuses_options():
    with pytest.raises(ValueError, match="fast-math flag"):
        jit(lambda x: x, fastmath={"quick"})
    with pytest.raises(ValueError, match="no target is called"):
        jit(lambda x: x, target="fpga")
    with pytest.raises(TypeError):
        jit(lambda x: x, parallel=True)


class Scaler:
    @jit
    def double(self, x):
        return x * 2

    @staticmethod
    @jit
    def triple(x):
        return x * 3

    @jit
    @staticmethod
    def quadruple(x):
        return x * 4


def test_methods_and_static_methods():
    scaler = Scaler()
    assert scaler.double(2) == Scaler.double(scaler, 2) == 4
    assert scaler.double(2, target="serial") == 4
    bound = scaler.double
    assert bound(np.ones(1)).tolist() == [2.0]
    assert Scaler.triple(2) == scaler.triple(2) == 6
    assert Scaler.quadruple(2) == scaler.quadruple(2) == 8


def test_jitted_functions_call_each_other():
    @jit
    def outer(x):
        return fast(x, beta=1.0) * 2

    np.testing.assert_allclose(outer(X), (np.tanh(X * 0.5) + 1) * 2, rtol=1e-13)


# --- targets ---

def targets_of(function):
    return [text.split()[0] for text in function.signatures]


def test_the_order_in_which_targets_win(monkeypatch):
    plain, decorated = jit(lambda x: x), jit(lambda x: x, target="interpreter")
    plain(1), decorated(1)
    monkeypatch.setattr(parakeet.config, "target", "serial")
    plain(1), decorated(1)
    assert targets_of(plain) == ["parallel", "serial"]
    assert targets_of(decorated) == ["interpreter"]
    with parakeet.target("parallel"):
        decorated(1)
        decorated(1, target="serial")
        with parakeet.target("interpreter"):
            decorated(1)
    assert targets_of(decorated) == ["interpreter", "parallel", "serial"]


@pytest.mark.parametrize("alias,name", [("c", "serial"), ("openmp", "parallel"),
                                        ("interp", "interpreter")])
def test_names_of_the_original(alias, name):
    f = jit(lambda x: x)
    f(1, target=alias), f(1, _backend=alias), f(1, target=name)
    assert targets_of(f) == [name]


@pytest.mark.parametrize("name", ["fpga", "serial:1", "gpu:x", "", "Serial"])
def test_names_of_no_target(name):
    for use in (lambda: fast(X, target=name), lambda: parakeet.target(name).__enter__(),
                lambda: setattr(parakeet.config, "target", name)):
        with pytest.raises(ValueError, match="no target is called"):
            use()
    with pytest.raises(TypeError):
        fast(X, target=3)


def test_the_plain_function_runs_for_debuggers():
    seen = []

    @jit
    def f(x):
        seen.append(x)
        return x

    assert f(1, target="python") == 1
    with parakeet.target("python"):
        f(2)
    assert seen == [1, 2] and f.signatures == []


def test_jit_is_disabled_by_the_environment():
    done = run_python("""
from parakeet import jit
@jit
def f(x):
    print("plain", x)
f(1)
""", PARAKEET_DISABLE_JIT="1")
    assert (done.stdout, done.returncode) == ("plain 1\n", 0)


# --- settings ---

SHOW = "import parakeet; print(parakeet.config.target, parakeet.config.timing)"


def test_settings_come_from_environment_file_and_program(tmp_path):
    folder = tmp_path / "parakeet"
    folder.mkdir()
    (folder / "config.toml").write_text('target = "serial"\ntiming = true\n')
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert run_python(SHOW, **home).stdout == "serial True\n"
    assert run_python(SHOW, PARAKEET_TARGET="interp", **home).stdout == "interpreter True\n"
    change = "import parakeet; parakeet.config.target = 'parallel'; "
    assert run_python(change + SHOW, PARAKEET_TARGET="c", **home).stdout == "parallel True\n"


@pytest.mark.parametrize("text,word", [
    ('target = "fpga"', "no target is called"), ("speed = 3", "knows no setting 'speed'"),
    ("target = ", "ignores"),
])
def test_a_settings_file_with_a_mistake_is_a_warning(tmp_path, text, word):
    folder = tmp_path / "parakeet"
    folder.mkdir()
    (folder / "config.toml").write_text(text)
    done = run_python(SHOW, XDG_CONFIG_HOME=str(tmp_path))
    assert done.stdout == "parallel False\n"
    assert "RuntimeWarning" in done.stderr and word in done.stderr


@pytest.mark.parametrize("name,value", [
    ("PARAKEET_TARGET", "fpga"), ("PARAKEET_TIMING", "perhaps"), ("PARAKEET_NUM_THREADS", "many"),
])
def test_a_mistake_in_the_environment_is_a_warning(name, value):
    done = run_python(SHOW, **{name: value})
    assert done.stdout == "parallel False\n"
    assert "RuntimeWarning" in done.stderr and name in done.stderr


def test_threads_by_environment():
    show = "import parakeet; print(parakeet.get_num_threads(), parakeet.config.num_threads)"
    assert run_python(show, PARAKEET_NUM_THREADS="3").stdout == "3 3\n"


def test_settings_of_the_original_that_print(capsys, monkeypatch):
    import parakeet.c_backend

    assert parakeet.c_backend.config is parakeet.config
    jit(lambda x: x + 1)(1)
    assert not parakeet.config.print_specialized_function and capsys.readouterr().out == ""
    monkeypatch.setattr(parakeet.config, "print_specialized_function", True)
    doubled = jit(lambda x: x * 2, name="doubled")
    assert doubled(1, target="serial") == 2 and doubled(2, target="serial") == 4
    shown = capsys.readouterr().out
    assert shown.startswith("ir of ") and shown.count("entry {") == 1 and "mul %x, 2" in shown
    monkeypatch.setattr(parakeet.config, "print_generated_code", True)
    doubled(1.5, target="interpreter")
    shown = capsys.readouterr().out
    assert "mul %x, 2.0" in shown and "define i32 @parakeet_entry" in shown
    monkeypatch.undo()
    doubled(1j)
    assert capsys.readouterr().out == ""


def test_what_a_setting_prints_may_not_be_printable(monkeypatch):
    class Closed:
        def write(self, text):
            raise OSError("closed")

    monkeypatch.setattr(parakeet.config, "print_untyped_function", True)
    f = jit(lambda x: x + 3)
    with monkeypatch.context() as closed:
        closed.setattr(sys, "stdout", Closed())
        with pytest.raises(OSError, match="closed"):
            f(1)
    assert f(1) == 4


def test_other_settings_of_the_original(monkeypatch):
    monkeypatch.setattr(parakeet.config, "backend", "c")
    assert parakeet.config.target == parakeet.config.backend == "serial"
    with pytest.warns(RuntimeWarning, match="opt_licm .* has no effect") as caught:
        parakeet.config.opt_licm = True
    assert caught[0].filename == __file__ and parakeet.config.opt_licm is True
    for mistake in (lambda: parakeet.config.tagret, lambda: setattr(parakeet.config, "tagret", 1)):
        with pytest.raises(AttributeError, match="tagret"):
            mistake()


def test_show_config_and_cache_info(capsys):
    parakeet.show_config()
    shown = capsys.readouterr().out
    assert "target = 'parallel'" in shown and parakeet.__version__ in shown
    info = parakeet.cache_info()
    assert info["functions"] > 0 and info["live_buffers"] >= 0
    assert "serial" in parakeet.devices()


def test_importing_opens_neither_the_compiler_nor_the_library():
    done = run_python("""
import sys, parakeet
print(parakeet._core.compiler_is_open(), "parakeet.library" in sys.modules)
parakeet.jit(lambda x: x)
print(parakeet._core.compiler_is_open())
""")
    assert done.stdout == "False False\nFalse\n"


def test_names_of_the_package():
    names = dir(parakeet)
    for name in ("jit", "compare", "map", "reduce", "add", "tanh", "float32", "mean"):
        assert name in names and getattr(parakeet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        parakeet.nothing  # noqa: B018


# --- looking inside ---

def test_texts_for_arguments_and_for_the_last_call():
    f = jit(fast.__wrapped__)
    with pytest.raises(ValueError, match="has not been called yet"):
        f.ir()
    with pytest.raises(ValueError, match="has not been called yet"):
        f.explain()
    assert "fn @fast(%x: [n]f64" in f.ir(X)
    assert f.signatures == []  # showing is not calling
    f(X, target="serial")
    assert f.ir() == f.ir(X, target="serial")
    assert "imap" in f.ir(stage="indexed")
    assert "for " in f.ir(stage="scheduled") and "imap" not in f.ir(stage="scheduled")
    assert f.ir(stage="lower_to_loops") == f.ir(stage="lower-to-loops")
    assert "define " in f.llvm() and "ret" in f.asm()
    with pytest.raises(ValueError, match="no stage or pass is called nowhere"):
        f.ir(stage="nowhere")
    with pytest.raises(parakeet.Limitation):
        f.ptx()
    with pytest.raises(ValueError, match="compiles nothing"):
        f.ir(X, target="python")


def test_explain_says_what_runs_where():
    report = fast.explain(X)
    assert report.startswith("fast (float64[:], float, float) on parallel\n")
    assert "compiled in" in report
    assert repr(report) == str(report)


def test_compile_ahead_of_the_first_call():
    f = jit(fast.__wrapped__)
    f.compile(X)
    f.compile(parakeet.array_type(np.float32, 2), beta=1.0, target="serial")
    assert f.signatures == ["parallel (float64[:], float, float)",
                            "serial (float32[:, :], float, float)"]
    f(X), f(np.ones((2, 3), np.float32), target="serial")
    assert [timing.calls for timing in f.timings()] == [1, 1]
    with pytest.raises(TypeError, match="array_type"):
        f(parakeet.array_type(np.float32, 2), target="serial")


def test_timings(monkeypatch):
    f = jit(fast.__wrapped__, cache=False)
    f(X)
    (timing,) = f.timings()
    assert timing.calls == 1 and timing.run_ms is None and timing.target == "parallel"
    assert 0 < sum(timing.phases.values()) <= timing.compile_ms
    assert {"frontend", "optimize", "load"} <= set(timing.phases)
    monkeypatch.setattr(parakeet.config, "timing", True)
    f(X)
    (timing,) = f.timings()
    assert timing.calls == 2 and timing.timed_calls == 1
    assert timing.run_ms == timing.total_ms > 0
    assert "called 2 times" in str(timing)


def test_signatures_tell_kinds_apart():
    f = jit(lambda x: x)
    f(1), f(np.int64(1)), f(np.ones((1, 2))), f((1, None)), f([1.0])
    kinds = [text.partition(" ")[2] for text in f.signatures]
    assert kinds == ["(int)", "(int64)", "(float64[1, :])", "((int, =None))", "(list float[1])"]


# --- compare and testing_helpers ---

def test_compare(capsys):
    table = parakeet.compare(fast, X, peers=[("NumPy", lambda x: np.tanh(x * 0.5) + 0.3)])
    assert [row.name for row in table] == ["Python", "serial", "parallel", "NumPy"]
    assert all(row.agrees for row in table)
    assert table[1].compile_time > 0 and table[1].run_time > 0 and table[1].speed_up > 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ["compile", "run", "speed-up", "result"]


def test_compare_tells_who_differs(capsys):
    x = np.zeros(3)

    def store(x):
        x[0] = 1.0
        return x[0]

    table = parakeet.compare(store, x, peers=[lambda x: 2.0, lambda x: np.float64(1.0), len])
    assert [row.agrees for row in table] == [True, True, True, False, False, False]
    assert not x.any()
    assert "DIFFERS" in capsys.readouterr().out


def test_compare_of_what_raises(capsys):
    def fail(x):
        raise ValueError("always")

    table = parakeet.compare(fail, 1)
    assert all("ValueError" in row.error or row.error == "plain Python raises" for row in table)
    assert [row.agrees for row in table[1:]] == [True, True]


def test_expect():
    testing_helpers.expect(fast, [X], np.tanh(X * 0.5) + 0.3)
    testing_helpers.expect_each(lambda x: x + 1, lambda x: x + 1, [1, 2.0, X])
    testing_helpers.expect_each(np.exp, np.exp, [0.5, X])
    testing_helpers.expect_allpairs(parakeet.add, np.add, [1.5, X])
    testing_helpers.expect_allpairs(lambda x, y: x * y, lambda x, y: x * y, [1, np.float32(2), X])
    testing_helpers.expect(lambda x: (x, None), [1], (1, None))
    testing_helpers.expect(lambda x: x, [1.5], 1.5, valid_types=float)
    testing_helpers.expect(np.ones, [(2, 3), np.int16], np.ones((2, 3), np.int16))
    testing_helpers.expect_type(lambda x: x + 1, [np.float32], np.float32)
    testing_helpers.expect_type(lambda x: x.sum(axis=0), [parakeet.array_type("i4", 2)],
                                parakeet.array_type("i8", 1))


def test_expect_takes_the_dtype_that_python_gives_where_no_argument_has_it():
    """Promotion is another in other versions of NumPy and Python."""
    x = np.array([True, False])
    testing_helpers.expect(np.exp, [x], np.exp(x.astype(int)))
    testing_helpers.expect(lambda x: True / x, [True], True)
    with pytest.raises(AssertionError, match="dtype float16, not float64"):
        testing_helpers.expect(lambda x, y: np.exp(x), [x, np.float16(1)], np.exp([1.0, 0.0]))
    with pytest.raises(AssertionError, match="int64, not float64, float64"):
        testing_helpers.expect(lambda x, y: (x, y), [1.5, np.int64(2)], (1.5, 2.0))


def test_expect_eq_compares_values_and_shapes():
    testing_helpers.expect_eq(np.exp(np.float16(1)), np.exp(1.0))
    testing_helpers.expect_eq((np.int8(1), X), (True, X.astype(np.float32)))
    for actual, expected in ((np.float16(1.2), 1.25), (X, X[None]), (1, (1,)), ((1, 2), (1,))):
        with pytest.raises(AssertionError):
            testing_helpers.expect_eq(actual, expected)


def test_eq_is_loose():
    close = np.array([1.0, np.nan, 1e-5]), np.array([1.0005, np.nan, 0.0])
    assert testing_helpers.eq(*close) and testing_helpers.eq((1, close[0]), (True, close[1]))
    assert testing_helpers.eq(None, None) and testing_helpers.eq(X.shape, (50,))
    for x, y in ((1.0, 1.01), (X, X[None]), (X, 0.0), ((1,), 1), ((1,), (1, 1)), (None, 0)):
        assert not testing_helpers.eq(x, y) and not testing_helpers.eq(y, x)


def test_timed_test(capsys):
    testing_helpers.timed_test(fast, [X], lambda x: np.tanh(x * 0.5) + 0.3, min_speedup=0)
    assert capsys.readouterr().out.startswith("first call ")
    with pytest.raises(AssertionError, match="expected 3, got 2"):
        testing_helpers.timed_test(jit(lambda x: x), [2], lambda x: x, [3])
    with pytest.raises(AssertionError, match="times as fast as Python"):
        testing_helpers.timed_test(fast, [0.0], fast.__wrapped__, min_speedup=1e9)


@pytest.mark.parametrize("check", [
    lambda: testing_helpers.expect(lambda x: x + 1, [1], 3),
    lambda: testing_helpers.expect(lambda x: x, [np.float32(1)], np.float64(1)),
    lambda: testing_helpers.expect(lambda x: x, [X], X[None]),
    lambda: testing_helpers.expect(lambda x: (x, x), [1], (1, 1, 1)),
    lambda: testing_helpers.expect(lambda x: x, [1], 1, valid_types=float),
    lambda: testing_helpers.expect_each(lambda x: x, lambda x: -x, [1]),
    lambda: testing_helpers.expect_type(lambda x: x, [np.float32], np.float64),
    lambda: testing_helpers.assert_eq_arrays(X, X + 1e-3),
    lambda: testing_helpers.expect_eq(None, 1),
])
def test_expect_fails(check):
    with pytest.raises(AssertionError):
        check()


def test_run_local_tests(capsys):
    def test_good():
        pass

    def test_bad():
        raise ValueError("bad")

    testing_helpers.run_local_tests({"test_good": test_good})
    with pytest.raises(SystemExit):
        testing_helpers.run_local_tests({"test_good": test_good, "test_bad": test_bad})
    assert "1 passed, 1 failed" in capsys.readouterr().out


# --- pickling ---

FACTOR = 3


def test_an_importable_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(fast)) is fast
    assert copy.copy(fast) is fast and copy.deepcopy(fast) is fast


def make_local(k):
    table = np.arange(3.0)

    def helper(x):
        return x * FACTOR

    @jit(target="serial")
    def local(x, y=10):
        return helper(x) + k + table.sum() + y

    return local


def test_another_is_pickled_by_content():
    data = pickle.dumps(make_local(5))
    assert pickle.loads(data)(1.0) == make_local(5)(1.0) == 21.0
    done = run_python(f"""
import pickle
f = pickle.loads({data!r})
print(f(1.0), f(1.0, y=0), f.signatures, f.__name__)
""")
    assert done.stdout == "21.0 11.0 ['serial (float, int)'] local\n", done.stderr


def test_a_recursive_function_is_pickled_by_content():
    def factorial(n):
        return 1 if n < 2 else n * jitted(n - 1)

    jitted = jit(factorial)
    assert pickle.loads(pickle.dumps(jitted))(5) == 120


def test_functions_of_main_are_pickled_by_content(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import pickle, sys
import numpy as np
from parakeet import jit
offset = np.ones(2)
@jit
def f(x):
    return np.tanh(x) * 0 + offset
sys.stdout.buffer.write(pickle.dumps(f))
""")
    data = subprocess.run([sys.executable, script], check=True, capture_output=True).stdout
    script.unlink()
    result = run_python(f"import pickle; print(pickle.loads({data!r})(1.0))")
    assert result.stdout == "[1. 1.]\n", result.stderr


def test_the_library_is_not_parsed(monkeypatch):
    """The compiler carries its trees; only the user's own source is looked up."""
    asked = []
    read = linecache.getlines
    monkeypatch.setattr(linecache, "getlines", lambda *args: asked.append(args[0]) or read(*args))
    f = jit(lambda x: np.nancumsum(np.convolve(x, x)) / np.std(x), target="interpreter")
    assert f(np.arange(4.0)).shape == (7,)
    assert set(asked) == {__file__}


def test_of_the_library_is_imported_what_is_used():
    """A wheel says where each function stands (tools/index_library.py)."""
    text = """
import sys
from pathlib import Path
import numpy as np
from parakeet.library import registry
registry.lookup(np.mean)
print("parakeet.library.reductions" in sys.modules, "parakeet.library.matrices" in sys.modules)
"""
    assert run_python(text).stdout == "True False\n"


def test_what_the_library_registers_is_found_before_it_is_imported():
    text = """
import parakeet.library
from parakeet.library import registry
expected = [set(registry._places[table]) | set(getattr(registry, table))
            for table in registry._places]
objects = set(registry._object_places) | set(registry._entries) | set(registry._subscripts)
parakeet.library.__all__
for table, known in zip(registry._places, expected):
    print(table, set(getattr(registry, table)) - known)
print([obj for table in (registry._entries, registry._subscripts)
       for key, (obj, entry) in table.items() if key not in objects])
"""
    tables = ("methods", "functions", "composed", "ufunc_methods")
    expected = "".join(f"{table} set()\n" for table in tables) + "[]\n"
    assert run_python(text).stdout == expected


def test_what_is_imported_changes_no_meaning():
    """One module alone registers a name: what comes later takes nothing's place."""
    text = """
import parakeet.library
from parakeet.library import registry
def entries():
    return ({table: dict(getattr(registry, table)) for table in registry._places}
            | {"objects": registry._entries | registry._subscripts})
before = entries()
parakeet.library.__all__
after = entries()
print({name for table in before for name in before[table]
       if before[table][name] is not after[table][name]})
"""
    assert run_python(text).stdout == "set()\n"


def test_a_reshape_is_the_same_in_a_fresh_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
import parakeet
f = parakeet.jit(lambda x: x.reshape(2, -1, order="F"), target="interpreter")
print(f(np.arange(4.0)).tolist())
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.stdout == "[[0.0, 2.0], [1.0, 3.0]]\n", done.stderr


def test_an_edited_library_means_what_it_says(tmp_path):
    """What was written when the wheel was built holds for the files that it was written from."""
    package = Path(parakeet.__file__).parent
    copy_of_package = tmp_path / "parakeet"
    copy_of_package.mkdir()
    for part in package.iterdir():
        if part.name != "library":
            (copy_of_package / part.name).symlink_to(part)
    shutil.copytree(package / "library", copy_of_package / "library")
    (tmp_path / "program.py").write_text("""
import numpy as np
from parakeet import jit
f = jit(lambda x: np.ptp(x), target="interpreter")
print(f(np.arange(4.0)))
""")

    def run():
        done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True,
                              text=True)  # fmt: skip
        return done.stdout or done.stderr

    assert run() == "3.0\n"
    (edited,) = (p for p in (copy_of_package / "library").glob("*.py")
                 if "@overload(np.ptp)" in p.read_text())  # fmt: skip
    source = edited.read_text()
    place = source.index("return", source.index("@overload(np.ptp)")) + len("return")
    edited.write_text(f"{source[:place]} 10 *{source[place:]}")
    assert run() == "30.0\n"
