"""The operators in plain Python, one element after the other: what target "python" runs."""

import inspect
import itertools
import math

import numpy as np

from parakeet import _core
from parakeet.host_copies import call_plain
from parakeet.targets import number_in_context, number_of


def is_asked_for(target=None):
    """Whether a call made here, with that `target=`, runs as plain Python."""
    python = number_of("python")
    if target is not None:
        return number_of(target) == python
    in_context = number_in_context()
    known = (number_of("serial"), number_of("parallel"), number_of("interpreter"), python)
    return (in_context if in_context in known else _core.get_default_target()) == python


def run_primitive(name, operands, **keywords):
    """On what the operands hold, where they are on a device."""
    return call_plain(_primitive, (name, operands), keywords)


def run_operator(name, arguments, keywords):
    return call_plain(_OPERATORS[name], arguments, keywords)


def _primitive(name, operands, **keywords):
    """NumPy's function of that name; erf and erfc, which it lacks, element by element."""
    if hasattr(np, name):
        return getattr(np, name)(*operands, **keywords)
    dtype = np.result_type(np.asarray(operands[0]), np.float16)
    result = np.vectorize(getattr(math, name), otypes=[dtype])(*operands)
    return result[()]


def _is_array(value):
    return np.ndim(value) > 0


def _axis_first(arrays, axis):
    """The arrays with `axis`, or each its own of a tuple, in front; numbers as they are."""
    axes = axis if isinstance(axis, (tuple, list)) else [axis] * len(arrays)
    return [np.moveaxis(np.asarray(a), k, 0) if _is_array(a) else a
            for a, k in zip(arrays, axes, strict=True)]


def _length(arrays):
    lengths = {len(a) for a in arrays if _is_array(a)}
    if len(lengths) != 1:
        raise ValueError(f"arrays have lengths {sorted(lengths)} along the axis")
    return lengths.pop()


def _at(arrays, i):
    return [a[i] if _is_array(a) else a for a in arrays]


def _stack(values, shape):
    """Results in the order of their index, as arrays that have `shape` in front."""
    if values and isinstance(values[0], tuple):
        return tuple(_stack([v[k] for v in values], shape) for k in range(len(values[0])))
    stacked = np.array(values)
    return stacked.reshape(shape + stacked.shape[1:])


def _map(f, *arrays, axis=0):
    if not any(_is_array(a) for a in arrays):
        return f(*arrays)
    if axis is None:
        spread = np.broadcast_arrays(*arrays)
        shape = spread[0].shape
        return _stack([f(*(a[i] for a in spread)) for i in np.ndindex(shape)], shape)
    moved = _axis_first(arrays, axis)
    n = _length(moved)
    return _stack([f(*_at(moved, i)) for i in range(n)], (n,))


def _required(f):
    """How many arguments a function has to be given."""
    parameters = inspect.signature(f).parameters.values()
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in parameters)


def _indexes(f, shape):
    """The shape as a tuple, and the arguments that f gets for each index."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    as_tuple = len(shape) != 1 and _required(f) == 1
    return shape, [(index,) if as_tuple else index for index in np.ndindex(shape)]


def _imap(f, shape):
    shape, indexes = _indexes(f, shape)
    return _stack([f(*index) for index in indexes], shape)


def _outer_map(f, *arrays, axis=0):
    moved = _axis_first(arrays, axis)
    shape = tuple(len(a) for a in moved if _is_array(a))
    rows = [list(a) if _is_array(a) else [a] for a in moved]
    return _stack([f(*row) for row in itertools.product(*rows)], shape)


def _keep(pred, arrays, axis=0):
    moved = _axis_first(arrays, axis)
    mask = np.array([bool(pred(*_at(moved, i))) for i in range(_length(moved))], dtype=bool)
    return [a[mask] if _is_array(a) else a for a in moved]


def _filter(pred, *arrays, axis=0):
    kept = _keep(pred, arrays, axis)
    return kept[0] if len(kept) == 1 else tuple(kept)


def _fold(f, elements, init):
    """All elements combined, and what there is after each."""
    if init is None and not elements:
        name = getattr(f, "__name__", "reduce")
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    started = elements if init is None else [init, *elements]
    return list(itertools.accumulate(started, f))


def _elements(arrays, axis):
    """The elements along the axes, of several arrays as tuples."""
    arrays = np.broadcast_arrays(*arrays) if len(arrays) > 1 else [np.asarray(arrays[0])]
    rank = arrays[0].ndim
    axes = range(rank) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    lists = []
    for a in arrays:
        moved = np.moveaxis(a, tuple(axes), range(len(axes)))
        lists.append(list(moved.reshape((-1,) + moved.shape[len(axes):])))
    return lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))


def _reduce(f, *arrays, axis=None, init=None):
    return _fold(f, _elements(arrays, axis), init)[-1]


def _scan(f, *arrays, axis=0, init=None):
    elements = _elements(arrays, axis)
    prefixes = _fold(f, elements, init) if elements else []
    scanned = _stack(prefixes[len(prefixes) - len(elements):], (len(elements),))
    if isinstance(scanned, tuple):
        return tuple(np.moveaxis(s, 0, axis) for s in scanned)
    return np.moveaxis(scanned, 0, axis)


def _ireduce(f, combine, shape, init=None):
    _, indexes = _indexes(f, shape)
    return _fold(combine, [f(*index) for index in indexes], init)[-1]


def _filter_reduce(f, pred, *arrays, init=None):
    return _reduce(f, *_keep(pred, arrays), axis=0, init=init)


_OPERATORS = {
    "map": _map,
    "each": _map,
    "imap": _imap,
    "outer_map": _outer_map,
    "allpairs": _outer_map,
    "filter": _filter,
    "reduce": _reduce,
    "scan": _scan,
    "ireduce": _ireduce,
    "filter_reduce": _filter_reduce,
}
