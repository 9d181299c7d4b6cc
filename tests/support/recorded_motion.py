"""A hidden machine of the catalogue, moved by a controller that knows the file alone."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.control import make_controller
from twin.engines import make_engine
from twin.identification.parameters import gravity_field, select
from twin.model.engine import State
from twin.motion.profiles import MultiSineMotion
from twin.simulation.simulate import Trajectory

HIDDEN = {
    "platform.body.mass": 101.3,
    "platform.body.center_of_mass.0": 0.012,
    "leg.drive.friction_torque": 0.262,
    "leg.drive.delay": 0.003,
}

TIMESTEP = 6.25e-5
"""[s] Step of the engine: its error is well below what an identification sees."""

FREQUENCIES = np.array([0.7, 1.3, 2.9, 4.1])


@lru_cache(maxsize=1)
def nominal() -> Platform:
    return twin.load("stewart", configuration="hardware")


@lru_cache(maxsize=4)
def recorded(
    controller: str = "computed_torque",
    duration: float = 2.0,
    tilt: tuple[float, ...] = (),
    engine: str = "analytic",
) -> Trajectory:
    """Return a run of the hidden machine along a multi-sine, on a base with tilts [rad]."""
    machine = nominal()
    speeds = {"x": 0.04, "y": 0.04, "z": 0.03, "roll": 0.06, "pitch": 0.06, "yaw": 0.08}
    motion = MultiSineMotion(
        machine.home,
        frequencies=FREQUENCIES,
        amplitude={axis: speed / (2.0 * np.pi * FREQUENCIES) for axis, speed in speeds.items()},
        duration=duration,
        phases="random",
        fade_in=0.3,
    )
    hidden = machine.with_(parameters=HIDDEN)
    law = make_controller(controller, hidden, motion)
    if not tilt:
        return hidden.simulate(duration, controller=law, timestep=TIMESTEP, engine=engine)
    # Felt on a level base that is accelerated by the difference.
    field = gravity_field(machine, select(machine, "gravity"), tilt)
    base, away = make_engine(engine, hidden, TIMESTEP), gravity_field(machine, (), ()) - field
    place = base.reset

    def reset(*start: object) -> State:
        place(*start)
        base.shake(away)
        return base.state

    base.reset = reset  # type: ignore[method-assign]
    return hidden.simulate(duration, controller=law, engine=base)
