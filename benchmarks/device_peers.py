"""What each contestant on a device runs for a workload, and how its arrays come and go.

A library's class says how to put an array on the device, how to get one back and how to wait.
Forms written for one peer stand in `workloads/GROUP_PEER.py`, beside `GROUP.cu` for CUDA C and CUB.
"""

import ctypes
import functools
import gc
import hashlib
import importlib.metadata
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from device_driver import DeviceBuffer, Driver
from peers import BUILT, HERE, rebind, rewritten
from workload import Workload, as_arrays

Form = tuple[str, Callable[[], Callable]]


class Library:
    """NumPy itself, whose arrays are the host's."""

    packages: tuple[str, ...] = ("numpy",)

    def describe(self) -> str:
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in self.packages)

    def put(self, array: np.ndarray):
        return array

    def get(self, result) -> list[np.ndarray]:
        return as_arrays(result)

    def wait(self) -> None:
        pass

    def release(self) -> None:
        """Gives back what a pool keeps, before the next row."""
        gc.collect()

    def copy(self, array):
        return array.copy()

    def forms(self, workload: Workload) -> Iterator[Form]:
        yield "", lambda: workload.numpy or workload.program


class Parakeet(Library):
    packages = ("parakeet", "numpy")

    def __init__(self, target: str = "gpu"):
        import parakeet

        self.parakeet, self.target = parakeet, target
        self.driver = Driver(int(target.partition(":")[2] or 0)) if _is_real(target) else None

    def describe(self) -> str:
        device = self.driver.describe() if self.driver else "the emulated GPU"
        return f"{super().describe()}; {device}"

    def put(self, array: np.ndarray):
        return self.parakeet.to_gpu(array, self.target)

    def get(self, result) -> list[np.ndarray]:
        parts = result if isinstance(result, (tuple, list)) else (result,)
        return [np.asarray(p.to_host() if hasattr(p, "to_host") else p) for p in parts]

    def wait(self) -> None:
        if self.driver:
            self.driver.wait()

    def copy(self, array):
        return self.put(array.to_host())

    def forms(self, workload: Workload) -> Iterator[Form]:
        yield self.target, lambda: self.parakeet.jit(workload.program, target=self.target)


class CuPy(Library):
    packages = ("cupy", "numpy")

    def __init__(self):
        import cupy

        self.cupy = cupy
        cupy.cuda.runtime.getDeviceCount()

    def describe(self) -> str:
        accelerators = os.environ.get("CUPY_ACCELERATORS", "the default")
        return f"cupy {self.cupy.__version__}, accelerators {accelerators}"

    def put(self, array: np.ndarray):
        return self.cupy.asarray(array)

    def get(self, result) -> list[np.ndarray]:
        parts = result if isinstance(result, (tuple, list)) else (result,)
        return [self.cupy.asnumpy(part) for part in parts]

    def wait(self) -> None:
        self.cupy.cuda.runtime.deviceSynchronize()

    def release(self) -> None:
        gc.collect()
        self.cupy.get_default_memory_pool().free_all_blocks()

    def forms(self, workload: Workload) -> Iterator[Form]:
        for variant, form in rewritten(workload, "cupy"):
            yield variant or "rewritten", lambda form=form: form
        if workload.portable:
            program = rebind(workload.program, {"np": self.cupy}, lambda f: f)
            yield "as it stands", lambda: program


class Torch(Library):
    packages = ("torch",)

    def __init__(self):
        import torch

        self.torch = torch
        torch.cuda.init()
        # The rows say float32, and mean it.
        torch.backends.cuda.matmul.allow_tf32 = False

    def describe(self) -> str:
        return f"torch {self.torch.__version__}, compiled, without TF32"

    def put(self, array: np.ndarray):
        return self.torch.from_numpy(array).cuda()

    def get(self, result) -> list[np.ndarray]:
        parts = result if isinstance(result, (tuple, list)) else (result,)
        return [p.cpu().numpy() if hasattr(p, "cpu") else np.asarray(p) for p in parts]

    def wait(self) -> None:
        self.torch.cuda.synchronize()

    def release(self) -> None:
        gc.collect()
        self.torch._dynamo.reset()
        self.torch.cuda.empty_cache()

    def copy(self, array):
        return array.clone()

    def forms(self, workload: Workload) -> Iterator[Form]:
        for variant, form in rewritten(workload, "torch"):
            if getattr(form, "eager", False):
                yield variant or "eager", lambda form=form: form
            else:
                yield variant or "compiled", lambda form=form: self.torch.compile(form)


