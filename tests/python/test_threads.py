"""Calls from many Python threads at once: results, compilation, targets, and who runs meanwhile."""

import contextvars
import ctypes
import gc
import re
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from from_source import define
from tested_targets import COMPILED

import parakeet
from parakeet import _core, jit

THREADS = 8
# Never reached.
BRANCHES = "".join(f"    if x > {n}:\n        x = x * {n}\n" for n in range(300))


def run_together(work, count=THREADS):
    """Starts `work(k)` in `count` threads at the same moment; gives what each returned."""
    barrier = threading.Barrier(count)

    def start(k):
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def smooth(x, k):
    return np.tanh(x * k) + x.sum()


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("size", [10, 100_000])
def test_every_thread_gets_its_own_result(target, size):
    f = jit(smooth)
    inputs = [np.linspace(k, k + 1, size) for k in range(THREADS)]
    expected = [f(x, 0.5, target=target) for x in inputs]

    def work(k):
        return [f(inputs[k], 0.5, target=target) for _ in range(20)]

    for k, results in enumerate(run_together(work)):
        for result in results:
            np.testing.assert_array_equal(result, expected[k])


def test_threads_that_miss_together_compile_once():
    f = jit(smooth)
    results = run_together(lambda k: f(np.ones(100), 0.5))
    assert all(np.array_equal(result, results[0]) for result in results)
    assert len(f.signatures) == 1
    assert f.timings()[0].calls == THREADS


def test_threads_with_different_arguments():
    f = jit(lambda x: x * 2)
    values = [1, 1.0, True, 1j, np.float32(1), np.int8(1), np.ones(3), np.ones((2, 2))]
    results = run_together(lambda k: f(values[k]))
    for value, result in zip(values, results, strict=True):
        np.testing.assert_array_equal(result, value * 2, strict=True)
    assert len(f.signatures) == THREADS


def test_threads_that_need_static_parameters():
    f = jit(lambda x, axis: x.sum(axis=axis))
    x = np.arange(6.0).reshape(2, 3)
    results = run_together(lambda k: f(x, k % 2))
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, x.sum(axis=k % 2))


def test_many_functions_compile_together():
    functions = [jit(lambda x, k=k: x + k) for k in range(THREADS)]
    assert run_together(lambda k: functions[k](1)) == [k + 1 for k in range(THREADS)]


def test_threads_that_read_source_while_garbage_is_collected():
    """Python before 3.11.5 fails where two threads make a syntax tree at the same time; they do
    where the collector calls Python code in between."""

    class Cycle:
        pass

    seen = []

    def leave_garbage():
        cycle = Cycle()
        cycle.itself = cycle
        seen.append(weakref.ref(cycle, lambda _: [None for _ in range(3)]))

    def read(k):
        results = []
        for i in range(10):
            for _ in range(20):
                leave_garbage()
            function = define(f"def f(x):\n    return x + {i}\n" + BRANCHES)
            results.append(jit(function)(k, target="interpreter"))
        return results

    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    try:
        gc.set_threshold(5)
        sys.setswitchinterval(1e-6)
        assert run_together(read) == [[k + i for i in range(10)] for k in range(THREADS)]
    finally:
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)


def test_errors_stay_in_their_thread():
    @jit
    def f(x, i):
        return x[i]

    x = np.arange(50.0)
    f(x, 0)

    def work(k):
        outcomes = []
        for i in range(100):
            try:
                outcomes.append(f(x, i * (k + 1) % 60))
            except IndexError as error:
                outcomes.append(str(error))
        return outcomes

    for k, outcomes in enumerate(run_together(work)):
        for i, outcome in enumerate(outcomes):
            index = i * (k + 1) % 60
            message = f"index {index} is out of bounds for axis 0 with size 50"
            assert outcome == (x[index] if index < 50 else message)


