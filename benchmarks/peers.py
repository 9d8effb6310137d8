"""What each contestant runs for a workload: a list of forms, of which the fastest will count."""

import ctypes
import dis
import functools
import hashlib
import importlib
import subprocess
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from workload import Workload

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build/bench"
CPP_FLAGS = ("-std=c++20", "-O3", "-march=native", "-fopenmp", "-ffast-math", "-shared", "-fPIC")

# A form: what it is called in the table, and what makes the function to call with the arguments.
Form = tuple[str, Callable[[], Callable]]


def forms_of(peer: str, workload: Workload, quick: bool, targets: list[str]) -> Iterator[Form]:
    return parakeet_forms(workload, targets) if peer == "parakeet" else FORMS[peer](workload, quick)


def parakeet_forms(workload: Workload, targets: list[str]) -> Iterator[Form]:
    from parakeet import jit

    for target in targets:
        yield target, lambda target=target: jit(workload.program, target=target)


def numpy_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    yield "", lambda: workload.numpy or workload.program


def numexpr_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    import numexpr

    if workload.numexpr:
        yield "", lambda: functools.partial(workload.numexpr, numexpr.evaluate)


def numba_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    import numba

    loops = rewritten(workload, "numba")
    for parallel in (True, False):
        for fastmath in (True, False):
            if quick and not (parallel and fastmath):
                continue
            njit = functools.partial(numba.njit, parallel=parallel, fastmath=fastmath)
            name = f"{'parallel' if parallel else 'serial'}{' fastmath' * fastmath}"
            for variant, form in loops:
                yield (f"{name} loops {variant}".strip(),
                       lambda njit=njit, form=form: form(_each(njit)))
            if "numba" in workload.portable and not (quick and loops):
                yield (f"{name} arrays",
                       lambda njit=njit: rebind(workload.program, {}, njit))


def _each(njit) -> Callable:
    """`njit` as a decorator with or without keywords of its own."""
    return lambda f=None, **more: njit(**more) if f is None else njit(f)


def jax_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    import jax

    jax.config.update("jax_enable_x64", True)
    for variant, form in rewritten(workload, "jax"):
        yield variant, lambda form=form: _JaxCall(jax, form)
    if "jax" in workload.portable:
        program = rebind(workload.program, {"np": jax.numpy}, lambda f: f)
        yield "as it stands", lambda: _JaxCall(jax, program)


class _JaxCall:
    """Arguments lie on JAX's device, ints are static; results stay with JAX, and are waited for."""

    def __init__(self, jax, function: Callable):
        self.jax, self.function, self.compiled = jax, function, None

    def prepare(self, arguments: tuple) -> tuple:
        static = [k for k, a in enumerate(arguments) if isinstance(a, (int, str))]
        # What gives a shape that depends on data cannot be compiled, and says so.
        eager = getattr(self.function, "eager", False)
        self.compiled = self.function if eager else self.jax.jit(
            self.function, static_argnums=static)  # fmt: skip
        return tuple(self.jax.device_put(a) if isinstance(a, np.ndarray) else a
                     for a in arguments)  # fmt: skip

    def __call__(self, *arguments):
        return self.jax.block_until_ready(self.compiled(*arguments))


def pythran_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    # It compiles for a quarter of a minute and more.
    if "pythran" in workload.portable and not quick:
        import pythran_form

        yield "arrays", lambda: pythran_form.compile_program(workload)


def cpp_forms(workload: Workload, quick: bool) -> Iterator[Form]:
    if workload.cpp:
        yield "", lambda: functools.partial(workload.cpp, library(workload.group))


def why_no_form(peer: str, workload: Workload, quick: bool) -> str:
    """Why these give none for the workload."""
    if peer == "pythran" and "pythran" in workload.portable:
        return "not tried: --quick leaves out what compiles for a quarter of a minute"
    if peer == "numexpr":
        return "no form: the row is no single expression of arrays"
    if peer == "cpp":
        return f"no form: nobody has written it in {workload.group}.cc"
    rewritten = f", and {workload.group}_{peer}.py has no other" if peer != "pythran" else ""
    return f"no form: it cannot take the program as it stands{rewritten}"


FORMS = {"numpy": numpy_forms, "numexpr": numexpr_forms, "numba": numba_forms, "jax": jax_forms,
         "pythran": pythran_forms, "cpp": cpp_forms}  # fmt: skip


def rewritten(workload: Workload, peer: str) -> list[tuple[str, Callable]]:
    """The functions of the group's module for this peer that bear the workload's name.

    `tropical__at_once` is another form of `tropical`, and is called "at once".
    """
    if not (HERE / f"workloads/{workload.group}_{peer}.py").exists():
        return []
    module = importlib.import_module(f"workloads.{workload.group}_{peer}")
    stem = workload.name.split()[0]
    names = [name for name in vars(module) if name.split("__")[0] == stem]
    return [(name[len(stem):].strip("_").replace("_", " "), getattr(module, name))
            for name in names]  # fmt: skip


def rebind(function: Callable, names: dict, wrap: Callable) -> Callable:
    """`function` with other globals; the plain functions that it calls go the same way."""
    bound = {**function.__globals__, **names}
    for name, called in _plain_globals(function).items():
        bound[name] = rebind(called, names, wrap)
    again = types.FunctionType(function.__code__, bound, function.__name__, function.__defaults__,
                               function.__closure__)  # fmt: skip
    return wrap(again)


def called_functions(function: Callable) -> list[Callable]:
    """The plain functions that `function` calls, and it behind them."""
    found = {}
    for called in _plain_globals(function).values():
        found |= dict.fromkeys(called_functions(called))
    return [*found, function]


def _plain_globals(function: Callable) -> dict[str, Callable]:
    codes = [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    asked = {step.argval for code in codes for step in dis.get_instructions(code)
             if step.opname == "LOAD_GLOBAL"}  # fmt: skip
    known = function.__globals__
    return {name: known[name] for name in sorted(asked - {function.__name__})
            if isinstance(known.get(name), types.FunctionType)}  # fmt: skip


class Library:
    """Functions of a shared library, which take arrays, ints as long and floats as double."""

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path))

    def __getattr__(self, name: str) -> Callable:
        function = getattr(self._library, name)
        function.restype = ctypes.c_double

        def call(*arguments):
            return function(*map(_to_c, arguments))

        setattr(self, name, call)
        return call


def _to_c(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_double(value)


@functools.cache
def library(group: str) -> Library:
    source = HERE / "workloads" / f"{group}.cc"
    text = source.read_bytes() + " ".join(CPP_FLAGS).encode()
    path = BUILT / f"{group}-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # libmvec's vectors of mathematics need the name of libm before the source's.
        subprocess.run(["g++", *CPP_FLAGS, "-o", path, source, "-lm"], check=True)
    return Library(path)
