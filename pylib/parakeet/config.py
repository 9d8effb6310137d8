"""Settings: attributes of `config`, environment variables, and a file.

An attribute set in the program wins over `PARAKEET_<NAME>`, which wins over
`~/.config/parakeet/config.toml` (or `$XDG_CONFIG_HOME/parakeet/config.toml`), which wins over the
default. Targets and thread counts are kept by `_core`, where calls read them.
"""

import os
import warnings

from parakeet import _core, original_settings
from parakeet.targets import canonical, name_of, number_of


def _flag(text):
    """A bool from the environment or the file."""
    if isinstance(text, bool):
        return text
    lowered = str(text).strip().lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("", "0", "false", "no", "off"):
        return False
    raise ValueError(f"expected a flag (0 or 1), not {text!r}")


def _default_cache_dir():
    """The folder, or "" where there is no home for it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # as its specification has it
        base = os.path.expanduser("~/.cache")
    return os.path.join(base, "parakeet") if os.path.isabs(base) else ""


GPU_ASSEMBLERS = ("nvptx", "libnvvm")
# In the order of CubinUse (pylib/core/cubin_cache.h).
_CUBIN_USES = ("never", "auto", "always")


class Config:
    """The settings of this process.

    target       where calls run that say nothing else: "parallel" at first
    num_threads  how many threads a parallel region gets, from 1 on
    timing       whether each call is timed (two clock reads); calls are counted always
    memory_lines whether device arrays are counted by the line that made them (0.2 us for each;
                 memory_info shows them)
    cublas       whether products of float matrices on a GPU may go to cuBLAS, where it is found
    gpu_graphs   whether kernels that come again, as in a time loop, go to a GPU as CUDA graphs
    gpu_cubins   when the machine code of a GPU's kernels is kept on disk with other compiled code:
                 "auto", where the CUDA driver keeps none itself (CUDA_CACHE_DISABLE, or a home
                 that cannot be written), "always" or "never". It is made by the driver's linker
                 then, and slower: kernels with float64 divisions take a tenth to a sixth longer
    gpu_heap     how many bytes of a GPU, at most, are set aside for arrays that single threads of
                 kernels make: 1 GiB at first, taken when the first such kernel runs. To be set
                 before the first use of the GPU
    gpu_pinned   how many bytes of the host, at most, are pinned so that a GPU's results come to
                 them without a copy between, once some have come to the same memory: a sixteenth
                 of what the process may use and no more than 4 GiB at first
    disable_jit  whether jitted functions run as plain Python, for debuggers
    cache        whether compiled code is kept on disk, for other processes
    cache_dir    where: `$XDG_CACHE_HOME/parakeet` or `~/.cache/parakeet` at first
    cache_size   how many bytes there may be; what was used longest ago goes first
    gpu_assembler  what makes a GPU's code: "nvptx", LLVM's code generator, needing nothing else,
                 or "libnvvm", NVIDIA's library (parakeet/libnvvm.py says where it is looked for).
                 The results are the same. Calls raise DeviceError where libNVVM is not there or
                 its code is newer than the driver, and Limitation for what it cannot be given
    backend      the original's name of `target`

    The original's other settings can be assigned too: see parakeet.original_settings.
    """

    __slots__ = (
        "_cache", "_cache_dir", "_cache_size", "_cublas", "_disable_jit", "_gpu_assembler",
        "_gpu_cubins", "_gpu_graphs", "_gpu_heap", "_memory_lines", "_original", "_target",
        "_timing",
    )  # fmt: skip

    def __init__(self):
        self._original = {}
        self._disable_jit = False
        self._timing = False
        self._memory_lines = False
        self._cublas = True
        self._gpu_assembler = "nvptx"
        self._gpu_cubins = "auto"
        self._gpu_graphs = True
        self._gpu_heap = 2**30
        self._cache, self._cache_dir, self._cache_size = True, _default_cache_dir(), 2**30
        self._target = name_of(_core.get_default_target())

    @property
    def target(self):
        return self._target

    @target.setter
    def target(self, name):
        number_of(name)  # refuses what cannot run
        self._target = canonical(name)
        self._publish()

    backend = target

    @property
    def disable_jit(self):
        return self._disable_jit

    @disable_jit.setter
    def disable_jit(self, value):
        self._disable_jit = _flag(value)
        self._publish()

    @property
    def num_threads(self):
        return _core.get_num_threads()

    @num_threads.setter
    def num_threads(self, count):
        _core.set_num_threads(int(count))

    @property
    def timing(self):
        return self._timing

    @timing.setter
    def timing(self, value):
        self._timing = _flag(value)
        _core.set_timing(self._timing)

    @property
    def memory_lines(self):
        return self._memory_lines

    @memory_lines.setter
    def memory_lines(self, value):
        self._memory_lines = _flag(value)
        _core.count_device_lines(self._memory_lines)

    @property
    def cublas(self):
        return self._cublas

    @cublas.setter
    def cublas(self, value):
        self._cublas = _flag(value)
        _core.use_matrix_libraries(self._cublas)

    @property
    def gpu_graphs(self):
        return self._gpu_graphs

    @gpu_graphs.setter
    def gpu_graphs(self, value):
        self._gpu_graphs = _flag(value)
        _core.use_graphs(self._gpu_graphs)

    @property
    def gpu_cubins(self):
        return self._gpu_cubins

    @gpu_cubins.setter
    def gpu_cubins(self, when):
        if when not in _CUBIN_USES:
            raise ValueError(f"gpu_cubins is {when!r}; expected one of {', '.join(_CUBIN_USES)}")
        self._gpu_cubins = when
        _core.set_cubin_use(_CUBIN_USES.index(when))

    @property
    def gpu_heap(self):
        return self._gpu_heap

    @gpu_heap.setter
    def gpu_heap(self, size):
        if int(size) <= 0:
            raise ValueError(f"gpu_heap is {size}; expected a positive number of bytes")
        self._gpu_heap = int(size)
        _core.set_kernel_heap(self._gpu_heap)

    @property
    def gpu_pinned(self):
        return _core.most_pinned()

    @gpu_pinned.setter
    def gpu_pinned(self, size):
        if int(size) < 0:
            raise ValueError(f"gpu_pinned is {size}; expected a number of bytes")
        _core.set_most_pinned(int(size))

    @property
    def gpu_assembler(self):
        return self._gpu_assembler

    @gpu_assembler.setter
    def gpu_assembler(self, name):
        if name not in GPU_ASSEMBLERS:
            there_are = " and ".join(GPU_ASSEMBLERS)
            raise ValueError(f"no assembler for GPUs is called {name!r}; there are {there_are}")
        self._gpu_assembler = name
        _core.set_uses_libnvvm(name == "libnvvm")

    @property
    def cache(self):
        return self._cache

    @cache.setter
    def cache(self, value):
        self._cache = _flag(value)
        self._place_cache()

    @property
    def cache_dir(self):
        return self._cache_dir

    @cache_dir.setter
    def cache_dir(self, folder):
        folder = os.path.expanduser(os.fspath(folder))
        self._cache_dir = os.path.abspath(folder) if folder else _default_cache_dir()
        self._place_cache()

    @property
    def cache_size(self):
        return self._cache_size

    @cache_size.setter
    def cache_size(self, size):
        self._cache_size = int(size)
        self._place_cache()

    def _place_cache(self):
        _core.set_cache_folder(self._cache_dir if self._cache else "", self._cache_size)

    def __getattr__(self, name):
        if name in original_settings.NAMES:
            return self._original.get(name, False)
        raise AttributeError(f"parakeet has no setting {name!r}")

    def __setattr__(self, name, value):
        if name in original_settings.NAMES:
            original_settings.assign(self._original, name, value)
        else:
            super().__setattr__(name, value)

    def _publish(self):
        _core.set_default_target(number_of("python" if self._disable_jit else self._target))

    def __repr__(self):
        return "\n".join(f"{name} = {getattr(self, name)!r}" for name in SETTINGS)


SETTINGS = (
    "target", "num_threads", "timing", "memory_lines", "cublas", "gpu_assembler", "gpu_cubins",
    "gpu_graphs", "gpu_heap", "gpu_pinned", "disable_jit", "cache", "cache_dir", "cache_size",
)  # fmt: skip


def config_file():
    """Where the settings file is looked for."""
    # No pathlib: importing it would take longer than all else here.
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "parakeet", "config.toml")


def _read_file():
    try:
        with open(config_file(), "rb") as file:
            text = file.read()
    except OSError:
        return {}  # there is none, or no home folder
    import tomllib

    return tomllib.loads(text.decode())


def _apply(name, value, source):
    try:
        setattr(config, name, value)
    except Exception as error:
        warnings.warn(f"parakeet ignores {source}: {error}", RuntimeWarning, stacklevel=2)


def _load():
    try:
        settings = _read_file()
    except ValueError as error:
        warnings.warn(f"parakeet ignores {config_file()}: {error}", RuntimeWarning, stacklevel=2)
        settings = {}
    for name, value in settings.items():
        if name in SETTINGS:
            _apply(name, value, f"{name} in {config_file()}")
        else:
            message = f"parakeet knows no setting {name!r}, in {config_file()}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    for name in SETTINGS:
        variable = f"PARAKEET_{name.upper()}"
        # The runtime has read PARAKEET_NUM_THREADS itself, and said what was wrong with it.
        if variable in os.environ and name != "num_threads":
            _apply(name, os.environ[variable], variable)
    if "PARAKEET_NUM_THREADS" in os.environ and "num_threads" in settings:
        _apply("num_threads", os.environ["PARAKEET_NUM_THREADS"], "PARAKEET_NUM_THREADS")


config = Config()
_load()
config._place_cache()


def set_num_threads(count):
    """Gives every later parallel region `count` threads. ValueError when that is out of range."""
    _core.set_num_threads(count)


def get_num_threads():
    """How many threads the next parallel region gets."""
    return _core.get_num_threads()


def show_config():
    """Prints the settings and what this process runs on."""
    import platform

    import numpy

    import parakeet

    print(f"parakeet {parakeet.__version__}, build {_core.build_id[:12]}")
    print(f"Python {platform.python_version()}, NumPy {numpy.__version__}")
    print(config)
    print(f"settings file = {config_file()!r}")
    print(f"OpenMP library = {_core.openmp_file() or 'not opened yet'!r}")
    print(f"compiler opened = {_core.compiler_is_open()}")


def clear_cache(disk=True):
    """Forgets all compiled code of this process, and what is on disk unless `disk` is False: the
    next call of each function compiles anew."""
    from parakeet.jit import living_functions

    for function in living_functions():
        function._clear()
    if disk:
        _core.clear_cache()


def cache_info():
    """Counts: jitted functions alive, specializations made for them, those found on disk and those
    looked for in vain, what is on disk, bytes of result memory."""
    from parakeet.jit import living_functions

    functions = living_functions()
    return {
        "functions": len(functions),
        "specializations": sum(len(function._specializations()) for function in functions),
        **_core.cache_counts(),
        **_core.buffer_counters(),
    }
