"""The targets that programs of the tests run on.

`PARAKEET_TEST_TARGETS=emulated_gpu` adds one; several are separated by commas, and the word `only`
among them leaves out the others, wherever a compiled one is among those of a test. The tests of
devices run on the first GPU among them, else on the emulated one (`HERE` of agreement.py).
"""

import os

_WORDS = [word for word in os.environ.get("PARAKEET_TEST_TARGETS", "").split(",") if word]
ADDED = tuple(word for word in _WORDS if word != "only")
_ARE_ALL = "only" in _WORDS

COMPILED = ADDED if _ARE_ALL else ("serial", "parallel", *ADDED)
TARGETS = ADDED if _ARE_ALL else ("interpreter", *COMPILED)


def with_added(targets) -> tuple[str, ...]:
    """The targets of a test, with those that were asked for where a compiled one is among them."""
    if not {"serial", "parallel"} & set(targets):
        return tuple(targets)
    kept = () if _ARE_ALL else targets
    return (*kept, *(name for name in ADDED if name not in kept))
