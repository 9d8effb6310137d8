"""Where cuBLAS may be: in PyPI's packages of NVIDIA, in a CUDA toolkit, or where the loader looks.

`_core` calls `offer` when it opens the first GPU, before the first product.
"""

import glob
import os
import sys

from parakeet import _core
from parakeet.config import config

# Newer ones first; `_core` leaves out what the driver cannot run.
_NAMES = ("libcublas.so.13", "libcublas.so.12")
# Under a folder of packages: those of CUDA 13, which share a folder, and those of 12.
_IN_PACKAGES = ("nvidia/cu13/lib", "nvidia/cublas/lib", "nvidia/*/lib")
_IN_TOOLKIT = ("lib64", "targets/x86_64-linux/lib")

INSTALL = 'pip install "nvidia-cublas-cu12" (for a driver of CUDA 13: "nvidia-cublas")'


def cublas_files():
    """The files that may be cuBLAS, in the order in which they are tried; last come names, for the
    loader's own path."""
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [os.path.join(packages, part) for packages in sys.path for part in _IN_PACKAGES]
    folders += [os.path.join(home, part) for home in toolkits if home for part in _IN_TOOLKIT]
    found = [file for name in _NAMES for folder in folders for file in _matching(folder, name)]
    return [*dict.fromkeys(found), *_NAMES]


def _matching(folder, name):
    return sorted(glob.glob(os.path.join(folder, name)))


def offer():
    """Tells `_core` where to look."""
    _core.set_cublas_files(cublas_files())


def why_no_cublas():
    """Why products on a GPU stay with our own kernels, and what to do about it; empty where they
    do not."""
    if not config.cublas:
        return "not left to cuBLAS: parakeet.config.cublas is False"
    if not _core.count_gpus()[0]:
        return ""
    offer()
    file, why = _core.find_cublas()
    return "" if file else f"not left to cuBLAS: {why}; {INSTALL}"
