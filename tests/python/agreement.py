"""Runs one program on every target and holds all to what plain Python with NumPy gives.

Compared are value, dtype, shape and exception, whether a scalar is Python's or NumPy's, and what
the program stored into its arguments. Serial and parallel must give the same bits.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tested_targets import ADDED, TARGETS, with_added

from parakeet.targets import has_device, name_of, number_of

# Where the tests of devices run: on the first GPU that the run asks for (tested_targets.py), else
# on the emulated one.
HERE = next((f"gpu:{number_of(name) >> 8}" for name in ADDED
             if name_of(number_of(name)).startswith("gpu")), "emulated_gpu")  # fmt: skip
# What signatures and reports call it.
HERE_AS_TARGET = HERE.partition(":")[0]
DEVICES = tuple(name for name in ADDED if has_device(number_of(name)))
IS_EMULATED = HERE == "emulated_gpu"
# Why a test is left out where that is not so.
OF_THE_EMULATED_GPU = "about the emulated GPU alone, whose memory is the host's"

EPSILON = {np.dtype(t): np.finfo(t).eps for t in ("f2", "f4", "f8", "c8", "c16")}


@dataclass(frozen=True)
class Tolerance:
    """How far a float may be from NumPy's, and why. Everything else must be equal.

    `ulps` are units of the result's own last place; `of_sum` are units of the last place of the
    sum of the absolute values of all that went in: what sums and their cancellations cost.
    `of_one` are units of the last place of 1, for what cancels against numbers of that size. The
    last place is that of the coarsest float among result and arguments. `ulps` may be an
    array: each element of an equally long result has its own.
    """

    because: str
    ulps: float | np.ndarray = 0.0
    of_sum: float = 0.0
    of_one: float = 0.0


EXACT = Tolerance("each operation is rounded once, as NumPy rounds it")
TRANSCENDENTAL = Tolerance("ours and NumPy's are each within 4 units in the last place, and a few "
                           "roundings follow", ulps=16.0, of_one=16.0)
REDUCED = Tolerance("a float sum combines in a tree of blocks, NumPy's in another",
                    ulps=4.0, of_sum=8.0)
SCANNED = Tolerance("a float scan of several blocks adds up what stands before each, NumPy's every "
                    "element in turn", ulps=4.0, of_sum=64.0)


@dataclass
class Outcome:
    """What a run gave: a result or an exception, and the arguments as it left them."""

    result: Any
    error: BaseException | None
    arguments: tuple


def run(call: Callable, make_arguments: Callable[[], tuple], **keywords) -> Outcome:
    """Calls on fresh arguments; floating-point warnings are NumPy's business."""
    arguments = make_arguments()
    with np.errstate(all="ignore"):
        try:
            return Outcome(call(*arguments, **keywords), None, arguments)
        except Exception as error:
            return Outcome(None, error, arguments)


def epsilon_of(arguments) -> float:
    """The last place of 1 in the coarsest float among the arguments."""
    if isinstance(arguments, (tuple, list)):
        return max((epsilon_of(argument) for argument in arguments), default=0.0)
    return float(EPSILON.get(getattr(arguments, "dtype", None), 0.0))


def scale_of(arguments) -> float:
    """The sum of the absolute values of all numbers among the arguments, at least 1."""
    if isinstance(arguments, (tuple, list)):
        return max(1.0, sum(scale_of(argument) for argument in arguments))
    if isinstance(arguments, (np.ndarray, np.number, int, float, complex)):
        x = np.abs(np.asarray(arguments, dtype=complex))
        return max(1.0, float(x[np.isfinite(x)].sum()))
    return 1.0


@dataclass(frozen=True)
class Bound:
    """A tolerance for certain arguments."""

    tolerance: Tolerance
    scale: float = 1.0
    epsilon: float = 0.0


def bound_for(tolerance: Tolerance, arguments) -> Bound:
    return Bound(tolerance, scale_of(arguments), epsilon_of(arguments))


def _check_numbers(actual: np.ndarray, expected: np.ndarray, bound: Bound, where: str) -> None:
    tolerance = bound.tolerance
    if expected.dtype.kind not in "fc" or tolerance is EXACT:
        np.testing.assert_array_equal(actual, expected, err_msg=where, strict=True)
        # Equal numbers may still be zeros of different sign.
        if expected.dtype.kind == "f":
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(actual[numbers]),
                                          np.signbit(expected[numbers]), f"{where}: signs")
        return
    if expected.dtype.kind == "c" and np.isinf(expected).any():
        actual = _without_infinite(actual, expected, bound, where)
    epsilon = max(bound.epsilon, EPSILON[expected.dtype])
    of_sum = tolerance.of_sum * bound.scale if tolerance.of_sum else 0.0  # The scale may be inf.
    atol = (of_sum + tolerance.of_one) * epsilon
    if np.ndim(tolerance.ulps):
        is_near = np.isclose(actual, expected, tolerance.ulps * epsilon, atol, equal_nan=True)
        actual = np.where(is_near, expected, actual)  # What is left is beyond the least bound too.
    np.testing.assert_allclose(actual, expected, rtol=np.min(tolerance.ulps) * epsilon, atol=atol,
                               err_msg=f"{where}; {tolerance.because}")


