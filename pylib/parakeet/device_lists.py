"""Lists of arrays on a device as arguments of jitted functions: a list is one array there, as
`np.array` would make it, which is put together where its parts are."""

import numpy as np

from parakeet import _core
from parakeet.targets import name_of


def device_arrays_among(values):
    """The arrays on a device among values, in tuples and lists too, that are no numbers."""
    for value in values:
        if isinstance(value, _core.DeviceArray):
            if not value._is_number:
                yield value
        elif isinstance(value, (tuple, list)):
            yield from device_arrays_among(value)


def with_items(container, items):
    """A tuple or list like that one with other items."""
    if hasattr(container, "_make"):  # of names
        return container._make(items)
    return tuple(items) if isinstance(container, tuple) else list(items)


def stacked(values):
    """The list as one array on the device of the first array in it, in C order; None where it is no
    array of numbers. A call that gives the array back gives back the list.

    Raises ValueError for arrays on several devices, MemoryError where the device is full.
    """
    leaves = []
    shape = _shape(values, leaves)
    dtype = None if shape is None else _dtype(leaves)
    if dtype is None or dtype.char not in "?bBhHiIlLqQefdFD":
        return None
    number = next(device_arrays_among(values))._number
    bytes_of_all = dtype.itemsize * int(np.prod(shape, dtype=object))
    owner, address = _core.device_allocate(number, bytes_of_all)
    addresses = _core.array_at(owner, address, shape, dtype.str, None, False)
    made = _core.DeviceArray(addresses, number, -1, values)
    _store(made, values, name_of(number))
    return made


def _shape(value, leaves):
    """The shape of a value, whose leaves are appended; None where rows differ in theirs."""
    if not isinstance(value, (tuple, list)):
        leaves.append(value)
        return np.shape(value)
    shapes = [_shape(item, leaves) for item in value]
    is_even = None not in shapes and all(shape == shapes[0] for shape in shapes)
    return (len(value), *(shapes[0] if shapes else ())) if is_even else None


def _dtype(leaves):
    """What NumPy's array() gives such elements: Python's numbers count as those of their size."""
    kinds = [leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype for leaf in leaves]
    try:
        return np.result_type(*kinds)
    except TypeError:
        return None


def _store(place, value, target):
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            _store(place[i], item, target)
        return
    global _fill
    if _fill is None:
        from parakeet.jit import jit

        _fill = jit(_filled)
    _fill(place, value, target=target)


def _filled(place, value):
    place[...] = value


_fill = None
