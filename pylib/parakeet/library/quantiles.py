"""Medians and quantiles: what stands in certain places of sorted rows.

Rows `is_selected` of stay as they are, and places are found by selection; others are sorted."""

import numpy as np

from parakeet.library.intrinsics import (
    asarray,
    astype,
    expand_dims,
    moveaxis,
    normalize_axes,
    reshape,
    strong,
)
from parakeet.library.registry import overload
from parakeet.library.selection import count_of_nans, is_selected, may_be_nan, values_at
from parakeet.library.sorting import of_each, sorted_row
from parakeet.library.ufuncs import give
from parakeet.operators import imap, map
from parakeet.primitives import ceil, floor, isnan, rint


def axes_last(x, axes):
    return moveaxis(x, axes, normalize_axes(None, x.ndim)[x.ndim - len(axes) :])


def of_rows(f, x, axis):
    """`f` of each row of what lies along the axes, one for each place along the other axes; of rows
    that are sorted where they are not selected of."""
    axes = normalize_axes(axis, x.ndim)
    rest = x.ndim - len(axes)
    moved = axes_last(x, axes)
    if rest == 0:
        row = reshape(moved, -1)
        # A device sorts one row faster than rows of which there is one.
        return expand_dims(f(row), 0) if is_selected(x) else map(f, expand_dims(sorted_row(row), 0))
    if is_selected(x):
        return of_each(lambda part: f(reshape(part, -1)), moved, moved.shape[:rest])
    rows = of_each(lambda part: sorted_row(reshape(part, -1)), moved, moved.shape[:rest])
    return of_each(f, rows, rows.shape[:-1])


def in_shape(made, x, axis, keepdims, leading, out):
    """The results of rows, behind `leading` sizes, in the shape asked for."""
    axes = normalize_axes(axis, x.ndim)
    if len(leading) == 1:
        leading = made.shape[:1]  # As a size that callers know where q is a list.
    result = reshape(made, leading + axes_last(x, axes).shape[: x.ndim - len(axes)])
    if keepdims and x.ndim > 0:
        from_end = ()
        for k in axes:
            from_end = from_end + (k - x.ndim,)
        result = expand_dims(result, from_end)
    return give(result if result.ndim > 0 else result[()], out)


