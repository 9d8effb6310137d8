from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

BINARY: tuple[str, ...]
UNARY: tuple[str, ...]
ALIASES: dict[str, str]
PRIMITIVES: dict[str, Primitive]
__all__: list[str]

class Primitive:
    parakeet_kind: ClassVar[str]
    name: str
    arity: int
    def __init__(self, name: str, arity: int) -> None: ...
    def __call__(
        self,
        *operands: ArrayLike,
        out: np.ndarray | None = None,
        where: ArrayLike = True,
        dtype: Any = None,
        target: str | None = None,
    ) -> Any: ...

add: Primitive
subtract: Primitive
multiply: Primitive
divide: Primitive
floor_divide: Primitive
remainder: Primitive
fmod: Primitive
power: Primitive
minimum: Primitive
maximum: Primitive
fmin: Primitive
fmax: Primitive
arctan2: Primitive
hypot: Primitive
copysign: Primitive
nextafter: Primitive
bitwise_and: Primitive
bitwise_or: Primitive
bitwise_xor: Primitive
left_shift: Primitive
right_shift: Primitive
equal: Primitive
not_equal: Primitive
less: Primitive
less_equal: Primitive
greater: Primitive
greater_equal: Primitive
logical_and: Primitive
logical_or: Primitive
logical_xor: Primitive
logical_not: Primitive
negative: Primitive
absolute: Primitive
sign: Primitive
invert: Primitive
conjugate: Primitive
real: Primitive
imag: Primitive
floor: Primitive
ceil: Primitive
trunc: Primitive
rint: Primitive
sqrt: Primitive
cbrt: Primitive
exp: Primitive
exp2: Primitive
expm1: Primitive
log: Primitive
log2: Primitive
log10: Primitive
log1p: Primitive
sin: Primitive
cos: Primitive
tan: Primitive
arcsin: Primitive
arccos: Primitive
arctan: Primitive
sinh: Primitive
cosh: Primitive
tanh: Primitive
arcsinh: Primitive
arccosh: Primitive
arctanh: Primitive
erf: Primitive
erfc: Primitive
isnan: Primitive
isinf: Primitive
isfinite: Primitive
signbit: Primitive
true_divide: Primitive
mod: Primitive
abs: Primitive
conj: Primitive
bitwise_not: Primitive
pow: Primitive
