"""The methods of NumPy's element-wise functions of two operands: reduce, accumulate, outer, at."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, moveaxis, normalize_axes, strong, sum_type
from parakeet.library.reductions import finish, mask_of, where_or
from parakeet.library.registry import ufunc_methods
from parakeet.library.ufuncs import give
from parakeet.operators import imap, reduce, scan

# Of functions that may combine in any order: by name, what each leaves as it is. None of those that
# have no such number.
_ADDS = ("add", "logical_or", "logical_xor", "bitwise_or", "bitwise_xor", "hypot", "gcd")
_MULTIPLIES = ("multiply", "logical_and")
_ADDS_LOGARITHMS = ("logaddexp", "logaddexp2")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")
_PICKS = ("maximum", "minimum", "fmax", "fmin")


def identity_of(name):
    if name in _ADDS:
        return 0
    if name in _MULTIPLIES:
        return 1
    if name == "bitwise_and":
        return -1
    if name in _ADDS_LOGARITHMS:
        return -np.inf
    return None


def identity_in(name, dtype):
    """Of that dtype: what has all its bits set is -1 among signed integers alone."""
    if name == "bitwise_and":
        return ~astype(0, dtype)
    identity = identity_of(name)
    return None if identity is None else astype(identity, dtype)


def is_reorderable(name):
    return identity_of(name) is not None or name in _PICKS


def require_binary(f, method):
    if f.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")


def loop_array(f, array, dtype):
    """The array in the dtype that f gives for two elements of it."""
    x = asarray(array)
    if dtype is not None:
        x = asarray(x, dtype)
        one = astype(1, x.dtype)
        if f(one, one).dtype != x.dtype:
            raise TypeError("No loop matching the specified signature and casting was found")
        return x
    if f.__name__ == "add" or f.__name__ == "multiply":
        return asarray(x, sum_type(x.dtype))
    one = astype(1, x.dtype)
    made = f(one, one)
    if made.dtype == bool and x.dtype != bool and f.__name__ not in _LOGICAL:
        raise TypeError("No loop matching the specified signature and casting was found")
    return asarray(x, made.dtype)


def fold(f, x, init, where):
    """Along the first axis, from the left, for an f that another order would change."""
    if init is None and x.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation which has no identity")
    begin = 1 if init is None else 0
    total = x[0] if init is None else astype(init, x.dtype)
    if init is not None and x.ndim > 1:
        total = np.full(x.shape[1:], total)
    for i in range(begin, x.shape[0]):
        step = f(total, x[i])
        total = step if where is None else np.where(where[i], step, total)
    return total


def fold_along(f, x, axis, init, where):
    axes = normalize_axes(axis, x.ndim)
    if len(axes) > 1:
        raise ValueError("reduction operation is not reorderable, so at most one axis may be "
                         "specified")
    mask = None if where is None else moveaxis(np.broadcast_to(where, x.shape), axes[0], 0)
    return fold(f, moveaxis(x, axes[0], 0), init, mask)


def reduce_by(f, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    require_binary(f, "reduce")
    x = loop_array(f, array, dtype)
    mask = mask_of(where)
    identity = identity_in(f.__name__, x.dtype)
    first = identity if initial is None else initial
    if mask is not None and first is None:
        raise ValueError("reduction operation does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    if first is not None:
        first = astype(first, x.dtype)
    if x.ndim == 0:
        if axis is not None:
            normalize_axes(axis, 1)
        total = x[()] if initial is None else f(first, x[()])
    elif is_reorderable(f.__name__):
        passed_over = first if identity is None else identity
        total = reduce(f, where_or(x, mask, passed_over), axis=axis, init=first)
    else:
        total = fold_along(f, x, axis, first, mask)
    return finish(total, axis, keepdims, x.ndim, out)


def prefixes_from_left(f, x):
    """Along the first axis."""
    made = np.empty(x.shape, x.dtype)
    if x.shape[0] > 0:
        made[0] = x[0]
    for i in range(1, x.shape[0]):
        made[i] = f(made[i - 1], x[i])
    return made


def accumulate_by(f, array, axis=0, dtype=None, out=None):
    require_binary(f, "accumulate")
    x = loop_array(f, array, dtype)
    if x.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    if is_reorderable(f.__name__):
        return give(scan(f, x, axis=axis), out)
    return give(moveaxis(prefixes_from_left(f, moveaxis(x, axis, 0)), 0, axis), out)


def outer_by(f, A, B, /, out=None, where=True, casting="same_kind", order="K", dtype=None):
    require_binary(f, "outer product")
    a = strong(A)
    b = strong(B)
    rows = a if b.ndim == 0 else asarray(a)[(...,) + (None,) * b.ndim]
    return f(rows, b, out=out, where=where, casting=casting, order=order, dtype=dtype)


def at_by(f, a, indices, b=None, /):
    """One place after the other, so that a place that is named twice takes part twice. Places and
    values are what they are before: they may be parts of `a`."""
    if isinstance(indices, tuple) and has_array(indices):
        at_places(f, a, places_along_axes(indices), b)
        return
    if isinstance(indices, (int, slice, tuple)):
        a[indices] = f(a[indices]) if b is None else f(a[indices], b)
        return
    places = asarray(indices)
    if places.dtype == bool:
        a[places] = f(a[places]) if b is None else f(a[places], b)
        return
    places = places.copy()
    values = None if b is None else np.broadcast_to(np.array(b), places.shape + a.shape[1:])
    for place in np.ndindex(places.shape):
        i = places[place]
        a[i] = f(a[i]) if b is None else f(a[i], values[place])


def has_array(indices):
    for index in indices:
        if not isinstance(index, slice) and asarray(index).ndim > 0:
            return True
    return False


def places_along_axes(indices):
    """An array for each axis that is indexed, all of one shape."""
    for index in indices:
        if isinstance(index, slice):
            raise NotImplementedError("at() takes arrays, or slices, not both")
        if asarray(index).dtype == bool:
            raise NotImplementedError("at() takes a mask by itself, not among other indexes")
    return [places.copy() for places in np.broadcast_arrays(*indices)]


def at_places(f, a, indices, b):
    shape = indices[0].shape + a.shape[len(indices) :]
    values = None if b is None else np.broadcast_to(np.array(b), shape)
    for place in np.ndindex(indices[0].shape):
        i = ()
        for index in indices:
            i = i + (index[place],)
        a[i] = f(a[i]) if b is None else f(a[i], values[place])


def reduce_between(f, rows, start, stop):
    """Of rows[start:stop], or rows[start] where that is nothing."""
    total = rows[start]
    for i in range(start + 1, stop):
        total = f(total, rows[i])
    return total


def reduceat_by(f, array, indices, axis=0, dtype=None, out=None):
    require_binary(f, "reduceat")
    x = loop_array(f, array, dtype)
    rows = moveaxis(x, axis, 0)
    places = asarray(indices, np.int64)
    n = rows.shape[0]
    count = places.shape[0]
    for place in places:
        if place < 0 or place >= n:
            raise IndexError(f"index {place} out-of-bounds in {f.__name__}.reduceat [0, {n})")

    def between(k):
        stop = n
        if k + 1 < count:
            stop = places[k + 1]
        return reduce_between(f, rows, places[k], stop)

    return give(moveaxis(imap(between, count), 0, axis), out)


ufunc_methods.update(
    reduce=reduce_by, accumulate=accumulate_by, outer=outer_by, at=at_by, reduceat=reduceat_by
)
