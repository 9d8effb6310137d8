"""What every Python test stands on: the installed wheel, a fresh cache, repeatable examples."""

import gc
import itertools
import os
import random
import tempfile

# Before anything imports parakeet or OpenMP. Idle OpenMP threads that spin would steal the cores
# that the next compilation needs; a cache left by another build could hide a miss.
os.environ.setdefault("KMP_BLOCKTIME", "0")
if "PARAKEET_CACHE_DIR" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="parakeet-tests-")
    os.environ["PARAKEET_CACHE_DIR"] = _cache.name

import pytest  # noqa: E402
import tested_targets  # noqa: E402
from hypothesis import settings  # noqa: E402

from parakeet import testing_helpers  # noqa: E402

testing_helpers.TARGETS = tested_targets.TARGETS

# A first call compiles, so no example has a deadline; a failure must come again on the next run.
# An example is mostly a compilation, so there are few, unless asked for more.
settings.register_profile("parakeet", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("sample", deadline=None, derandomize=True, max_examples=16)
settings.register_profile("long", deadline=None, max_examples=1000)


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run the tests that take minutes too")
    parser.addoption("--sample", action="store_true",
                     help="of a matrix marked sampled(n, ...) one case in n, the same ones each "
                          "time, and fewer random examples")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collecting makes a million objects that stay: nothing looks for garbage among them, then or
    later. Tests that ask for a collection would wait a quarter of a second each. What earlier tests
    have left goes when a later one asks, as seldom in between as with all these objects: some count
    what there is."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*gc.get_threshold()[:2], 1000)
        gc.enable()


def pytest_configure(config):
    asked = [name for name in ("long", "sample") if config.getoption(f"--{name}")]
    settings.load_profile(asked[0] if asked else "parakeet")


def sample_of(cases, one_in, parameters, seed):
    """One case in so many, and more where else a value of one of these parameters is in none."""
    cases = random.Random(seed).sample(cases, len(cases))
    values = [{(name, repr(case.callspec.params[name])) for name in parameters} for case in cases]
    wanted, chosen = set().union(*values), {}
    # First those of which most is in no other yet: the cases that have every value are few.
    for gain in range(len(parameters), 0, -1):
        for case, own in zip(cases, values, strict=True):
            if len(own & wanted) >= gain:
                chosen[case] = None
                wanted -= own
    for case in cases:
        if len(chosen) * one_in < len(cases):
            chosen[case] = None
    return chosen


def leave_out(config, items):
    """Deselects what is no part of the sample: a seed of each function's own chooses its cases."""
    kept = []
    for name, cases in itertools.groupby(items, key=lambda item: item.nodeid.split("[")[0]):
        cases = list(cases)
        sampled = cases[0].get_closest_marker("sampled")
        if sampled:
            one_in, *parameters = sampled.args
            chosen = sample_of(cases, one_in, parameters, name.rsplit("/", 1)[-1])
            cases = [case for case in cases if case in chosen]
        kept += cases
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_collection_modifyitems(config, items):
    if config.getoption("--sample"):
        leave_out(config, items)
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="long: runs under ./dev test --long"))
