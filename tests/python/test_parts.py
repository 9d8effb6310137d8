"""z.real and z.imag of a complex array are views: they show what is stored to z later, and what is
stored to them is stored to z."""

import numpy as np
import pytest
from agreement import check_agreement

import parakeet
from parakeet import jit

Z = np.array([1 + 2j, 3 - 4j, -5 + 6j])


def shown(z):
    real, imag = z.real, z.imag
    before = real.sum()
    z[0] = 50
    z *= 2j
    return real + 0, imag[1:].copy(), before, real[0], sum(v for v in real)


def stored(z):
    z.imag[0] = 7
    z.real[1:] *= 3
    z.T.real[2] -= 1
    real = z.real
    real += 2
    real[0] = 9
    real[np.array([1, 2])] = np.array([4.0, 5.0])
    real[real > 4.5] = 0
    return real.max()


def in_a_loop(z):
    imag = z.imag
    for i in range(1, len(z)):
        z[i] = z[i - 1] * 1j
        imag[i] += imag[i - 1]


@pytest.mark.parametrize("program", [shown, stored, in_a_loop])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_on_the_interpreter(program, dtype):
    check_agreement(jit(program), program, lambda: (Z.astype(dtype),), targets=("interpreter",))


def test_compiled():
    def all_of_them(z, w, v):
        return shown(z), stored(w), in_a_loop(v)

    check_agreement(jit(all_of_them), all_of_them, lambda: (Z.copy(), Z.copy(), Z.copy()))


def clear(part):
    part[:] = 0


def put(part, index, value):
    part[index] = value
    return part * 2


def add_both(a, b):
    a += 1
    b[0] = a.sum()
    return a[1] + b[0]


def handed_on(z):
    clear(z.real)
    before = put(z.imag, 1, 9.0)
    real = z[1:].real
    later = (lambda value: put(real, 0, value))(4.0)
    for i in range(3):
        put(z.imag[i:], 0, i * 1.0)
    both = add_both(z.real, z.imag)
    return before, later, real, both, z


@pytest.mark.parametrize("targets", [("interpreter",), ("serial", "parallel")], ids=str)
def test_a_function_stores_to_the_part_that_it_is_given(targets):
    check_agreement(jit(handed_on), handed_on, lambda: (Z.copy(),), targets=targets)


def test_a_store_to_a_part_that_a_path_has_chosen_is_refused():
    def f(z, flag):
        part = z.real if flag > 0 else z.imag
        part[:] = 0

    with pytest.raises(parakeet.Limitation, match="real and imaginary parts"):
        jit(f)(Z.copy(), 1.0)
