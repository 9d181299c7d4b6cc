"""Shares of its actuators' limits that a machine needs for a motion.

The module also finds the manoeuvre that a motion of the platform is for its driver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.basics.quaternions import cross, rotated
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel, as_model
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.fitting import followed
from twin.motion.motion import Motion


def felt_manoeuvre(
    platform: MachineModel, motion: Motion, head: Any = (0.0, 0.0, 0.0), period: Any = 5e-3
) -> Manoeuvre:
    """Return specific force and angular rate at the head, in platform axes, along a motion.

    The motion is first fitted to what the machine can do. Specific force is the acceleration of
    the head minus gravity, turned into the platform's axes by its true attitude.

    Args:
        platform: the machine.
        motion: of its reference point.
        head: `(3,)` [m] from the reference point, platform axes.
        period: [s] between samples.

    Raises:
        InputError: not a machine, no point, period not above zero, longer than a third of the
            motion.
    """
    machine = as_model(platform)
    point = as_vector(head, "head", 3)
    time = sample_times(motion, positive(period, "period"))
    pose, twist, acceleration = followed(machine, motion, time)
    arm = rotated(pose[:, 3:], np.broadcast_to(point, (len(time), 3)))
    spin = twist[:, 3:]
    total = acceleration[:, :3] + cross(acceleration[:, 3:], arm) + cross(spin, cross(spin, arm))
    total[:, 2] += GRAVITY
    to_platform = pose[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return Manoeuvre("platform", time, rotated(to_platform, total), rotated(to_platform, spin))


def sample_times(motion: Motion, period: float) -> FloatArray:
    """Return times [s] at an even period from 0 to the end of a motion or just before."""
    count = int(motion.duration / period * (1.0 + 1e-12)) + 1
    return np.arange(count, dtype=np.float64) * period


class WorkspaceUse(NamedTuple):
    """Coordinates and their rates along a motion, and shares of the limits: 1 is all of it."""

    time: FloatArray
    """`(k,)` [s]"""
    coordinates: FloatArray
    """`(k, n)` [m, rad]"""
    rates: FloatArray
    """`(k, n)`"""
    accelerations: FloatArray
    """`(k, n)`"""
    length: float
    """largest departure from mid-range over half the range"""
    speed: float
    """largest rate over its limit; 0 without one"""
    acceleration: float
    """largest acceleration over its limit; 0 without one"""

    @property
    def largest(self) -> float:
        """The largest of the three shares."""
        return max(self.length, self.speed, self.acceleration)


def workspace_use(platform: MachineModel, motion: Motion, period: Any = 5e-3) -> WorkspaceUse:
    """Return what a motion, fitted to the machine, takes of the actuators' limits.

    Args:
        platform: the machine.
        motion: of its reference point.
        period: [s] between the instants looked at.

    Raises:
        InputError: not a machine, period not above zero.
        UnreachablePoseError: a leg cannot reach a pose.
    """
    machine = as_model(platform)
    time = sample_times(motion, positive(period, "period"))
    moves = leg_motion(machine, *followed(machine, motion, time))
    return WorkspaceUse(time, *moves, *limit_shares(machine, *moves))


def leg_motion(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates, rates and accelerations `(k, n)` of motions fitted to the machine.

    Raises:
        InputError: wrong shapes, not finite.
        UnreachablePoseError: a leg cannot reach a pose.
    """
    fitted = platform.constrain(pose, twist, acceleration)
    jacobian = platform.jacobian(fitted.pose)
    drift = platform.jacobian_derivative(fitted.pose, fitted.twist)
    return (
        platform.inverse_kinematics(fitted.pose),
        _products(jacobian, fitted.twist),
        _products(jacobian, fitted.acceleration) + _products(drift, fitted.twist),
    )


def limit_shares(
    platform: MachineModel, coordinates: FloatArray, rates: FloatArray, accelerations: FloatArray
) -> tuple[float, float, float]:
    """Return the largest shares of length, speed and acceleration limits that are taken."""
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    actuator = platform.parameters.leg.actuator
    length = np.abs(coordinates - 0.5 * (low + high)) / (0.5 * (high - low))
    speed, hardest = actuator.speed, getattr(actuator, "acceleration", None)
    return (
        float(length.max()),
        0.0 if speed is None else float(np.abs(rates).max() / speed),
        0.0 if hardest is None else float(np.abs(accelerations).max() / hardest),
    )


def _products(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray((matrices @ vectors[..., None])[..., 0])
