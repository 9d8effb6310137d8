"""Children of os.fork and multiprocessing call, compile and run in parallel as their parent."""

import multiprocessing
import os
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

import parakeet
from parakeet import jit
from parakeet.errors import DeviceError

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@jit
def wave(x, k):
    return np.tanh(x * k).sum()


X = np.linspace(0.0, 1.0, 200_000)


def in_child(work):
    """Runs `work()` in a forked child; fails with what it printed when that raises or hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[:4000])
        finally:
            os._exit(status)
    os.close(writing)
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    assert status == 0, said or "the child hung or crashed"


@pytest.mark.parametrize("target", ["serial", "parallel", "interpreter"])
def test_a_child_calls_what_its_parent_compiled(target):
    x = X if target != "interpreter" else X[:100]
    expected = wave(x, 2.0, target=target)

    def work():
        for _ in range(3):
            assert wave(x, 2.0, target=target) == expected

    in_child(work)
    assert wave(x, 2.0, target=target) == expected


def test_a_child_compiles():
    wave(X, 2.0)

    def work():
        assert wave(X.astype(np.float32), 2.0) > 0
        assert jit(lambda x: x + 1)(np.ones(3)).tolist() == [2.0] * 3

    in_child(work)


def test_children_of_a_child():
    expected = wave(X, 2.0)

    def work():
        assert wave(X, 2.0) == expected
        in_child(lambda: wave(X, 2.0) == expected or os._exit(1))

    in_child(work)


def test_a_fork_while_another_thread_compiles():
    """The child has the parent's locks as they were, and no thread that would release them."""
    functions = [jit(lambda x, k=k: np.tanh(x) + k) for k in range(6)]

    def compile_all():
        for function in functions:
            function(np.ones(10))

    for turn in range(8):
        worker = threading.Thread(target=compile_all)
        worker.start()
        sum(range(turn * 200_000))  # further into the compilations each time

        def work():
            for k, function in enumerate(functions):
                assert function(np.zeros(10))[0] == k

        in_child(work)
        worker.join()
        for function in functions:
            function._clear()


FIRST_CALL_IS_REFUSED = """
import os
import numpy as np
from parakeet import jit

@jit
def f(x):
    return np.sqrt(x) + 1

try:
    f("text")
except TypeError:
    pass
if {forks} and os.fork():
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
elif {forks}:
    assert f(np.ones(3)).tolist() == [2.0] * 3
"""


@pytest.mark.parametrize("forks", [True, False])
def test_the_process_forks_or_ends_while_the_compiler_prepares(forks, tmp_path):
    """The front end refuses before the thread has come far that makes LLVM's tables."""
    program = tmp_path / "refused.py"
    program.write_text(FIRST_CALL_IS_REFUSED.format(forks=forks))
    for _ in range(5):
        run = subprocess.run([sys.executable, program], capture_output=True, timeout=120)
        assert run.returncode == 0, run.stderr.decode()


def test_results_of_the_parent_are_the_childs_too():
    result = jit(lambda x: x + 1)(np.zeros(100_000))

    def work():
        assert (result == 1).all()
        result[:] = 5

    in_child(work)
    assert (result == 1).all()


def call_wave(k):
    return wave(X, k)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes(method):
    expected = [wave(X, float(k)) for k in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(call_wave, [float(k) for k in range(4)]) == expected


def test_a_jitted_function_is_sent_to_a_pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(wave, (X[:10], 0.0)) == 0.0


HAS_GPU = "gpu:0" in parakeet.devices()


def test_device_arrays_of_the_parent_on_the_emulated_gpu():
    there = parakeet.to_gpu(X[:100], "emulated_gpu")
    wave(there, 2.0)

    def work():
        np.testing.assert_array_equal(there.to_host(), X[:100])
        assert np.isfinite(float(wave(there, 2.0)))

    in_child(work)
    np.testing.assert_array_equal(there.to_host(), X[:100])


@pytest.mark.skipif(not HAS_GPU, reason="skipped: no CUDA device")
def test_a_gpu_is_its_openers_alone():
    """A child is told so by every use, its device arrays free nothing, and other targets work."""
    there = parakeet.to_gpu(X)
    expected = wave(X, 2.0)
    wave(there, 2.0)

    def work():
        uses = [lambda: wave(X, 2.0, target="gpu"), lambda: wave(there, 2.0), there.to_host,
                lambda: parakeet.to_gpu(X), lambda: parakeet.memory_info("gpu"),
                lambda: jit(lambda x: x + 1)(X, target="gpu")]
        for use in uses:
            with pytest.raises(DeviceError, match="^cannot use gpu:0: .* was forked after"):
                use()
        assert "gpu:0" not in parakeet.devices()
        assert wave(X, 2.0) == expected
        assert wave(X, 2.0, target="emulated_gpu") > 0

    in_child(work)
    np.testing.assert_array_equal(there.to_host(), X)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(wave, (X, 2.0), {"target": "gpu"}) > 0


ENDS = """
import os, sys
import numpy as np
import parakeet

there = parakeet.to_gpu(np.ones(1000), "{device}")
view = there[1:]
if os.fork() == 0:
    sys.exit(3)
status = os.waitstatus_to_exitcode(os.wait()[1])
assert (there.to_host() == 1).all()
sys.exit(status)
"""


@pytest.mark.parametrize("device", ["emulated_gpu", *(["gpu"] if HAS_GPU else [])])
def test_a_child_ends_as_programs_do(device):
    """With device arrays of the parent, in the hands of the interpreter as it ends."""
    program = ENDS.format(device=device)
    # Python 3.12 warns of each fork of a process with threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (3, b"")
