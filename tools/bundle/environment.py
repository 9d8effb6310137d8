"""The environments that a bundle runs in, made of what it carries and without a network.

The suite has a virtual environment with the bundle's own NumPy and pytest. The benchmarks run in
the Python that started run.py, with the peers that are installed there, and Parakeet added.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLDEST_NUMPY = (1, 26)


@dataclass(frozen=True)
class Environment:
    """An interpreter, and the variables to run it with."""

    python: Path
    variables: dict[str, str]
    described: str


def home() -> Path:
    """Where environments are made: beside run.py, or where one may not write, in a new folder."""
    if os.access(ROOT, os.W_OK):
        return ROOT / ".environments"
    return Path(tempfile.mkdtemp(prefix="parakeet-bundle-"))


def own_variables(**more: str) -> dict[str, str]:
    """The caller's, but nothing that another Python, BLAS or Parakeet was told."""
    kept = {name: value for name, value in os.environ.items()
            if name == "PYTHONUNBUFFERED" or not name.startswith(("PYTHON", "OPENBLAS_"))}
    return {**kept, "PYTHONNOUSERSITE": "1", **more}


def for_tests() -> Environment:
    """A virtual environment with the bundle's packages for this Python. Many run side by side: a
    thread that waits leaves its core to others."""
    python = _python_of_bundle()
    return Environment(python, own_variables(KMP_BLOCKTIME="0"), "the bundle's own packages")


def _python_of_bundle() -> Path:
    short = f"cp{sys.version_info.major}{sys.version_info.minor}"
    carried = ROOT / "packages" / short
    if not carried.exists():
        there = ", ".join(sorted(path.name for path in carried.parent.glob("cp*")))
        raise SystemExit(f"no packages for {short} in this bundle; there are {there}")
    folder = home() / short
    site = _new_venv(folder)
    if not _is_made(site):
        for tree in filter(Path.exists, (ROOT / "packages/any", carried)):
            shutil.copytree(tree, site, dirs_exist_ok=True)
        _unpack_wheel(site)
    return folder / "bin/python"


def for_benchmarks() -> Environment:
    """This Python with its own NumPy, where it has one that will do; else the suite's."""
    found = _numpy_of(sys.executable)
    if found < OLDEST_NUMPY:
        return Environment(_python_of_bundle(), own_variables(), "the bundle's own packages")
    site = home() / "parakeet-alone/site-packages"
    site.mkdir(parents=True, exist_ok=True)
    if not _is_made(site):
        _unpack_wheel(site)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = own_variables(PYTHONPATH=os.pathsep.join(paths))
    variables.pop("PYTHONNOUSERSITE")
    return Environment(Path(sys.executable), variables, "this Python's own packages")


def require_glibc() -> None:
    """Ends with the reason where this machine's C library is older than the wheel's libraries need:
    the loader's own words for it are about a symbol."""
    if not any((ROOT / "dist").glob("parakeet-*.whl")):
        return  # Whoever needs it says so.
    needed, here = _needed_glibc(_wheel()), _glibc_here()
    if here < needed:
        has = f"this machine has {_shown(here)}" if here else "this machine has another C library"
        raise SystemExit(
            f"not run: the libraries of {_wheel().name} need glibc {_shown(needed)} or newer, and "
            f"{has}; run it on a newer system (Debian 12, Ubuntu 24.04, RHEL 10 ...) or in a "
            "container of one, or build the wheel on this one: pip install .")  # fmt: skip


def _needed_glibc(wheel: Path) -> tuple[int, ...]:
    """The newest version that a library in the wheel names, as `readelf -V` shows them."""
    needed = (0,)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so") or ".so." in name:
                versions = re.findall(rb"\0GLIBC_(\d+(?:\.\d+)+)(?=\0)", archive.read(name))
                needed = max([needed, *(_version(text.decode()) for text in versions)])
    return needed


def _glibc_here() -> tuple[int, ...]:
    """Empty where there is none."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    except (AttributeError, OSError, ValueError):
        return ()
    return _version(version) if name == "glibc" else ()


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _shown(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def require(made: Environment, targets: str) -> None:
    """Ends with the reason where Parakeet does not load, or where a device is not there."""
    code = ("import numpy, parakeet, sys\n"
            "for name in sys.argv[1].split(','):\n"
            "    if 'gpu' in name: parakeet.to_gpu(numpy.zeros(1), name)\n")
    done = subprocess.run([made.python, "-c", code, targets], env=made.variables,
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise SystemExit(f"not run: {lines[-1]}")


def _new_venv(folder: Path) -> Path:
    """The site-packages of a virtual environment there. It has no pip: that is a package more."""
    if not (folder / "bin/python").exists():
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    [site] = folder.glob("lib/python*/site-packages")
    return site


def _wheel() -> Path:
    return max((ROOT / "dist").glob("parakeet-*.whl"), key=lambda path: path.stat().st_mtime)


def _is_made(site: Path) -> bool:
    mark = site / "made-from-wheel"
    return mark.exists() and mark.read_text() == _state()


def _state() -> str:
    return f"{_wheel().name} {_wheel().stat().st_size} {_wheel().stat().st_mtime_ns}"


def _unpack_wheel(site: Path) -> None:
    with zipfile.ZipFile(_wheel()) as archive:
        archive.extractall(site)
    (site / "made-from-wheel").write_text(_state())


def _numpy_of(python: str) -> tuple[int, ...]:
    done = subprocess.run([python, "-c", "import numpy; print(numpy.__version__)"],
                          capture_output=True, text=True)
    if done.returncode:
        return ()
    return tuple(int(part) for part in done.stdout.split(".")[:2])
