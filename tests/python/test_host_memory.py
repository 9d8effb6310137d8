"""What memory_info says of the host's results, and how their memory goes back to the system."""

import gc
from pathlib import Path

import numpy as np
import pytest

import parakeet
from parakeet import jit

PAGE = 4096
BYTES = 8_000_000


def resident():
    return PAGE * int(Path("/proc/self/statm").read_text().split()[1])


@jit(target="serial")
def ones_like(x):
    return x * 0.0 + 1.0


def test_results_that_live_and_that_are_gone():
    x = np.zeros(BYTES // 8)
    ones_like(x)
    gc.collect()
    parakeet.trim_memory()
    before = parakeet.memory_info("host")
    results = [ones_like(x) for _ in range(10)]
    held = parakeet.memory_info("host")
    assert held.in_use - before.in_use == 10 * BYTES and held.buffers - before.buffers == 10
    assert held.peak >= held.in_use and f"{held.in_use:,} bytes in use" in str(held)
    with_results = resident()
    del results
    gone = parakeet.memory_info("host")
    assert gone.in_use == before.in_use and gone.pooled >= 10 * BYTES
    assert f"{gone.pooled:,} more free and kept" in str(gone)
    assert parakeet.trim_memory() >= 10 * BYTES
    assert parakeet.memory_info("host").pooled < BYTES
    assert with_results - resident() > 8 * BYTES
    assert np.all(ones_like(x) == 1.0)


def test_it_is_what_the_configured_target_says(monkeypatch):
    for name in ("serial", "parallel"):
        monkeypatch.setattr(parakeet.config, "target", name)
        assert parakeet.memory_info() == parakeet.memory_info("host")
    assert parakeet.memory_info("host").limit is None
    with pytest.raises(ValueError, match="is no device"):
        parakeet.memory_info("parallel")
