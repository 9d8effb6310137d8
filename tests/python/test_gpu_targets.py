"""The targets with a device: their names, what a call moves there and back, its memory and errors.

Programs run on the emulated GPU, or the GPU that PARAKEET_TEST_TARGETS names (tested_targets.py).
What every other test file runs, runs there too then.
"""

import json
import os
import re
import subprocess
import sys
import threading
import traceback

import numpy as np
import programs as p
import pytest
from agreement import EXACT, HERE, HERE_AS_TARGET, REDUCED, check_agreement

import parakeet
from parakeet import jit
from parakeet.errors import DeviceError

GPUS = [name for name in parakeet.devices() if name.startswith("gpu:")]


@pytest.fixture(autouse=True)
def memory_comes_back():
    """Every test leaves the device's memory as it found it."""
    before = parakeet.memory_info(HERE)
    yield
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


def check(function, make_arguments, tolerance=EXACT):
    check_agreement(jit(function), function, make_arguments, tolerance, targets=[HERE])


# --- names ---

def test_devices_are_listed():
    names = parakeet.devices()
    assert "emulated_gpu" in names and {"serial", "parallel"} <= set(names)
    assert GPUS == [f"gpu:{number}" for number in range(len(GPUS))]


@pytest.mark.parametrize("name", ["gpu:", "gpu:x", "gpu:-1", "gpu:12345", "gpu:1:2", "cuda:x",
                                  "emulated_gpu:0", "gpu:\N{SUPERSCRIPT TWO}"])
def test_names_of_no_device(name):
    for use in (lambda: jit(p.polynomial, target=name), lambda: parakeet.memory_info(name)):
        with pytest.raises(ValueError, match="no target is called"):
            use()


@pytest.mark.parametrize("name", ["gpu:999", "cuda:999", *([] if GPUS else ["gpu", "cuda"])])
def test_a_device_that_is_not_there(name):
    f = jit(p.transposed)
    x = np.ones((2, 3))
    number = name.partition(":")[2] or "0"
    uses = [lambda: f(x, target=name), lambda: jit(p.transposed, target=name)(x),
            lambda: parakeet.memory_info(name), lambda: parakeet.set_memory_limit(10, name)]
    for use in uses:
        with pytest.raises(DeviceError, match=f"^cannot use gpu:{number}: .") as caught:
            use()
        assert isinstance(caught.value, RuntimeError)
    with parakeet.target(name), pytest.raises(DeviceError):
        f(x)
    np.testing.assert_array_equal(f(x), x.T * 2 + 1)


def test_signatures_and_the_order_of_targets(monkeypatch):
    f, decorated = jit(p.transposed), jit(p.transposed, target=HERE)
    x = np.ones((2, 3))
    with parakeet.target(HERE):
        f(x)
    f(x, target="serial"), decorated(x)
    assert [text.split()[0] for text in f.signatures] == [HERE_AS_TARGET, "serial"]
    assert decorated.signatures == [f"{HERE_AS_TARGET} (float64[:, :])"]
    monkeypatch.setattr(parakeet.config, "target", HERE)
    assert parakeet.config.target == HERE
    plain = jit(p.transposed)
    plain(x)
    assert plain.signatures == decorated.signatures


# --- what a call moves ---

def test_programs_of_every_kind():
    """One of each; all others run here when they are asked to (tested_targets.py)."""
    x, y = np.linspace(-3, 3, 1001), np.linspace(5, 7, 1001)
    m = np.arange(42.0).reshape(6, 7)
    check(p.chosen, lambda: (x, y))
    check(p.covariance, lambda: (x, y), REDUCED)
    check(p.reductions_by_axis, lambda: (m,), REDUCED)
    check(p.outer_broadcast, lambda: (x[:9], 2.0))
    check(p.clipped, lambda: (x, -1.0, 1.0))
    check(p.first_above, lambda: (x, 2.5))
    check(p.collatz_steps, lambda: (27,))
    check(p.starred, lambda: (x,))


def tripled(x):
    x *= 3
    return x.sum()


