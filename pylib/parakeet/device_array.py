"""Arrays that stay on a device: `parakeet.to_gpu(x)`, `parakeet.asarray(x, device="gpu:0")`.

A jitted function takes them as it takes NumPy's, without a copy, and what it returns stays on the
device then, numbers too. `_core.DeviceArray` holds a NumPy array whose data is an address of the
device; nothing here reads its elements.
"""

import operator

import numpy as np

from parakeet import _core, device_numbers
from parakeet.foreign_arrays import address_of, take
from parakeet.targets import has_device, name_of, number_of

DeviceArray = _core.DeviceArray

# DLPack's numbers of kinds of devices. The memory of the emulated GPU is the host's.
_CPU, _CUDA = 1, 2


def to_gpu(x, device=None):
    """A copy of an array on a device, as an array there: "gpu" where no other is named.

    Raises parakeet.errors.DeviceError for a device that is not there, MemoryError where it is full,
    TypeError for elements that jitted functions do not take.
    """
    number = _device_number("gpu" if device is None else device)
    x = _checked(_on_host(x))
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        x = np.ascontiguousarray(x)
    owner, address = _core.device_allocate(number, x.nbytes)
    _core.device_copy(number, True, address, address_of(x), x.nbytes)
    addresses = _core.array_at(owner, address, x.shape, x.dtype.str, x.strides, False)
    return DeviceArray(addresses, number)


def asarray(x, device=None):
    """`x` as an array on a device: itself where it is one there already, the same memory where it
    is another library's there (`__dlpack__` or `__cuda_array_interface__`), else a copy. Without
    `device`, as NumPy's: what is on a device comes down."""
    if device is None:
        return _on_host(x)
    number = _device_number(device)
    if not isinstance(x, DeviceArray):
        taken = take(x)
        x = x if taken is None else taken
    if isinstance(x, DeviceArray) and x._number == number:
        return x
    return to_gpu(x, device)


def _checked(x):
    if x.dtype.char not in "?bBhHiIlLqQefdFD" or not x.dtype.isnative:
        raise TypeError(f"an array of dtype {x.dtype} cannot be on a device")
    return x


def _on_host(x):
    taken = x if isinstance(x, DeviceArray) else take(x)
    return np.asarray(x) if taken is None else to_host(taken)


def _device_number(device):
    number = number_of(device)
    if not has_device(number):
        raise ValueError(f"target {device!r} is no device; name 'gpu' or 'emulated_gpu'")
    return number


def extent(array):
    """The address of the first byte of a view's elements, and how many bytes they span."""
    if array.size == 0:
        return address_of(array), 0
    low = high = 0
    for size, stride in zip(array.shape, array.strides, strict=True):
        reach = (size - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return address_of(array) + low, high - low + array.itemsize


def to_host(self):
    """The elements as a NumPy array of the host."""
    if not self.ndim:
        return np.array(device_numbers.item(self))
    order(self, False)
    addresses = self._addresses
    low, span = extent(addresses)
    buffer = np.empty(span, np.uint8)
    _core.device_copy(self._number, False, low, address_of(buffer), span)
    there = address_of(addresses) - low
    view = np.ndarray(
        addresses.shape, addresses.dtype, buffer, there if span else 0, addresses.strides
    )
    return view if _is_dense(addresses) else view.copy(order="K")


def order(array, is_ours_first):
    """What another library does with an array of its own comes before, or after, what we do."""
    if array._stream > 0:
        _core.device_order(array._number, is_ours_first, array._stream)


def _is_dense(array):
    return array.flags.c_contiguous or array.flags.f_contiguous


def _getitem(self, index):
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, bool) or not (
            part is None or part is Ellipsis or isinstance(part, slice) or _is_integer(part)
        ):
            raise TypeError(
                "a device array is indexed by integers and slices here; use others in a jitted "
                "function"
            )
    # With an ellipsis NumPy gives a view always, which reads no element.
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, Ellipsis)
    return DeviceArray(self._addresses[parts], self._number, self._stream)


def _is_integer(part):
    try:
        operator.index(part)
    except TypeError:
        return False
    return np.ndim(part) == 0


def _array(self, dtype=None, copy=None):
    if copy is False:
        raise ValueError("the elements are on a device: they cannot be had without a copy")
    host = to_host(self)
    return host if dtype is None else host.astype(dtype, copy=False)


def _cuda_array_interface(self):
    addresses = self._addresses
    if not name_of(self._number).startswith("gpu"):
        raise AttributeError("an array of the emulated GPU is in no CUDA memory")
    return {
        "version": 3,
        "data": (address_of(addresses) if addresses.size else 0, _is_read_only(self)),
        "shape": addresses.shape,
        "typestr": addresses.dtype.str,
        "strides": None if addresses.flags.c_contiguous else addresses.strides,
        "stream": _core.device_stream(self._number),
    }


def _is_read_only(self):
    """Whether other libraries are told so: of a number they are not, few have a word for it."""
    return not self._addresses.flags.writeable and not self._is_number


