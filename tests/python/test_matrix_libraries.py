"""Matrix products that the device's library makes: which go there, and that they come out right.

On the emulated GPU the library is NumPy's BLAS, called as cuBLAS is: by leading dimensions,
transposes and strides of batches. A real one asks cuBLAS for hardly any that are as small
as these, and for none where it is not found: there it is only held that they come out right.
"""

import copy
import sys

import numpy as np
import pytest
from agreement import HERE, IS_EMULATED

import parakeet
from parakeet import cuda_libraries, jit

GPUS = [name for name in parakeet.devices() if name.startswith("gpu:")]
# A product of so many rows, columns and terms is worth a call.
N, M, L = 37, 41, 43
DTYPES = (np.float32, np.float64, np.complex64, np.complex128)
TOLERANCE = {np.float32: 1e-4, np.complex64: 1e-4}


def numbers(dtype, *shape):
    generator = np.random.default_rng(sum(shape))
    values = generator.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.normal(size=shape)
    return values.astype(dtype)


def products_of(run):
    before = parakeet.memory_info(HERE).products
    result = run()
    return result, parakeet.memory_info(HERE).products - before


def check(function, *arguments, products=1, dtype=np.float64):
    """The function jitted gives what it gives plainly, by that many products of the library."""
    expected = function(*map(copy.deepcopy, arguments))
    result, count = products_of(lambda: function_for(function)(*arguments, target=HERE))
    assert count == products or not IS_EMULATED
    tolerance = TOLERANCE.get(dtype, 1e-10)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * 30)
    assert np.asarray(result).dtype == np.asarray(expected).dtype


_jitted = {}


def function_for(function):
    return _jitted.setdefault(function, jit(function))


def product(a, b):
    return a @ b


def adjoint(a, b):
    return a.conj().T @ b.T


def dots(a, b):
    return np.array([[np.dot(x, y) for y in b] for x in a])


def loops(a, b):
    result = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            result[i, j] = total
    return result


def layer(a, b, bias):
    return np.tanh(a @ b + bias)


def positive(a, b):
    return a @ b > 0.0


def stored(a, b, c):
    c[:] = a @ b
    return c


def added(a, b, c):
    c += a @ b
    return c


def both(a, b):
    c = a @ b
    return c, np.exp(-c * c)


def scaled(a, b, factor):
    return (factor * a) @ b


def weighted(a, weights, b):
    return np.array([[np.sum(x * weights * y) for y in b.T] for x in a])


def folded(a, b):
    return np.einsum("abk,kc->abc", a, b)


def crossed(a, b):
    return np.einsum("abk,kc->bac", a, b)


def in_time(a, b):
    for _ in range(3):
        b = a @ b
    return b


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_every_dtype(dtype):
    a, b = numbers(dtype, N, L), numbers(dtype, L, M)
    check(product, a, b, dtype=dtype)
    check(adjoint, numbers(dtype, L, N), numbers(dtype, M, L), dtype=dtype)


def test_operands_in_every_order():
    a, b = numbers(float, N, L), numbers(float, L, M)
    wide, tall = numbers(float, N, 2 * L), numbers(float, 3 * L, M)
    for left in (a, np.asfortranarray(a), wide[:, 5:5 + L], numbers(float, L, N).T,
                 numbers(float, 2 * N, L)[::2]):
        for right in (b, np.asfortranarray(b), tall[::3], numbers(float, M + 9, L).T[:, 9:]):
            check(product, left, right)


def test_operands_that_no_library_takes():
    a, b = numbers(float, N, L), numbers(float, L, M)
    for left in (numbers(float, N, 2 * L)[:, ::2], a[::-1], a[:, ::-1],
                 np.broadcast_to(numbers(float, L), (N, L)),
                 np.lib.stride_tricks.sliding_window_view(numbers(float, N + L - 1), L)):
        check(product, left, b, products=0)
    check(product, np.arange(N * L).reshape(N, L), np.arange(L * M).reshape(L, M), products=0)
    check(product, a[:3], b, products=0)  # few terms
    check(product, a[:0], b, products=0)
    check(product, numbers(float, 200, 0), numbers(float, 0, 300), products=0)


def test_however_a_product_is_written():
    a, b = numbers(float, N, L), numbers(float, L, M)
    check(dots, a, b.T)
    check(dots, a, np.ascontiguousarray(b.T))
    check(loops, a, b)
    check(in_time, numbers(float, N, N) / N, numbers(float, N, M), products=3)


def test_what_follows_a_product():
    a, b = numbers(np.float32, N, L), numbers(np.float32, L, M)
    check(layer, a, b, numbers(np.float32, M), dtype=np.float32)
    check(positive, numbers(float, N, L), numbers(float, L, M))
    a, b = numbers(float, N, L), numbers(float, L, M)
    check(stored, a, b, numbers(float, N, M))
    check(stored, a, b, numbers(float, M, N).T)
    check(added, a, b, numbers(float, N, 2 * M)[:, ::2])
    check(both, a, b)