VIEWS = {
    "whole": lambda base: base,
    "every third": lambda base: base[::3],
    "reversed": lambda base: base[::-1],
    "a column": lambda base: base.reshape(12, 10)[:, 3],
    "every second row reversed": lambda base: base.reshape(12, 10)[::-2],
    "transposed": lambda base: base.reshape(12, 10).T[1:, ::2],
    "one element": lambda base: base[7:8],
    "none": lambda base: base[3:3],
    "no axes": lambda base: base[5:6].reshape(()),
}


@pytest.mark.parametrize("name", VIEWS)
def test_written_views_come_back_and_nothing_beside_them(name):
    f = TRIPLED[0]
    base, expected = np.arange(120.0), np.arange(120.0)
    result = f(VIEWS[name](base), target=HERE)
    assert result == tripled(VIEWS[name](expected))
    np.testing.assert_array_equal(base, expected)


TRIPLED = [jit(tripled)]


def shifted_into(x, y):
    for i in range(len(x)):
        x[i] = y[i] + 1
    return x


@pytest.mark.parametrize("make", [
    lambda base: (base[1:], base[:-1]), lambda base: (base[:-1], base[1:]),
    lambda base: (base[::2], base[1::2]), lambda base: (base[::-1], base),
    lambda base: (base, base),
], ids=["ahead", "behind", "beside", "reversed", "same"])
def test_arguments_that_share_memory(make):
    check(shifted_into, lambda: make(np.arange(20.0)))


def scaled(x, y):
    return x * y + x


def test_broadcast_read_only_and_fortran_arguments():
    row = np.broadcast_to(np.arange(5.0), (4, 5))
    check(scaled, lambda: (row, np.asfortranarray(np.ones((4, 5)))))
    check(scaled, lambda: (np.broadcast_to(2.0, (3, 4)), np.arange(4)))
    fixed = np.arange(6.0)
    fixed.flags.writeable = False
    check(scaled, lambda: (fixed, 2))


def test_arguments_that_are_no_arrays():
    def mixed(pair, n, z, names, axis=None):
        x, (k, y) = pair
        return (x * k, y + n), (z * 2, n), np.sum(x, axis=axis), len(names)

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    check(mixed, lambda: ((x, (3, x[::-1])), 2, 1 + 2j, [1, 2, 3], 0))


def test_types_of_every_size():
    f = jit(scaled)
    for dtype in "?bBhHiIlLefdFD":
        x = np.arange(7).astype(dtype)
        check_agreement(f, scaled, lambda x=x: (x, x), targets=[HERE])


def test_captured_arrays():
    table = np.arange(10.0)

    @jit
    def looked_up(i):
        return table[i] + table[::-1]

    np.testing.assert_array_equal(looked_up(3, target=HERE), table[3] + table[::-1])
    table[3] = 50.0
    np.testing.assert_array_equal(looked_up(3, target=HERE), table[3] + table[::-1])


# --- results ---

def test_results_that_are_arguments_or_see_them():
    @jit
    def parts(x, y):
        x[0] = -1.0
        return x, x[2:], y.T, x[::-1][1:3]

    x, y = np.arange(6.0), np.arange(12.0).reshape(3, 4)
    same, tail, turned, back = parts(x, y, target=HERE)
    assert same is x and x[0] == -1.0
    for view, expected in ((tail, x[2:]), (turned, y.T), (back, x[::-1][1:3])):
        np.testing.assert_array_equal(view, expected)
        assert np.shares_memory(view, expected) and view.strides == expected.strides


def test_results_that_share_a_buffer():
    @jit
    def made(n):
        x = np.arange(n) * 2.0
        return x, x[1:], x, (x[::-1], x + 1)

    whole, tail, again, (back, other) = made(6, target=HERE)
    assert whole is again and np.shares_memory(whole, tail) and np.shares_memory(back, tail)
    assert not np.shares_memory(whole, other)
    tail[0] = 50.0
    assert whole.tolist() == [0, 50, 4, 6, 8, 10] and back[4] == 50 and other[1] == 3


def test_results_outlive_what_was_called():
    f = jit(lambda n: np.arange(n) + 0.5)
    results = [f(n, target=HERE) for n in range(50)]
    for n, result in enumerate(results):
        np.testing.assert_array_equal(result, np.arange(n) + 0.5)
        assert result.flags.owndata and result.flags.writeable


