"""Exceptions from compiled code and from the compiler: class, words, and where they point."""

import gc
import os
import re
import subprocess
import sys
import traceback
import weakref

import numpy as np
import pytest
from tested_targets import TARGETS

import parakeet
from parakeet import jit


@pytest.fixture(params=TARGETS)
def on_target(request):
    with parakeet.target(request.param):
        yield request.param


def element(x, i):
    return x[i]


def callee(x, i):
    checked = x
    return checked[i] + 1


def caller(x, i):
    return callee(x, i)


def raising(n):
    if n > 2:
        raise ValueError(f"bad size {n}, not {2 * n}")
    return n


def asserting(x, n):
    assert n < 3, "n is too large"
    return x


def bare(n):
    if n == 1:
        raise KeyError
    assert n != 2
    return n


def nested(x, n):
    for _ in range(2):
        made = np.array([[u + v for v in made[0]] for u in np.arange(n) + x[0]])  # noqa: F821
    return made


def outcome(function, *args):
    """The exception of a call, with the last entry of its traceback: name, line and columns."""
    with pytest.raises(Exception) as caught:
        function(*args)
    frames = traceback.extract_tb(caught.value.__traceback__)
    last = frames[-1]
    return caught.value, (last.filename, last.name, last.lineno, last.colno, last.end_colno)


@pytest.mark.parametrize("function,args", [
    (element, (np.arange(3), 7)), (element, (np.arange(3), -4)), (caller, (np.arange(3), 3)),
    (raising, (3,)), (asserting, (1, 5)), (bare, (1,)), (bare, (2,)),
    (nested, (np.ones(3), 2)), (lambda a, b: a // b, (1, 0)), (lambda a, b: 5 + a % b, (1, 0)),
], ids=lambda value: getattr(value, "__name__", None))
def test_an_exception_is_plain_pythons(on_target, function, args):
    actual, place = outcome(jit(function), *args)
    expected, plain_place = outcome(function, *args)
    assert type(actual) is type(expected)
    # pytest rewrites the assertions of this file; what it adds comes on a line of its own.
    if not str(expected).startswith("assert "):
        assert str(actual) == str(expected).partition("\nassert ")[0]
    # NumPy raises from C, Python from the line itself: either way the user's line is last.
    assert place[:3] == plain_place[:3]
    if type(expected) is not AssertionError:
        assert place[3:] == plain_place[3:]


def test_no_frame_of_ours_is_in_a_traceback(on_target):
    error, _ = outcome(jit(element), np.arange(3), 7)
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-2:] == ["outcome", "element"]


def test_a_traceback_shows_the_source(on_target):
    error, _ = outcome(jit(element), np.arange(3), 7)
    shown = "".join(traceback.format_exception(error))
    assert "    return x[i]\n" in shown


def test_messages_show_scalars_of_every_kind(on_target):
    @jit
    def f(a, b, c):
        if a == a:
            raise ValueError(f"{a} {b:.3f} {c!r}")
        return a

    with pytest.raises(ValueError) as caught:
        f(np.float16(0.1), 2.0 / 3.0, True)
    assert str(caught.value) == f"{np.float16(0.1)} 0.667 True"
    with pytest.raises(ValueError) as caught:
        f(np.uint64(2**64 - 1), 1.0, 5)
    assert str(caught.value) == "18446744073709551615 1.000 5"


def test_one_line_for_several_dtypes(on_target):
    """The same line, called for int8 and for float64, shows each value as what it is."""

    def check(x):
        if x > 0:
            raise ValueError(f"got {x}")
        return x

    @jit
    def f(a, b):
        return check(a) + check(b)

    for a, b, shown in ((np.int8(5), 0.1, 5), (np.int8(-1), 0.7, 0.7)):
        with pytest.raises(ValueError) as caught:
            f(a, b)
        assert str(caught.value) == f"got {shown}"


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_failing_iteration_wins(target):
    @jit
    def f(x):
        y = np.empty_like(x)
        for i in range(len(x)):
            if x[i] < 0:
                raise ValueError(f"negative at {i}")
            y[i] = x[i] * 2
        return y

    x = np.ones(100_000)
    x[[777, 5000, 99_999]] = -1
    for _ in range(5):
        with pytest.raises(ValueError, match="^negative at 777$"):
            f(x, target=target)


def test_recursion_ends_in_an_exception(on_target):
    @jit
    def endless(n):
        if n < 0:
            return 0
        return endless(n + 1) + 1

    with pytest.raises(RecursionError):
        endless(1)


def test_a_refused_program_shows_place_line_and_caret():
    def refused(x):
        with x:
            return 1

    with pytest.raises(parakeet.Limitation) as caught:
        jit(refused)(1)
    line = refused.__code__.co_firstlineno + 1
    assert str(caught.value).startswith(f"{__file__}:{line}:9: ")
    assert "\n    with x:\n    ^" in str(caught.value)
    assert isinstance(caught.value, NotImplementedError)


