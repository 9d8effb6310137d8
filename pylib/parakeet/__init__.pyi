from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, ParamSpec, TypeVar
from typing import overload as typing_overload

import numpy as np
from numpy.typing import DTypeLike

from parakeet import c_backend as c_backend
from parakeet import errors as errors
from parakeet import testing_helpers as testing_helpers
from parakeet.comparison import Table
from parakeet.config import Config
from parakeet.device_memory import MemoryInfo
from parakeet.errors import Limitation as Limitation
from parakeet.explanation import Explanation
from parakeet.inspection import ArrayType, Timings
from parakeet.profiling import Profile
from parakeet.text import Text

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str
config: Config

class DeviceArray:
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int
    size: int
    nbytes: int
    itemsize: int
    device: str
    T: DeviceArray
    def to_host(self) -> np.ndarray[Any, Any]: ...
    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Any: ...
    def __getitem__(self, index: Any) -> DeviceArray: ...
    def __len__(self) -> int: ...

class Function(Generic[_P, _R]):
    __name__: str
    __qualname__: str
    __doc__: str | None
    __wrapped__: Callable[_P, _R]
    # The keyword `target` is taken beside the function's own parameters.
    def __call__(self, *args: Any, **kwargs: Any) -> _R: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., _R]: ...
    def compile(self, *args: Any, target: str | None = None, **kwargs: Any) -> None: ...
    def explain(
        self, *args: Any, target: str | None = None, **kwargs: Any
    ) -> Explanation: ...
    def ir(
        self, *args: Any, stage: str = "parallel", target: str | None = None, **kwargs: Any
    ) -> Text: ...
    def llvm(self, *args: Any, target: str | None = None, **kwargs: Any) -> Text: ...
    def asm(self, *args: Any, target: str | None = None, **kwargs: Any) -> Text: ...
    def ptx(
        self,
        *args: Any,
        target: str | None = None,
        architecture: int | None = None,
        **kwargs: Any,
    ) -> Text: ...
    def timings(self) -> Timings: ...
    @property
    def signatures(self) -> list[str]: ...

@typing_overload
def jit(
    f: Callable[_P, _R],
    *,
    target: str | None = None,
    fastmath: bool | str | Iterable[str] = False,
    boundscheck: bool = True,
    cache: bool = True,
    name: str | None = None,
) -> Function[_P, _R]: ...
@typing_overload
def jit(
    f: None = None,
    *,
    target: str | None = None,
    fastmath: bool | str | Iterable[str] = False,
    boundscheck: bool = True,
    cache: bool = True,
    name: str | None = None,
) -> Callable[[Callable[_P, _R]], Function[_P, _R]]: ...

def asarray(x: Any, device: str | None = None) -> Any: ...
def array_type(dtype: DTypeLike, ndim: int) -> ArrayType: ...
def cache_info() -> dict[str, int]: ...
def clear_cache(disk: bool = True) -> None: ...
def compare(
    f: Callable[..., Any],
    *args: Any,
    targets: Sequence[str] = ("serial", "parallel"),
    peers: Iterable[Callable[..., Any] | tuple[str, Callable[..., Any]]] = (),
    tolerance: float = 1e-6,
    **kwargs: Any,
) -> Table: ...
def devices() -> list[str]: ...
def get_num_threads() -> int: ...
def memory_info(device: str | None = None) -> MemoryInfo: ...
def overload(
    *functions: Callable[..., Any], method: str | None = None
) -> Callable[[_F], _F]: ...
def profile(show: bool = True) -> Profile: ...
def set_memory_limit(bytes: int | None, device: str | None = None) -> None: ...
def set_num_threads(count: int) -> None: ...
def show_config() -> None: ...
def target(name: str) -> AbstractContextManager[None]: ...
def to_gpu(x: Any, device: str | None = None) -> DeviceArray: ...

def map(f: Callable[..., Any], *arrays: Any, axis: int | None = 0) -> Any: ...
def each(f: Callable[..., Any], *arrays: Any, axis: int | None = 0) -> Any: ...
def imap(f: Callable[..., Any], shape: int | Sequence[int]) -> Any: ...
def outer_map(
    f: Callable[..., Any], *arrays: Any, axis: int | None | Sequence[int | None] = 0
) -> Any: ...
def allpairs(
    f: Callable[..., Any], x: Any, y: Any, axis: int | None | Sequence[int | None] = 0
) -> Any: ...
def filter(pred: Callable[..., Any], *arrays: Any, axis: int = 0) -> Any: ...
def reduce(
    f: Callable[..., Any], *arrays: Any, axis: int | None = None, init: Any = None
) -> Any: ...
def scan(f: Callable[..., Any], *arrays: Any, axis: int = 0, init: Any = None) -> Any: ...
def ireduce(
    f: Callable[..., Any],
    combine: Callable[..., Any],
    shape: int | Sequence[int],
    init: Any = None,
) -> Any: ...
def filter_reduce(
    f: Callable[..., Any], pred: Callable[..., Any], *arrays: Any, init: Any = None
) -> Any: ...

# Primitives, casts, constructors and reductions: as NumPy's functions of the same name.
def __getattr__(name: str) -> Any: ...
