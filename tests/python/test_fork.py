"""Children of os.fork and multiprocessing call, compile and run in parallel as their parent."""

import multiprocessing
import os
import threading
import traceback

import numpy as np
import pytest

from parakeet import jit

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

    for _ in range(3):
        worker = threading.Thread(target=compile_all)
        worker.start()

        def work():
            for k, function in enumerate(functions):
                assert function(np.zeros(10))[0] == k

        in_child(work)
        worker.join()
        for function in functions:
            function._clear()


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
