"""Ways through home along which a machine is excited: base axes, and single actuators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, one_of, positive
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import equivalent_inertia

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Along and about the base axes; about them in the order x, y, z."""

SPEED_SHARE, EFFORT_SHARE = 0.02, 0.1
"""Adopted: of an actuator's limits of speed and effort that an excitation may use."""

TASK_SPEED = 0.01
"""Adopted: strokes per second that an excitation may use where limits are not known."""

MOVING = 0.05
"""An actuator counts as moving from this share of the rate of the fastest one."""


class Path(NamedTuple):
    """A straight way through home, as the whole machine sees it."""

    name: str
    twist: FloatArray
    """`(6,)` of the platform per unit of the way"""
    rates: FloatArray
    """`(n,)` of the actuators per unit of the way"""


def axis_path(platform: MachineModel, axis: str) -> Path:
    """Return the way along or about a base axis through home.

    Raises:
        InputError: unknown axis, or one that the machine cannot move along.
    """
    column = AXES.index(one_of(axis, "axis", AXES))
    home = as_model(platform).home
    unit = np.eye(6)[column]
    twist = platform.constrain(home, unit, np.zeros(6)).twist
    if abs(twist[column]) < 1e-9:
        raise InputError("axis", f"{platform.name} cannot move along {axis}")
    twist = twist / twist[column]
    return Path(axis, twist, platform.jacobian(home) @ twist)


def actuator_path(platform: MachineModel, actuator: int) -> Path:
    """Return the way of the platform while one actuator moves and the others rest, through home.

    Raises:
        InputError: no such actuator, or actuators that cannot move one at a time.
    """
    n = as_model(platform).n_actuators
    if type(actuator) is not int or not 1 <= actuator <= n:
        raise InputError("actuator", f"must be a number from 1 to {n}, not {actuator!r}")
    if platform.dof != n:
        raise InputError(
            "actuator", f"the actuators of {platform.name} cannot move one at a time; give an axis"
        )
    rates = np.eye(n)[actuator - 1]
    return Path(
        f"actuator {actuator}", np.linalg.solve(platform.jacobian(platform.home), rates), rates
    )


def suitable_speed(platform: MachineModel, path: Path, high: float) -> float:
    """Return a peak speed along a way that leaves the drives far from their limits up to `high` Hz.

    Raises:
        InputError: not a machine, or a frequency not above zero.
    """
    omega = 2.0 * np.pi * positive(high, "high")
    stroke = as_model(platform).maximum_coordinates - platform.minimum_coordinates
    bounds = [TASK_SPEED * stroke]
    speeds = [leg.actuator.speed for leg in platform.parameters.legs]
    efforts = [leg.actuator.effort for leg in platform.parameters.legs]
    inertia = equivalent_inertia(platform)
    for limits, share, per in (
        (speeds, SPEED_SHARE, 1.0),
        (efforts, EFFORT_SHARE, omega * inertia),
    ):
        known = np.array([np.inf if limit is None else limit for limit in limits])
        bounds.append(share * known / per)
    slowest = np.min(bounds, axis=0)
    moving = np.abs(path.rates) > MOVING * np.abs(path.rates).max()
    return float((slowest[moving] / np.abs(path.rates[moving])).min())
