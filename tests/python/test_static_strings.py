"""Strings that are known at compile time, asked as Python asks them; sets of what may be."""

import numpy as np
import pytest
from agreement import check_agreement

from parakeet import jit

X = np.arange(5.0)


def by_lower_case(x, mode):
    if mode.strip().lower() == "same":
        return x
    if mode.startswith(("va", "in")) and mode.endswith("d") or "full" in mode:
        return x[1:-1]
    return x * mode.count("e") + mode.find("x")


@pytest.mark.parametrize("mode", ["same", " Same ", "valid", "fullest", "reflex", ""])
def test_methods(mode):
    check_agreement(jit(by_lower_case), by_lower_case, lambda: (X, mode))


def by_kind(x):
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    if x.dtype.kind not in "fc":
        raise TypeError("no number")
    return x / 2


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex128"])
def test_letters_in_a_string(dtype):
    check_agreement(jit(by_kind), by_kind, lambda: (X.astype(dtype),))


def one_of_a_string(x):
    return 3 in "abc"


def replaced_wrongly(x, mode):
    return x if mode.replace("a") == "b" else -x


@pytest.mark.parametrize(("f", "given"), [(one_of_a_string, (X,)), (replaced_wrongly, (X, "abc"))])
def test_what_python_raises(f, given):
    check_agreement(jit(f), f, lambda: given)


def of_sets(x, n, mode):
    if mode not in {"mean", "sum"}:
        raise ValueError(f"mode must be mean or sum, not {mode!r}")
    kept = np.array([v for v in x if v not in {1, 3.0}])
    return n in {1, 2, 3}, kept.sum() if mode == "sum" else kept.mean()


@pytest.mark.parametrize(("n", "mode"), [(2, "mean"), (7, "sum"), (np.int8(3), "max")])
def test_what_is_in_a_set(n, mode):
    check_agreement(jit(of_sets), of_sets, lambda: (X, n, mode))
