"""Growing lists, as parakeet.growing_lists writes them: an array with room, or one for each part of
the tuples that are appended, and how many elements count. None stands for no array yet."""

import numpy as np

from parakeet.library.intrinsics import asarray, broadcast_to, promote_types, result_type
from parakeet.library.registry import functions


def dtype_of(item):
    given = asarray(item)
    if given.ndim > 0:
        raise NotImplementedError("a growing list of arrays: store them as rows of one array")
    return given.dtype


def is_full(buffer, count, item):
    """Whether one more has no room, or is of a dtype that the array does not hold."""
    if buffer is None:
        return True
    if isinstance(buffer, tuple):
        full = False
        for part, one in zip(buffer, item, strict=True):
            full = full or is_full(part, count, one)
        return full
    if promote_types(buffer.dtype, dtype_of(item)) != buffer.dtype:
        return True
    return count == buffer.shape[0]


def grown(buffer, count, item):
    if isinstance(item, tuple):
        if buffer is None:
            return tuple([grown(None, count, one) for one in item])
        return tuple([grown(part, count, one) for part, one in zip(buffer, item, strict=True)])
    if buffer is None:
        return np.empty(8, dtype_of(item))
    wider = np.empty(max(2 * count, 8), promote_types(buffer.dtype, dtype_of(item)))
    wider[:count] = buffer[:count]
    return wider


def put(buffer, place, item):
    if isinstance(buffer, tuple):
        for part, one in zip(buffer, item, strict=True):
            part[place] = one
    else:
        buffer[place] = item


def is_pythons(number):
    """Whether it is a number of Python's, which takes on the dtype of what it meets."""
    if isinstance(number, int):
        return True
    dtype = asarray(number).dtype
    if dtype == np.float64:
        return result_type(np.float32, number) == np.float32
    return dtype == np.complex128 and result_type(np.complex64, number) == np.complex64


def as_like(number, like):
    """A number of Python's where `like` is one."""
    if not is_pythons(like):
        return number
    kind = asarray(number).dtype.kind
    if kind == "b":
        return bool(number)
    if kind == "f":
        return float(number)
    return complex(number) if kind == "c" else int(number)


def element(buffer, place, like):
    if buffer is None:
        raise IndexError("pop from empty list")
    if isinstance(buffer, tuple):
        return tuple([as_like(part[place], one) for part, one in zip(buffer, like, strict=True)])
    return as_like(buffer[place], like)


def place_of(count, index, message):
    if index < -count or index >= count:
        raise IndexError(message)
    return index + count if index < 0 else index


def at(buffer, count, index, like):
    if buffer is None:
        raise IndexError("list index out of range")
    return element(buffer, place_of(count, index, "list index out of range"), like)


def store(buffer, count, index, item):
    message = "list assignment index out of range"
    if buffer is None:
        raise IndexError(message)
    if is_full(buffer, -1, item):
        raise NotImplementedError("a store to a list of what its elements' dtype does not hold")
    put(buffer, place_of(count, index, message), item)


def elements(buffer, count):
    """As the array that NumPy makes of the list."""
    if buffer is None:
        return np.zeros(0)
    if isinstance(buffer, tuple):
        return np.stack([part[:count] for part in buffer], axis=1)
    return buffer[:count]


def given(buffer, count):
    """To a function, which may not store into it: that would not be seen in the list."""
    made = np.copy(elements(buffer, count))
    return broadcast_to(made, made.shape)


def part_like(part, count, like):
    part = part[:count]
    return [as_like(number, like) for number in part] if is_pythons(like) else part


def items(buffer, count, like):
    """What a loop goes through."""
    if buffer is None:
        return ()
    if isinstance(buffer, tuple):
        return zip(*[part_like(part, count, one)
                     for part, one in zip(buffer, like, strict=True)], strict=True)
    return part_like(buffer, count, like)


def contains(buffer, count, item):
    if buffer is None:
        return False
    if isinstance(buffer, tuple):
        same = np.ones(count, bool)
        for part, one in zip(buffer, item, strict=True):
            same = same & (part[:count] == one)
        return bool(np.any(same))
    return bool(np.any(buffer[:count] == item))


def copied(part):
    return np.copy(part)


functions.update(
    list_is_full=is_full, list_grown=grown, list_put=put, list_element=element, list_at=at,
    list_store=store, list_elements=elements, list_given=given, list_items=items,
    list_contains=contains,
    list_copy=copied)
