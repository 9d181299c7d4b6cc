"""Shares of its actuators' limits that a machine needs for a motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.model.machine_model import MachineModel, as_model
from twin.motion.cueing.felt_manoeuvre import sample_times
from twin.motion.motion import Motion


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
    moves = leg_motion(machine, *motion.sample(time))
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
