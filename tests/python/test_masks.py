"""What is done with the elements that a mask keeps, in the traversal that finds them."""

import numpy as np
import pytest
from tested_targets import TARGETS

from parakeet import jit


def reductions(x, y, m):
    kept = x[m]
    both = x[m] * y[m]
    return (
        kept.sum(),
        x[m].mean(),
        both.sum(),
        (x[x > 0.25]).size,
        x[(x > 0.25) & (y < 0.75)].prod(),
        np.sqrt(y[m] + 1.0).max(initial=0.0),
        np.count_nonzero(x[m] > 0.5),
        kept,
        np.sum(x[m] - y[~m][: np.sum(m)]) if np.sum(m) == np.sum(~m) else 0.0,
    )


def stores(x, y, m):
    x[m] = x[m] ** 2 + y[m]
    y[y > 0.5] += 1.0
    y[m] -= x[m].sum()
    shifted = x[1:]
    shifted[x[1:] > 0.5] = x[:-1][x[1:] > 0.5]
    x[x < 0.1] = y[x < 0.1] + x[x < 0.1]
    return shifted


def rows(a, m):
    a[m] = a[m] * 2.0
    return a[m].sum(), a[m].max(initial=0.0), a[:, 0][m].sum(), a[m].sum(axis=0)


CASES = [((size,), "some") for size in (0, 1, 7, 40, 5000)]
CASES += [((40,), kind) for kind in ("none", "all", "one")]


def mask_of(rng, shape, kind):
    mask = {"none": np.zeros, "all": np.ones}.get(kind, np.zeros)(shape, dtype=bool)
    if kind == "one":
        mask[3] = True
    return rng.random(shape) < 0.4 if kind == "some" else mask


def check(function, arguments, target):
    ours = [a.copy() for a in arguments]
    theirs = [a.copy() for a in arguments]
    with np.errstate(all="ignore"):
        wanted = function(*theirs)
    got = jit(function)(*ours, target=target)
    wanted, got = (r if isinstance(r, tuple) else (r,) for r in (wanted, got))
    for g, w in zip(got + tuple(ours), wanted + tuple(theirs), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12)
        assert np.asarray(g).dtype == np.asarray(w).dtype


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.sampled(2, "function", "shape", "kind", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "kind"), CASES)
@pytest.mark.parametrize("function", [reductions, stores])
def test_kept_elements_are_those_of_numpy(function, shape, kind, target):
    rng = np.random.default_rng(1)
    check(function, [rng.random(shape), rng.random(shape), mask_of(rng, shape, kind)], target)


