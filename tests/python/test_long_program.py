"""A function of three hundred lines compiles, and means what it says (`./dev bench compile` says
how long it takes; no time is asserted here)."""

import numpy as np
from agreement import Tolerance, check_agreement
from from_source import define
from long_program import calls_of, source_of

from parakeet import jit

ITERATED = Tolerance("sums of another order than NumPy's, and steps that build on them",
                     ulps=1e4, of_sum=64.0, of_one=1e4)


def test_three_hundred_lines():
    source = source_of(300)
    assert len(source.splitlines()) == 300
    program = define(source, "long_program")
    arguments = lambda: (np.linspace(-1.0, 1.0, 12), np.linspace(0.5, 2.0, 12) ** 2)
    check_agreement(jit(program), program, arguments, ITERATED, ["serial"])


def test_four_library_calls_a_line(request):
    lines = 20 if request.config.getoption("--sample") else 60
    program = define(calls_of(lines), "long_program")

    def arguments():
        x, y = np.linspace(-1.0, 1.0, 12), np.linspace(0.5, 2.0, 12) ** 2
        return x, y, np.outer(y, y) + 0.1

    check_agreement(jit(program), program, arguments, ITERATED, ["serial"])
