"""A call that runs on the host, with arrays of a device among its arguments: they come down for it,
and go up again where it has stored to them.

Arrays that share memory share that of their copies too.
"""

import numpy as np

from parakeet import _core
from parakeet.device_array import extent, order
from parakeet.device_lists import device_arrays_among, with_items
from parakeet.foreign_arrays import address_of

# Of the elements of a copy, as of what they are a copy of.
_ALIGNMENT = 64


def take_down(values):
    """The values of a call with arrays of the host for those of a device, and a function that puts
    what they hold then back on the device. Numbers are taken as they are."""
    regions = _regions(device_arrays_among(values))
    hosts = {id(array): host for region in regions for array, host in region.views()}

    def taken(value):
        if isinstance(value, _core.DeviceArray):
            return hosts.get(id(value), value)
        is_container = isinstance(value, (tuple, list))
        return with_items(value, map(taken, value)) if is_container else value

    return tuple(map(taken, values)), lambda: [region.put_back() for region in regions]


def call_plain(function, args, kwargs):
    """Calls a function of plain Python on what its arguments hold."""
    values, put_back = take_down((*args, *kwargs.values()))
    names = dict(zip(kwargs, values[len(args) :], strict=True))
    try:
        return function(*values[: len(args)], **names)
    finally:
        put_back()


class _Region:
    """Bytes of a device that some arrays lie in, each of which overlaps another, and their copy."""

    def __init__(self, array):
        self.low, span = extent(array._addresses)
        self.number, self.high, self.arrays = array._number, self.low + span, [array]

    def takes(self, other):
        """Whether the region that begins next overlaps, which is then a part of this one."""
        if other.number != self.number or other.low >= self.high:
            return False
        self.high = max(self.high, other.high)
        self.arrays += other.arrays
        return True

    def views(self):
        """Each array with one of the host in its place."""
        self._copy_down()
        for array in self.arrays:
            addresses = array._addresses
            there = address_of(addresses) - self.low if addresses.size else 0
            host = np.ndarray(
                addresses.shape, addresses.dtype, self.copy, there, addresses.strides
            )
            host.flags.writeable = addresses.flags.writeable
            yield array, host

    def _copy_down(self):
        for array in self.arrays:
            order(array, False)
        span = self.high - self.low
        buffer = np.empty(span + _ALIGNMENT, np.uint8)
        begin = (self.low - address_of(buffer)) % _ALIGNMENT
        self.copy = buffer[begin : begin + span]
        _core.device_copy(self.number, False, self.low, address_of(self.copy), span)
        self.before = self.copy.copy()

    def put_back(self):
        """What has changed; nobody waits where nothing has."""
        if np.array_equal(self.copy, self.before):
            return
        _core.device_copy(self.number, True, self.low, address_of(self.copy), len(self.copy))
        if any(array._stream == 0 for array in self.arrays):
            _core.device_wait(self.number)
        for array in self.arrays:
            order(array, True)


def _regions(arrays):
    """The memory of arrays, what overlaps together."""
    each = {id(array): array for array in arrays}
    regions = []
    for region in sorted(map(_Region, each.values()), key=lambda r: (r.number, r.low, -r.high)):
        if not regions or not regions[-1].takes(region):
            regions.append(region)
    return regions
