"""How often values occur: bincount, histogram."""

import numpy as np

from parakeet.library.intrinsics import asarray, astype, can_cast, reshape, result_type
from parakeet.library.place_numbers import require_castable, require_index
from parakeet.library.registry import overload
from parakeet.library.searching import first_greater, halvings


@overload(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    values = asarray(x)
    if values.ndim != 1:
        raise ValueError("object too deep for desired array")
    if isinstance(x, (tuple, list)) and len(x) == 0:
        return np.zeros(minlength, np.int64)  # Without a look at the weights, as NumPy.
    if not can_cast(values.dtype, np.int64, "safe") and values.dtype != np.uint64:
        require_castable(values, "safe")
    require_index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is None and (values.dtype == np.uint8 or values.dtype == np.bool_):
        return counts_of_bytes(astype(values, np.uint8), minlength)
    if weights is None and 0 < minlength < 2**31:
        counts = counts_below(values, minlength)
        if counts[minlength] == 0:
            return counts[:minlength]
    values = astype(values, np.int64)
    least = np.min(values, initial=0)
    most = np.max(values, initial=-1)  # One traversal for both.
    if least < 0:
        raise ValueError("'list' argument must have no negative elements")
    if most >= 2**48:  # Below it, one more cannot wrap around: no index is checked.
        raise MemoryError("cannot count so many values")
    length = max(int(most) + 1, minlength)
    if weights is None:
        counts = np.zeros(length, np.int64)
        for value in values:
            counts[value] += 1
        return counts
    return weights_at(values, asarray(weights, np.float64), length)


def counts_of_bytes(values, minlength):
    length = max(256, minlength)
    counts = np.zeros(length, np.int64)
    for value in values:
        counts[value] += 1
    while length > minlength and counts[length - 1] == 0:
        length -= 1
    return counts[:length]


def counts_below(values, length):
    """How often each number from 0 to length occurs; last, how often another one does."""
    counts = np.zeros(length + 1, np.int64)
    # What is negative is larger than any length.
    unsigned = np.uint64 if values.dtype.itemsize == 8 else np.uint32
    last = astype(length, unsigned)
    for value in values:
        counts[np.minimum(astype(value, unsigned), last)] += 1
    return counts


def weights_at(places, weights, length):
    if weights.shape[0] != places.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(length, weights.dtype)
    for i in range(places.shape[0]):
        sums[places[i]] += weights[i]
    return sums


def outer_edges(x, range):
    """Where the first bin begins and the last one ends; a range of no width gets one of 1."""
    # As NumPy, which computes bins between values of an array in the array's precision.
    dtype = x.dtype if range is None and x.dtype.kind == "f" else np.float64
    if range is not None:
        first = astype(range[0], dtype)
        last = astype(range[1], dtype)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    elif x.size == 0:
        first = astype(0.0, dtype)
        last = astype(1.0, dtype)
    else:
        first = astype(np.min(x), dtype)
        last = astype(np.max(x), dtype)
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("supplied or autodetected range is not finite")
    if first == last:
        return first - 0.5, last + 0.5
    return first, last


@overload(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    x = reshape(asarray(a), -1)
    if x.dtype.kind == "c":
        raise NotImplementedError("bins of complex numbers: take abs(x) or x.real")
    if not isinstance(bins, int):
        edges = asarray(bins)
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        if np.any(edges[1:] < edges[:-1]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    dtype = np.float64 if range is None and x.dtype.kind != "f" else result_type(x.dtype, 1.0)
    if range is None and dtype != np.float64:
        if x.size == 0:
            return np.linspace(0.0, 1.0, bins + 1, dtype=dtype)
    first, last = outer_edges(x, range)
    return np.linspace(first, last, bins + 1, dtype=dtype)


def bin_of(value, edges, steps):
    """The bin that a value falls into; the number of bins where into none."""
    n = edges.shape[0] - 1
    if value == edges[n]:
        return n - 1
    place = first_greater(edges, value, steps) - 1
    return n if place < 0 else place


def equal_bin_of(value, edges):
    """As bin_of for bins of one width: by arithmetic, set right by the edges, as NumPy does.

    Far from the edges of its bin a value needs no comparison with them: both they and the place
    among them are rounded a few times, by parts of the ends and of the number of bins.
    """
    n = edges.shape[0] - 1
    x = astype(value, edges.dtype)
    first, last = edges[0], edges[n]
    width = last - first
    precision = np.finfo(edges.dtype)
    scale = np.abs(first) + np.abs(last) + width + n * precision.tiny
    near = scale / width * n * (8 * precision.eps)
    guess = (x - first) / width * n
    whole = np.floor(guess)
    rest = guess - whole
    if rest > near and rest < 1 - near and x >= first and x <= last:
        return int(whole)
    if not (x >= first and x <= last):
        return n
    place = int(max(min(astype(guess, np.int64), n - 1), 0))
    if x < edges[place]:
        return place - 1
    if place < n - 1 and x >= edges[place + 1]:
        return place + 1
    return place


@overload(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    x = reshape(asarray(a), -1)
    if x.dtype == bool:
        x = astype(x, np.uint8)
    edges = histogram_bin_edges(x, bins, range)
    steps = halvings(edges.shape[0])
    search = lambda value, edges: bin_of(value, edges, steps)  # noqa: E731
    counts = counts_between(x, edges, weights, equal_bin_of if isinstance(bins, int) else search)
    if density:
        widths = astype(np.diff(edges), np.float64)
        return counts / widths / np.sum(counts), edges
    return counts, edges


def counts_between(x, edges, weights, find):
    n = edges.shape[0] - 1
    if weights is None:
        counts = np.zeros(n, np.int64)
        if x.dtype == np.uint8 or x.dtype == np.int8:
            # There are 256 of them to look for.
            times = counts_of_bytes(astype(x, np.uint8), 256)
            for byte in np.arange(256):
                place = find(astype(byte, x.dtype), edges)
                if place < n:
                    counts[place] += times[byte]
            return counts
        for value in x:
            place = find(value, edges)
            if place < n:
                counts[place] += 1
        return counts
    w = reshape(asarray(weights), -1)
    if w.shape[0] != x.shape[0]:
        raise ValueError("weights should have the same shape as a.")
    sums = np.zeros(n, w.dtype)
    for i in range(x.shape[0]):
        place = find(x[i], edges)
        if place < n:
            sums[place] += w[i]
    return sums


@overload(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    rows, columns = asarray(x), asarray(y)
    if rows.shape[0] != columns.shape[0]:
        raise ValueError("x and y must have the same length.")
    is_pair = isinstance(bins, (tuple, list)) and len(bins) == 2
    xbins, ybins = bins if is_pair else (bins, bins)
    dtype = result_type(rows.dtype, columns.dtype)
    if dtype.kind == "c":
        raise NotImplementedError("bins of complex numbers: take abs(x) or x.real")
    xedges = edges_along(astype(rows, dtype), xbins, None if range is None else range[0], 0)
    yedges = edges_along(astype(columns, dtype), ybins, None if range is None else range[1], 1)
    xsteps, ysteps = halvings(xedges.shape[0]), halvings(yedges.shape[0])
    of_x = lambda value, edges: bin_of(value, edges, xsteps)  # noqa: E731
    of_y = lambda value, edges: bin_of(value, edges, ysteps)  # noqa: E731
    counts = counts_in_cells(astype(rows, dtype), astype(columns, dtype), xedges, yedges, weights,
                             equal_bin_of if isinstance(xbins, int) else of_x,
                             equal_bin_of if isinstance(ybins, int) else of_y)
    if density:
        total = np.sum(counts)
        counts = counts / np.diff(xedges)[:, None] / np.diff(yedges)[None, :] / total
    return counts, xedges, yedges


def edges_along(x, bins, range, axis):
    if isinstance(bins, int):
        if bins < 1:
            raise ValueError(f"`bins[{axis}]` must be positive, when an integer")
        first, last = outer_edges(x, range)
        dtype = x.dtype if range is None and x.dtype.kind == "f" else np.float64
        return np.linspace(astype(first, dtype), astype(last, dtype), bins + 1)
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ValueError(f"`bins[{axis}]` must be a scalar or 1d array")
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError(f"`bins[{axis}]` must be monotonically increasing, when an array")
    return edges


def counts_in_cells(x, y, xedges, yedges, weights, of_x, of_y):
    height, width = xedges.shape[0] - 1, yedges.shape[0] - 1
    sums = np.zeros((height, width), np.float64)
    if weights is None:
        counts = np.zeros(height * width, np.int64)
        for i in np.arange(x.shape[0]):
            row, column = of_x(x[i], xedges), of_y(y[i], yedges)
            if row < height and column < width:
                counts[row * width + column] += 1
        return astype(reshape(counts, (height, width)), np.float64)
    w = astype(asarray(weights), np.float64)
    if w.shape[0] != x.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    for i in np.arange(x.shape[0]):
        row, column = of_x(x[i], xedges), of_y(y[i], yedges)
        if row < height and column < width:
            sums[row, column] += w[i]
    return sums
