"""One second of closed loop: drives, sensors, controller and engine, as a user calls it."""

from __future__ import annotations

import pytest

import twin
from twin.control.cascade import Cascade
from twin.engines.base import suitable_timestep
from twin.motion import SineMotion

STEP = 5e-4


@pytest.mark.benchmark(group="one second of closed loop")
@pytest.mark.parametrize("configuration", [None, "hardware"])
@pytest.mark.parametrize("name", twin.machine_names())
def test_second(benchmark, name, configuration):
    platform = twin.load(name, configuration)
    motion = SineMotion(
        platform.home,
        amplitude={"z": 1e-4 if platform.leg.has_axial_spring else 0.01},
        frequency=1.0,
        duration=1.0,
        fade_in=0.2,
        fade_out=0.2,
        convention="roll_pitch" if platform.dof < 6 else "yaw_pitch_roll",
    )
    controller = Cascade(platform, motion)
    timestep = min(STEP, suitable_timestep(platform))

    def second():
        return platform.simulate(1.0, controller=controller, progress=False, timestep=timestep)

    assert benchmark.pedantic(second, rounds=5, warmup_rounds=1).stopped == ""
