"""What the installed wheel carries, and what its libraries need of the machine."""

import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

import parakeet

PACKAGE = Path(parakeet.__file__).parent
OURS = ["_core.abi3.so", "libparakeet_compiler.so"]

# libc and libm, by the names of their parts that the linker may record; the loader is libc's.
ALLOWED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def read_elf(*arguments) -> str:
    command = ["readelf", "--wide", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported_names(library: Path) -> set[str]:
    lines = read_elf("--dyn-syms", library).splitlines()
    fields = [line.split() for line in lines if re.match(r"\s*\d+:", line)]
    return {f[7] for f in fields if len(f) > 7 and f[4] in ("GLOBAL", "WEAK") and f[6] != "UND"}


def test_the_package_is_the_installed_one():
    assert "site-packages" in PACKAGE.parts


@pytest.mark.parametrize("name", [*OURS, "lib/libomp.so"])
def test_a_library_needs_only_libc_and_libm(name):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf("-d", PACKAGE / name)))
    assert needed <= ALLOWED


@pytest.mark.parametrize("name", OURS)
def test_a_library_has_no_search_path(name):
    assert not re.search(r"\((RPATH|RUNPATH)\)", read_elf("-d", PACKAGE / name))


@pytest.mark.parametrize("name", OURS)
def test_a_library_is_stripped(name):
    assert ".symtab" not in read_elf("-S", PACKAGE / name)


def test_core_exports_its_module_only():
    assert exported_names(PACKAGE / "_core.abi3.so") == {"PyInit__core"}


def test_the_compiler_exports_its_interface_only():
    names = exported_names(PACKAGE / "libparakeet_compiler.so")
    assert names
    assert all(name.startswith("parakeet_compiler_") for name in names)


def test_core_holds_no_llvm():
    assert (PACKAGE / "_core.abi3.so").stat().st_size < 4_000_000


def test_type_information_is_carried():
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "__init__.pyi").exists()
    # A stub for the extension, whose functions have no source to read.
    assert (PACKAGE / "_core.pyi").exists()


def test_every_module_of_the_checkout_is_carried():
    checkout = Path(__file__).resolve().parents[2] / "pylib/parakeet"
    for pattern in ("*.py", "*.pyi"):
        for source in checkout.rglob(pattern):
            name = source.relative_to(checkout)
            assert (PACKAGE / name).read_bytes() == source.read_bytes(), name


def test_licences_are_carried():
    names = {file.name for file in metadata.files("parakeet")}
    assert {"LICENSE", "NOTICE", "LLVM.txt", "zlib.txt", "zstd.txt"} <= names


def test_the_wheel_is_for_every_python_from_3_11():
    assert re.search(r"^Tag: cp311-abi3-manylinux_\d+_\d+_x86_64$",
                     metadata.distribution("parakeet").read_text("WHEEL"), re.MULTILINE)
