"""Actions that are increments of the pose, and the actuators' speeds that follow them."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.legs.dispatch import project_onto_constraints
from twin.kernels.quaternions import turned


class ActionLaw(NamedTuple):
    """Meaning of actions, and the loop around the encoders that follows them."""

    scale: FloatArray
    """`(a,)` physical value of 1, of increments within one period"""
    bounds: FloatArray
    """`(a,)` largest displacement that increments add up to [m, rad]"""
    gain: float
    """of the position loop [1/s]"""
    period: float
    """of control [s]"""
    residual: bool
    """whether actions come on top of the reference"""


@device
def add_increment(offset: FloatArray, k: int, action: float, law: ActionLaw) -> float:
    """Add an action to entry k of a displacement `(a,)`, within its bounds; return the entry."""
    moved = offset[k] + law.scale[k] * action
    offset[k] = min(max(moved, -law.bounds[k]), law.bounds[k])
    return float(offset[k])


@device
def displaced_coordinates(
    legs: Any, pose: FloatArray, offset: FloatArray, y: FloatArray, coordinates: FloatArray
) -> bool:
    """Fill `coordinates` (n,) of a `pose` (7,) displaced by `offset` (6,) along the base axes.

    `y` (13,) is work: the displaced pose, at rest, projected onto the constraints of the legs.
    Returns False where an actuator cannot reach it.
    """
    for k in range(3):
        y[k] = pose[k] + offset[k]
    y[3], y[4], y[5], y[6] = turned(
        pose[3], pose[4], pose[5], pose[6], offset[3], offset[4], offset[5]
    )
    for k in range(6):
        y[7 + k] = 0.0
    project_onto_constraints(legs, y)
    return inverse_kinematics(legs, y[:7], coordinates)


@device
def following_speed(setpoint: float, last: float, measured: float, law: ActionLaw) -> float:
    """Return the speed of an actuator from its `last` setpoint to the next within one period."""
    return (setpoint - last) / law.period + law.gain * (last - measured)
