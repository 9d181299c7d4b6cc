"""One step of every engine, as a user calls it."""

from __future__ import annotations

import pytest

import twin
from twin.engines import engine_names
from twin.engines.base import suitable_timestep
from twin.model.engine import FIDELITIES


@pytest.mark.benchmark(group="engine step")
@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("name", engine_names())
def test_step(benchmark, platform, name, fidelity):
    engine = twin.make_engine(name, platform, suitable_timestep(platform), fidelity)
    state = engine.reset()
    forces = platform.inverse_dynamics(state.pose, [0.0] * 6, [0.0] * 6)
    benchmark.pedantic(engine.step, args=(forces,), rounds=200, warmup_rounds=20)
    engine.close()
