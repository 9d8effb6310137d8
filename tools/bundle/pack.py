"""`./dev bundle`: one archive with which another machine runs the tests and the benchmarks.

It holds the wheel, what the suite needs for each Python (NumPy, pytest, hypothesis), tests,
benchmarks, examples, and run.py. Nothing but Python itself and a driver is expected there; docs at
the top of run.py.

The packages lie unpacked: what is the same file in the wheels of every Python is kept once, which
is half of them (NumPy's BLAS, and all that is written in Python).
"""

import argparse
import hashlib
import subprocess
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
NAME = "parakeet-bundle"
PYTHONS = ("3.11", "3.12", "3.13")
NEEDED = ("numpy", "pytest", "hypothesis")
# Of the checkout: folders, with the names that count, and single files that tests read.
FOLDERS = {"tests/python": ("*.py", "*.txt"), "benchmarks": ("*.py", "*.cc", "*.cu", "*.txt"),
           "examples": ("*.py",), "tools/bundle": ("*.py",)}
FILES = ("LICENSE", "NOTICE", "README.md", "constraints.txt", "frontend/primitives.def",
         "passes/forms.def", "passes/passes.def", "pyproject.toml")  # fmt: skip
LIMIT = 60_000_000


def carried_files() -> list[str]:
    """What the archive takes from the checkout, as paths within it."""
    found = {str(path.relative_to(ROOT)) for folder, patterns in FOLDERS.items()
             for pattern in patterns for path in (ROOT / folder).rglob(pattern)
             if not {"output", "__pycache__"} & set(path.parts)}  # fmt: skip
    return sorted(found | set(FILES))


def download(version: str, folder: Path) -> list[Path]:
    """The wheels of NEEDED and of what they need, for one Python, to the pinned releases."""
    short = version.replace(".", "")
    platforms = [f"--platform=manylinux{name}_x86_64"
                 for name in ("_2_28", "_2_27", "_2_17", "2014")]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:",
                    f"--python-version={version}", "--implementation=cp", f"--abi=cp{short}",
                    "--abi=abi3", "--abi=none", *platforms, "-c", ROOT / "constraints.txt",
                    "-d", folder, *NEEDED], check=True)  # fmt: skip
    return sorted(folder.glob("*.whl"))


def installed_name(name: str) -> str | None:
    """Where in site-packages a wheel's file goes; scripts and headers are left out."""
    parts = PurePosixPath(name).parts
    if not parts[0].endswith(".data"):
        return name
    return "/".join(parts[2:]) if parts[1] in ("purelib", "platlib") else None


def unpack(wheels: list[Path]) -> dict[str, bytes]:
    files = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                name = installed_name(entry.filename)
                if name and not entry.is_dir():
                    files[name] = archive.read(entry)
    return files


def share(trees: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """One tree of `any/` with what all have alike, and `cp312/` and so on with the others."""
    first, *others = trees.values()
    alike = {name for name, data in first.items()
             if others and all(_digest(tree.get(name)) == _digest(data) for tree in others)}
    shared = {f"any/{name}": first[name] for name in alike}
    for python, tree in trees.items():
        shared |= {f"{python}/{name}": data for name, data in tree.items() if name not in alike}
    return shared


def _digest(data: bytes | None) -> bytes:
    return b"" if data is None else hashlib.sha256(data).digest()


def write(archive: Path, wheel: Path, packages: dict[str, bytes]) -> None:
    """Names in order and no times, so that equal contents are an equal archive."""
    contents = {f"packages/{name}": data for name, data in packages.items()}
    contents |= {name: (ROOT / name).read_bytes() for name in carried_files()}
    contents[f"dist/{wheel.name}"] = wheel.read_bytes()
    archive.parent.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name in sorted(contents):
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mode = len(contents[name]), 0o644
            tar.addfile(entry, BytesIO(contents[name]))
        link = tarfile.TarInfo(f"{NAME}/run.py")
        link.type, link.linkname = tarfile.SYMTYPE, "tools/bundle/run.py"
        tar.addfile(link)


def main() -> None:
    parser = argparse.ArgumentParser(prog="dev bundle", description=__doc__.splitlines()[0])
    parser.add_argument("--downloads", type=Path, default=ROOT / "build/bundle",
                        help="where downloaded wheels are kept")
    parser.add_argument("--pythons", default=",".join(PYTHONS), metavar="3.12,...",
                        help=f"that it is for; {', '.join(PYTHONS)} unless named")
    options = parser.parse_args()
    wheel = max((ROOT / "dist").glob("parakeet-*.whl"), key=lambda path: path.stat().st_mtime)
    trees = {f"cp{version.replace('.', '')}": unpack(download(version, options.downloads / version))
             for version in options.pythons.split(",")}  # fmt: skip
    archive = ROOT / f"dist/{NAME}.tar.gz"
    write(archive, wheel, share(trees))
    size = archive.stat().st_size
    print(f"{archive.relative_to(ROOT)}: {size / 1e6:.1f} MB")
    if size > LIMIT:
        raise SystemExit(f"it is larger than {LIMIT / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
