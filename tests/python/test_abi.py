"""The extension stays within the stable ABI, and reads NumPy's arrays as NumPy lays them out."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from layouts import LAYOUTS, lay_out, values

import parakeet
from parakeet import jit

PACKAGE = Path(parakeet.__file__).parent
# Names with an underscore that are part of the stable ABI, beside those that end in _SizeT.
STABLE = {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
          "_Py_EllipsisObject", "_Py_NotImplementedStruct"}


def undefined_names(library: Path) -> set[str]:
    done = subprocess.run(["readelf", "--wide", "--dyn-syms", str(library)], check=True,
                          capture_output=True, text=True)
    fields = [line.split() for line in done.stdout.splitlines() if re.match(r"\s*\d+:", line)]
    return {f[7] for f in fields if len(f) > 7 and f[6] == "UND"}


@pytest.mark.parametrize("library", ["_core.abi3.so", "libparakeet_compiler.so"])
def test_only_stable_names_of_python_are_used(library):
    names = undefined_names(PACKAGE / library)
    assert any(name.startswith("Py") for name in names)
    private = {name for name in names if name.startswith("_Py")}
    assert {name for name in private if not name.endswith("_SizeT")} <= STABLE


@pytest.mark.parametrize("library", ["_core.abi3.so", "libparakeet_compiler.so"])
def test_no_newer_c_library_is_needed_than_debian_12_s(library):
    versions = re.findall(r"@GLIBC_2\.(\d+)", " ".join(undefined_names(PACKAGE / library)))
    assert versions and max(map(int, versions)) <= 36


@pytest.mark.sampled(2, "dtype", "layout")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                   "int64", "uint64", "float16", "float32", "float64",
                                   "complex64", "complex128"])
def test_every_dtype_and_layout_arrives(dtype, layout):
    """What compiled code sees of an array, read back element by element."""
    @jit
    def read(x):
        return np.array([x[i, j] for i in range(x.shape[0]) for j in range(x.shape[1])])

    x = lay_out(values((3, 4), dtype), layout)
    for target in ("interpreter", "serial"):
        result = read(x, target=target)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result, x.ravel())


@pytest.mark.parametrize("rank", [1, 2, 3, 5, 8])
def test_every_rank_arrives(rank):
    x = values(tuple(range(2, 2 + min(rank, 4))) + (1,) * max(rank - 4, 0))
    for target in ("interpreter", "serial", "parallel"):
        result = jit(lambda x: x * 2)(x, target=target)
        assert result.shape == x.shape
        np.testing.assert_array_equal(result, x * 2)


def test_an_array_without_dimensions():
    x = np.array(2.5)
    for target in ("interpreter", "serial"):
        # NumPy gives a scalar for what it computes of one.
        result = jit(lambda x: x * 2)(x, target=target)
        assert type(result) is np.float64 and result == 5.0
