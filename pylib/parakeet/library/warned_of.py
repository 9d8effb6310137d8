"""What is warned of: nothing is inside jit, so that contexts which say less change nothing.

A `with` of one of these contexts is an `if` of what its function gives, see
frontend/read_statements.cc.
"""

import warnings

import numpy as np

from parakeet.library.registry import overload

QUIET = ("ignore", "warn")


def is_quiet(mode):
    return mode is None or mode in QUIET


@overload(np.errstate)
def errstate(*, call=None, all=None, divide=None, over=None, under=None, invalid=None):
    if not (is_quiet(all) and is_quiet(divide) and is_quiet(over) and is_quiet(under)
            and is_quiet(invalid)):
        raise NotImplementedError("np.errstate that raises, prints, calls or logs")
    return True


@overload(warnings.catch_warnings)
def catch_warnings():
    return True


@overload(warnings.simplefilter)
def simplefilter(action, category=Warning, lineno=0, append=False):
    if action == "error":
        raise NotImplementedError("warnings that are errors")


@overload(warnings.filterwarnings)
def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    simplefilter(action)
