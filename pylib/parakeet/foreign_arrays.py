"""Other libraries' arrays on a GPU, without a copy: CuPy's, PyTorch's, JAX's and all others' that
have `__cuda_array_interface__` or `__dlpack__`.

An array of ours over their memory knows which of the driver's streams its library works on. What
was begun there before a call is waited for, and what is begun there later waits for the call; where
a library does not say its stream, the call is done when it returns.
"""

import sys
import weakref

import numpy as np

from parakeet import _core
from parakeet.device_lists import with_items
from parakeet.targets import number_of

# DLPack's numbers of kinds of devices: the host, a GPU, and memory that both see.
_CPU, _CUDA, _CUDA_MANAGED = 1, 2, 13
# Instead of a stream's handle (pylib/core/device_array.h).
_OURS, _ANY = -1, 0
_LEGACY_STREAM = 1

# By library, the handle of the stream that it works on now: DLPack has no word for it.
_STREAMS = {"torch": lambda device: sys.modules["torch"].cuda.current_stream(device).cuda_stream}
# Libraries whose arrays never change, which their tensors do not say.
_CONSTANT = {"jax", "jaxlib"}

_protocols = weakref.WeakKeyDictionary()


def borrow(values):
    """The values of a call as a list, with arrays of ours in the place of others' on a device, in
    tuples and lists too."""
    return [_borrowed(value) for value in values]


def _borrowed(value):
    if isinstance(value, (tuple, list)):
        return _borrowed_items(value)
    taken = take(value, value)
    return value if taken is None else taken


def _borrowed_items(values):
    """The same tuple or list where there is nothing to borrow: a list may be given back."""
    borrowed = with_items(values, map(_borrowed, values))
    is_same = all(a is b for a, b in zip(borrowed, values, strict=True))
    return values if is_same else borrowed


def take(x, lender=None):
    """An array of ours over the memory of another library's array, or None: it is none, or is on
    the host. `lender`: what a call that gives the array back unchanged is to return."""
    kind = type(x)
    protocols = _protocols.get(kind)
    if protocols is None:
        protocols = _protocols[kind] = _protocols_of(kind)
    if protocols.interface or _says_by_itself(x, protocols):
        interface = getattr(x, "__cuda_array_interface__", None)
        if interface and (interface.get("stream") is not None or not protocols.tensor):
            return _from_interface(x, interface, lender)
    return _from_tensor(x, protocols, lender) if protocols.tensor else None


def _says_by_itself(x, protocols):
    """Whether an object has the interface that its type has not."""
    return not (protocols.interface or protocols.tensor) and (
        not isinstance(x, (np.ndarray, np.generic, _core.DeviceArray))
        and hasattr(x, "__cuda_array_interface__")
    )


class _Protocols:
    """What a type has: the interface, tensors, or both; and what its library does not say by
    them."""

    def __init__(self, interface, tensor, stream_of, is_constant):
        self.interface, self.tensor = interface, tensor
        self.stream_of, self.is_constant = stream_of, is_constant
        self.has_versions = True


def _protocols_of(kind):
    if issubclass(kind, (np.ndarray, np.generic, _core.DeviceArray)):
        return _Protocols(False, False, None, False)
    library = kind.__module__.partition(".")[0]
    stream_of = _STREAMS.get(library)
    tensor = hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")
    # Only an interface says a stream, if any does.
    is_known = stream_of is not None or library in _CONSTANT
    interface = hasattr(kind, "__cuda_array_interface__") and not (tensor and is_known)
    return _Protocols(interface, tensor, stream_of, library in _CONSTANT)


def _from_interface(x, interface, lender):
    address, is_read_only = interface["data"]
    if interface.get("mask") is not None:
        raise TypeError("an array with a mask cannot be on a device")
    number = _core.device_of_address(address)
    if number is None:
        # An array without elements is nowhere; another's address is refused when it is used.
        number = number_of("gpu")
    stream = interface.get("stream")
    if stream is not None:
        _core.device_order(number, False, stream)
    addresses = _core.array_at(
        x, address, interface["shape"], interface["typestr"], interface.get("strides"), is_read_only
    )
    return _core.DeviceArray(addresses, number, _ANY if stream is None else stream, lender)


def _from_tensor(x, protocols, lender):
    kind, device = x.__dlpack_device__()
    if kind not in (_CUDA, _CUDA_MANAGED):
        return _from_host(x, protocols, lender) if kind == _CPU else None
    number = number_of(f"gpu:{device}")
    capsule = _exported_there(x, protocols, number)
    stream = protocols.stream_of(device) or _LEGACY_STREAM if protocols.stream_of else _ANY
    return _core.DeviceArray(_from_capsule(capsule, protocols), number, stream, lender)


def _from_host(x, protocols, lender):
    """Memory of the host may be the emulated GPU's."""
    if not _core.has_device_arrays():
        return None
    addresses = _from_capsule(_exported(x, protocols), protocols)
    number = _core.device_of_address(address_of(addresses))
    return None if number is None else _core.DeviceArray(addresses, number, _ANY, lender)


def _exported_there(x, protocols, number):
    stream = _core.device_stream(number)
    try:
        return _exported(x, protocols, stream=stream)
    except BufferError:
        # PyTorch refuses while another device is the current one.
        return _core.device_during(number, lambda: _exported(x, protocols, stream=stream))


def _exported(x, protocols, **stream):
    if protocols.has_versions:
        try:
            return x.__dlpack__(max_version=(1, 0), **stream)
        except TypeError:
            protocols.has_versions = False
    return x.__dlpack__(**stream)


def _from_capsule(capsule, protocols):
    owner, _, _, address, shape, strides, text, is_read_only = _core.dlpack_import(capsule)
    is_read_only = is_read_only or protocols.is_constant
    return _core.array_at(owner, address, shape, text, strides, is_read_only)


def address_of(array):
    return array.__array_interface__["data"][0]
