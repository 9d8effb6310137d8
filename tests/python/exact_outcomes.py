"""What a function gives, raises and leaves in its arguments, to the bit."""

import copy

import numpy as np
from agreement import HERE

from parakeet import jit

TARGETS = ["serial", "parallel", HERE]
_compiled = {}


def outcome(f, arguments, target):
    arguments = copy.deepcopy(arguments)
    try:
        result = _compiled.setdefault(f, jit(f))(*arguments, target=target)
    except Exception as error:
        result = type(error), str(error)
    return [exactly(value) for value in (result, *arguments)]


def exactly(value):
    if isinstance(value, tuple):
        return [exactly(each) for each in value]
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def check(f, *arguments, expected="python"):
    """Holds every target to what another one gives, which is plain Python."""
    wanted = outcome(f, arguments, expected)
    for target in TARGETS:
        assert outcome(f, arguments, target) == wanted, target
