"""Programs whose inexact results are moved some units of the last place to one side.

What then comes out otherwise, as places that `int()` or a comparison made of a sum, is decided by
rounding: a difference there says nothing. What is exact, as sums of few digits are, does not move.
"""

import ast
import re

import numpy as np

# Functions and methods that ours may round in other places, or within other units, than NumPy.
ROUNDED = frozenset("""
    sum mean prod dot cumsum cumprod var std inner trace matmul einsum average reduce scan
    accumulate reduceat nansum nanmean nanstd nancumsum nanmedian median percentile quantile norm
    cov corrcoef interp polyval gradient convolve correlate trapezoid tensordot vdot matrix_power
    linspace cross sin exp tanh log log1p arctan2 hypot cbrt sinc angle abs vander kron
""".split())
# How near two values must be for what is not exact, by the coarsest float that is met.
TOLERANCES = {"float64": 1e-9, "complex128": 1e-9, "float32": 1e-4, "complex64": 1e-4,
              "float16": 2e-2}
NAMED_TYPE = re.compile("float32|float16|complex64")


def tolerance_of(source: str, *values) -> float:
    names = {*NAMED_TYPE.findall(source), *(str(getattr(value, "dtype", "")) for value in values)}
    return max((TOLERANCES.get(name, 0.0) for name in names), default=0.0) or 1e-9


def widened(value):
    """Floats in long double, which rounds in other places; anything else as it is."""
    if isinstance(value, float | np.floating):
        return np.longdouble(value)
    is_floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return value.astype(np.longdouble) if is_floats else value


def in_long_double(value):
    """All numbers in long double, as their sums and means are to be compared with."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiuc":
        return value.astype(np.clongdouble if value.dtype.kind == "c" else np.longdouble)
    return value


def nudged(plain, wide, towards: int):
    """What fits the type of `plain` as it is in long double; some units aside where it does not."""
    rounded = np.asarray(wide).astype(np.asarray(plain).dtype)
    return np.where(rounded == wide, rounded, moved(rounded, towards))[()]


def moved(x, towards: int):
    return (x + towards * 4 * np.finfo(x.dtype).eps * np.abs(x)).astype(x.dtype)[()]


def reduce_in_long_double(towards: int):
    def reduce(owner, name, *arguments, **keywords):
        plain = getattr(owner, name)(*arguments, **keywords)
        if getattr(plain, "dtype", np.dtype(int)).kind not in "fc":
            return plain
        try:
            wide = getattr(in_long_double(owner), name)(*map(in_long_double, arguments), **keywords)
        except (TypeError, ValueError, np.exceptions.AxisError):
            return moved(np.asarray(plain), towards)  # There is none of it.
        return nudged(plain, wide, towards)
    return reduce


class Widener(ast.NodeTransformer):
    """Reductions, and sums and products that a loop accumulates, in long double."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ROUNDED:
            return node
        arguments = [node.func.value, ast.Constant(node.func.attr), *node.args]
        return ast.Call(ast.Name("reduce_wide", ast.Load()), arguments, node.keywords)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            node.value = ast.Call(ast.Name("widened", ast.Load()), [node.value], [])
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        arguments = [ast.Name("np", ast.Load()), ast.Constant("matmul"), node.left, node.right]
        return ast.Call(ast.Name("reduce_wide", ast.Load()), arguments, [])


def widen(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(Widener().visit(ast.parse(source))))
