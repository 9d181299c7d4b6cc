"""Axes about a machine's home turned into motions of the machine."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.model.motions import PlatformMotion
from twin.motion.axes import AxisSample
from twin.motion.cueing.cued_motion import CONVENTION, Columns
from twin.motion.rotational_motion import rotational_motion
from twin.rotations import quaternion_product


def motion_of_axes(platform: MachineModel, axes: AxisSample) -> PlatformMotion:
    """Return pose, twist and acceleration of axes `(m, 6)`, fitted to what the machine can do."""
    values, rates, accelerations = axes
    turn = rotational_motion(values[:, 3:], rates[:, 3:], accelerations[:, 3:], CONVENTION)
    home = np.broadcast_to(platform.home[3:], turn.quaternion.shape)
    pose = np.hstack([platform.home[:3] + values[:, :3], quaternion_product(turn.quaternion, home)])
    twist = np.hstack([rates[:, :3], turn.velocity])
    return platform.constrain(pose, twist, np.hstack([accelerations[:, :3], turn.acceleration]))


def leg_slopes(platform: MachineModel, values: FloatArray, columns: Columns) -> FloatArray:
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