def _dlpack_device(self):
    name, _, device = self.device.partition(":")
    return (_CUDA, int(device)) if name == "gpu" else (_CPU, 0)


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """The array for another library: without a copy, unless one is asked for, or an array of the
    host. What comes later on its stream (None: the legacy default one, which is 1 too, 2: a
    thread's own default one, -1: none) waits for what makes the elements. ValueError for what
    DLPack permits as no stream, BufferError for what cannot be given away so."""
    kind, number = _dlpack_device(self)
    _check_stream(stream, kind)
    if dl_device is not None and tuple(dl_device) != (kind, number):
        if dl_device[0] != _CPU:
            raise BufferError(f"the array is on {self.device}, not on DLPack's device {dl_device}")
        if copy is False:
            raise BufferError("the elements are on a device: the host has them by a copy only")
        return _dlpack_of_host(to_host(self), max_version)
    given = copied(self) if copy else self
    if stream != -1 and kind == _CUDA:
        _core.device_order(self._number, True, 1 if stream is None else stream)
    is_versioned = max_version is not None and max_version[0] >= 1
    if not is_versioned and _is_read_only(given):
        raise BufferError("the array is read-only, which this version of DLPack cannot say")
    return _core.dlpack_export(given, is_versioned, bool(copy))


def _dlpack_of_host(array, max_version):
    """Whoever takes it without a version may not write to it."""
    try:
        return array.__dlpack__(max_version=max_version)
    except TypeError:  # NumPy before 2.1 knows no versions.
        return array.__dlpack__()


def _check_stream(stream, kind):
    """Of CUDA's, 0 might be either default stream, and is permitted to be none."""
    if stream is None:
        return
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise TypeError(f"a stream is None or an integer, not {type(stream).__name__}")
    if kind == _CPU and stream != -1:
        raise ValueError(f"an array of the host's memory takes no stream, but {stream} was given")
    if stream == 0:
        raise ValueError("stream 0 may be either default stream: 1 is the legacy one, 2 a thread's")
    if stream < -1:
        raise ValueError(f"no stream has the number {stream}; -1 is none")


def _repr(self):
    body = np.array2string(to_host(self), separator=", ", prefix="DeviceArray(")
    shape = "" if self.size or self.ndim == 1 else f" shape={self.shape},"
    return f"DeviceArray({body},{shape} dtype={self.dtype}, device={self.device!r})"


def _item(self):
    """The element of an array that has one alone, as a number of Python's."""
    if self.size != 1:
        raise ValueError("item() is of arrays of one element; index the array first")
    return to_host(self).item()


def copied(self):
    """Its elements in new memory of its device, in C order."""
    if not self.ndim:
        return to_gpu(self, name_of(self._number))
    global _copy
    if _copy is None:
        from parakeet.jit import jit

        _copy = jit(lambda x: x.copy())
    return _copy(self, target=name_of(self._number))


_copy = None


def _reduce(self):
    """Pickled by way of the host, and put on the device of the same name."""
    return to_gpu, (to_host(self), name_of(self._number))


def _reshape(self, *shape):
    """A view with another shape, of arrays in C order."""
    if not self._addresses.flags.c_contiguous:
        raise ValueError("only arrays in C order are reshaped without a copy; use parakeet.jit")
    shape = shape[0] if len(shape) == 1 else shape
    return DeviceArray(self._addresses.reshape(shape), self._number, self._stream)


def _device(self):
    """The target of its device, "gpu:0"."""
    name = name_of(self._number)
    return "gpu:0" if name == "gpu" else name


def _len(self):
    if not self._addresses.ndim:
        raise TypeError("len() of an array without axes")
    return self._addresses.shape[0]


def _iter(self):
    return (self[i] for i in range(len(self)))


def _transposed(self):
    return DeviceArray(self._addresses.T, self._number, self._stream)


def _same(name, doc):
    return property(lambda self: getattr(self._addresses, name), doc=doc)


def _complete():
    for name, doc in (
        ("shape", "elements along each axis"), ("strides", "bytes from one to the next"),
        ("dtype", "what its elements are"), ("ndim", "how many axes"), ("size", "elements"),
        ("nbytes", "bytes of its elements"), ("itemsize", "bytes of one"),
    ):  # fmt: skip
        setattr(DeviceArray, name, _same(name, doc))
    methods = {
        "__array__": _array, "__getitem__": _getitem, "__iter__": _iter, "__len__": _len,
        "__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device, "__repr__": _repr,
        "__cuda_array_interface__": property(_cuda_array_interface),
        "T": property(_transposed, doc="with its axes in reverse"),
        "__reduce__": _reduce, "__copy__": copied, "copy": copied,
        "__deepcopy__": lambda self, memo: copied(self), "reshape": _reshape, "item": _item,
        "tolist": lambda self: to_host(self).tolist(),
        "device": property(_device, doc=_device.__doc__), "to_host": to_host,
    }  # fmt: skip
    for name, value in {**device_numbers.methods(), **methods}.items():
        setattr(DeviceArray, name, value)


_complete()
