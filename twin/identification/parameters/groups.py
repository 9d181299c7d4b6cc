"""Groups of parameters, and the spreads that data sheets leave them."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Spread(NamedTuple):
    """Standard deviation of a prior: an amount of something of the machine."""

    amount: float
    of: Literal["value", "arm", "moment", "unit"] = "value"
    """the value itself; the mean distance of the platform joints; the mean moment of inertia of
    the same body; or the SI unit"""


PAYLOAD = {
    "platform.body.mass": Spread(0.10),
    "platform.body.center_of_mass.*": Spread(0.05, "arm"),
    "platform.body.inertia.*": Spread(0.20, "moment"),
}
"""Spreads of the platform with what is fixed to it, which is often only guessed."""

PLATFORM = {
    "platform.body.mass": Spread(0.02),
    "platform.body.center_of_mass.*": Spread(0.01, "arm"),
    "platform.body.inertia.*": Spread(0.05, "moment"),
}
"""Spreads of the same numbers where a drawing gives them."""

LEGS = {
    "leg.*.mass": Spread(0.05),
    "leg.*.center_of_mass.*": Spread(0.02, "arm"),
    "leg.*.inertia.*": Spread(0.10, "moment"),
    "leg.*.density": Spread(0.05),
    "leg.foot_mass": Spread(0.05),
    "leg.upper_mass": Spread(0.05),
    "leg.spring_mass": Spread(0.05),
    "leg.housing_mass": Spread(0.05),
    "leg.follower_mass": Spread(0.05),
    "leg.axial.stiffness": Spread(0.20),
    "leg.axial.damping": Spread(0.50),
    "leg.stiffness": Spread(0.20),
    "leg.damping": Spread(0.50),
}
"""Spreads of bodies and springs of the legs."""

FRICTION = {
    "leg.drive.friction": Spread(0.30),
    "leg.drive.friction_torque": Spread(0.30),
    "leg.drive.viscous": Spread(0.30),
    "leg.drive.viscous_torque": Spread(0.30),
    "leg.drive.breakaway": Spread(0.15, "unit"),
    "leg.drive.stribeck_speed": Spread(0.50),
    "leg.friction.coulomb": Spread(0.30),
    "leg.friction.viscous": Spread(0.30),
    "leg.friction.transition_speed": Spread(0.50),
}
"""Spreads of friction: it changes that much with load, temperature and wear (`hardware_spread`)."""

DRIVES = {
    "leg.drive.delay": Spread(0.50),
    "leg.drive.current_lag": Spread(0.40),
    "leg.drive.backlash": Spread(0.50),
    "leg.drive.stiffness": Spread(0.20),
    "leg.drive.damping": Spread(0.50),
    "leg.drive.armature_inertia": Spread(0.10),
    "leg.drive.moving_mass": Spread(0.10),
    "signal.forces.scale": Spread(0.05, "unit"),
}
"""The scale of measured forces is the error of the torque constant, where currents give them."""

GRAVITY = {"tilt.x": Spread(5e-3, "unit"), "tilt.y": Spread(5e-3, "unit")}
"""Rotations of the base out of level [rad]: 5 mm/m, a floor that nobody levelled."""

SENSORS = {
    "signal.*": Spread(1.0),
    "imu.position.*": Spread(5e-3, "unit"),
    "imu.attitude.*": Spread(1e-2, "unit"),
}
"""Spreads of errors of signals come from the machine; see `added`."""

GROUPS: dict[str, dict[str, Spread]] = {
    "payload": PAYLOAD,
    "platform": PLATFORM,
    "legs": LEGS,
    "friction": FRICTION,
    "drives": DRIVES,
    "gravity": GRAVITY,
    "sensors": SENSORS,
}
"""Patterns of paths by name of the group."""

OTHERS = {
    "*.joints.radius": Spread(2e-4, "unit"),
    "*.joints.height": Spread(2e-4, "unit"),
    "*.joints.coordinates.*": Spread(2e-4, "unit"),
    "*.joints.*": Spread(1e-3, "unit"),
    "home.position.*": Spread(5e-4, "unit"),
    "*": Spread(0.05),
}
"""Paths of no group; the first pattern that fits."""

SIGNED = frozenset(
    {
        *("center_of_mass", "coordinates", "position", "attitude", "start", "zero", "first_axis"),
        *("height", "center_angle", "frame_angle", "axis_angles", "bias", "tilt"),
    }
)
"""Keys of numbers that may be below zero."""

MAY_VANISH = frozenset(
    {
        *("friction", "friction_torque", "viscous", "viscous_torque", "coulomb", "backlash"),
        *("delay", "current_lag", "foot_mass", "upper_mass"),
    }
)
"""Keys of numbers that may become zero."""