def test_shapes_that_were_guessed_wrong():
    """The call gives up, with nothing done, and other code runs."""
    def added(x, y):
        x[:] = x + y[: len(x)]
        return x

    f = jit(added)
    for rows in (5, 1):
        x, y = np.arange(5.0), np.arange(float(rows))
        expected = added(x.copy(), y)
        np.testing.assert_array_equal(f(x, y, target=HERE), expected)


def test_short_last_axes():
    def distances(x, y):
        return np.array([[((a - b) ** 2).sum() for b in y] for a in x])

    f = jit(distances)
    for width in (7, 3, 2):
        x = np.arange(4.0 * width).reshape(4, width)
        check_agreement(f, distances, lambda x=x: (x, x + 1), REDUCED, targets=[HERE])


# --- errors ---

def test_an_exception_keeps_what_was_stored():
    def filled(x, n):
        for i in range(n):
            x[i] = i * 10
        return 0

    x = np.full(5, 7.0)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0") as caught:
        jit(filled)(x, 9, target=HERE)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    first = filled.__code__.co_firstlineno
    assert (last.filename, last.name, last.lineno) == (__file__, "filled", first + 2)
    assert x.tolist() == [0, 10, 20, 30, 40]


def test_the_first_failing_iteration_wins():
    def divided(x, y):
        return np.array([int(a) // int(b) for a, b in zip(x, y)])  # noqa: B905

    def checked(x):
        for i in range(len(x)):
            if x[i] > 90:
                raise ValueError(f"element {i} is {x[i]}")
        return x

    with pytest.raises(ZeroDivisionError):
        jit(divided)(np.arange(100), np.arange(100) % 50, target=HERE)
    with pytest.raises(ValueError, match="element 91 is 91"):
        jit(checked)(np.arange(200), target=HERE)
    assert jit(checked)(np.arange(3), target=HERE).tolist() == [0, 1, 2]


def walked(y, places, log, steps):
    """Each step reads at places that lie further behind, and logs itself."""
    for t in range(steps):
        y = y[places + t] * 0.5 + t
        log[t] = y[:3]
    return y


@pytest.mark.parametrize("steps", [0, 1, 2, 42, 43, 44, 45, 600])
def test_behind_the_first_failure_nothing_happens(steps):
    """Kernels that may fail are launched one behind the other, and do nothing once one has."""
    places, steps_that_work = np.arange(100) // 2 + 8, 100 - 57
    logs = [np.full((1000, 3), -1.0) for _ in range(2)]
    calls = [walked, jit(walked, target=HERE)]
    if steps > steps_that_work:
        for log, call in zip(logs, calls, strict=True):
            with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0"):
                call(np.linspace(1, 2, 100), places, log, steps)
    else:
        results = [call(np.linspace(1, 2, 100), places, log, steps)
                   for log, call in zip(logs, calls, strict=True)]
        np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(*logs)
    assert (logs[0][:, 0] >= 0).sum() == min(steps, steps_that_work)


def test_kernels_that_may_fail_are_waited_for_together():
    f = jit(walked, target=HERE)
    def down(steps):
        arguments = np.linspace(1, 2, 200), np.arange(200) // 2, np.zeros((1000, 3)), steps
        before = parakeet.memory_info(HERE)
        f(*arguments)
        after = parakeet.memory_info(HERE)
        assert after.launches - before.launches >= steps
        return after.down - before.down
    assert down(50) == down(2)


@pytest.mark.skipif(not GPUS, reason="no CUDA device")
def test_time_loops_are_graphs(monkeypatch):
    def swept(x, steps):
        for t in range(steps):
            x = np.roll(x, 1) * 0.5 + x + t
        return x

    x = np.arange(50_000.0)  # more than one block goes through
    monkeypatch.setenv("PARAKEET_DEBUG", "disable:fuse-steps")  # a kernel for each step
    for is_on in (False, True):
        monkeypatch.setattr(parakeet.config, "gpu_graphs", is_on)
        before = parakeet.memory_info(GPUS[0])
        np.testing.assert_allclose(jit(swept)(x, 200, target=GPUS[0]), swept(x, 200), rtol=1e-13)
        after = parakeet.memory_info(GPUS[0])
        assert (after.replays > before.replays) == is_on
        assert after.launches - before.launches >= 200


def test_settings_of_gpus(monkeypatch):
    monkeypatch.setattr(parakeet.config, "gpu_graphs", "0")
    assert parakeet.config.gpu_graphs is False and "gpu_graphs = False" in repr(parakeet.config)
    assert parakeet.config.gpu_cubins == "auto"
    monkeypatch.setattr(parakeet.config, "gpu_cubins", "never")
    assert "gpu_cubins = 'never'" in repr(parakeet.config)
    with pytest.raises(ValueError, match="is 'ever'; expected one of never, auto, always"):
        parakeet.config.gpu_cubins = "ever"
    monkeypatch.setattr(parakeet.config, "gpu_heap", "1000000")
    assert parakeet.config.gpu_heap == 1_000_000
    with pytest.raises(ValueError, match="gpu_heap is 0; expected a positive number of bytes"):
        parakeet.config.gpu_heap = 0
    monkeypatch.setattr(parakeet.config, "gpu_pinned", "1000000")
    assert "gpu_pinned = 1000000" in repr(parakeet.config)
    with pytest.raises(ValueError, match="gpu_pinned is -1; expected a number of bytes"):
        parakeet.config.gpu_pinned = -1


def test_memory_over_the_limit():
    f = jit(lambda x: x * 2 + x[::-1])
    x = np.ones(1000)
    expected = f(x, target=HERE)
    parakeet.set_memory_limit(10_000, HERE)
    try:
        assert parakeet.memory_info(HERE).limit == 10_000
        message = rf"cannot allocate 8\d\d\d bytes on {HERE}, where \d+ bytes are"
        with pytest.raises(MemoryError, match=message):
            f(x, target=HERE)
        np.testing.assert_array_equal(f(x[:100], target=HERE), expected[:100])
    finally:
        parakeet.set_memory_limit(None, HERE)
    np.testing.assert_array_equal(f(x, target=HERE), expected)
    assert parakeet.memory_info(HERE).limit is None


def test_arrays_that_are_larger_than_numbers_go():
    f = jit(lambda n: np.zeros(n))
    with pytest.raises(ValueError) as of_numpy:
        np.zeros(2**62)
    for target in ("serial", HERE):
        with pytest.raises(ValueError, match=re.escape(str(of_numpy.value))):
            f(2**62, target=target)


# --- seeing ---

def test_memory_info(monkeypatch):
    before = parakeet.memory_info(HERE)
    jit(lambda x: x + 1)(np.ones(100_000), target=HERE)
    after = parakeet.memory_info(HERE)
    assert after.launches > before.launches and after.peak >= 1_600_000
    assert dict(after) == {name: after[name] for name in after.keys()} and after["limit"] is None
    with pytest.raises(KeyError):
        after["inuse"]
    with pytest.raises(ValueError, match="is no device"):
        parakeet.memory_info("serial")
    with pytest.raises(ValueError, match="positive"):
        parakeet.set_memory_limit(0, HERE)
    with parakeet.target(HERE):  # which is no configuration
        assert parakeet.memory_info().launches == 0
    monkeypatch.setattr(parakeet.config, "target", HERE)
    assert parakeet.memory_info() == parakeet.memory_info(HERE)


def test_texts_and_times(monkeypatch):
    monkeypatch.setattr(parakeet.config, "timing", True)
    f = jit(lambda x: x * 2)
    x = np.ones(5)
    f(x, target=HERE)
    (timing,) = f.timings()
    assert timing.target == HERE_AS_TARGET and timing.timed_calls == 1 and timing.run_ms > 0
    assert HERE_AS_TARGET in str(f.explain(x, target=HERE))
    assert f.ir().startswith("fn @") and "thread for" in f.ir(stage="scheduled")
    assert "define" in f.llvm(x, target=HERE)
    for target in ("emulated_gpu", "serial"):
        with pytest.raises(parakeet.Limitation, match="PTX"):
            f.ptx(x, target=target)


def test_calls_under_a_profile_are_counted():
    f = jit(lambda x: x * 3)
    with parakeet.profile(show=False) as profile:
        f(np.ones(5), target=HERE)
        f(np.ones(5), target=HERE)
    assert [called.calls for called in profile.functions] == [2]


@pytest.mark.parametrize("target", ["emulated_gpu", *GPUS[:1]])
def test_code_on_disk(tmp_path, target):
    (tmp_path / "program.py").write_text(f"""
import json, numpy as np, parakeet
f = parakeet.jit(lambda x: x * 2 + 1)
values = f(np.arange(3.0), target="{target}").tolist()
print(json.dumps([values, f.timings()[0].from_disk]))
""")
    environment = {**os.environ, "PARAKEET_CACHE_DIR": str(tmp_path / "cache")}
    for from_disk in (False, True):
        done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True,
                              check=True, env=environment, timeout=120)
        assert json.loads(done.stdout) == [[1.0, 3.0, 5.0], from_disk]


@pytest.mark.skipif(not GPUS, reason="no CUDA device")
@pytest.mark.parametrize("variables", [
    {"CUDA_CACHE_DISABLE": "1"}, {"CUDA_CACHE_PATH": "/dev/null/no"},
    {"PARAKEET_GPU_CUBINS": "always"}], ids=str)
def test_cubins_on_disk(tmp_path, variables):
    """Where the driver keeps none: the second process assembles nothing."""
    (tmp_path / "program.py").write_text("""
import json, numpy as np, parakeet
from parakeet import _core
f = parakeet.jit(lambda x: x * 2 + 1)
values = f(np.arange(3.0), target="gpu").tolist()
assembled = _core.device_counters(parakeet.targets.number_of("gpu"))["assembled"]
print(json.dumps([values, f.timings()[0].from_disk, assembled]))
""")
    environment = {**os.environ, "PARAKEET_CACHE_DIR": str(tmp_path / "cache"), **variables}
    for from_disk in (False, True):
        done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True,
                              check=True, env=environment, timeout=120)
        assert json.loads(done.stdout) == [[1.0, 3.0, 5.0], from_disk, int(not from_disk)]