def _without_infinite(actual, expected, bound, where) -> np.ndarray:
    """Checks complex numbers that have an infinite part, beside which the other one counts by
    itself; and returns what is left to check, with those that were expected in their places."""
    infinite = np.isinf(expected)
    ulps = bound.tolerance.ulps
    own = replace(bound.tolerance, ulps=ulps[infinite] if np.ndim(ulps) else ulps)
    for part in (np.real, np.imag):
        _check_numbers(part(actual)[infinite], part(expected)[infinite],
                       replace(bound, tolerance=own), where)
    return np.where(infinite, expected, actual)


def check_same(actual, expected, bound: Bound = Bound(EXACT), where: str = "result") -> None:
    """Raises AssertionError where `actual` is not what plain Python gave."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple), f"{where}: {type(actual)} is no tuple"
        assert len(actual) == len(expected), f"{where}: {len(actual)} of {len(expected)} elements"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            check_same(a, e, bound, f"{where}[{i}]")
        return
    assert type(actual) is type(expected), f"{where}: {actual!r} is no {type(expected).__name__}"
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype, f"{where}: {actual.dtype} is no {expected.dtype}"
        assert actual.shape == expected.shape, f"{where}: {actual.shape} is not {expected.shape}"
    if isinstance(expected, (np.ndarray, np.generic, int, float, complex)):
        _check_numbers(np.asarray(actual), np.asarray(expected), bound, where)
    else:
        assert actual == expected, f"{where}: {actual!r} is not {expected!r}"


def python_type(error: BaseException | None) -> type:
    """The type of an exception; for one that NumPy keeps private, the public type above it."""
    return next(kind for kind in type(error).__mro__ if "._exceptions" not in kind.__module__)


def check_outcome(actual: Outcome, expected: Outcome, bound: Bound, target: str) -> None:
    if actual.error is not None and expected.error is None:
        raise AssertionError(f"{target} raised") from actual.error
    if expected.error is not None:
        assert type(actual.error) is python_type(expected.error), (
            f"{target}: expected {expected.error!r}, got {actual.error!r}, {actual.result!r}")
        return
    check_same(actual.result, expected.result, bound, f"{target}: result")
    check_same(actual.arguments, expected.arguments, bound, f"{target}: arguments")


def bits(value) -> Any:
    """What two runs must have in common to be the same to the bit, whichever nans they have."""
    if isinstance(value, tuple):
        return tuple(bits(v) for v in value)
    if isinstance(value, (np.ndarray, np.generic, float)):
        return with_one_nan(np.asarray(value)).tobytes()
    return value


def with_one_nan(array: np.ndarray) -> np.ndarray:
    """A copy in which all nans have the same sign and payload, which no target promises."""
    made = np.array(array, order="C").reshape(-1)
    if made.dtype.kind in "fc":
        parts = made.view(made.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return made


AS_ELSEWHERE = Tolerance("devices compute it as the host does")


def check_agreement(jitted: Callable, plain: Callable, make_arguments: Callable[[], tuple],
                    tolerance: Tolerance = EXACT, targets=TARGETS,
                    on_device: Tolerance | None = AS_ELSEWHERE) -> Outcome:
    """Holds every target to `plain`, and serial and parallel to each other; returns plain's.

    `on_device` is the tolerance of devices, where it is another, and None where none of them runs.
    """
    targets = with_added(targets)
    if on_device is None:
        targets = [target for target in targets if target not in DEVICES]
    elif on_device is AS_ELSEWHERE:
        on_device = tolerance
    expected = run(plain, make_arguments)
    outcomes = {target: run(jitted, make_arguments, target=target) for target in targets}
    for target, outcome in outcomes.items():
        bound = bound_for(on_device if target in DEVICES else tolerance, make_arguments())
        check_outcome(outcome, expected, bound, target)
    if expected.error is None and {"serial", "parallel"} <= outcomes.keys():
        serial, parallel = outcomes["serial"], outcomes["parallel"]
        assert bits(serial.result) == bits(parallel.result), "serial and parallel differ in bits"
        assert bits(serial.arguments) == bits(parallel.arguments), "stores differ in bits"
    return expected


def deep_copies(arguments: tuple) -> Callable[[], tuple]:
    """Makes fresh arguments of the same values and layouts, for arguments that are no views."""
    return lambda: copy.deepcopy(arguments)
