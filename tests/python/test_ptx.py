"""Kernels for GPUs as text, by both assemblers, through NVIDIA's own assembler: it refuses what is
no PTX, or not for that architecture. No GPU is needed.

Every program of the other tests goes through, and those of the benchmarks and of the demo.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import test_programs
import test_whole_programs
from from_source import define

import parakeet
from parakeet import jit, libnvvm
from parakeet.config import GPU_ASSEMBLERS, Config

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "examples")]

import convolve  # noqa: E402
import matmult  # noqa: E402
import regression  # noqa: E402
from workload import GROUPS, all_workloads  # noqa: E402

FEW = ("now_faster", "conv_3x3_trim", "extremes", "attention", "mandelbrot")


def find_ptxas():
    """The one of nvidia-cuda-nvcc-cu12, which `dev` installs, or a toolkit's."""
    packages = [os.path.join(folder, "nvidia/*/bin/ptxas") for folder in sys.path if folder]
    toolkits = [os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin/ptxas"]
    for pattern in packages + toolkits:
        for file in glob.glob(pattern):
            return file
    return shutil.which("ptxas")


PTXAS = find_ptxas()
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="no ptxas: install nvidia-cuda-nvcc-cu12")
LIBNVVM = [file for file in libnvvm.files() if os.path.isabs(file)]


def programs():
    """(name, program, arguments) of what has kernels or may have."""
    for case in test_whole_programs.CASES:
        if not case.refused:
            yield case.name, case.program, lambda case=case: case.arguments(case.sizes[-1])
    for case in test_programs.CASES:
        size = 64 if 64 in case.sizes else case.sizes[-1]
        dtype = "float64" if "float64" in case.dtypes else case.dtypes[-1]
        make = lambda case=case, size=size, dtype=dtype: case.inputs(size, dtype, "C")
        yield case.name, case.program, make
    for row in all_workloads((*GROUPS, "resident")):
        yield f"workload {row.name}", row.program, lambda row=row: row.arguments(row.tiny)
    x, plane = np.linspace(0.0, 1.0, 64), np.ones((6, 5))
    for program, arguments in ((matmult.matmult, (plane, plane.T)),
                               (convolve.conv_3x3_trim, (plane, convolve.EDGES)),
                               (regression.fit_simple_regression, (x, 3.0 * x))):
        yield f"demo {program.__name__}", program, lambda arguments=arguments: arguments


PROGRAMS = {f"{place}-{row[0]}": row[1:] for place, row in enumerate(programs())}


@pytest.fixture
def assembled_by(monkeypatch):
    def choose(name):
        if name == "libnvvm" and not LIBNVVM:
            pytest.skip("no libNVVM: install nvidia-cuda-nvcc-cu12")
        monkeypatch.setattr(parakeet.config, "gpu_assembler", name)

    return choose


