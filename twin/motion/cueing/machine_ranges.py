"""Travel and speed of a machine along each axis alone, from home."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.motion.axes import AxisSample
from twin.motion.cueing.platform_axes import motion_of_axes

STEPS = 200
"""Points searched on either side, up to 1 m or 1 rad."""

FREE = 1e-9
"""Motion along an axis, of one, below which the machine is taken not to have it."""


class MachineRanges(NamedTuple):
    """Travel and speed of a machine along each of the axes x, y, z, yaw, pitch, roll."""

    free: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """`(6,)` whether it can be commanded"""
    travel: FloatArray
    """`(6,)` [m], [rad] to either side within the actuators' limits; zero where not free"""
    speed: FloatArray
    """`(6,)` [m/s], [rad/s] at home within the actuators' speed; infinite without one"""


def machine_ranges(platform: MachineModel) -> MachineRanges:
    """Return travel and speed of a machine along each axis alone, from home.

    Axes are free that the machine keeps when it constrains a motion along them: all six of a
    hexapod; heave, pitch and roll of a machine on pillars.
    """
    # Yaw turns about z, pitch about y, roll about x.
    twists = np.eye(6)[[0, 1, 2, 5, 4, 3]]
    kept = platform.constrain(np.tile(platform.home, (6, 1)), twists).twist
    free = np.einsum("ij,ij->i", kept, twists) > FREE
    rates = np.abs(kept @ platform.jacobian(platform.home).T).max(axis=1)
    limit = platform.parameters.leg.actuator.speed
    speed = np.full(6, np.inf) if limit is None else limit / np.where(rates > FREE, rates, np.inf)
    travel = np.zeros(6)
    share = np.arange(1, STEPS + 1) / STEPS
    for axis in np.flatnonzero(free):
        reached = []
        for sign in (1.0, -1.0):
            values = np.zeros((STEPS, 6))
            values[:, axis] = sign * share
            still = np.zeros_like(values)
            poses = motion_of_axes(platform, AxisSample(values, still, still)).pose
            inside = platform.within_limits(poses)
            count = STEPS if inside.all() else int(np.argmin(inside))
            reached.append(count / STEPS)
        travel[axis] = min(reached)
    return MachineRanges(free, travel, np.where(free, speed, 0.0))
