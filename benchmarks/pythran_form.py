"""A workload's program as Pythran compiles it: a module of its source, exported for its types."""

import hashlib
import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Callable

import numpy as np
from peers import BUILT, called_functions
from workload import Workload

FLAGS = ("-O3", "-march=native", "-fopenmp", "-DUSE_XSIMD")


def compile_program(workload: Workload) -> Callable:
    functions = called_functions(workload.program)
    arguments = workload.arguments(workload.tiny)
    types = ", ".join(_type_of(argument) for argument in arguments)
    text = "\n".join([f"#pythran export {workload.program.__name__}({types})",
                      "import numpy as np",
                      *(inspect.getsource(function) for function in functions)])  # fmt: skip
    name = f"p{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = BUILT / f"{name}.so"
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        source = BUILT / f"{name}.py"
        source.write_text(text)
        subprocess.run([sys.executable, "-m", "pythran.run", *FLAGS, "-o", path, source],
                       check=True, capture_output=True, timeout=300)  # fmt: skip
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, workload.program.__name__)


def _type_of(value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{', '.join(':' * value.ndim)}]"
    return {bool: "bool", int: "int", float: "float64", complex: "complex128"}[type(value)]