# --- scans and filters ---

CHUNK = 4096  # Elements of a block of threads.


@pytest.mark.parametrize("size", [0, 1, 17, CHUNK, CHUNK + 1, 17 * CHUNK + 5])
def test_scans_and_filters_of_chunks(size):
    def f(x):
        y, low = np.empty(len(x)), np.empty(len(x))
        total, least = 0.5, 100.0
        for i in range(len(x)):
            total += x[i]
            least = min(least, x[i])
            y[i] = total
            low[i] = least
        return y, low, np.cumsum(x > 0), x[x > 0], x[np.sin(np.exp(x)) > 0], np.nonzero(x < 0)[0]

    x = np.random.default_rng(size).standard_normal(size)
    expected = f(x)
    compiled = jit(f)
    results = compiled(x, target=HERE)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12, strict=True)
    for result, again in zip(results, compiled(x, target=HERE), strict=True):
        assert result.tobytes() == again.tobytes()


# Of a packed pair: the map x -> a x + b, and the one that comes before it.
def _apply_after(left, right):
    a, b = left >> 16, left & 65535
    c, d = right >> 16, right & 65535
    return ((a * c & 65535) << 16) | (c * b + d & 65535)


def test_scans_and_filters_of_many_rows_of_chunks():
    def f(x, maps):
        y, low = np.empty(len(x)), np.empty(len(x))
        total, least = 0.5, 100.0
        for i in range(len(x)):
            total += x[i]
            least = min(least, x[i])
            y[i] = total
            low[i] = least
        return y, low, parakeet.scan(_apply_after, maps), x[x > 0], x[x > 2], np.nonzero(x < 0)[0]

    size = 256 * CHUNK + 3
    random = np.random.default_rng(1)
    x, maps = random.standard_normal(size), random.integers(0, 2**32, size)
    compiled = jit(f)
    before = parakeet.get_num_threads()
    try:
        parakeet.set_num_threads(4)
        results = compiled(x, maps, target=HERE)
        again = compiled(x, maps, target=HERE)
    finally:
        parakeet.set_num_threads(before)
    expected = (np.cumsum(x) + 0.5, np.minimum.accumulate(x), compiled(x, maps, target="serial")[2],
                x[x > 0], x[x > 2], np.nonzero(x < 0)[0])  # fmt: skip
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-10, strict=True)
    for result, other in zip(results, again, strict=True):
        assert result.tobytes() == other.tobytes()


