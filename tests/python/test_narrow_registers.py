"""Code for processors of narrower vector registers than this one's, run here.

Tiles, lanes, masks and libmvec's functions are chosen by the width: 16 bytes are SSE4.2, 32 are
AVX2, 64 are AVX-512. The last can only be tried on a processor that has it.
"""

import numpy as np
import pytest
from agreement import check_agreement
from test_programs import CASES, IDS
from tested_targets import TARGETS

from parakeet import jit

pytestmark = pytest.mark.skipif("serial" not in TARGETS, reason="about the host's code")


def flags_of_processor():
    with open("/proc/cpuinfo") as lines:
        return next(line.split(":")[1].split() for line in lines if line.startswith("flags"))


NARROW = [16, 32] if "avx2" in flags_of_processor() else [16]
HOST = ("serial", "parallel")


@pytest.fixture(params=NARROW)
def registers(request, monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", f"registers:{request.param}")
    return request.param


def test_what_registers_code_uses(registers):
    assembly = jit(lambda x: np.exp(x * 2 + 1), cache=False).asm(np.ones(10), target="serial")
    assert ("ymm" in assembly) == (registers == 32) and "xmm" in assembly
    assert ("_ZGVdN4v_exp" if registers == 32 else "_ZGVbN2v_exp") in assembly
    assert "zmm" not in assembly


@pytest.mark.parametrize("bytes_of_one", [8, 64, ""])
def test_no_such_registers(bytes_of_one, monkeypatch):
    monkeypatch.setenv("PARAKEET_DEBUG", f"registers:{bytes_of_one}")
    with pytest.raises(ValueError, match=f"vector registers of {bytes_of_one} bytes; expected 16"):
        jit(lambda x: x + 1, cache=False)(1.0)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["first", "last"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_programs(case, dtype, registers):
    size = next(size for size in reversed(case.sizes) if size <= 1000)
    check_agreement(jit(case.program, cache=False), case.plain,
                    lambda: case.inputs(size, case.dtypes[{"first": 0, "last": -1}[dtype]], "C"),
                    case.tolerance, targets=HOST)


def products(a, b, v):
    """What has a tile, or a row, of its own: every order in memory, and other semirings."""
    of_rows = a @ b.T
    distances = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    least = np.min(a[:, None, :] + b[None, :, :], axis=2)
    return (of_rows, a.T @ a, v @ a, a @ b[0], a @ b.T[:, :1], np.maximum(of_rows, 0).sum(axis=1),
            distances, distances.argmin(axis=1), least, np.einsum("ij,kj->ki", a, -b),
            a.T @ a[:, :2], (a * 2) @ b.T + a[:, 0:1])


SHAPES = [(2, 3, 5), (7, 17, 4), (33, 9, 12), (70, 40, 130)]


@pytest.mark.sampled(10, "registers", "target")
@pytest.mark.parametrize("target", HOST)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16", "f2"])
def test_products(dtype, target, registers):
    compiled = jit(products, cache=False)
    for m, k, n in SHAPES:
        rng = np.random.default_rng([m, k, n])
        a, b, v = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (n, k), m))
        expected = products(a, b, v)
        results = compiled(a, b, v, target=target)
        for result, right in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, right, strict=True)