def test_factors_that_are_made_first():
    # Larger: what is made in vain costs a kernel.
    a, b = numbers(float, 130, 128), numbers(float, 128, 140)
    check(scaled, a, b, 3.0)
    check(weighted, a, numbers(float, 128), b)
    check(product, a.astype(np.float32), b)
    check(scaled, a[:90], b, 3.0, products=0)


def test_batches():
    a, b = numbers(float, 5, N, L), numbers(float, 5, L, M)
    check(product, a, b)
    check(product, a[::2], b[::2])
    check(product, a.transpose(1, 0, 2).copy().transpose(1, 0, 2), b)
    check(folded, a, b[0])
    check(crossed, a, b[0])


def test_it_can_be_switched_off(monkeypatch):
    a, b = numbers(float, N, L), numbers(float, L, M)
    monkeypatch.setattr(parakeet.config, "cublas", False)
    check(product, a, b, products=0)
    assert cuda_libraries.why_no_cublas().endswith("config.cublas is False")
    monkeypatch.setattr(parakeet.config, "cublas", True)
    check(product, a, b)
    monkeypatch.setattr(parakeet._core, "count_gpus", lambda: (1, ""))
    monkeypatch.setattr(parakeet._core, "find_cublas", lambda: ("", "there is none"))
    assert cuda_libraries.why_no_cublas().startswith("not left to cuBLAS: there is none; pip ")
    monkeypatch.setattr(parakeet._core, "find_cublas", lambda: ("/here/libcublas.so.12", ""))
    assert cuda_libraries.why_no_cublas() == ""


def test_explain_says_so():
    a = numbers(float, N, N)
    (row,) = function_for(product).explain(a, a, target=HERE).rows
    assert row.route == "cuBLAS where it is found, else tiles of 64 by 64"
    assert not row.reasons or not IS_EMULATED  # A GPU's may say why it is not found.
    integers = np.ones((N, N), int)
    (row,) = function_for(product).explain(integers, integers, target=HERE).rows
    assert row.route == "tiles of 64 by 64"


def test_products_of_device_arrays_stay_there():
    a, b = numbers(float, N, L), numbers(float, L, M)
    there = parakeet.asarray(a, device=HERE), parakeet.asarray(b, device=HERE)
    result, count = products_of(lambda: function_for(product)(*there))
    assert count == 1 or not IS_EMULATED
    np.testing.assert_allclose(np.asarray(result), a @ b, rtol=1e-10, atol=1e-9)


@pytest.mark.skipif(not GPUS, reason="no CUDA device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_cublas_has_the_same_answers(dtype):
    compiled = function_for(product)
    lefts = numbers(dtype, 150, 190), numbers(dtype, 190, 150).T, numbers(dtype, 150, 300)[:, 9:199]
    rights = numbers(dtype, 190, 170), numbers(dtype, 170, 190).T, numbers(dtype, 380, 170)[::2]
    compiled(lefts[0], rights[0], target=GPUS[0])
    is_found = bool(parakeet._core.find_cublas()[0])
    tolerance = TOLERANCE.get(dtype, 1e-10)
    for left in lefts:
        for right in rights:
            before = parakeet.memory_info(GPUS[0]).products
            result = compiled(left, right, target=GPUS[0])
            assert (parakeet.memory_info(GPUS[0]).products > before) == is_found
            np.testing.assert_allclose(result, left @ right, rtol=tolerance, atol=tolerance * 100)
            assert compiled(left, right, target=GPUS[0]).tobytes() == result.tobytes()
    stacked = numbers(dtype, 7, 90, 90)
    result = compiled(stacked, stacked, target=GPUS[0])
    np.testing.assert_allclose(result, stacked @ stacked, rtol=tolerance, atol=tolerance * 100)


def test_where_cublas_is_looked_for(tmp_path, monkeypatch):
    packages, toolkit = tmp_path / "site-packages", tmp_path / "cuda"
    for folder, name in (("nvidia/cublas/lib", "libcublas.so.12"),
                         ("nvidia/cu13/lib", "libcublas.so.13")):
        (packages / folder).mkdir(parents=True)
        (packages / folder / name).touch()
    (toolkit / "lib64").mkdir(parents=True)
    (toolkit / "lib64" / "libcublas.so.12").touch()
    monkeypatch.setattr(sys, "path", [str(packages)])
    monkeypatch.setenv("CUDA_HOME", str(toolkit))
    files = cuda_libraries.cublas_files()
    assert [file for file in files if file.startswith(str(tmp_path))] == [
        f"{packages}/nvidia/cu13/lib/libcublas.so.13",
        f"{packages}/nvidia/cublas/lib/libcublas.so.12",
        f"{toolkit}/lib64/libcublas.so.12",
    ]
    assert files[-2:] == ["libcublas.so.13", "libcublas.so.12"]
    with pytest.raises(TypeError):
        parakeet._core.set_cublas_files([3])