def assemble(ptx, folder, architecture=90):
    """Has ptxas read it. What it would make of it for speed is no matter here."""
    file = folder / "kernels.ptx"
    file.write_text(ptx)
    done = subprocess.run([PTXAS, f"-arch=sm_{architecture}", "-O0", file, "-o", "/dev/null"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def check(assembler, name, assembled_by, tmp_path):
    assembled_by(assembler)
    program, arguments = PROGRAMS[name]
    ptx = jit(program).ptx(*arguments())
    if ptx:  # Some need no kernel: scalar code and single elements are the host's.
        assemble(ptx, tmp_path)


@needs_ptxas
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program(name, assembled_by, tmp_path):
    check("nvptx", name, assembled_by, tmp_path)


# On a device PARAKEET_GPU_ASSEMBLER runs all by it.
@needs_ptxas
@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_by_the_second_assembler(name, assembled_by, tmp_path):
    check("libnvvm", name, assembled_by, tmp_path)


@needs_ptxas
@pytest.mark.parametrize("assembler", GPU_ASSEMBLERS)
def test_prefixes_of_halves(assembler, assembled_by, tmp_path):
    """libNVVM makes vectors of them, and knew no code for how halves became floats there, nor for
    comparisons and choices."""
    assembled_by(assembler)
    for prefixes in (np.cumsum, np.maximum.accumulate):
        assemble(jit(lambda x: prefixes(x)).ptx(np.ones(1000, "float16")), tmp_path)


@needs_ptxas
@pytest.mark.parametrize("architecture", [75, 80])
@pytest.mark.parametrize("assembler", GPU_ASSEMBLERS)
def test_older_architectures(assembler, architecture, assembled_by, tmp_path):
    assembled_by(assembler)
    chosen = [row for name, row in PROGRAMS.items() if name.split("-", 1)[1] in FEW]
    assert len(chosen) >= 3
    for program, arguments in chosen:
        ptx = jit(program).ptx(*arguments(), architecture=architecture)
        assert f".target sm_{architecture}" in ptx
        assemble(ptx, tmp_path, architecture)


@jit
def every_dtype(b, i1, u1, i2, u2, i4, u4, i8, u8, f2, f4, f8, c8, c16):
    whole = b + i1 + i2 + i4 + i8 + (u1 // 3 + u2 % 5 + (u4 << 1)) + abs(i8) ** 3 + i8 // (i4 + 7)
    real = np.floor(f2) + np.copysign(f4, f8) + np.rint(f8) * np.abs(f4) - np.trunc(f2)
    more = np.sqrt(np.abs(real)) + np.maximum(f8, f4) + np.sin(f8) + np.exp(f4) - f8 % 3.0
    return whole, u8 * 2 + u4, more, (c16 * c8 + np.exp(c8)).sum(), np.cumsum(more), whole[b]


def test_every_dtype_by_both(assembled_by, tmp_path):
    names = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "F", "D"]
    arguments = [np.ones(100, name) for name in names]
    for assembler in GPU_ASSEMBLERS:
        assembled_by(assembler)
        ptx = every_dtype.ptx(*arguments)
        assert ptx.count(".visible .entry") > 3
        assert "ld.global" in ptx, "addresses are known to be global"
        if PTXAS is not None:
            assemble(ptx, tmp_path)


def test_more_values_than_a_kernel_has_parameters_for(assembled_by, tmp_path):
    names = [f"a{k}" for k in range(600)]
    products = [f"v * {name}" for name in names]
    total = " + ".join(f"({' + '.join(products[k:k + 100])})" for k in range(0, 600, 100))
    source = f"def f(x, {', '.join(names)}):\n    return np.array([{total} for v in x])\n"
    function = jit(define(source))
    for assembler in GPU_ASSEMBLERS:
        assembled_by(assembler)
        ptx = function.ptx(np.ones(9), *map(float, range(600)))
        sizes = [int(size) for size in re.findall(r"\.param .*\[(\d+)\]", ptx)]
        assert sizes and max(sizes) < 100
        if PTXAS is not None:
            assemble(ptx, tmp_path)


def test_sums_of_products_round_twice_by_both(assembled_by):
    """A product and a sum are one instruction where the language says so, and by fastmath."""
    multiply_add = lambda x, y: x * y + x
    x = np.ones(9)
    for assembler in GPU_ASSEMBLERS:
        assembled_by(assembler)
        exact = jit(multiply_add).ptx(x, x)
        assert "mul.rn.f64" in exact and "add.rn.f64" in exact and "fma.rn.f64" not in exact
        assert "fma.rn.f64" in jit(multiply_add, fastmath="contract").ptx(x, x)


def steps_to_one(numbers):
    counts = np.zeros(numbers.size, np.int64)
    for k in range(numbers.size):
        n = numbers[k]
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            counts[k] += 1
    return counts


def steps_inside(xs, c):
    counts = np.zeros(xs.size, np.int64)
    for k in range(xs.size):
        z = complex(xs[k], 0.0)
        while counts[k] < 100 and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            counts[k] += 1
    return counts


def steps_until_large(c, most):
    x = c
    for step in range(most):
        if x * x > 4.0:
            return step
        x = x * x + c
    return most


def test_loops_ask_high_halves_first(assembled_by, tmp_path):
    """That of 4.0; what lies between is asked once behind the loop, which may go on."""
    assembled_by("nvptx")
    ptx = jit(lambda xs, most: np.array([steps_until_large(x, most) for x in xs])).ptx(
        np.ones(9), 100)
    by_half = re.search(rf"setp\.lt\.s32.*, {0x40100000};\s+and\.pred.*\s+@%p\d+ bra", ptx)
    behind = ptx[by_half.end():]
    assert "activemask.b32" in behind and "setp.leu.f64" in behind
    assert ptx.count("setp.leu.f64") == 1
    if PTXAS is not None:
        assemble(ptx, tmp_path)


def test_loops_ask_what_is_cheap(assembled_by, tmp_path):
    """Short arms are both done, bits are held against 0, what is not negative is an integer."""
    assembled_by("nvptx")
    collatz = jit(steps_to_one).ptx(np.arange(1, 9))
    assert re.search(r"and\.b64.*, 1;\s+setp\.ne\.b64\s+%p\d+, %rd\d+, 0;", collatz)
    assert re.search(r"xor\.b32.*, 1;\s+or\.b32", collatz)
    assert "selp.b64" in collatz
    four = 0x4010000000000000  # 4.0
    julia = jit(steps_inside).ptx(np.ones(9), -0.8 + 0.156j)
    assert re.search(rf"setp\.(le\.u64.*, {four};|lt\.u64.*, {four + 1};)", julia)
    if PTXAS is not None:
        assemble(collatz, tmp_path)
        assemble(julia, tmp_path)


def zeros_that_are_chosen(x):
    least, rest = np.empty_like(x), np.empty_like(x)
    for i in range(len(x)):
        least[i] = x[i] if x[i] < 0.0 else 0.0
        rest[i] = 0.0 if x[i] < 0.0 else x[i]
    return least, rest


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("assembler", GPU_ASSEMBLERS)
def test_no_zero_is_told_by_its_sign(assembler, dtype, assembled_by, tmp_path):
    assembled_by(assembler)
    ptx = jit(zeros_that_are_chosen).ptx(np.ones(9, dtype))
    assert not re.search(r"\b(min|max)\.f", ptx)
    if PTXAS is not None:
        assemble(ptx, tmp_path)


def test_says_who_made_it(assembled_by):
    f = jit(lambda x: x + 1)
    assembled_by("nvptx")
    assert "LLVM NVPTX" in f.ptx(np.ones(3))
    assembled_by("libnvvm")
    assert "NVIDIA NVVM Compiler" in f.ptx(np.ones(3))


def test_architectures_by_their_names():
    f = jit(lambda x: x + 1)
    for named in (80, np.int64(80), "sm_80", "compute_80", "80", "8.0"):
        assert ".target sm_80" in f.ptx(np.ones(3), architecture=named)
    assert ".target sm_90" in f.ptx(np.ones(3), architecture="sm_90a")


def test_architectures_that_nobody_has():
    f = jit(lambda x: x + 1)
    for named, shown in ((8, "0.8"), (61, "6.1"), ("sm_60", "6.0"), (300, "30.0")):
        with pytest.raises(ValueError, match=f"no GPU of compute capability {shown} runs this"):
            f.ptx(np.ones(3), architecture=named)
    for named in ("hopper", "sm_", "sm_9.0", ""):
        with pytest.raises(ValueError, match=f'no compute capability is called {named!r}; name it '
                                             'by 80, "sm_80", "compute_80" or "8.0"'):
            f.ptx(np.ones(3), architecture=named)
    for named in (8.0, True, [80]):
        with pytest.raises(TypeError, match="a compute capability is no .*; name it by 80"):
            f.ptx(np.ones(3), architecture=named)
    assert ".target sm_90" in f.ptx(np.ones(3), architecture=121)  # The newest that LLVM knows.


def test_libnvvm_writes_for_the_newest_that_reads_typed_pointers(assembled_by):
    assembled_by("libnvvm")
    ptx = jit(lambda x: x + 1).ptx(np.ones(3), architecture=121)
    assert ".target sm_90" in ptx


def test_the_setting():
    settings = Config()
    assert settings.gpu_assembler == "nvptx" and "gpu_assembler = 'nvptx'" in repr(settings)
    with pytest.raises(ValueError, match="no assembler for GPUs is called 'ptxas'; there are "
                                         "nvptx and libnvvm"):
        settings.gpu_assembler = "ptxas"


@jit
def power_of_few_steps(x):
    c = x.T @ x
    q = np.ones(x.shape[1])
    for _ in range(4):
        q = c @ q
        q /= np.linalg.norm(q)
    return q


@jit
def power_of_many_steps(x):
    c = x.T @ x
    q = np.ones(x.shape[1])
    for _ in range(200):
        q = c @ q
        q /= np.linalg.norm(q)
    return q


def test_steps_in_which_threads_have_arrays_are_written_once():
    """200 of them were, each by itself: 130,000 lines, which took minutes."""
    x = np.random.default_rng(7).random((120, 5))
    few, many = (f.ptx(x).count("\n") for f in (power_of_few_steps, power_of_many_steps))
    assert many < 1.1 * few


def test_libnvvm_that_is_not_there(tmp_path):
    """In a process of its own: the library stays open."""
    (tmp_path / "program.py").write_text("""
import numpy as np, parakeet, parakeet.errors, parakeet.libnvvm
parakeet.libnvvm.files = lambda: ["/nowhere/libnvvm.so"]
f = parakeet.jit(lambda x: x + 1)
try:
    f.ptx(np.ones(3))
except parakeet.errors.DeviceError as error:
    print(error)
parakeet.config.gpu_assembler = "nvptx"
assert "LLVM NVPTX" in f.ptx(np.ones(3))
""")
    environment = {**os.environ, "PARAKEET_GPU_ASSEMBLER": "libnvvm"}
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True,
                          check=True, env=environment, timeout=120)
    assert re.search(r"gpu_assembler is 'libnvvm', and libNVVM is not there: install the package "
                     r"nvidia-cuda-nvcc-cu12 .*tried:\n  /nowhere/libnvvm.so: ", done.stdout)


def test_where_libnvvm_is_looked_for(tmp_path, monkeypatch):
    packages, toolkit = tmp_path / "packages", tmp_path / "toolkit"
    made = [packages / "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so", packages / "nvidia/cu13/lib/"
            "libnvvm.so.4", toolkit / "nvvm/lib64/libnvvm.so"]
    for file in made:
        file.parent.mkdir(parents=True)
        file.write_text(file.name)
    monkeypatch.setattr(sys, "path", ["", str(packages)])
    monkeypatch.setenv("CUDA_HOME", str(toolkit))
    files = libnvvm.files()
    assert files[:3] == [str(file) for file in made] and files[-2:] == ["libnvvm.so.4",
                                                                        "libnvvm.so"]
    before = libnvvm.identity()
    assert str(made[0]) in before
    made[0].write_text("another version")
    assert libnvvm.identity() not in ("", before)
