"""Sums of products by subscripts.

Operands are joined two by two from the left. What two have in common and nobody needs any more is
summed as a product of matrices is, so that the same code is recognised and made of both.
"""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    can_cast,
    einsum_labels,
    memory_order,
    normalize_axes,
    reshape,
    result_type,
)
from parakeet.library.linear_algebra import product, stacked_product
from parakeet.library.products import as_matrices, product_of_rows, sums_of_products
from parakeet.library.registry import overload
from parakeet.library.ufuncs import give
from parakeet.operators import reduce
from parakeet.primitives import add

FIRST_OF_ELLIPSIS = 256  # Axes of an ellipsis broadcast; those of letters have one length.


def place_of(label, labels):
    """The axis that a label names first."""
    return tuple([k for k, one in enumerate(labels) if one == label])[0]


def summed_over(x, axes):
    """In the dtype of x, which einsum keeps."""
    return reduce(add, x, axis=axes, init=astype(0, x.dtype)) if len(axes) > 0 else x


def with_one_axis_each(x, labels):
    """The diagonal where a label stands twice, with its axis last; x and its labels."""
    for k, label in enumerate(labels):
        first = place_of(label, labels)
        if first < k:
            if x.shape[first] != x.shape[k]:
                raise ValueError(f"dimensions in operand for collapsing index don't match "
                                 f"({x.shape[first]} != {x.shape[k]})")
            rest = labels[:first] + labels[first + 1 : k] + labels[k + 1 :]
            return with_one_axis_each(np.diagonal(x, 0, first, k), rest + (label,))
    return x, labels


def without(x, labels, needed):
    """The operand summed over what only it has; the labels that are left."""
    gone = tuple([k for k, label in enumerate(labels) if label not in needed])
    return summed_over(x, gone), tuple([label for label in labels if label in needed])


def in_order(x, labels, order):
    """x with its axes as `order` names them."""
    places = tuple([place_of(label, labels) for label in order])
    return np.transpose(x, places)


def sizes_of(x, labels, chosen):
    return tuple([x.shape[place_of(label, labels)] for label in chosen])


def require_lengths(x, x_labels, y, y_labels):
    for k, label in enumerate(x_labels):
        if label in y_labels and label < FIRST_OF_ELLIPSIS:
            n = x.shape[k]
            m = y.shape[place_of(label, y_labels)]
            if n != m:
                if n == 1 or m == 1:
                    raise NotImplementedError("einsum of a letter's axis of length 1 beside a "
                                              "longer one; use an ellipsis or np.broadcast_to")
                raise ValueError(f"operands could not be broadcast together with remapped shapes: "
                                 f"an axis has length {n} in one and {m} in the other")


def spread(x, labels, order):
    """x with an axis of length 1 for each label of `order` that it has not."""
    own = tuple([label for label in order if label in labels])
    index = tuple([slice(None) if label in labels else None for label in order])
    return in_order(x, labels, own)[index]


def joined(x, x_labels, y, y_labels, needed):
    """Two operands as one, with its labels. `needed`: those that others or the result have."""
    require_lengths(x, x_labels, y, y_labels)
    batch = tuple([k for k in x_labels if k in y_labels and k in needed])
    summed = tuple([k for k in x_labels if k in y_labels and k not in needed])
    if memory_order(x) == "F":
        summed = summed[::-1]
    rows = tuple([k for k in x_labels if k not in y_labels])
    columns = tuple([k for k in y_labels if k not in x_labels])
    made = batch + rows + columns
    if len(summed) == 0:
        return spread(x, x_labels, made) * spread(y, y_labels, made), made
    left = in_order(x, x_labels, batch + rows + summed)
    if len(batch) == 0 and len(summed) == 1 and len(rows) + len(columns) == 1:
        return product(left, in_order(y, y_labels, summed + columns)), made
    if len(batch) == 1 and len(summed) == 1 and len(rows) + len(columns) == 0:
        return summed_over(left * in_order(y, y_labels, batch + summed), (1,)), made
    if len(summed) > 1 and len(columns) < 2:
        right = in_order(y, y_labels, batch + columns + summed)
        return sums_of_products(left, right, sizes_of(x, x_labels, batch),
                                sizes_of(x, x_labels, rows), sizes_of(y, y_labels, columns)), made
    right = as_matrices(in_order(y, y_labels, batch + summed + columns), len(batch), len(summed))
    if len(batch) == 0:
        total = product_of_rows(left, sizes_of(x, x_labels, rows), right)
    else:
        total = stacked_product(as_matrices(left, len(batch), len(rows)), right)
    if len(columns) == 1 and (len(rows) == 1 or (len(batch) == 0 and len(rows) > 1)):
        return total, made
    ends = sizes_of(x, x_labels, rows) + sizes_of(y, y_labels, columns)
    return reshape(total, total.shape[: len(batch)] + ends), made


