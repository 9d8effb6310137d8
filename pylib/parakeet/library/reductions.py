"""Reductions along axes."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    broadcast_to,
    can_cast,
    expand_dims,
    memory_order,
    moveaxis,
    normalize_axes,
    on_device,
    reshape,
    result_type,
    select,
    strong,
    sum_type,
)
from parakeet.library.one_axis import along_one_axis, require_strict_axis
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
from parakeet.library.ufuncs import give
from parakeet.operators import imap, map, reduce
from parakeet.primitives import (
    add,
    greater,
    less,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiply,
)


def finish(result, axis, keepdims, rank, out):
    """The result of a reduction of an array of `rank`, in the shape and place asked for."""
    if isinstance(axis, list):
        raise TypeError("'list' object cannot be interpreted as an integer")
    if keepdims and rank > 0:
        result = expand_dims(result, normalize_axes(axis, rank))
    require_shape(out, strong(result))
    return give(result, out)


def require_shape(out, result):
    """Nothing is broadcast to the place of a reduction's result."""
    if out is None:
        return
    if out.ndim != result.ndim:
        raise ValueError(f"output parameter for reduction operation has the wrong number of "
                         f"dimensions: Found {out.ndim} but expected {result.ndim}")
    for k in range(out.ndim):
        if out.shape[k] != result.shape[k]:
            raise ValueError("non-broadcastable output operand: a reduction's result does not fit")


def count_along(x, axis):
    """How many elements each result combines."""
    if axis is None:
        return x.size
    count = 1
    if x.ndim == 0:
        return count
    for k in normalize_axes(axis, x.ndim):
        count *= x.shape[k]
    return count


def mask_of(where):
    """The mask as an array; None of True, which says nothing."""
    if where is None or (isinstance(where, bool) and where):
        return None
    return asarray(where, bool)


def where_or(x, where, otherwise):
    """`x`, with `otherwise` where the mask is false."""
    if where is None:
        return x
    return select(where, x, strong(otherwise).astype(x.dtype))


def reduced(f, x, axis, init):
    """The elements of all axes as they lie in memory."""
    if axis is None and memory_order(x) == "F":
        return reduce(f, x.T, init=init)
    return reduce(f, x, axis=axis, init=init)


