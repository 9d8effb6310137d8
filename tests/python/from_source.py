"""Functions made of text, with their source where the front end looks for it."""

import itertools
import linecache
import types

import numpy as np

import parakeet

_numbers = itertools.count()


def define(source: str, name: str = "f", **others) -> types.FunctionType:
    """The function of that name in `source`, as if it stood in a file of its own, which sees
    NumPy, parakeet and others by these names."""
    filename = f"<program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    names = {"np": np, "parakeet": parakeet, "__name__": "__program__"} | others
    exec(compile(source, filename, "exec"), names)
    return names[name]
