"""What a jitted function shows of itself: `f.explain()`, `f.ir()`, `f.timings()` and the rest.

The functions here are the methods of jitted functions (jit.py). Those that take arguments compile
for them where that is still to do, and run nothing; without arguments they show the specialization
that was called last, and raise ValueError where there was none.
"""

import operator
import re
from dataclasses import dataclass

import numpy as np

from parakeet import _core
from parakeet.device_lists import device_arrays_among
from parakeet.targets import NONE, name_of, number_in_context, number_of
from parakeet.text import Text, phases_text


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Stands for an array in `f.compile`: C-ordered, writable, no axis of length 1."""

    dtype: np.dtype
    ndim: int

    def __repr__(self):
        return f"array_type({self.dtype.name!r}, {self.ndim})"


_core.set_array_type(ArrayType)


def array_type(dtype, ndim):
    """An example argument for `f.compile`: an array of `ndim` axes. ValueError if `ndim` < 0."""
    if ndim < 0:
        raise ValueError(f"an array has no {ndim} axes")
    return ArrayType(np.dtype(dtype), int(ndim))


@dataclass(frozen=True, slots=True)
class Timing:
    """One specialization; times are in milliseconds.

    `phases` says where its compile time went, by step and pass; with `from_disk` that is what it
    took to load what another process, or an earlier one, had compiled. Calls are counted always.
    `total_ms` is what those took together that were timed (under `config.timing` or
    `parakeet.profile()`), `run_ms` their mean, None where there were none.
    """

    signature: str
    target: str
    compile_ms: float
    phases: dict
    calls: int
    run_ms: float | None
    from_disk: bool = False
    timed_calls: int = 0
    total_ms: float = 0.0

    def __str__(self):
        origin = "loaded from disk" if self.from_disk else "compiled"
        run = f"{self.timed_calls} timed: {self.total_ms:.4f} ms, {self.run_ms or 0:.4f} ms each"
        return (
            f"{self.target} {self.signature}\n"
            f"  {origin} in {self.compile_ms:.2f} ms: {phases_text(self.phases)}\n"
            f"  called {self.calls} times, {run if self.timed_calls else 'not timed'}"
        )


class Timings(list):
    """The timings of a function, shown as text."""

    def __repr__(self):
        return "\n".join(map(str, self)) or "not compiled yet"


def timings(function):
    """One Timing a specialization, in the order in which they were compiled."""
    return Timings(_timing(record) for record in function._specializations())


def _timing(record):
    timed = record["timed_calls"]
    return Timing(
        signature=record["signature"],
        target=name_of(record["target"]),
        compile_ms=record["compile_ms"],
        phases=record["phases"],
        calls=record["calls"],
        run_ms=record["run_ns"] / timed / 1e6 if timed else None,
        from_disk=record["from_disk"],
        timed_calls=timed,
        total_ms=record["run_ns"] / 1e6,
    )


def signatures(function):
    """The targets and argument types that a function has been compiled for, one text each."""
    return list(dict.fromkeys(_title(record) for record in function._specializations()))


def _title(record):
    return f"{name_of(record['target'])} {record['signature']}"


def compile(function, *args, target=None, **kwargs):
    """Compiles ahead of the first call, for arguments like these; `array_type(dtype, ndim)` stands
    for an array."""
    number = _target_number(function, target)
    if number != number_of("python"):
        args, kwargs = borrowed(args, kwargs)
        function._compile(number, args, kwargs)


def _target_number(function, name):
    """Where a call of the function with `target=name` would run."""
    if name is not None:
        return number_of(name)
    in_context = number_in_context()
    if in_context != NONE:
        return in_context
    decorated = function._options["target"]
    return _core.get_default_target() if decorated is None else number_of(decorated)


def _compiled_target(function, name, values):
    number = _target_number(function, name)
    if name is None:
        number = _device_of(function, values, number)
    if number == number_of("python"):
        raise ValueError("target 'python' compiles nothing; name another")
    return number


def borrowed(args, kwargs):
    """The arguments of a call with arrays of ours for other libraries' on a device."""
    from parakeet.foreign_arrays import borrow

    names, values = kwargs.keys(), borrow(kwargs.values())
    return tuple(borrow(args)), dict(zip(names, values, strict=True))


