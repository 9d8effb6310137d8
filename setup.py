"""Builds the wheel: Bazel makes our two libraries, and this puts them into the package."""

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent

# Where each library comes from, and its place in the package.
OURS = {
    ".bazel/bin/pylib/core/_core.so": "_core.abi3.so",
    ".bazel/bin/pylib/compiler/libparakeet_compiler.so": "libparakeet_compiler.so",
}
LIBOMP = Path("/usr/lib/llvm-19/lib/libomp.so.5")


class BuildWithBazel(build_ext):
    """Stands where setuptools would compile: there is nothing left for it to do."""

    def run(self):
        package = ROOT / "pylib/parakeet" if self.inplace else Path(self.build_lib) / "parakeet"
        subprocess.run(["bazel", "build", "//pylib:binaries"], cwd=ROOT, check=True)
        (package / "lib").mkdir(parents=True, exist_ok=True)
        for source, name in OURS.items():
            # Bazel's outputs are read-only, and a library that a process holds must not change.
            (package / name).unlink(missing_ok=True)
            command = ["strip", "--strip-unneeded", "-o", package / name, ROOT / source]
            subprocess.run(command, check=True)
        shutil.copyfile(LIBOMP, package / "lib/libomp.so")
        if not self.inplace:  # In a checkout it would soon be wrong.
            command = [sys.executable, ROOT / "tools/index_library.py", package / "library"]
            places = subprocess.run(command, check=True, capture_output=True).stdout
            (package / "library/places.py").write_bytes(places)


def wheel_options() -> dict:
    """One wheel serves CPython 3.11 and newer, on any Linux with the builder's glibc or newer."""
    options = {"py_limited_api": "cp311"}
    name, version = platform.libc_ver()
    if name == "glibc":
        options["plat_name"] = f"manylinux_{version.replace('.', '_')}_{platform.machine()}"
    return options


with tempfile.TemporaryDirectory() as scratch:
    # A build folder in the checkout would keep modules that the package has since dropped.
    setup(
        ext_modules=[Extension("parakeet._core", sources=[], py_limited_api=True)],
        cmdclass={"build_ext": BuildWithBazel},
        options={
            "bdist_wheel": wheel_options(),
            "build": {"build_base": scratch},
            "egg_info": {"egg_base": scratch},
        },
    )
