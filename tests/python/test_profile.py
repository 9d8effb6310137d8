"""What parakeet.profile() counts: calls, lines, bytes and operations by formula; never times."""

import threading

import numpy as np
import pytest

import parakeet
from parakeet import jit

X = np.linspace(0, 1, 1000)


def scaled(x):
    y = x * 0.5
    total = np.sum(y)
    return y / total


def steps(x, n):
    for _ in range(n):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return x


def pick(x, i):
    level = 0.0
    for k in i:
        level = level * 0.5 + x[k]
    return level


def region_of(called, text):
    (region,) = [region for region in called.regions if text in region.source]
    return region


def test_calls_lines_bytes_and_operations(capsys):
    f = jit(scaled)
    expected = f(X)
    assert f.timings()[0].timed_calls == 0
    with parakeet.profile() as p:
        for _ in range(3):
            np.testing.assert_array_equal(f(X), expected)
    (called,) = p.functions
    assert (called.calls, called.failed, called.target) == (3, 0, "parallel")
    assert called.name == "scaled" and called.seconds > 0
    total = region_of(called, "np.sum")
    division = region_of(called, "y / total")
    assert total.entries == division.entries == 3
    # The half is computed in both: x is read twice, and the result written.
    assert total.bytes == 3 * 8000 and division.bytes == 3 * 16000
    assert total.operations == 3 * 2000 and division.operations == 3 * 2000
    assert called.bytes == total.bytes + division.bytes
    assert division.allocated >= 3 * 8000 and called.allocated >= division.allocated
    shown = capsys.readouterr().out
    assert shown == f"{p}\n" and "GFLOP/s" in shown and "y / total" in shown
    # Only profiled code tells of itself, and it is timed.
    assert "mark" not in f.ir(X, stage="scheduled")
    assert [timing.timed_calls for timing in f.timings()] == [0, 3]
    assert f.signatures == ["parallel (float64[:])"]
    f(X)
    assert [timing.calls for timing in f.timings()] == [2, 3]


def test_a_loop_enters_its_region_each_time():
    f = jit(steps)
    with parakeet.profile(show=False) as p:
        f(X.copy(), 7, target="serial")
    (called,) = p.functions
    region = region_of(called, "x[1:-1]")
    # The edges of the other array are made once, each by a nest of its own.
    assert region.entries == 2 + 7 and called.target == "serial"
    with parakeet.profile(show=False) as again:
        f(X.copy(), 2, target="serial")
    assert again.functions[0].calls == 1  # a profile begins anew
    assert region_of(again.functions[0], "x[1:-1]").entries == 2 + 2


def test_errors_threads_and_several_functions():
    f, g = jit(pick), jit(scaled)
    index = np.array([1, 2, 3])
    with parakeet.profile(show=False) as p:
        with pytest.raises(IndexError):
            f(X, np.array([1, 5000, 3]))
        workers = [threading.Thread(target=f, args=(X, index)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        g(X, target="interpreter")
    called = {each.name: each for each in p.functions}
    assert (called["pick"].calls, called["pick"].failed) == (5, 1)
    assert called["scaled"].target == "interpreter" and called["scaled"].regions == ()
    assert any("line" in tip and "level is carried" in tip for tip in p.tips)


def test_code_for_other_shapes_is_the_same_function():
    f = jit(lambda x, y: x + y)
    with parakeet.profile(show=False) as p:
        f(X, X)
        with pytest.raises(ValueError, match="broadcast"):
            f(X, X[:3])
    (called,) = p.functions
    assert (called.calls, called.failed) == (2, 1)
    assert all(region.seconds <= called.seconds for region in called.regions)


def test_tips_about_arguments():
    f = jit(scaled)
    with parakeet.profile(show=False) as p:
        f(X[::2])
        f([1.0, 2.0])
    tips = "\n".join(p.tips)
    assert "reads x with strides each call: pass it C-contiguous" in tips
    assert "copies the list x each call: pass an array" in tips


def test_one_profile_at_a_time():
    with parakeet.profile(show=False) as p:
        with pytest.raises(RuntimeError, match="running already"):
            with parakeet.profile():
                pass
    assert str(p) == "no jitted function was called"
    with pytest.raises(ZeroDivisionError), parakeet.profile():
        1 / 0  # noqa: B018
    with parakeet.profile(show=False):  # and the one before is over
        pass


def test_what_a_mask_keeps_is_counted_as_if_it_were_all():
    f = jit(lambda x: x[x > 0.5])
    expected = f(X)
    with parakeet.profile() as profile:
        np.testing.assert_array_equal(f(X), expected)
    (called,) = profile.functions
    (region,) = called.regions
    assert region.bytes == 2 * X.nbytes


def sorted_down(x):
    return np.sort(x)[::-1].copy() * 2


def joined(x):
    y = np.concatenate((x, x * 2))
    return np.sort(y).sum()


def test_operators_of_one_line_have_rows_of_their_own(capsys):
    f = jit(sorted_down)
    expected = sorted_down(X)
    with parakeet.profile() as p:
        np.testing.assert_array_equal(f(X), expected)
    (called,) = p.functions
    (line,) = called.lines
    assert len(called.regions) > 1 and line.text == ""
    (sort,) = [region for region in called.regions if region.text == "np.sort(x)"]
    assert sort.entries and sort.bytes >= 2 * X.nbytes and sort.line == line.line
    shown = capsys.readouterr().out
    assert "    np.sort(x)" in shown
    assert line.bytes == sum(region.bytes for region in called.regions)
    assert line.entries == sum(region.entries for region in called.regions)
    assert line.seconds == pytest.approx(sum(region.seconds for region in called.regions))


@pytest.mark.parametrize("program", [sorted_down, joined, scaled, steps])
def test_bytes_of_lines_add_up_to_the_functions(program):
    arguments = (X.copy(), 3) if program is steps else (X,)
    with parakeet.profile(show=False) as p:
        jit(program)(*arguments, target="serial")
    (called,) = p.functions
    assert called.allocated == sum(line.allocated for line in called.lines)
    assert called.allocated == sum(region.allocated for region in called.regions)
    if program is joined:
        made = region_of_line(called, "np.sort")  # which joins where it copies
        assert 2 * X.nbytes <= made.allocated


def region_of_line(called, text):
    (line,) = [line for line in called.lines if text in line.source]
    return line
