"""For CuPy, what a device alone is asked."""

from workloads.products_cupy import matmul, product

__all__ = ["matmul", "product"]
