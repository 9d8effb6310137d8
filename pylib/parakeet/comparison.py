"""`parakeet.compare`: every target beside plain Python and other implementations, in one table."""

import time
from dataclasses import dataclass

import numpy as np

from parakeet.device_array import DeviceArray, to_gpu
from parakeet.device_lists import with_items
from parakeet.host_copies import call_plain
from parakeet.inspection import borrowed
from parakeet.jit import jit
from parakeet.targets import canonical

# One measurement repeats for so long, in seconds; plain Python gets one run where that is longer.
_SECONDS = 0.5
_REPETITIONS = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One way to run the function; times in seconds, None where there is none.

    `difference` is the largest distance of a result or argument from plain Python's, relative to
    its largest absolute value; `error` says why it did not run.
    """

    name: str
    compile_time: float | None = None
    run_time: float | None = None
    speed_up: float | None = None
    agrees: bool = False
    difference: float | None = None
    error: str = ""

    def cells(self):
        if self.error:
            return (self.name, "", "", "", self.error)
        if self.difference == 0:
            agreement = "equal"
        else:
            word = "agrees" if self.agrees else "DIFFERS"
            agreement = word if self.difference is None else f"{word} ({self.difference:.1e})"
        speed_up = "" if self.speed_up is None else f"{self.speed_up:.2f}x"
        return (self.name, _show(self.compile_time), _show(self.run_time), speed_up, agreement)


class Table(list):
    """The rows, shown as a table."""

    HEADER = ("", "compile", "run", "speed-up", "result")

    def __str__(self):
        lines = [self.HEADER, *(row.cells() for row in self)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.HEADER))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column in (0, 4) else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    __repr__ = __str__


def compare(f, *args, targets=("serial", "parallel"), peers=(), tolerance=1e-6, **kwargs):
    """Runs a function on every target and in plain Python, prints and returns a table.

    f          a function, jitted or not
    args       its arguments; every run gets fresh copies of their arrays, plain Python and targets
               of the host such of the host for those on a device
    targets    names of targets
    peers      other implementations: functions, or pairs of a name and a function
    tolerance  how far results may be from plain Python's, relative to their largest absolute
               value, to agree

    Compile times are those of the first compilation for such arguments in this process, or of
    loading its code from disk (`parakeet.config.cache`); run times are the least of up to 50 runs.
    """
    function = f if hasattr(f, "_specializations") else jit(f)
    args, kwargs = borrowed(args, kwargs)
    plain = _Run(_plain(function.__wrapped__), args, kwargs)
    rows = [Row("Python", run_time=plain.seconds, speed_up=1.0, agrees=True, error=plain.error)]
    for target in targets:
        rows.append(_target_row(function, canonical(target), args, kwargs, plain, tolerance))
    for peer in peers:
        name, call = peer if isinstance(peer, tuple) else (_name_of(peer), peer)
        rows.append(_row(name, None, _Run(call, args, kwargs), plain, tolerance))
    table = Table(rows)
    print(table)
    return table


def _plain(function):
    return lambda *args, **kwargs: call_plain(function, args, kwargs)


def _name_of(call):
    return getattr(call, "__name__", type(call).__name__)


def _target_row(function, target, args, kwargs, plain, tolerance):
    try:
        record = function._compile(_number(target), args, kwargs)
    except Exception as error:
        return Row(target, error=_first_line(error))
    run = _Run(function, args, {**kwargs, "target": target})
    return _row(target, record["compile_ms"] / 1e3, run, plain, tolerance)


def _number(target):
    from parakeet.targets import number_of

    return number_of(target)


def _row(name, compile_time, run, plain, tolerance):
    if run.error and not plain.error:
        return Row(name, compile_time, error=run.error)
    if run.error or plain.error:
        # Both should raise the same.
        agrees = type(run.exception) is type(plain.exception)
        return Row(name, compile_time, agrees=agrees, error=run.error or "plain Python raises")
    difference = _difference(run.outcome, plain.outcome)
    speed_up = plain.seconds / run.seconds if run.seconds else None
    agrees = difference <= tolerance
    return Row(name, compile_time, run.seconds, speed_up, agrees, difference)


class _Run:
    """What a call gives (result and arguments afterwards), and its time."""

    def __init__(self, call, args, kwargs):
        self.error, self.exception, self.seconds, self.outcome = "", None, None, None
        try:
            first, self.outcome = _time_once(call, args, kwargs)
            self.seconds = _repeat(call, args, kwargs, first)
        except Exception as error:
            self.exception, self.error = error, _first_line(error)


def _time_once(call, args, kwargs):
    args, kwargs = _copy(args), _copy(kwargs)
    with np.errstate(all="ignore"):
        start = time.perf_counter()
        result = call(*args, **kwargs)
        return time.perf_counter() - start, (result, args)


def _repeat(call, args, kwargs, first):
    best, spent = first, first
    for _ in range(_REPETITIONS - 1):
        if spent > _SECONDS:
            break
        seconds, _ = _time_once(call, args, kwargs)
        best, spent = min(best, seconds), spent + seconds
    return best


def _copy(value):
    """The value with every array in it copied, memory order kept."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, DeviceArray) and not value._is_number:
        return to_gpu(value, value.device)
    if isinstance(value, (tuple, list)):
        return with_items(value, map(_copy, value))
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return value


def _difference(actual, expected):
    """The relative distance; inf for values that cannot be compared."""
    if isinstance(expected, (tuple, list)):
        is_same_kind = isinstance(actual, (tuple, list)) and len(actual) == len(expected)
        if not is_same_kind:
            return np.inf
        return max(map(_difference, actual, expected), default=0.0)
    try:
        actual, expected = np.asarray(actual), np.asarray(expected)
        if actual.dtype != expected.dtype or actual.shape != expected.shape:
            return np.inf
        if actual.dtype.kind not in "biufc":
            return 0.0 if np.array_equal(actual, expected) else np.inf
        return _distance(actual, expected)
    except Exception:
        return np.inf


def _distance(actual, expected):
    if np.array_equal(actual, expected, equal_nan=expected.dtype.kind in "fc"):
        return 0.0
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return np.inf
    scale = float(np.abs(expected[finite]).max(initial=0.0)) or 1.0
    distance = float(np.abs(actual[finite] - expected[finite]).max(initial=0.0)) / scale
    return distance if np.isfinite(distance) else np.inf


def _first_line(error):
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}"[:100]


def _show(seconds):
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
