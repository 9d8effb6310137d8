"""The rules of the house that a machine can check: who includes whom, and how files look."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each folder's C++ may include, beside itself and the system. Tests, tools and benchmarks see
# everything. Bazel's visibility enforces the same; this says it in one place, by file.
MAY_INCLUDE = {
    "ir": set(),
    "frontend": {"ir"},
    "passes": {"ir"},
    "backends": {"ir", "runtime/abi.h", "runtime/device_abi.h"},
    "runtime": set(),
    "pylib": {"ir", "frontend", "passes", "backends", "runtime"},
}
# Libraries that a folder must not know of: the first part of an include's path.
MUST_NOT_KNOW = {
    "ir": {"Python.h", "llvm", "cuda.h", "omp.h"},
    "frontend": {"llvm", "cuda.h", "omp.h"},
    "passes": {"Python.h", "llvm", "cuda.h", "omp.h"},
    "backends": {"Python.h", "omp.h"},
    "runtime": {"Python.h", "llvm"},
}
CODE = {*MAY_INCLUDE, "benchmarks", "examples", "tests", "third_party", "tools"}
NAMELESS = re.compile(r"^(util|utils|helper|helpers|common|misc|base)$")


def files(*patterns: str, folders=CODE) -> list[Path]:
    found = {path for folder in folders for p in patterns for path in (ROOT / folder).rglob(p)}
    return sorted(path for path in found if path.is_file())


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


CPP = files("*.cc", "*.h")
SOURCES = [*files("*.cc", "*.h", "*.def", "*.inc", "*.py", "*.pyi", "*.bzl", "BUILD"),
           ROOT / "dev", ROOT / "setup.py", ROOT / "WORKSPACE", ROOT / ".bazelrc"]
BUILDS = files("BUILD")


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_there_is_something_to_check():
    assert len(CPP) > 50 and len(BUILDS) > 15


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes_point_one_way(folder):
    wrong = []
    for path in files("*.cc", "*.h", "*.def", "*.inc", folders=[folder]):
        for included in includes(path):
            top = included.split("/")[0]
            own = top in CODE and top != folder and "/" in included
            if own and not {top, included} & MAY_INCLUDE[folder]:
                wrong.append(f"{name(path)} includes {included}")
            if top in MUST_NOT_KNOW.get(folder, set()):
                wrong.append(f"{name(path)} knows of {top}")
    assert not wrong


def test_only_the_extension_links_the_runtime():
    """Two copies of runtime/ in a process would be two memory pools and two error slots."""
    linked = re.compile(r'"//runtime(:runtime)?"')
    users = [name(path) for path in BUILDS if linked.search(path.read_text())]
    assert [user for user in users if not user.startswith("tests/")] == ["pylib/core/BUILD"]


def test_a_build_file_says_what_goes_in_out_and_never():
    opening = re.compile(r"# In: .+\n(#   .+\n)*# Out: .+\n(#   .+\n)*# Never: .+\n")
    assert not [name(path) for path in BUILDS if not opening.match(path.read_text())]


def test_no_file_is_long():
    assert not [name(path) for path in SOURCES if len(path.read_text().splitlines()) > 800]


def test_no_line_is_long():
    wrong = []
    for path in SOURCES:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            # A table keeps a row on one line, whatever its width.
            if len(line) > 100 and path.suffix not in (".def", ".inc"):
                wrong.append(f"{name(path)}:{number}")
    assert not wrong


def test_every_file_has_a_name():
    assert not [name(path) for path in SOURCES if NAMELESS.match(path.stem)]


def test_no_second_version_by_number():
    def is_second(path):
        stem = re.match(r"(.*\D)_?\d+$", path.stem)
        return stem and (path.parent / (stem[1].rstrip("_") + path.suffix)).exists()

    assert not [name(path) for path in SOURCES if is_second(path)]


def test_headers_are_guarded_by_their_path():
    wrong = []
    for path in files("*.h"):
        guard = "PARAKEET_" + re.sub(r"\W", "_", name(path)).upper() + "_"
        if f"#ifndef {guard}\n#define {guard}\n" not in path.read_text():
            wrong.append(f"{name(path)}: expected {guard}")
    assert not wrong


def test_two_classes_of_a_namespace_have_two_names():
    """Those of one name are one to the linker. What is nested, or in no file but its own, aside."""
    first, wrong = {}, []
    for path in CPP:
        text = path.read_text()
        space = re.search(r"^namespace (parakeet::\w+) \{", text, re.MULTILINE)
        shown = re.sub(r"^namespace \{\n.*?^\}  // namespace\n", "", text, flags=re.M | re.S)
        for own in re.findall(r"^(?:class|struct) (\w+) [^;]*?\{", shown, re.MULTILINE):
            key = (space and space[1], own)
            if first.setdefault(key, name(path)) != name(path):
                wrong.append((*key, first[key], name(path)))
    assert len(first) > 100 and not wrong, wrong


def test_a_todo_says_when():
    wrong = []
    for path in SOURCES:
        if path != Path(__file__).resolve():
            for line in path.read_text().splitlines():
                if re.search(r"\b(TODO|FIXME|XXX)\b", line) and not re.search(
                        r"TODO when [^:]+: ", line):
                    wrong.append(f"{name(path)}: {line.strip()}")
    assert not wrong


def test_a_pass_reads_no_surroundings():
    """A pass is a function of its input and options: no environment, no printing."""
    surroundings = re.compile(r"\bgetenv\(|std::c(out|err)\b|\bf?printf\(")
    paths = [path for path in files("*.cc", folders=["passes"]) if path.name != "ir_opt.cc"]
    assert not [name(path) for path in paths if surroundings.search(path.read_text())]


def passes() -> list[tuple[str, str]]:
    """Function and name of every row of the one list of passes."""
    table = (ROOT / "passes/passes.def").read_text()
    return re.findall(r'^PARAKEET_PASS\((\w+), "([a-z-]+)"', table, re.MULTILINE)


def test_there_are_passes():
    assert ("FuseVertically", "fuse-vertically") in passes()


@pytest.mark.parametrize(("function", "flag"), passes())
class TestPass:
    """One name, four spellings: file, function, flag and golden file."""

    def test_its_function_is_its_name(self, function, flag):
        assert function == "".join(word.capitalize() for word in flag.split("-"))

    def test_its_file_opens_with_what_it_does(self, function, flag):
        text = (ROOT / f"passes/{flag.replace('-', '_')}.cc").read_text()
        opening = text[: text.index("#include")]
        for word in ("Before:", "After:", "Assumes:", "Refuses:"):
            assert re.search(rf"^//\s*{word}", opening, re.MULTILINE), f"no {word} in the header"

    def test_its_golden_file_fires_and_refuses(self, function, flag):
        text = (ROOT / f"tests/passes/{flag.replace('-', '_')}.ir").read_text()
        assert text.startswith(f"// passes: {flag}\n")
        assert re.search(r"^## fires", text, re.MULTILINE)
        assert re.search(r"^## refuses", text, re.MULTILINE)


def test_the_readme_does_not_name_another_project_to_install():
    assert not re.search(r"pip3? install (-\S+ )*parakeet\b", (ROOT / "README.md").read_text())
