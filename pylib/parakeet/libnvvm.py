"""Where NVIDIA's libNVVM is, for `config.gpu_assembler = "libnvvm"`.

Looked for in this order, and an older CUDA comes first, since any newer driver takes its code:

1. NVIDIA's packages of PyPI, in the folders that Python imports from: nvidia-cuda-nvcc-cu12 (CUDA
   12), then nvidia-nvvm and nvidia-cuda-nvcc (CUDA 13 and later);
2. a CUDA toolkit, in `$CUDA_HOME`, `$CUDA_PATH` or /usr/local/cuda;
3. wherever the loader finds libnvvm.so.

The compiler asks for `files()` when it is to use it, and the disk cache for `identity()`.
"""

import glob
import os
import sys

# Under nvidia/ in a folder of packages; under a toolkit.
_IN_PACKAGES = ("cuda_nvcc/nvvm/lib64", "nvvm/lib64", "nvvm/lib", "cu[0-9]*/lib",
                "cu[0-9]*/nvvm/lib64")  # fmt: skip
_IN_TOOLKITS = ("nvvm/lib64", "nvvm/lib", "lib", "lib64")
_NAMES = ("libnvvm.so", "libnvvm.so.[0-9]")


def files():
    """Files that are there, then names that the loader may know."""
    return [*_found(), "libnvvm.so.4", "libnvvm.so"]


def identity():
    """Changes when the library that is used does."""
    for file in _found():
        status = os.stat(file)
        return f"{file} {status.st_size} {status.st_mtime_ns}"
    return ""


def _found():
    packages = [os.path.join(folder, "nvidia") for folder in sys.path if folder]
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    yield from _search(packages, _IN_PACKAGES)
    yield from _search(filter(None, toolkits), _IN_TOOLKITS)


def _search(bases, folders):
    bases = list(dict.fromkeys(bases))
    for folder in folders:
        for base in bases:
            for name in _NAMES:
                yield from sorted(glob.glob(os.path.join(glob.escape(base), folder, name)))
