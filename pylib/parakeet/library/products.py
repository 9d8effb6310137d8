"""Products of arrays of any rank."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    ascribe,
    memory_order,
    moveaxis,
    normalize_axes,
    reshape,
)
from parakeet.library.linear_algebra import inner_product, product
from parakeet.library.linear_equations import each_matrix, inv, require_square
from parakeet.library.matrices import eye
from parakeet.library.registry import overload
from parakeet.library.sizes import count_of
from parakeet.operators import map


def as_matrices(x, leading, rows):
    """x behind `leading` axes: the next `rows` as one and the others as one. A matrix stays as it
    is, for its product to be recognised."""
    leading = len(normalize_axes(None, leading))  # Both are known at compile time.
    rows = len(normalize_axes(None, rows))
    if rows == 1 and x.ndim == leading + 2:
        return x
    first = x.shape[leading : leading + rows]
    return reshape(x, x.shape[:leading] + (count_of(first), count_of(x.shape[leading + rows :])))


def product_of_rows(x, rows, right):
    """Sums over the axes of x behind its first, which have the sizes `rows` and stay apart: as one,
    an index would have to be divided to find them."""
    if len(rows) < 2:
        return product(as_matrices(x, 0, len(rows)), right)
    return map(lambda part: product_of_rows(part, rows[1:], right), x)


def sums_of_products(x, y, batch, rows, columns):
    """Sums over several axes, which come last in both, without making one of them: an index would
    have to be divided. Before them come those of the sizes `batch` in both, and `rows` in x and
    `columns` in y."""
    if len(batch) > 0:
        return map(lambda a, b: sums_of_products(a, b, batch[1:], rows, columns), x, y)
    if len(rows) > 0:
        return map(lambda a: sums_of_products(a, y, (), rows[1:], columns), x)
    if len(columns) > 0:
        return map(lambda b: sums_of_products(x, b, (), (), columns[1:]), y)
    return inner_product(x, ascribe(y, x.shape))


@overload(np.tensordot, getattr(np.linalg, "tensordot", None))
def tensordot(a, b, axes=2):
    x = asarray(a)
    y = asarray(b)
    if isinstance(axes, (tuple, list)):
        from_x = normalize_axes(axes[0], x.ndim)
        from_y = normalize_axes(axes[1], y.ndim)
    else:
        count = len(normalize_axes(None, axes))  # Known at compile time.
        from_x = normalize_axes(None, x.ndim)[x.ndim - count :]
        from_y = normalize_axes(None, y.ndim)[:count]
    count = len(from_x)
    if count != len(from_y):
        raise ValueError("shape-mismatch for sum")
    if memory_order(x) == "F":
        from_x = from_x[::-1]
        from_y = from_y[::-1]
    x = moveaxis(x, from_x, normalize_axes(None, x.ndim)[x.ndim - count :])
    y = moveaxis(y, from_y, normalize_axes(None, y.ndim)[:count])
    summed = x.shape[x.ndim - count :]
    for k in range(count):
        if summed[k] != y.shape[k]:
            raise ValueError("shape-mismatch for sum")
    rows = x.shape[: x.ndim - count]
    columns = y.shape[count:]
    if count > 1 and len(columns) < 2:
        last = normalize_axes(None, y.ndim)[len(columns) :]
        y = moveaxis(y, normalize_axes(None, count), last)
        sums = sums_of_products(x, y, (), rows, columns)
        return sums if len(rows) + len(columns) > 0 else asarray(sums)
    if count == 1 and len(rows) + len(columns) == 1:
        return product(x, y)
    made = product_of_rows(x, rows, as_matrices(y, 0, count))
    return made if len(rows) > 0 and len(columns) == 1 else reshape(made, rows + columns)


@overload(np.kron)
def kron(a, b):
    x = asarray(a)
    y = asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    rank = max(x.ndim, y.ndim)
    x = x[(None,) * (rank - x.ndim)]
    y = y[(None,) * (rank - y.ndim)]
    spread = x[(slice(None), None) * rank] * y[(None, slice(None)) * rank]
    return reshape(spread, tuple([x.shape[k] * y.shape[k] for k in range(rank)]))


@overload(np.cross, getattr(np.linalg, "cross", None))
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Of vectors of three; NumPy's of two are deprecated."""
    x = moveaxis(asarray(a), axisa if axis is None else axis, -1)
    y = moveaxis(asarray(b), axisb if axis is None else axis, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 3)")
    made = np.stack(
        (
            x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1],
            x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2],
            x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0],
        ),
        axis=-1,
    )
    return moveaxis(made, -1, axisc if axis is None else axis)


@overload(np.linalg.matrix_power)
def matrix_power(a, n):
    """By squaring."""
    x = asarray(a)
    require_square(x)
    if asarray(n).dtype.kind not in ("i", "u", "b"):
        raise TypeError("exponent must be an integer")
    return each_matrix(lambda matrix: power_of(matrix, n), x)


def power_of(x, n):
    size = x.shape[0]
    if n == 0:
        return eye(size, dtype=x.dtype)
    square = np.copy(ascribe(x, (size, size)))
    if n < 0:
        # Whether the result is of floats would depend on what the exponent is when it runs.
        if x.dtype.kind in ("b", "i", "u"):
            raise NotImplementedError("matrix_power of integers to a negative exponent: convert "
                                      "the matrix with .astype(float)")
        square = inv(square)
        n = -n
    while n % 2 == 0:
        square = product(square, square)
        n = n // 2
    power = square
    n = n // 2
    while n > 0:
        square = product(square, square)
        if n % 2 == 1:
            power = product(power, square)
        n = n // 2
    return power
