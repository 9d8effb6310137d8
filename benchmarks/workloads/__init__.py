"""Workloads in groups: NumPy-style programs, and what each peer runs in their place."""
