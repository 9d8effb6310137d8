"""The targets that programs of the tests run on: the interpreter, serial, parallel and a device.

That is the emulated GPU, unless `PARAKEET_TEST_TARGETS=gpu` names others (several are separated by
commas; set to nothing, it leaves it out). The word `only` among them leaves out the host's,
wherever a compiled one is among those of a test. The tests of devices run on the first GPU among
them, else on the emulated one (`HERE` of agreement.py).
"""

import os

_WORDS = os.environ.get("PARAKEET_TEST_TARGETS", "emulated_gpu").split(",")
ADDED = tuple(word for word in _WORDS if word not in ("", "only"))
_ARE_ALL = "only" in _WORDS

COMPILED = ADDED if _ARE_ALL else ("serial", "parallel", *ADDED)
TARGETS = ADDED if _ARE_ALL else ("interpreter", *COMPILED)


def with_added(targets) -> tuple[str, ...]:
    """The targets of a test, with those that were asked for where a compiled one is among them."""
    if not {"serial", "parallel"} & set(targets):
        return tuple(targets)
    kept = () if _ARE_ALL else targets
    return (*kept, *(name for name in ADDED if name not in kept))