# Sums are exact, and their bits are anything: of either sign, large, not a number.
@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_what_blocks_tell_one_another_has_any_bits(dtype):
    x = np.random.default_rng(3).integers(-3, 4, 5 * CHUNK + 3).astype(dtype)
    if x.dtype.itemsize >= 8:
        x = x * x.dtype.type(2**40 + 1)
    if x.dtype.kind == "c":
        x = x * (1 - 1j)
    if x.dtype.kind == "f":
        x[3 * CHUNK] = np.nan
    expected = np.cumsum(x)
    sums = jit(lambda x: np.cumsum(x))(x, target=HERE)
    np.testing.assert_array_equal(sums, expected, strict=True)
    if x.dtype.kind in "iuf":
        most = jit(lambda x: np.maximum.accumulate(x))(x, target=HERE)
        np.testing.assert_array_equal(most, np.maximum.accumulate(x), strict=True)


def test_filters_of_several_wide_arrays():
    x = np.random.default_rng(4).standard_normal((3, CHUNK + 5)) + 1j
    found = jit(lambda x: (x[x.real > 0], np.nonzero(x.real < 1)))(x, target=HERE)
    np.testing.assert_array_equal(found[0], x[x.real > 0], strict=True)
    for places, wanted in zip(found[1], np.nonzero(x.real < 1), strict=True):
        np.testing.assert_array_equal(places, wanted, strict=True)


