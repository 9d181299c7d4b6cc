"""One control period of 10 ms of whole batched plants, default steps: 1 ms with ideal drives."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.simulation.batched import make_batched_plant

PLANTS = [
    *(
        (engine, fidelity, size)
        for engine, fidelity in (("analytic", None), ("mujoco", None))
        for size in (1, 64, 256)
    ),
    ("mujoco", "fast", 256),
    ("bullet", None, 1),
]


@pytest.mark.benchmark(group="control period of a batched plant")
@pytest.mark.parametrize("configuration", ["ideal", "hardware"])
@pytest.mark.parametrize(("engine", "fidelity", "size"), PLANTS)
def test_period(benchmark, engine, fidelity, size, configuration):
    platform = twin.load("stewart", configuration)
    batch = make_batched_plant(engine, platform, size, fidelity=fidelity)
    batch.reset(np.arange(size))
    still = np.zeros((size, platform.n_actuators))
    rounds = max(5, 200 // size)
    benchmark.pedantic(batch.advance, args=(still,), rounds=rounds, warmup_rounds=2)
    benchmark.extra_info["machine steps per second"] = round(size / benchmark.stats["min"])
    assert not batch.failed.any()
    batch.close()


@pytest.mark.benchmark(group="reset of a row")
@pytest.mark.parametrize("engine", ["analytic", "mujoco", "bullet"])
@pytest.mark.parametrize("varied", [False, True])
def test_reset(benchmark, engine, varied):
    """With another machine or the same."""
    platform = twin.load("stewart")
    other = twin.Platform(platform.parameters)
    batch = make_batched_plant(engine, platform, 2)
    batch.reset(np.arange(2))
    machines = [other, platform]

    def reset():
        if varied:
            machines.reverse()
        batch.reset(np.array([0]), platforms=[machines[0]] if varied else None)

    benchmark.pedantic(reset, rounds=30, warmup_rounds=2)
    batch.close()
