"""The intrinsics that the library is written with, and the objects that are intrinsics."""

import builtins

import numpy as np

from parakeet import operators
from parakeet.library.registry import functions, methods, register


class Intrinsic:
    """A function that the front end itself knows. It means something inside jitted code only."""

    parakeet_kind = "intrinsic"

    def __init__(self, name):
        self.name = self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.name} can be called inside jitted code only")

    def __repr__(self):
        return f"<intrinsic {self.name}>"


# Views.
transpose = Intrinsic("transpose")
reshape = Intrinsic("reshape")
broadcast_to = Intrinsic("broadcast_to")
expand_dims = Intrinsic("expand_dims")
squeeze = Intrinsic("squeeze")
moveaxis = Intrinsic("moveaxis")
ascribe = Intrinsic("ascribe")  # x, shape: sizes that an earlier check made equal

# Arrays.
empty = Intrinsic("empty")  # shape, dtype, order
empty_like = Intrinsic("empty_like")  # x, dtype, order, shape
full = Intrinsic("full")  # shape, value, dtype, order
full_like = Intrinsic("full_like")  # x, value, dtype, order, shape
asarray = Intrinsic("asarray")  # x, dtype, order: no copy where x is such an array already
copy = Intrinsic("copy")  # x, order
astype = Intrinsic("astype")  # x, dtype, order
nonzero = Intrinsic("nonzero")
select = Intrinsic("where")  # condition, x, y
memory_order = Intrinsic("memory_order")  # "F" of an array whose first axis has the least stride
item = Intrinsic("item")
element_at = Intrinsic("element_at")  # x, place: of one axis, in range, which nothing checks
strong = Intrinsic("strong")  # a Python scalar becomes the NumPy scalar of its default dtype

# A routine of another library, by its row in ir/library_routines.def, and its operands, of which
# those that are written are new arrays; gives the routine's status.
library_call = Intrinsic("library_call")

# Bits of elements.
bitcast = Intrinsic("bitcast")  # x, dtype: its bits as those of another dtype of that width
popcount = Intrinsic("popcount")  # x, integers: how many bits are set, in its dtype

# Known at compile time.
result_type = Intrinsic("result_type")
promote_types = Intrinsic("promote_types")
sum_type = Intrinsic("sum_type")  # what NumPy's sums of a dtype accumulate in
float_type = Intrinsic("float_type")  # the dtype of arctan2 and its like of such operands
can_cast = Intrinsic("can_cast")  # from, to, casting
on_device = Intrinsic("on_device")  # whether a GPU will run what is compiled
finfo = Intrinsic("finfo")
iinfo = Intrinsic("iinfo")
normalize_axes = Intrinsic("normalize_axes")  # axis, rank: a tuple of axes from 0 on; None: all
# subscripts, ranks: for each operand of einsum and for the result a tuple of a number for each axis
einsum_labels = Intrinsic("einsum_labels")

_BUILTINS = """
    len min max sum all any range enumerate zip reversed tuple list slice abs int float bool complex
    round divmod pow isinstance
""".split()

for _name in _BUILTINS:
    register(Intrinsic(_name), getattr(builtins, _name))
register(operators.map, builtins.map)
register(operators.filter, builtins.filter)

register(Intrinsic("ndarray"), np.ndarray)
register(Intrinsic("ndindex"), np.ndindex)
for _function, _entry in {
    np.broadcast_to: broadcast_to,
    np.can_cast: can_cast,
    np.expand_dims: expand_dims,
    np.finfo: finfo,
    np.iinfo: iinfo,
    np.moveaxis: moveaxis,
    np.nonzero: nonzero,
    np.promote_types: promote_types,
    np.result_type: result_type,
    np.squeeze: squeeze,
}.items():
    register(_entry, _function)
    functions[_entry.name] = _entry
methods.update(item=item, nonzero=nonzero, squeeze=squeeze)
