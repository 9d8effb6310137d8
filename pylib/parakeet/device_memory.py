"""The memory of the host's results and of devices: what is in use, and how much there may be."""

from dataclasses import dataclass, field, fields
from typing import NamedTuple

from parakeet import _core
from parakeet.targets import has_device, number_of

HOST = "host"


class LineMemory(NamedTuple):
    """What the arrays that a line has made hold of a device now."""

    bytes: int
    buffers: int


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """The memory of one device or of the host, in bytes, that calls of this process hold.
    `info["peak"]` and `dict(info)` work too. On the host nothing is launched, copied or limited.

    in_use    now, by device arrays and by calls that run; on the host by results and such calls
    peak      the most there has been
    buffers   how many are in use
    pooled    on the host: free, and kept for later results; trim_memory() gives it back
    launches  how many kernels have been launched, in all
    replays   how many CUDA graphs have been, each of which stands for several of the launches
    up, down  how many bytes have been copied from the host and to it, in all
    products  how many matrix products a library has made instead: cuBLAS, on a GPU
    limit     what calls may take together, None for all there is
    lines     what device arrays hold now, by the line that made them, the most first: a
              LineMemory under each "file:line". Lines are counted while
              `parakeet.config.memory_lines` is on, or PARAKEET_MEMORY_LINES=1
    """

    in_use: int
    peak: int
    buffers: int
    pooled: int
    launches: int
    replays: int
    up: int
    down: int
    products: int
    limit: int | None
    lines: dict[str, LineMemory] = field(default_factory=dict)

    def __str__(self):
        limit = "" if self.limit is None else f", of a limit of {self.limit:,}"
        held = f"{self.in_use:,} bytes in use by {self.buffers} buffers"
        pooled = f"; {self.pooled:,} more free and kept" if self.pooled else ""
        rows = [f"{held}{limit}{pooled}; peak {self.peak:,}"]
        rows += (f"{place}: {line.bytes:,} bytes, {line.buffers} buffers"
                 for place, line in self.lines.items())  # fmt: skip
        return "\n".join(rows)

    def keys(self):
        return [each.name for each in fields(self)]

    def __getitem__(self, name):
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)


def memory_info(device=None):
    """The memory of a device: "gpu:0", "emulated_gpu"; of "host" what results hold that jitted
    functions have made there, and what is free of the pool that they come from. None is the
    configured target's, the host's for "serial" and "parallel".

    Raises ValueError for what is no device, parakeet.errors.DeviceError for one that is not there.
    """
    is_host_target = not has_device(_core.get_default_target())
    if device == HOST or (device is None and is_host_target):
        return _of_host()
    number = _number_of(device)
    counters = _core.device_counters(number)
    return MemoryInfo(
        in_use=counters["live_bytes"],
        peak=counters["peak_bytes"],
        buffers=counters["live_buffers"],
        pooled=0,
        launches=counters["launches"],
        replays=counters["replays"],
        up=counters["bytes_up"],
        down=counters["bytes_down"],
        products=counters["products"],
        limit=counters["limit_bytes"] or None,
        lines=_lines(number),
    )


def _of_host():
    counters = _core.buffer_counters()
    return MemoryInfo(
        in_use=counters["live_bytes"],
        peak=counters["peak_bytes"],
        buffers=counters["live_buffers"],
        pooled=counters["pooled_bytes"],
        launches=0,
        replays=0,
        up=0,
        down=0,
        products=0,
        limit=None,
    )


def trim_memory():
    """Gives the memory of results that have gone back to the system; how many bytes that were.

    It is kept for the results of later calls, up to an eighth of the memory that the process may
    use, since memory that is touched for the first time costs more than most calls. What other
    threads keep by themselves, up to 2 MiB each, stays.
    """
    before = _core.buffer_counters()["pooled_bytes"]
    _core.trim_pool()
    return before - _core.buffer_counters()["pooled_bytes"]


def _lines(number):
    counted = {}
    for code, offset, held, buffers in _core.device_lines(number):
        place = f"{code.co_filename}:{_line_of(code, offset)}"
        before = counted.get(place, LineMemory(0, 0))
        counted[place] = LineMemory(before.bytes + held, before.buffers + buffers)
    return dict(sorted(counted.items(), key=lambda item: -item[1].bytes))


def _line_of(code, offset):
    for begin, end, line in code.co_lines():
        if begin <= offset < end and line is not None:
            return line
    return code.co_firstlineno


def set_memory_limit(bytes, device=None):
    """Lets calls take at most `bytes` of a device's memory together; None takes the limit away. A
    call that would need more raises MemoryError. `device` is as in memory_info.
    """
    number = _number_of(device)
    if bytes is not None and int(bytes) <= 0:
        raise ValueError(f"a limit is a positive number of bytes or None, not {bytes!r}")
    _core.set_device_limit(number, 0 if bytes is None else int(bytes))


def _number_of(device):
    if device is not None:
        number = number_of(device)
        if not has_device(number):
            raise ValueError(f"target {device!r} is no device; name 'gpu' or 'emulated_gpu'")
        return number
    number = _core.get_default_target()
    if has_device(number):
        return number
    gpus, _ = _core.count_gpus()
    return number_of("gpu" if gpus else "emulated_gpu")