def test_a_type_error_shows_place_line_and_caret():
    def refused(x):
        return 1 + undefined_name(x)  # noqa: F821

    with pytest.raises(NameError) as caught:
        jit(refused)(1)
    line = refused.__code__.co_firstlineno + 1
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{line}:20: ")
    assert message.endswith("\n               ^^^^^^^^^^^^^^") or "^^^^^^^^^^^^^^" in message


def test_a_guessed_type_refuses_nothing(on_target):
    """Where no element is made, none is read that does not fit."""
    assert jit(nested)(np.ones(3), 0).shape == nested(np.ones(3), 0).shape == (0,)


def test_a_refused_function_is_refused_again():
    @jit
    def f(x):
        global nothing
        return x

    for _ in range(2):
        with pytest.raises(parakeet.Limitation):
            f(1)


def run_script(text, tmp_path, **environment):
    script = tmp_path / "script.py"
    script.write_text("import numpy as np\nimport parakeet\nfrom parakeet import jit\n" + text)
    return subprocess.run([sys.executable, script], capture_output=True, text=True,
                          env={**os.environ, **environment})


ADD_ONE = """
@jit
def f(x):
    return x + 1
print(f(np.ones(3)))
"""


def test_debug_dumps_after_a_pass(tmp_path):
    done = run_script(ADD_ONE, tmp_path, PARAKEET_DEBUG="dump:after:express_by_index@f,verify")
    assert done.returncode == 0
    assert done.stderr.startswith("// after express-by-index\nfn @f(")


def test_debug_dumps_of_another_function_show_nothing(tmp_path):
    done = run_script(ADD_ONE, tmp_path, PARAKEET_DEBUG="dump:after:all@g")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("text", ["dump:before:simplify", "disable:no_such_pass", "verbose"])
def test_debug_words_that_are_not_in_the_grammar(tmp_path, text):
    done = run_script(ADD_ONE, tmp_path, PARAKEET_DEBUG=text)
    assert done.returncode == 1
    assert "ValueError: PARAKEET_DEBUG: " in done.stderr


def test_a_bug_is_reported_with_a_file_that_repeats_it(tmp_path):
    done = run_script(ADD_ONE, tmp_path, PARAKEET_DEBUG="fail:express-by-index",
                      TMPDIR=str(tmp_path))
    assert done.returncode == 1
    bug = "parakeet.errors.CompilerBug: a bug in parakeet, in express-by-index"
    assert bug in done.stderr
    (repro,) = tmp_path.glob("parakeet-*.repro.ir")
    first, second, *_ = repro.read_text().splitlines()
    assert first.startswith("// ir_opt --passes=") and first.endswith(str(repro))
    assert str(repro) in done.stderr
    assert "fn @f(" in repro.read_text() or second


def test_index_checks_may_be_left_out():
    def f(x, i):
        if i > 100:
            raise IndexError("explicit")
        return x[i]

    x = np.arange(3.0)
    unchecked = jit(boundscheck=False)(f)
    assert unchecked(x, 2) == 2.0
    # The explicit one is a check of the constant false.
    assert len(re.findall(r"\bcheck\b", jit(f).ir(x, 2))) == 2
    assert len(re.findall(r"\bcheck\b", unchecked.ir(x, 2))) == 1
    with pytest.raises(IndexError, match="explicit"):
        unchecked(x, 101)


def test_an_exception_of_numpy_is_raised_by_its_path():
    def refuse(n):
        if n > 2:
            raise np.linalg.LinAlgError(f"no matrix of {n}")
        return n

    assert jit(refuse)(1) == 1
    with pytest.raises(np.linalg.LinAlgError, match="^no matrix of 3$"):
        jit(refuse)(3)


def test_an_exception_carries_the_number_that_it_is_given():
    """And not its text."""
    def of_python(i):
        if i > 0:
            raise KeyError(i)
        raise ValueError(f"{i}")

    def of_numpy(x, i):
        if i > 0:
            raise KeyError(x[i])
        raise ArithmeticError(x[i])

    def caught(f, *args, **options):
        with pytest.raises((LookupError, ValueError, ArithmeticError)) as found:
            f(*args, **options)
        return [type(found.value), *((type(arg), arg) for arg in found.value.args)]

    x = np.array([1, 2, 3])
    for target in TARGETS:
        for args in ((12345,), (-1,)):
            assert caught(jit(of_python), *args, target=target) == caught(of_python, *args)
        for y in (x, x.astype("f4"), x.astype("f8"), x > 2, x * 1j + 3, x.astype("u1")):
            for i in (0, 2):
                assert caught(jit(of_numpy), y, i, target=target) == caught(of_numpy, y, i)
    assert caught(jit(of_python), 12345) == [KeyError, (int, 12345)]


def test_an_error_keeps_no_arguments(on_target):
    """They go with the error, on whatever device: nobody has to look for circles."""
    f = jit(element)

    def fails():
        x = np.zeros(3)
        try:
            f(x, 7)
        except IndexError:
            return weakref.ref(x)

    fails()
    gc.disable()
    try:
        assert fails()() is None
    finally:
        gc.enable()