def test_sums_of_what_is_not_negative_never_fall():
    random = np.random.default_rng(0)
    x = random.random(17 * CHUNK + 5) * 10.0 ** random.integers(-14, 1, 17 * CHUNK + 5)
    x[random.random(len(x)) < 0.5] = 0.0
    y = jit(lambda x: np.cumsum(x))(x, target=HERE)
    steps = np.diff(y)
    assert (steps >= 0).all() and not steps[x[1:] == 0].any()


def test_the_first_error_of_a_scan_and_a_filter():
    x, places = np.ones(CHUNK), np.zeros(3 * CHUNK, dtype=int)
    places[[300, 2 * CHUNK]] = 10000, 20000
    for f in (jit(lambda x, k: np.cumsum(x[k])), jit(lambda x, k: x[k][x[k] > 0])):
        with pytest.raises(IndexError, match="10000"):
            f(x, places, target=HERE)


def test_what_a_block_reads_is_read_before_one_of_its_threads_stores():
    def f(x, y, z):
        for i in range(x.shape[0]):
            s = np.sum(x[i])
            a = y[i]
            y[i] = s
            z[i] = np.sum(x[i] * a)

    check(f, lambda: (np.arange(2000.0).reshape(10, 200), np.arange(1.0, 11.0), np.zeros(10)),
          REDUCED)  # fmt: skip


# --- threads ---

