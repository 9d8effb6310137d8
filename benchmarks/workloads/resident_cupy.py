"""For CuPy, what a device alone is asked."""

from workloads.products_cupy import matmul, product
from workloads.stencils_cupy import jacobi as small_steps

__all__ = ["matmul", "product", "small_steps"]
