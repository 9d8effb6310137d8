"""Complete numeric programs, written as users write NumPy: nothing here is written for a compiler.

One file a field. Programs and their helpers are plain functions; docstrings give shapes.
"""