def mixes(x_labels, y_labels, order):
    """Whether the result has an axis of y between axes that x alone has: no product of matrices
    has it so."""
    alone = tuple([k for k, label in enumerate(order) if label not in y_labels])
    others = tuple([k for k, label in enumerate(order) if label not in x_labels])
    summed = tuple([label for label in x_labels if label in y_labels and label not in order])
    if len(alone) < 2 or len(others) == 0 or len(summed) == 0:
        return False
    return alone[0] < others[0] and others[-1] < alone[-1]


def joined_in_order(x, x_labels, y, y_labels, order):
    """The same in the order of the result, of operands that have nothing else."""
    require_lengths(x, x_labels, y, y_labels)
    summed = tuple([k for k in x_labels if k in y_labels and k not in order])
    made = order + summed
    products = spread(x, x_labels, made) * spread(y, y_labels, made)
    return summed_over(products, tuple([len(order) + k for k, _ in enumerate(summed)])), order


def all_but(labels, k):
    """The labels of every operand behind the first k, and of the result."""
    needed = ()
    for one in labels[k:]:
        needed = needed + one
    return needed


def in_order_of_memory(x, order):
    return np.copy(x, order=order) if order == "C" or order == "F" else x


def viewed(x, labels, order):
    """What sums nothing: in the dtype of the operand, whatever was asked for."""
    total, names = with_one_axis_each(x, labels[0])
    made = in_order_of_memory(in_order(total, names, labels[1]), order)
    return made if made.ndim > 0 else made[()]


@overload(np.einsum)
def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """The order of operands is the one given, whatever `optimize` says."""
    if len(operands) == 0:
        raise ValueError("must specify the einstein sum subscripts string and at least one "
                         "operand, or at least one operand and its corresponding subscripts list")
    arrays = tuple([asarray(operand) for operand in operands])
    labels = einsum_labels(subscripts, tuple([array.ndim for array in arrays]))
    if len(arrays) == 1 and out is None:
        if len([label for label in labels[0] if label not in labels[1]]) == 0:
            return viewed(arrays[0], labels, order)
    kind = result_type(*arrays) if dtype is None else result_type(dtype)
    for array in arrays:
        if not can_cast(array.dtype, kind, casting):
            raise TypeError(f"Iterator operand required copying or buffering, but cannot be cast "
                            f"according to the rule '{casting}'")
    if out is not None:
        if not can_cast(kind, out.dtype, casting):
            raise TypeError(f"Iterator requested dtype could not be cast to that of `out` "
                            f"according to the rule '{casting}'")
    total, names = with_one_axis_each(asarray(arrays[0], kind), labels[0])
    total, names = without(total, names, all_but(labels, 1))
    for k in normalize_axes(None, len(arrays)):
        if k > 0:
            y, y_names = with_one_axis_each(asarray(arrays[k], kind), labels[k])
            y, y_names = without(y, y_names, names + all_but(labels, k + 1))
            if k == len(arrays) - 1 and mixes(names, y_names, labels[-1]):
                total, names = joined_in_order(total, names, y, y_names, labels[-1])
            else:
                total, names = joined(total, names, y, y_names, all_but(labels, k + 1))
            total, names = without(total, names, all_but(labels, k + 1))
    made = in_order_of_memory(in_order(total, names, labels[-1]), order)
    return give(made if made.ndim > 0 else made[()], out)