@pytest.mark.sampled(2, "shape", "order", "target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (9, 5), (1, 6)])
def test_masks_of_two_axes(shape, order, target):
    def function(x, y, m):
        x[m] = y[m] * 0.5 + x[m]
        total = x[m].sum()
        y[x > 0.5] = 0.0
        return total, x[m], y[m].size

    rng = np.random.default_rng(2)
    arrays = [rng.random(shape), rng.random(shape), rng.random(shape) < 0.4]
    if order == "F":
        arrays = [np.asfortranarray(a) for a in arrays]
    if order == "strided":
        arrays = [np.repeat(a, 2, axis=1)[:, ::2] for a in arrays]
    check(function, arrays, target)


@pytest.mark.parametrize("target", TARGETS)
def test_masks_of_rows(target):
    rng = np.random.default_rng(3)
    check(rows, [rng.random((6, 5)), rng.random(6) < 0.5], target)


@pytest.mark.parametrize("target", TARGETS)
def test_masks_of_three_axes(target):
    def function(x, m):
        x[m] = np.exp(x[m])
        return x[m].sum()

    rng = np.random.default_rng(4)
    check(function, [rng.random((3, 4, 5)), rng.random((3, 4, 5)) < 0.5], target)


def test_arrays_that_overlap():
    @jit
    def function(x, y, m):
        x[m] = y[m] * 2.0

    whole = np.arange(12.0)
    expected = whole.copy()
    mask = np.arange(11) % 3 == 0
    expected[1:][mask] = expected[:-1][mask] * 2.0
    function(whole[1:], whole[:-1], mask)
    np.testing.assert_array_equal(whole, expected)


def test_different_masks_of_one_count_do_not_mix():
    @jit
    def function(x, a, b):
        return (x[a] * x[b]).sum()

    x = np.arange(10.0)
    a, b = x < 4, x > 5
    assert function(x, a, b) == (x[a] * x[b]).sum()
    with pytest.raises(ValueError, match="broadcast"):
        function(x, a, x > 6)


def test_a_masked_sum_leaves_no_filter():
    @jit
    def function(x):
        return x[x > 0.5].sum()

    function(np.arange(4.0), target="serial")
    assert "ifilter" not in function.ir(stage="fuse-filters")


def updated(a, m, c):
    a[m] += c
    a[a > 3] -= 1
    a[m & (a < 2)] *= 2
    return a


def quotients(a, m, c):
    a[m] /= c
    a[~m] = a[~m] + c
    return a


def bits(a, m, c):
    a[m] |= 5
    a[a > 2] ^= c
    a[m] //= 2
    a[~m] **= 2
    return a


@pytest.mark.parametrize("function, dtype, number", [
    (updated, np.float64, 0.5), (updated, np.int64, 2), (updated, np.uint8, 3),
    (updated, np.float32, np.float64(0.25)), (updated, np.complex128, 1),
    (quotients, np.float32, 3), (bits, np.int32, 7), (bits, np.uint8, 1),
])  # fmt: skip
def test_numbers_put_to_what_a_mask_keeps(function, dtype, number):
    rng = np.random.default_rng(7)
    for order in "CF":
        a = rng.integers(0, 6, (9, 14)).astype(dtype, order=order)
        m = rng.random((9, 14)) > 0.6
        expected = function(a.copy(order="K"), m, number)
        for target in TARGETS:
            for given in (a.copy(order="K"), np.repeat(a, 2, axis=1)[:, ::2]):
                result = jit(function)(given, m, number, target=target)
                assert result.dtype == expected.dtype
                np.testing.assert_array_equal(result, expected)
                np.testing.assert_array_equal(given, expected)


def by_what_the_call_changes(a, m):
    a[m] += first_doubled(a)
    return a


def first_doubled(a):
    a[0] *= 2
    return a[0]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_kept_is_read_before_the_right_side_changes_it(target):
    a, m = np.arange(5.0) + 1, np.array([True, False, True, True, False])
    result = jit(by_what_the_call_changes)(a.copy(), m, target=target)
    np.testing.assert_array_equal(result, by_what_the_call_changes(a.copy(), m))


def added_under(a, m, c):
    a[m] += c
    return a


def test_refusals_of_updates_under_masks():
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    whole, mask = np.arange(4), np.arange(4) > 1
    for a, m, c, kind in ((fixed, mask, 1.0, ValueError), (whole, mask, 0.5, TypeError),
                          (whole, mask[:3], 1, IndexError)):
        with pytest.raises(kind) as expected:
            added_under(a, m, c)
        for target in TARGETS:
            with pytest.raises(kind) as raised:
                jit(added_under)(a, m, c, target=target)
            assert str(expected.value).split(" with ")[0] in str(raised.value)


def parts_updated(z, m):
    z.real[m] += 2.0
    z.imag[m] -= 1.5
    z.real[[0, 2]] *= np.array([3.0, 4.0])
    z.real[2:] -= 1.0
    z.imag[3] += 0.5
    return z


@pytest.mark.parametrize("target", TARGETS)
def test_updates_of_chosen_real_and_imaginary_parts(target):
    z, m = np.arange(5) + 1j, np.array([True, True, False, False, True])
    result = jit(parts_updated)(z.copy(), m, target=target)
    np.testing.assert_array_equal(result, parts_updated(z.copy(), m))