def test_globals_that_change_while_others_call():
    module = globals()
    module["FACTOR"] = 1
    f = jit(lambda x: x * FACTOR)  # noqa: F821
    stop = threading.Event()
    wrong = []

    def call():
        while not stop.is_set():
            if f(2) not in (2, 4):
                wrong.append("neither value")

    workers = [threading.Thread(target=call) for _ in range(3)]
    for worker in workers:
        worker.start()
    for k in range(20):
        module["FACTOR"] = 1 + k % 2
        assert f(2) == 2 * module["FACTOR"]
    stop.set()
    for worker in workers:
        worker.join()
    del module["FACTOR"]
    assert not wrong


def long_loop(n):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + np.sin(float(i))
    return total


def test_a_long_call_lets_others_run():
    f = jit(long_loop)
    f(1)
    ticks = 0
    done = threading.Event()

    def call():
        f(30_000_000)
        done.set()

    worker = threading.Thread(target=call)
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 3


def test_a_target_block_is_its_threads_own():
    f = jit(lambda x: x + 1)
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with parakeet.target("interpreter"):
            f(1)
            inside.set()
            leave.wait()

    worker = threading.Thread(target=hold)
    worker.start()
    inside.wait()
    f(1)
    leave.set()
    worker.join()
    assert f.signatures == ["interpreter (int)", "parallel (int)"]


def test_a_target_block_is_its_contexts_own():
    f = jit(lambda x: x + 1)
    context = contextvars.copy_context()
    block = parakeet.target("serial")
    context.run(block.__enter__)
    f(1)
    context.run(f, 1)
    context.run(block.__exit__, None, None, None)
    assert f.signatures == ["parallel (int)", "serial (int)"]


def test_the_number_of_threads_can_change_between_calls():
    f = jit(lambda x: np.tanh(x).sum())
    x = np.linspace(0, 1, 200_000)
    expected = f(x, target="serial")
    before = parakeet.get_num_threads()
    try:
        for count in (1, 2, 3, 8, 1):
            parakeet.set_num_threads(count)
            assert parakeet.get_num_threads() == count
            assert f(x, target="parallel") == expected
    finally:
        parakeet.set_num_threads(before)


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_a_number_of_threads_out_of_range(count):
    with pytest.raises(ValueError, match="from 1 to"):
        parakeet.set_num_threads(count)


def test_a_process_that_ends_while_threads_call(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import threading, time
import numpy as np
from parakeet import _core, jit
@jit
def f(x):
    return np.tanh(x).sum()
x = np.ones(1_000_000)
f(x)
def forever():
    while True:
        f(x)
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def forks(llvm):
    """How the parallel loops of a module share their pieces: PkForkHow of runtime/abi.h."""
    ways = set()
    for how in re.findall(r"call void @pk_fork\(.*, i32 (\S+)\)", llvm):
        chosen = re.search(rf"{re.escape(how)} = (?:select|zext) i1 (.*)", llvm)
        if chosen is None:
            ways.add(int(how))
        else:  # One of two, or a bool as it is.
            ways.update(map(int, re.findall(r"i32 (\d)", chosen[1]) or (0, 1)))
    return ways


def solved(a, b):
    return np.linalg.solve(a * 2.0 + np.eye(len(a)), b * 3.0)


def test_workers_sleep_between_regions_where_lapack_wants_the_cores():
    """They spin behind other regions; what the process has set holds again behind ours."""
    a, b = np.full((600, 600), 0.001), np.ones((600, 600))
    f = jit(solved)
    np.testing.assert_allclose(f(a, b, target="parallel"), solved(a, b))
    assert forks(f.llvm(a, b, target="parallel")) <= {2, 3}
    assert forks(jit(smooth).llvm(b, 0.5, target="parallel")) & {0, 1}
    if not _core.openmp_file():
        pytest.skip("one thread, which needs no OpenMP")
    openmp = ctypes.CDLL(_core.openmp_file())
    before = openmp.kmp_get_blocktime()
    try:
        openmp.kmp_set_blocktime(17)
        f(a, b, target="parallel")
        assert openmp.kmp_get_blocktime() == 17
    finally:
        openmp.kmp_set_blocktime(before)
