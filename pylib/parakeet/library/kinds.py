"""What is known of arrays and dtypes before a value is."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, promote_types, result_type, strong
from parakeet.library.registry import overload


@overload(np.iscomplexobj)
def iscomplexobj(x):
    return strong(x).dtype.kind == "c"


@overload(np.isrealobj)
def isrealobj(x):
    return strong(x).dtype.kind != "c"


@overload(np.isscalar)
def isscalar(element):
    if isinstance(element, (tuple, list, np.ndarray, slice)) or element is None:
        return False
    return True


@overload(np.iterable)
def iterable(y):
    if isinstance(y, np.ndarray):
        return y.ndim > 0
    return isinstance(y, (tuple, list))


@overload(np.issubdtype)
def issubdtype(arg1, arg2):
    """Of dtypes, and of the classes that hold several of them."""
    one = astype(0, arg1)
    if arg2 is int:
        return one.dtype == np.int64
    if arg2 is bool:
        return one.dtype == np.bool_
    return isinstance(one, arg2)


@overload(np.common_type)
def common_type(*arrays):
    """The float dtype that holds all; integers count as float64."""
    made = result_type(np.float16)
    for array in arrays:
        kind = asarray(array).dtype.kind
        if kind == "b":
            raise TypeError("can't get common type for non-numeric array")
        given = np.float64 if kind == "i" or kind == "u" else asarray(array).dtype
        made = promote_types(made, given)
    return made


@overload(np.broadcast_shapes)
def broadcast_shapes(*args):
    shape = ()
    for one in args:
        sizes = one if isinstance(one, (tuple, list)) else (one,)
        shape = (np.empty(shape, bool) | np.empty(sizes, bool)).shape
    return shape