def middle(row, n):
    """The median of the first `n`, once the row is sorted; nan where one is among them."""
    if not is_selected(row):
        return np.mean(row[(n - 1) // 2 : n // 2 + 1])
    if n == 0:
        return np.mean(row[:0])
    values, nans = values_at(row, np.array([(n - 1) // 2, n // 2]))
    if may_be_nan(row) and row.shape[0] - nans < n:
        return astype(np.nan, row.dtype)
    lower = values[0] / 1  # The mean of integers is a float.
    return lower if n % 2 == 1 else (lower + values[1] / 1) / 2


def median_of_row(row):
    n = row.shape[0]
    if may_be_nan(row) and not is_selected(row) and n > 0:
        return row[-1] if isnan(row[-1]) else middle(row, n)
    return middle(row, n)


def count_not_nan(row):
    n = row.shape[0]
    if is_selected(row):
        return n - count_of_nans(row)
    if may_be_nan(row):
        while n > 0 and isnan(row[n - 1]):
            n = n - 1
    return n


@overload(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    x = asarray(a)
    made = of_rows(median_of_row, x, axis)
    return in_shape(made, x, axis, keepdims, (), out)


@overload(np.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    x = asarray(a)
    made = of_rows(lambda row: middle(row, count_not_nan(row)), x, axis)
    return in_shape(made, x, axis, keepdims, (), out)


def boundary(place, previous_stays):
    """The element before or after a place."""
    index = floor(place) if previous_stays else floor(place) + 1
    return np.maximum(index, 0)


def place_of(n, q, method):
    """Where quantile `q` of `n` sorted elements stands, from 0 on; between two elements as a
    rule."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return floor((n - 1) * q)
    if method == "higher":
        return ceil((n - 1) * q)
    if method == "midpoint":
        return 0.5 * (floor((n - 1) * q) + ceil((n - 1) * q))
    if method == "nearest":
        return rint((n - 1) * q)
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "inverted_cdf":
        place = n * q - 1
        return boundary(place, place == floor(place))
    if method == "closest_observation":
        place = n * q - 1 - 0.5
        return boundary(place, (place == floor(place)) & (floor(place) % 2 == 1))
    if method == "interpolated_inverted_cdf":
        return between(n, q, 0, 1)
    if method == "hazen":
        return between(n, q, 0.5, 0.5)
    if method == "weibull":
        return between(n, q, 0, 0)
    if method == "median_unbiased":
        return between(n, q, 1 / 3, 1 / 3)
    if method == "normal_unbiased":
        return between(n, q, 3 / 8, 3 / 8)
    raise ValueError(f"'{method}' is not a valid method")


def between(n, q, alpha, beta):
    """Hyndman and Fan's formula."""
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def part_of(place, previous, method):
    """How far the place is from the element before it to the next."""
    part = place - previous
    if method == "averaged_inverted_cdf":
        return 0.5 if part == 0 else 1.0
    if method == "midpoint":
        return 0.0 if part % 1 == 0 else 0.5
    return part


# Methods whose quantiles are elements.
OF_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def bounds_of(n, q, method):
    """The places of the elements that quantile `q` of `n` lies between, and how far it is from the
    first to the second."""
    place = place_of(n, q, method)
    if method in OF_ELEMENTS:
        lower = np.minimum(int(place), n - 1)
        return lower, lower, strong(place)
    previous = strong(floor(place))
    lower = int(previous)
    upper = lower + 1
    if place >= n - 1:
        previous = astype(-1, previous.dtype)
        lower = n - 1
        upper = n - 1
    elif place < 0:
        previous = astype(0, previous.dtype)
        lower = 0
        upper = 0
    return lower, upper, astype(part_of(place, previous, method), previous.dtype)


def quantile_between(a, b, part, method, weak):
    """`weak`: the result keeps the dtype of floats."""
    if method in OF_ELEMENTS:
        return a
    return on_line(a, b, float(part) if weak else part)


def on_line(a, b, part):
    """Exact at both ends."""
    return b - (b - a) * (1 - part) if part >= 0.5 else a + (b - a) * part


def sorted_quantile(row, q, method, weak, skips_nan):
    """Of a sorted row."""
    n = row.shape[0]
    if skips_nan:
        n = count_not_nan(row)
        if n == 0 and row.shape[0] > 0:
            return quantile_of_first(row, row.shape[0], q, "linear", weak)
        if n == 0 and gives_floats(row, method):
            return quantile_of_none(row, q, method, weak)
    if n == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    value = quantile_of_first(row, n, q, method, weak)
    if may_be_nan(row):
        return row[n - 1] + value if isnan(row[n - 1]) else value
    return value


def gives_floats(row, method):
    return row.dtype.kind == "f" or method not in OF_ELEMENTS


def quantile_of_none(row, q, method, weak):
    """The nan of as many bits as another quantile of such a row has."""
    nothing = strong(0).astype(row.dtype)
    _, _, part = bounds_of(1, q, method)
    return astype(np.nan, quantile_between(nothing, nothing, part, method, weak).dtype)


def quantile_of_first(row, n, q, method, weak):
    lower, upper, part = bounds_of(n, q, method)
    return quantile_between(row[lower], row[upper], part, method, weak)


def selected_quantiles(row, flat, method, weak, skips_nan):
    """Those of a row that is not sorted, all at once; nan where one is among the elements."""
    n = count_not_nan(row) if skips_nan else row.shape[0]
    if n == 0 and not (skips_nan and (row.shape[0] > 0 or gives_floats(row, method))):
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    most = max(n, 1)  # Of nothing but nans each place has one.
    count = flat.shape[0]
    places = np.empty(2 * count, np.int64)
    for k in range(count):
        lower, upper, _ = bounds_of(most, flat[k], method)
        places[2 * k] = lower
        places[2 * k + 1] = upper
    values, nans = values_at(row, places)
    has_nan = (may_be_nan(row) or row.shape[0] == 0) and row.shape[0] - nans < most

    def made(k):
        _, _, part = bounds_of(most, flat[k], method)
        value = quantile_between(values[2 * k], values[2 * k + 1], part, method, weak)
        return astype(np.nan, value.dtype) if has_nan else value

    return imap(made, count)


def quantiles(x, q, axis, out, method, keepdims, skips_nan):
    weak = isinstance(q, (int, float))
    each = strong(q)
    flat = each if each.ndim == 1 else reshape(each, -1)
    if is_selected(x):
        found = of_rows(lambda row: selected_quantiles(row, flat, method, weak, skips_nan), x, axis)
        made = moveaxis(found, -1, 0)
        if each.ndim == 0:
            return in_shape(made[0], x, axis, keepdims, (), out)
        return in_shape(made, x, axis, keepdims, each.shape, out)

    def of_row(row, q):
        return sorted_quantile(row, q, method, weak, skips_nan)

    if each.ndim == 0:
        made = of_rows(lambda row: of_row(row, each), x, axis)
        return in_shape(made, x, axis, keepdims, (), out)
    made = of_rows(lambda row: map(lambda p: of_row(row, p), flat), x, axis)
    return in_shape(moveaxis(made, -1, 0), x, axis, keepdims, each.shape, out)


def require_quantiles(q, weights, message):
    if weights is not None:
        raise NotImplementedError("quantiles with weights")
    if not np.all((strong(q) >= 0) & (strong(q) <= 1)):
        raise ValueError(message)


def require_real(x):
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")


@overload(np.quantile)
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
             weights=None):
    x = asarray(a)
    require_real(x)
    require_quantiles(q, weights, "Quantiles must be in the range [0, 1]")
    return quantiles(x, q, axis, out, method, keepdims, False)


@overload(np.percentile)
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False,
               *, weights=None):
    x = asarray(a)
    require_real(x)
    q = percent(q)
    require_quantiles(q, weights, "Percentiles must be in the range [0, 100]")
    return quantiles(x, q, axis, out, method, keepdims, False)


def percent(q):
    return q / 100 if isinstance(q, (int, float)) else asarray(q) / 100


@overload(np.nanquantile)
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False,
                *, weights=None):
    x = asarray(a)
    require_real(x)
    require_quantiles(q, weights, "Quantiles must be in the range [0, 1]")
    return quantiles(x, q, axis, out, method, keepdims, True)


@overload(np.nanpercentile)
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear",
                  keepdims=False, *, weights=None):
    x = asarray(a)
    require_real(x)
    q = percent(q)
    require_quantiles(q, weights, "Percentiles must be in the range [0, 100]")
    return quantiles(x, q, axis, out, method, keepdims, True)
