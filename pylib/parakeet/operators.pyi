from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

Shape = int | tuple[int, ...] | list[int]
Axes = int | tuple[int, ...] | None

__all__: list[str]

class Operator:
    parakeet_kind: ClassVar[str]
    name: str
    def __init__(self, name: str) -> None: ...
    def __call__(self, *args: Any, target: str | None = None, **kwargs: Any) -> Any: ...

class _Map(Operator):
    def __call__(
        self,
        f: Callable[..., Any],
        *arrays: ArrayLike,
        axis: Axes = 0,
        target: str | None = None,
    ) -> Any: ...

class _Imap(Operator):
    def __call__(
        self, f: Callable[..., Any], shape: Shape, *, target: str | None = None
    ) -> Any: ...

class _Filter(Operator):
    def __call__(
        self,
        pred: Callable[..., Any],
        *arrays: ArrayLike,
        axis: Axes = 0,
        target: str | None = None,
    ) -> Any: ...

class _Reduce(Operator):
    def __call__(
        self,
        f: Callable[..., Any],
        *arrays: ArrayLike,
        axis: Axes = None,
        init: Any = None,
        target: str | None = None,
    ) -> Any: ...

class _Scan(Operator):
    def __call__(
        self,
        f: Callable[..., Any],
        *arrays: ArrayLike,
        axis: int = 0,
        init: Any = None,
        target: str | None = None,
    ) -> Any: ...

class _Ireduce(Operator):
    def __call__(
        self,
        f: Callable[..., Any],
        combine: Callable[..., Any],
        shape: Shape,
        init: Any = None,
        *,
        target: str | None = None,
    ) -> Any: ...

class _FilterReduce(Operator):
    def __call__(
        self,
        f: Callable[..., Any],
        pred: Callable[..., Any],
        *arrays: ArrayLike,
        init: Any = None,
        target: str | None = None,
    ) -> Any: ...

map: _Map
each: _Map
imap: _Imap
outer_map: _Map
allpairs: _Map
filter: _Filter
reduce: _Reduce
scan: _Scan
ireduce: _Ireduce
filter_reduce: _FilterReduce
