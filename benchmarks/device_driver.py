"""The driver's own functions, without any library: waiting, memory for CUDA C, and rates of copies.

All libraries of a process share a device's primary context, so waiting here waits for all of them.
"""

import ctypes
import functools
import statistics
import time

import numpy as np

# As many bytes as no cache holds, and repetitions of a copy between two waits.
COPIED, LINKED, REPEATED = 1 << 30, 256 << 20, 10
_NAME, _MAJOR, _MINOR = 100, 75, 76


class Driver:
    """One device. Raises OSError where there is no driver, RuntimeError where no device."""

    def __init__(self, number: int = 0):
        self._library = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", 0)
        self.device, self._context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(self.device), number)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self.device)
        self._call("cuCtxSetCurrent", self._context)

    def _call(self, name: str, *arguments) -> None:
        if status := getattr(self._library, name)(*arguments):
            raise RuntimeError(f"{name}: error {status} of the driver")

    def wait(self) -> None:
        # A library may leave another context behind it.
        self._call("cuCtxSetCurrent", self._context)
        self._call("cuCtxSynchronize")

    def describe(self) -> str:
        name, version = ctypes.create_string_buffer(_NAME), ctypes.c_int()
        self._call("cuDeviceGetName", name, _NAME, self.device)
        self._call("cuDriverGetVersion", ctypes.byref(version))
        total = ctypes.c_size_t()
        self._call("cuDeviceTotalMem_v2", ctypes.byref(total), self.device)
        return (f"{name.value.decode()}, sm_{self._attribute(_MAJOR)}{self._attribute(_MINOR)}, "
                f"{total.value / 2**30:.0f} GiB, driver for CUDA {version.value // 1000}."
                f"{version.value % 1000 // 10}")

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def up(self, address: int, host: int, size: int) -> None:
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(host),
                   ctypes.c_size_t(size))  # fmt: skip

    def down(self, host: int, address: int, size: int) -> None:
        self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(host), ctypes.c_uint64(address),
                   ctypes.c_size_t(size))  # fmt: skip

    def across(self, to: int, address: int, size: int) -> None:
        self._call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(address),
                   ctypes.c_size_t(size), None)  # fmt: skip

    @functools.cached_property
    def _copied(self) -> tuple[int, int]:
        return self.allocate(COPIED), self.allocate(COPIED)

    @functools.cached_property
    def _pinned(self) -> int:
        address = ctypes.c_void_p()
        self._call("cuMemAllocHost_v2", ctypes.byref(address), ctypes.c_size_t(LINKED))
        return address.value

    def rates(self) -> dict[str, float]:
        """Bytes a second: of a copy on the device, read and written, and of the link both ways."""
        here, there = self._copied
        copy = self._seconds(lambda: self.across(there, here, COPIED), REPEATED)
        up = self._seconds(lambda: self.up(here, self._pinned, LINKED), 1)
        down = self._seconds(lambda: self.down(self._pinned, here, LINKED), 1)
        return {"copy": 2 * COPIED / copy, "up": LINKED / up, "down": LINKED / down}

    def _seconds(self, call, repeated: int) -> float:
        times = []
        for _ in range(5):
            self.wait()
            start = time.perf_counter()
            for _ in range(repeated):
                call()
            self.wait()
            times.append((time.perf_counter() - start) / repeated)
        return statistics.median(times[1:])


class DeviceBuffer:
    """An array of the device for functions of a shared library: an address, and what is there."""

    def __init__(self, driver: Driver, shape, dtype, host: np.ndarray | None = None):
        self.driver, self.dtype = driver, np.dtype(dtype)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.nbytes = self.size * self.dtype.itemsize
        self.address = driver.allocate(self.nbytes)
        if host is not None:
            host = np.ascontiguousarray(host)
            driver.up(self.address, host.ctypes.data, self.nbytes)

    def first(self, count: int) -> "DeviceBuffer":
        """The same memory, of which so many elements count."""
        view = object.__new__(DeviceBuffer)
        view.driver, view.dtype, view.address = self.driver, self.dtype, self.address
        view.shape, view.size, view.nbytes = (count,), count, count * self.dtype.itemsize
        view.whole = self
        return view

    def to_host(self) -> np.ndarray:
        host = np.empty(self.shape, self.dtype)
        self.driver.wait()
        self.driver.down(host.ctypes.data, self.address, self.nbytes)
        return host

    def __del__(self):
        if not hasattr(self, "whole"):
            self.driver.free(self.address)
