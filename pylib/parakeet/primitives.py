"""The scalar primitives as functions: `parakeet.add`, `parakeet.tanh` and their like.

Inside jitted code each is one operation of the compiler, lifted to arrays by broadcasting. Called
from plain Python it runs on whatever target other calls run on. `frontend/primitives.def` is the
compiler's side of the table: which operation each name is, and which dtypes it takes.
"""

import functools

BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power",
    "minimum", "maximum", "fmin", "fmax", "arctan2", "hypot", "copysign", "nextafter",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
    "logical_and", "logical_or", "logical_xor",
)  # fmt: skip
UNARY = (
    "logical_not", "negative", "absolute", "sign", "invert", "conjugate", "real", "imag",
    "floor", "ceil", "trunc", "rint", "sqrt", "cbrt",
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "erf", "erfc", "isnan", "isinf", "isfinite", "signbit",
)  # fmt: skip
# Second names, as NumPy has them.
ALIASES = {
    "true_divide": "divide",
    "mod": "remainder",
    "abs": "absolute",
    "conj": "conjugate",
    "bitwise_not": "invert",
    "pow": "power",
}


class Primitive:
    """An element-wise function of NumPy's name and meaning, of one or two operands.

    Called with numbers and arrays, which broadcast; `out`, `where` and `dtype` are keywords as
    NumPy has them, and `target` says where this call runs.
    """

    parakeet_kind = "primitive"

    def __init__(self, name, arity):
        self.name = self.__name__ = self.__qualname__ = name
        self.arity = arity
        self.__doc__ = f"numpy.{name}, element by element; see parakeet.primitives.Primitive."

    def __call__(self, *operands, out=None, where=True, dtype=None, target=None):
        from parakeet import plain_operators

        if plain_operators.is_asked_for(target):
            return plain_operators.run_primitive(
                self.name, operands, **_given(out=out, where=where, dtype=dtype)
            )
        keywords = {} if target is None else {"target": target}
        return self._compiled(*operands, out=out, where=where, dtype=dtype, **keywords)

    @functools.cached_property
    def _compiled(self):
        from parakeet.jit import jit

        return jit(_calling_one(self) if self.arity == 1 else _calling_two(self), name=self.name)

    def __repr__(self):
        return f"<parakeet primitive {self.name}>"

    def __reduce__(self):
        return self.name  # a global of this module


def _given(**keywords):
    """Those that say something; NumPy's functions that are no ufuncs take none."""
    return {k: v for k, v in keywords.items() if v is not None and v is not True}


def _calling_one(primitive):
    def call(x, /, out=None, where=True, dtype=None):
        return primitive(x, out=out, where=where, dtype=dtype)

    return call


def _calling_two(primitive):
    def call(x1, x2, /, out=None, where=True, dtype=None):
        return primitive(x1, x2, out=out, where=where, dtype=dtype)

    return call


PRIMITIVES = {name: Primitive(name, 2) for name in BINARY}
PRIMITIVES |= {name: Primitive(name, 1) for name in UNARY}
globals().update(PRIMITIVES)
globals().update({alias: PRIMITIVES[name] for alias, name in ALIASES.items()})

__all__ = [*PRIMITIVES, *ALIASES]