def _device_of(function, values, otherwise):
    """Where calls that say nothing run: where a device array among their arguments is."""
    is_said = number_in_context() != NONE or function._options["target"] is not None
    there = next(device_arrays_among(values), None)
    return otherwise if is_said or there is None else there._number


def _show(function, what, stage, args, kwargs, target):
    if _names_a_call(function, args, kwargs):
        args, kwargs = borrowed(args, kwargs)
        number = _compiled_target(function, target, (*args, *kwargs.values()))
        return Text(function._dump(what, stage, number, args, kwargs))
    return Text(function._dump_last(what, stage))


def _names_a_call(function, args, kwargs):
    """Whether these are arguments to compile for; if not, the last call is shown, which there was.

    A function without parameters that has not been called is compiled for no arguments.
    """
    if args or kwargs:
        return True
    if any(record["is_last"] for record in function._specializations()):
        return False
    code = function.__wrapped__.__code__
    if code.co_argcount or code.co_kwonlyargcount:
        raise ValueError(f"{function.__name__} has not been called yet; give arguments")
    return True


def ir(function, *args, stage="parallel", target=None, **kwargs):
    """The intermediate code: at stage "parallel", "indexed" or "scheduled", or after the pass of
    that name. ValueError for another stage."""
    return _show(function, "ir", stage, args, kwargs, target)


def llvm(function, *args, target=None, **kwargs):
    """LLVM's code, after its optimisations."""
    return _show(function, "llvm", "", args, kwargs, target)


def asm(function, *args, target=None, **kwargs):
    """The assembly of this machine."""
    return _show(function, "asm", "", args, kwargs, target)


def ptx(function, *args, target=None, architecture=None, **kwargs):
    """The assembly of a GPU's kernels, for target "gpu" where no other is named. Needs no GPU:
    where there is none, it is for compute capability 9.0. `architecture` names another, of 7.0 or
    more: 80, "sm_80", "8.0". `config.gpu_assembler` makes it. Limitation for targets without it."""
    stage = "" if architecture is None else str(_architecture_number(architecture))
    return _show(function, "ptx", stage, args, kwargs, target or "gpu")


def _architecture_number(named):
    """10 times a compute capability, by number or name."""
    accepted = 'name it by 80, "sm_80", "compute_80" or "8.0"'
    if isinstance(named, str):
        parts = re.fullmatch(r"(?:sm_|compute_)?(\d+)[af]?|(\d+)\.(\d)", named)
        if parts is None:
            raise ValueError(f"no compute capability is called {named!r}; {accepted}")
        number = int(parts[1] or parts[2] + parts[3])
    elif isinstance(named, (bool, float)) or not hasattr(named, "__index__"):
        raise TypeError(
            f"a compute capability is no {type(named).__name__}, which {named!r} is; {accepted}"
        )
    else:
        number = operator.index(named)
    if not 70 <= number < 256:
        raise ValueError(
            f"no GPU of compute capability {number // 10}.{number % 10} runs this code, but of 7.0 "
            f"and more; {accepted}"
        )
    return number


def explain(function, *args, target=None, **kwargs):
    """What became of each line: what runs in parallel, was fused or vectorised, and why not.

    An `explanation.Explanation`: a text of one screen, with the facts as attributes (`rows`,
    `notes`, counts). Raises what a call with such arguments would: TypeError for arguments that
    do not bind, and what refuses the function.
    """
    import json

    from parakeet import explanation

    record = _record_for(function, args, kwargs, target)
    account = json.loads(_show(function, "account", "", args, kwargs, target))
    return explanation.make(function, record, name_of(record["target"]), account)


def _record_for(function, args, kwargs, target):
    if _names_a_call(function, args, kwargs):
        args, kwargs = borrowed(args, kwargs)
        number = _compiled_target(function, target, (*args, *kwargs.values()))
        return function._compile(number, args, kwargs)
    return next(record for record in function._specializations() if record["is_last"])