class Jax(Library):
    packages = ("jax",)

    def __init__(self):
        import jax

        self.jax, self._last = jax, None
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        kinds = {device.platform for device in jax.devices()}
        if not kinds & {"gpu", "cuda"} and os.environ.get("JAX_PLATFORMS") != "cpu":
            raise RuntimeError(f"JAX sees {', '.join(kinds)} alone")

    def describe(self) -> str:
        return f"jax {self.jax.__version__} on {self.jax.devices()[0].device_kind}"

    def put(self, array: np.ndarray):
        return self.jax.device_put(array)

    def wait(self) -> None:
        # Work is done in the order in which it was given, so the last result comes last.
        self.jax.block_until_ready(self._last)

    def release(self) -> None:
        self._last = None
        self.jax.clear_caches()
        gc.collect()

    def forms(self, workload: Workload) -> Iterator[Form]:
        for variant, form in rewritten(workload, "jax"):
            yield variant or "rewritten", lambda form=form: self._compile(form)
        if "jax" in workload.portable:
            program = rebind(workload.program, {"np": self.jax.numpy}, lambda f: f)
            yield "as it stands", lambda: self._compile(program)

    def _compile(self, function: Callable) -> Callable:
        compiled: dict = {}

        def call(*arguments):
            if not compiled:
                static = [k for k, a in enumerate(arguments) if isinstance(a, (int, str))]
                compiled["it"] = function if getattr(function, "eager", False) else self.jax.jit(
                    function, static_argnums=static)  # fmt: skip
            self._last = compiled["it"](*arguments)
            return self._last

        return call


class Cuda(Library):
    """CUDA C and CUB, compiled by nvcc where it is on PATH; results lie in memory that is there."""

    def __init__(self):
        self.driver = Driver()
        self.version = subprocess.run(["nvcc", "--version"], check=True, capture_output=True,
                                      text=True).stdout.strip().splitlines()[-1]  # fmt: skip
        # All at once, since CUB takes a quarter of a minute; each is waited for when it is needed.
        self._compilations = {path.stem: _start_nvcc(path)
                              for path in sorted((HERE / "workloads").glob("*.cu"))}  # fmt: skip

    def describe(self) -> str:
        return f"nvcc, {self.version}"

    def put(self, array: np.ndarray):
        return DeviceBuffer(self.driver, array.shape, array.dtype, array)

    def get(self, result) -> list[np.ndarray]:
        parts = result if isinstance(result, (tuple, list)) else (result,)
        return [part.to_host() for part in parts]

    def wait(self) -> None:
        self.driver.wait()

    def forms(self, workload: Workload) -> Iterator[Form]:
        for variant, form in rewritten(workload, "cuda"):
            # Memory for results is a row's own.
            yield variant, lambda form=form: functools.partial(form, functools.cache(self._open))

    def _open(self, stem: str) -> "Functions":
        path, process = self._compilations[stem]
        if process is not None and process.wait():
            raise RuntimeError(f"nvcc: {process.stderr.read()[-300:]}")
        return Functions(path, self.driver)


class Functions:
    """Functions of a shared library, which take device buffers, ints as long, floats as double."""

    def __init__(self, path: Path, driver: Driver):
        self._library, self.driver = ctypes.CDLL(str(path)), driver
        self._made: dict = {}

    def new(self, name: str, shape, dtype) -> DeviceBuffer:
        """Memory for a result, the same at every call."""
        if name not in self._made:
            self._made[name] = DeviceBuffer(self.driver, shape, dtype)
        return self._made[name]

    def __getattr__(self, name: str) -> Callable:
        function = getattr(self._library, name)
        function.restype = ctypes.c_long

        def call(*arguments):
            if status := function(*map(_to_c, arguments)):
                raise RuntimeError(f"{name}: error {status} of the runtime")

        setattr(self, name, call)
        return call


def _to_c(value):
    if isinstance(value, DeviceBuffer):
        return ctypes.c_void_p(value.address)
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_double(value)


NVCC_FLAGS = ("-std=c++17", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC")


def _start_nvcc(source: Path) -> tuple[Path, subprocess.Popen | None]:
    text = source.read_bytes() + " ".join(NVCC_FLAGS).encode()
    path = BUILT / f"{source.stem}-{hashlib.sha256(text).hexdigest()[:12]}.cu.so"
    if path.exists():
        return path, None
    path.parent.mkdir(parents=True, exist_ok=True)
    return path, subprocess.Popen(["nvcc", *NVCC_FLAGS, "-o", path, source],
                                  stderr=subprocess.PIPE, text=True)  # fmt: skip


def _is_real(target: str) -> bool:
    return target.startswith("gpu")


def open_library(peer: str, target: str) -> Library:
    """Raises what its import or its device raises."""
    if peer == "parakeet":
        return Parakeet(target)
    return {"numpy": Library, "cupy": CuPy, "torch": Torch, "jax": Jax, "cuda": Cuda}[peer]()
