"""A step of an exported unit through fmpy, beside a step of the engine that it comes from."""

from __future__ import annotations

import fmpy
import pytest
from fmpy.fmi3 import FMU3Slave

import twin
from twin.engines.base import suitable_timestep
from twin.engines.fmu.unit import write_unit


@pytest.fixture
def instance(platform, tmp_path):
    folder = fmpy.extract(str(write_unit(platform, tmp_path)), str(tmp_path / "unit"))
    described = fmpy.read_model_description(folder)
    names = {"guid": described.guid, "unzipDirectory": folder, "modelIdentifier": platform.name}
    unit = FMU3Slave(instanceName="one", **names)
    unit.instantiate()
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    yield unit
    unit.freeInstance()


@pytest.mark.benchmark(group="unit")
@pytest.mark.parametrize("steps", [1, 100])
def test_unit(benchmark, platform, instance, steps):
    """One communication step of 1 or 100 integration steps, again and again from the start."""
    span, kept = steps * suitable_timestep(platform), instance.getFMUState()

    def again():
        instance.setFMUState(kept)
        return (0.0, span), {}

    benchmark.pedantic(instance.doStep, setup=again, rounds=200, warmup_rounds=20)


@pytest.mark.benchmark(group="unit")
def test_engine(benchmark, platform):
    engine = twin.make_engine("analytic", platform, suitable_timestep(platform), "fast")
    state = engine.reset()
    forces = platform.inverse_dynamics(state.pose, [0.0] * 6, [0.0] * 6)
    benchmark.pedantic(engine.step, args=(forces,), rounds=200, warmup_rounds=20)
    engine.close()