def test_two_threads_at_once():
    f = jit(lambda x, k: (x * k).sum())
    x = np.arange(1000.0)
    f(x, 1.0, target=HERE)
    wrong, ready = [], threading.Barrier(2)

    def work(k):
        ready.wait()
        for _ in range(30):
            if f(x, k, target=HERE) != k * 499500.0:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in (2.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- what goes up and comes down ---

def moved(f, *args):
    """The bytes that a call copies from the host and to it."""
    f(*args, target=HERE)  # what copies for code that has given up
    before = parakeet.memory_info(HERE)
    f(*args, target=HERE)
    after = parakeet.memory_info(HERE)
    return after.up - before.up, after.down - before.down


def replaced(x, out):
    out[:] = x * 2


def filled(x, out):
    out.fill(x.shape[0])


def by_ufunc(x, out):
    np.multiply(x, 3, out=out)


def by_loop(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[0, j]


def turned(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = j
    out += 1


def inner(x, out):
    out[1:-1] = x[1:-1]


def added(x, out):
    out += x


def where_positive(x, out):
    out[x > 3] = 7


def late(x, out):
    out[:] = x
    out[0, 0] = 1 / x[int(x[0, 1]), 0]


def early(x, out):
    value = x[int(x[0, 1]), 0]
    out[:] = x + value


def seen(x, out):
    return out[1:], out.shape[0]


def read_before(x, out):
    total = out.sum()
    out[:] = x + total


def in_a_branch(x, out):
    if x[0, 0] > -1:
        out[:] = x


WHOLE = 12 * 8


@pytest.mark.parametrize("f, up, down", [
    (replaced, WHOLE, WHOLE), (filled, 0, WHOLE), (by_ufunc, WHOLE, WHOLE),
    (by_loop, WHOLE, WHOLE), (turned, 0, WHOLE), (inner, 2 * WHOLE, WHOLE),
    (added, 2 * WHOLE, WHOLE), (seen, 0, 0), (read_before, 2 * WHOLE, None),
], ids=lambda value: getattr(value, "__name__", None))
def test_arguments_go_up_where_it_matters_what_they_hold(f, up, down):
    compiled = jit(f)
    x = np.arange(12.0).reshape(3, 4)
    there, back = moved(compiled, x, np.ones((3, 4)))
    assert there == up and (down is None or back == down)
    for make in (np.ones((3, 4)), np.ones((4, 3)).T, np.ones((6, 8))[::2, ::-2]):
        out, expected = make.copy(order="K"), make.copy(order="K")
        compiled(x, out, target=HERE), f(x, expected)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("f", [where_positive, late, early, in_a_branch])
def test_what_may_not_be_stored_goes_up(f):
    x = np.arange(12.0).reshape(3, 4)
    for first in (1.0, 2.0, -5.0):
        x[0, 1] = first
        check(f, lambda x=x: (x.copy(), np.full((3, 4), 9.0)))
    compiled = jit(f)
    assert moved(compiled, x * 0, np.ones((3, 4)))[0] >= WHOLE


def test_an_error_leaves_what_was_not_stored():
    x, out = np.arange(12.0).reshape(3, 4), np.full((3, 4), 9.0)
    for f, first in ((early, 30.0), (late, 30.0), (late, 0.0)):
        x[0, 1] = first
        expected = np.full((3, 4), 9.0)
        for call, array in ((f, expected), (lambda *a, f=f: jit(f)(*a, target=HERE), out)):
            array[...] = 9.0
            with pytest.raises(IndexError) if first else np.errstate(divide="ignore"):
                call(x, array)
        np.testing.assert_array_equal(out, expected)
    parakeet.set_memory_limit(300, HERE)
    try:
        with pytest.raises(MemoryError):
            jit(lambda x, out: replaced(np.sort(np.concatenate((x, x, x, x)), axis=0)[:3], out))(
                x, out, target=HERE)
    finally:
        parakeet.set_memory_limit(None, HERE)
    np.testing.assert_array_equal(out, expected)


def test_arguments_that_share_memory_go_up_together():
    base, expected = np.arange(24.0).reshape(6, 4), np.arange(24.0).reshape(6, 4)
    jit(replaced)(base[1:4], base[:3], target=HERE), replaced(expected[1:4].copy(), expected[:3])
    np.testing.assert_array_equal(base, expected)
    jit(seen)(base[1:4], base[:3], target=HERE)
    jit(filled)(base[:3], base[2:], target=HERE), filled(expected[:3], expected[2:])
    np.testing.assert_array_equal(base, expected)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def spreads(a):
    y = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        row = np.sort(np.repeat(a[i], 9)[: 9 + i])  # of a length of its own
        y[i] = row[7] - row[1]
    return y


@pytest.mark.parametrize("f, routines", [
    (lambda a: np.linalg.qr(a), "geqrf, orgqr"), (lambda a: np.linalg.pinv(a), "gesdd"),
    (lambda a: np.linalg.solve(a, a[0]), "gesv"), (spreads, "sort"),
    (lambda a: a * factorial(len(a)), "factorial"),
])
def test_what_goes_through_the_host_says_so(f, routines):
    a = np.eye(3) * 2 + 1
    for target in (HERE, "gpu"):
        assert f"goes through the host for {routines}" in jit(f).explain(a, target=target)
    assert "through the host" not in jit(f).explain(a, target="serial")
    all_there = jit(lambda a: a @ a + np.cumsum(a)[:3] + np.sort(a, axis=0) * np.median(a))
    assert "through the host" not in all_there.explain(a, target=HERE)
