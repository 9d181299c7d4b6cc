"""Axes about a machine's home turned into motions of the machine.

The module also finds travel and speed of a machine along each axis alone, from home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, IndexArray
from twin.model.evaluation import without_compiling
from twin.model.machine_model import MachineModel
from twin.model.motions import PlatformMotion
from twin.motion import motion
from twin.motion.axes import AxisSample
from twin.motion.cueing.cued_motion import CONVENTION


def motion_of_axes(platform: MachineModel, axes: AxisSample) -> PlatformMotion:
    """Return pose, twist and acceleration of axes `(m, 6)`, fitted to what the machine can do."""
    return platform.constrain(*motion.motion_of_axes(axes, platform.home, CONVENTION))


def leg_slopes(platform: MachineModel, values: FloatArray, columns: IndexArray) -> FloatArray:
    """Return actuator rates per rate of some axes `(m, n, d)` at axes `(m, 6)`.

    Args:
        platform: the machine.
        values: `(m, 6)`.
        columns: `(d,)` numbers of the axes.
    """
    count, size = len(values), len(columns)
    units = np.tile(np.eye(6)[columns], (count, 1))
    still = np.zeros_like(units)
    repeated = np.repeat(values, size, axis=0)
    moved = motion_of_axes(platform, AxisSample(repeated, units, still))
    jacobian = platform.jacobian(moved.pose[::size])
    twists = moved.twist.reshape(count, size, 6)
    return np.asarray(jacobian @ twists.transpose(0, 2, 1))


STEPS = 200
"""Points searched on either side, up to 1 m or 1 rad."""

FREE = 1e-9
"""Motion along an axis, of one, below which the machine is taken not to have it."""


class MachineRanges(NamedTuple):
    """Travel and speed of a machine along each of the axes x, y, z, yaw, pitch, roll."""

    free: BoolArray
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
    with without_compiling():
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
