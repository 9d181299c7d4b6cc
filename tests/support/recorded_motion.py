"""A hidden machine of the catalogue, moved by a controller that knows the file alone."""

from functools import lru_cache

import numpy as np

import twin
from twin.control import make_controller
from twin.engines import make_engine
from twin.identification.parameters import gravity_field, select
from twin.motion.profiles import MultiSineMotion

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
def nominal():
    return twin.load("stewart", configuration="hardware")


SPEEDS = {"x": 0.04, "y": 0.04, "z": 0.03, "roll": 0.06, "pitch": 0.06, "yaw": 0.08}


AXES = tuple(SPEEDS)

FAST = np.array([1.0, 1.0, 1.6, 1.6])
"""Times the speed of each sine, where the fast ones shall unload legs."""


def sines(machine, speeds, duration=2.0, *, frequencies=FREQUENCIES, fade_in=0.3, seed=0):
    """Return sines on axes; `speeds` are those of each one [m/s, rad/s] by axis."""
    return MultiSineMotion(
        machine.home,
        frequencies=frequencies,
        amplitude={axis: speed / (2.0 * np.pi * frequencies) for axis, speed in speeds.items()},
        duration=duration,
        phases="random",
        seed=seed,
        fade_in=fade_in,
    )


@lru_cache(maxsize=4)
def recorded(
    controller="computed_torque",
    duration=2.0,
    tilt=(),
    engine="analytic",
):
    """Return a run of the hidden machine along a multi-sine, on a base with tilts [rad]."""
    machine = nominal()
    motion = sines(machine, SPEEDS, duration)
    hidden = machine.with_(parameters=HIDDEN)
    law = make_controller(controller, hidden, motion)
    if not tilt:
        return hidden.simulate(duration, controller=law, timestep=TIMESTEP, engine=engine)
    # Felt on a level base that is accelerated by the difference.
    field = gravity_field(machine, select(machine, "gravity"), tilt)
    base, away = make_engine(engine, hidden, TIMESTEP), gravity_field(machine, (), ()) - field
    place = base.reset

    def reset(*start):
        place(*start)
        base.shake(away)
        return base.state

    base.reset = reset
    return hidden.simulate(duration, controller=law, engine=base)