def combine(f, x, axis, keepdims, out, init, where):
    where = mask_of(where)
    if where is not None and init is None:
        raise ValueError("reduction operation does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    if init is not None:
        init = astype(init, x.dtype)
        x = where_or(x, where, init)
    return finish(reduced(f, x, axis, init), axis, keepdims, x.ndim, out)


@overload(np.sum, method="sum")
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    x = asarray(a)
    x = where_or(asarray(x, sum_type(x.dtype) if dtype is None else dtype), mask_of(where), 0)
    total = reduced(add, x, axis, astype(initial, x.dtype))
    return finish(total, axis, keepdims, x.ndim, out)


@overload(np.prod, method="prod")
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    x = asarray(a)
    x = where_or(asarray(x, sum_type(x.dtype) if dtype is None else dtype), mask_of(where), 1)
    product = reduced(multiply, x, axis, astype(initial, x.dtype))
    return finish(product, axis, keepdims, x.ndim, out)


@overload(np.min, np.amin, method="min")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return extreme(minimum, a, axis, keepdims, out, initial, where)


@overload(np.max, np.amax, method="max")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return extreme(maximum, a, axis, keepdims, out, initial, where)


@overload(np.all, method="all")
def all(a, axis=None, out=None, keepdims=False, where=None):
    x = where_or(asarray(a, bool), mask_of(where), True)
    return finish(reduced(logical_and, x, axis, True), axis, keepdims, x.ndim, out)


@overload(np.any, method="any")
def any(a, axis=None, out=None, keepdims=False, where=None):
    x = where_or(asarray(a, bool), mask_of(where), False)
    return finish(reduced(logical_or, x, axis, False), axis, keepdims, x.ndim, out)


def wide_type(dtype):
    """What means of a dtype accumulate in: float16 in float32, integers in float64."""
    if dtype == np.float16:
        return np.float32
    return result_type(dtype, 1.0)


def count_where(x, axis, where):
    """How many elements each result combines, of those that the mask chooses."""
    if where is None:
        return count_along(x, axis)
    chosen = asarray(broadcast_to(where, x.shape), np.int64)
    return reduce(add, chosen, axis=axis, init=0)


def mean_of(x, axis, where):
    """The mean in the dtype that it accumulates in."""
    total = reduced(add, where_or(x, where, 0), axis, 0)
    count = count_where(x, axis, where)
    return total / count if where is None else total / count.astype(total.real.dtype)


def narrowed(result, dtype, given):
    """What accumulated in a wider dtype, in the one that was asked for or that was given."""
    if dtype is not None:
        return astype(result, dtype)
    return astype(result, given) if given == np.float16 else result


@overload(np.mean, method="mean")
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    x = asarray(a)
    if axis is not None:
        normalize_axes(axis, x.ndim)  # Of a number too, where sums let any axis pass.
    inner = wide_type(x.dtype) if dtype is None else dtype
    result = mean_of(asarray(x, inner), axis, mask_of(where))
    return finish(narrowed(result, dtype, x.dtype), axis, keepdims, x.ndim, out)


@overload(np.count_nonzero)
def count_nonzero(a, axis=None, keepdims=False):
    return sum(asarray(a, bool), axis=axis, keepdims=keepdims)


# Of a vector, whose blocks' best elements are looked through one by one; of blocks as long, the
# first best one is read again.
PLACES_AT_ONCE = 1024
SMALL_PLACES_AT_ONCE = 4096
DEVICE_PLACES_AT_ONCE = 8192
# In rows of small numbers, places are wider than what is compared.
SMALL_PLACES_IN_ROW = 256
# On an H200, of 10 million float32 pairs take 20 us and blocks as long, of 100 million 158 and 107;
# of a million 8 and 12. Of float64 pairs take no longer than memory.
MOST_SMALL_PAIRS = 10_000_000
BOOLS_ONE_BY_ONE = 16
BOOLS_TOGETHER = 1024


# argmin and argmax look for the best block of a vector first, and in it for the best element: its
# elements alone are compared in each lane. Rows, which are shorter, keep the best element with its
# place. On a GPU each further reduction is two kernels, and pairs cost no more than memory does,
# but of many small elements.


def first_place(x, best):
    """Along the last axis, where an element first is `best` or, of several, a nan. Some element is:
    the last place stands for those that are not, and the result is seen to be in range."""
    found = x == best
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        found = found | (x != x)
    n = x.shape[-1]
    # A part of a vector is not known to have elements.
    init = n - 1 if x.ndim == 1 else None
    return reduce(minimum, select(found, np.arange(n), n - 1), axis=-1, init=init)


def found_place(f, is_better, x, axis, keepdims, out):
    require_strict_axis(axis)
    along_one_axis(x, axis)
    if count_along(x, axis) == 0:
        name = "argmax" if is_better is greater else "argmin"
        raise ValueError(f"attempt to get {name} of an empty sequence")
    place = finish(place_along(f, is_better, x, axis), axis, keepdims, x.ndim, None)
    require_shape(out, strong(place))
    if out is not None and not can_cast(out.dtype, np.int64, "safe"):
        raise TypeError("Cannot cast array data from the output's dtype to dtype('int64') "
                        "according to the rule 'safe'")
    return give(place, out)


def place_by_pairs(is_better, x):
    """Of a vector of real numbers, in one reduction: the best with its place, and where the first
    nan is."""
    n = x.shape[0]
    best, place, odd = x[0], 0, n
    for i in range(n):
        if is_better(x[i], best):
            best, place = x[i], i
        if x.dtype.kind == "f":
            odd = minimum(odd, select(x[i] != x[i], i, n))
    return strong(select(odd < n, odd, place))


def place_in_row(is_better, x):
    """As place_by_pairs, where nans are rare: their place is looked for when there is one. The
    result is seen to be in range."""
    n = x.shape[0]
    best, place = x[0], 0
    if x.dtype.kind == "f":
        is_odd = False
        for i in range(n):
            if is_better(x[i], best):
                best, place = x[i], i
            is_odd = is_odd | (x[i] != x[i])
        if is_odd:
            place = 0
            while place < n - 1 and x[place] == x[place]:
                place += 1
        return minimum(place, n - 1)
    for i in range(n):
        if is_better(x[i], best):
            best, place = x[i], i
    return minimum(place, n - 1)


def places_along(place_of, x):
    """Along the last axis of an array."""
    if x.ndim == 1:
        return strong(place_of(x))
    return map(lambda row: places_along(place_of, row), x)


def place_in_parts(f, is_better, x, width):
    """Of a vector that is no float's, part by part."""
    n = x.shape[0]
    best, start, begin = x[0], 0, 0
    while begin < n:
        of_part = reduce(f, x[begin : minimum(begin + width, n)], init=x[begin])
        if is_better(of_part, best):
            best, start = of_part, begin
        begin += width
    return start + first_place(x[start : minimum(start + width, n)], best)


def bests_of(f, x, width):
    """Of a vector, the best element of each block."""
    n = x.shape[0]

    def best_of(b):
        # Beginning with an element of its own, it cannot be empty, and nothing is to be checked.
        first = x[maximum(minimum(b * width, n - 1), 0)]
        return reduce(f, x[b * width : minimum((b + 1) * width, n)], init=first)

    return imap(best_of, (n + width - 1) // width)


def place_in_device_blocks(f, x, width):
    """Of a vector: each element is read once, and those of the first best block again."""
    n = x.shape[0]
    bests = bests_of(f, x, width)
    best = reduce(f, bests)
    start = first_place(bests, best) * width
    # A GPU knows where the block begins, and need not tell the host.
    block = imap(lambda k: x[maximum(minimum(start + k, n - 1), 0)], width)
    return start + first_place(block, best)


def place_in_blocks(f, is_better, x, width):
    """The same on a CPU, where the few blocks are gone through as soon as they could be shared."""
    n = x.shape[0]
    bests = bests_of(f, x, width)
    best, first, b = x[0], 0, 0
    while b < bests.shape[0]:
        if is_better(bests[b], best):
            best, first = bests[b], b
        if x.dtype.kind == "f" and bests[b] != bests[b]:
            best, first = bests[b], b
            b = bests.shape[0]
        b += 1
    start = first * width
    return minimum(start + first_place(x[start : minimum(start + width, n)], best), n - 1)


def first_that_is(value, x):
    """Of a vector of bools, where it first is `value`; 0 where it never is. What begins with it is
    soon told, of the rest some elements are looked at together."""
    n = x.shape[0]
    start = 0
    while start < n and start < BOOLS_ONE_BY_ONE and x[start] != value:
        start += 1
    if start == n:
        return 0
    if x[start] == value:
        return start
    width = BOOLS_TOGETHER
    while start < n and not reduce(logical_or, x[start : minimum(start + width, n)] == value,
                                   init=False):
        start += width
    while start < n and x[start] != value:
        start += 1
    return start if start < n else 0


def place_of_complex(f, x):
    """Of a vector of complex numbers, by their parts, which have lanes: the best real part, the
    best imaginary part beside it, and the first that has both; the first nan if there is one."""
    if np.any(x != x):
        return first_place(x != x, True)
    best = reduce(f, x.real)
    worst = astype(-f(np.inf, -np.inf), best.dtype)
    beside = reduce(f, select(x.real == best, x.imag, worst))
    return first_place((x.real == best) & (x.imag == beside), True)


def is_by_parts(x):
    return x.dtype.kind == "c" and not on_device()


def extreme(f, x, axis, keepdims, out, initial, where):
    x = asarray(x)
    if is_by_parts(x) and axis is None and initial is None and where is None and x.size > 0:
        flat = reshape(x, -1)
        return finish(flat[place_of_complex(f, flat)], axis, keepdims, x.ndim, out)
    return combine(f, x, axis, keepdims, out, initial, where)


def passes_by(x, axis):
    """Whether threads of a GPU go along the axis side by side."""
    if not on_device() or axis is None or x.ndim < 2:
        return False
    axes = normalize_axes(axis, x.ndim)
    return len(axes) == 1 and axes != (x.ndim - 1,)


def place_along(f, is_better, x, axis):
    """The place of what f, minimum or maximum, gives along an axis that has elements."""
    is_passed_by = passes_by(x, axis)
    x = reshape(x, -1) if axis is None or x.ndim == 0 else moveaxis(x, axis, -1)
    if x.dtype == bool and not on_device():
        value = is_better(True, False)
        if x.ndim == 1:
            return strong(first_that_is(value, x))
        rows = reshape(x, (count_of(x.shape[:-1]), x.shape[-1]))
        return reshape(map(lambda row: first_that_is(value, row), rows), x.shape[:-1])
    if x.ndim == 1 and is_by_parts(x):
        return place_of_complex(f, x)
    if x.ndim == 1 and on_device() and x.dtype.kind in ("i", "u", "f"):
        if x.dtype.itemsize == 8 or x.shape[0] <= MOST_SMALL_PAIRS:
            return place_by_pairs(is_better, x)
    if x.ndim == 1 and on_device():
        return place_in_device_blocks(f, x, DEVICE_PLACES_AT_ONCE)
    if x.ndim == 1:
        width = PLACES_AT_ONCE if x.dtype.itemsize > 1 else SMALL_PLACES_AT_ONCE
        return place_in_blocks(f, is_better, x, width)
    # Rows that a GPU's threads hold in registers are gone through twice for nothing.
    if is_passed_by and x.dtype.kind in ("i", "u", "f"):
        return places_along(lambda row: place_by_pairs(is_better, row), x)
    if x.ndim == 2 and memory_order(x) == "F" and x.dtype.kind in ("i", "u", "f"):
        if not on_device():
            return places_along(lambda row: place_by_pairs(is_better, row), x)
    if not on_device() and x.dtype.kind in ("i", "u", "f") and x.dtype != np.float16:
        if x.dtype.itemsize == 1 and x.shape[-1] > 2 * SMALL_PLACES_IN_ROW:
            return places_along(
                lambda row: place_in_parts(f, is_better, row, SMALL_PLACES_IN_ROW), x)
        return places_along(lambda row: place_in_row(is_better, row), x)
    return first_place(x, expand_dims(reduce(f, x, axis=-1), -1))


@overload(np.argmin, method="argmin")
def argmin(a, axis=None, out=None, keepdims=False):
    return found_place(minimum, less, asarray(a), axis, keepdims, out)


@overload(np.argmax, method="argmax")
def argmax(a, axis=None, out=None, keepdims=False):
    return found_place(maximum, greater, asarray(a), axis, keepdims, out)
