"""Computed torque in task space: one sample of readings to actuator forces, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.control.task_state import find_pose, find_twist, moved, pose_error
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.jit import compiled
from twin.kernels.legs.dispatch import actuation_rate
from twin.kernels.platform_state import platform_state

FOUND, NO_POSE, SINGULAR = 0, 1, 2
"""Results of one sample."""


class RigidMachine(NamedTuple):
    """Constants of a machine whose legs have no springs in series."""

    body: FloatArray
    """`(BODY_SIZE,)` of the platform"""
    legs: Any
    """of the kinematics"""
    inertia: FloatArray
    """`(n,)` of the motors, in the actuators' coordinates [kg, kg m2]"""
    no_deflection: FloatArray
    """`(0,)`"""
    no_wrench: FloatArray
    """`(6,)` zeros"""


@compiled
def task_state(
    legs: Any, coordinates: FloatArray, rates: FloatArray, y: FloatArray, work: Any
) -> int:
    """Fill the state `y` (13,) of readings, from that of the sample before; return a code."""
    if not find_pose(legs, coordinates, y, work):
        return NO_POSE
    return FOUND if find_twist(legs, rates, y, work) else SINGULAR


@compiled
def predict(y: FloatArray, spans: FloatArray, accelerations: FloatArray, ahead: FloatArray) -> None:
    """Fill `ahead` (13,) with `y` (13,) after `spans` (d,) [s] under `accelerations` (d, 6)."""
    for k in range(13):
        ahead[k] = y[k]
    for k in range(spans.shape[0]):
        moved(ahead, accelerations[k], spans[k])


@compiled
def corrected_acceleration(
    ahead: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    gains: FloatArray,
    integral: FloatArray,
    error: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `error` (6,) of the pose and `out` (6,): a_ref + Kd e' + Kp e + integral.

    Args:
        ahead: `(13,)` state.
        pose: `(7,)` of the reference.
        twist: `(6,)` of the reference.
        acceleration: `(6,)` of the reference.
        gains: `(6, 2)` Kp [1/s2] and Kd [1/s].
        integral: `(6,)`.
        error: `(6,)`, overwritten.
        out: `(6,)`, overwritten.
    """
    pose_error(pose, ahead, error)
    for k in range(6):
        out[k] = (
            acceleration[k]
            + gains[k, 1] * (twist[k] - ahead[7 + k])
            + gains[k, 0] * error[k]
            + integral[k]
        )


@compiled
def required_forces(
    machine: RigidMachine,
    ahead: FloatArray,
    acceleration: FloatArray,
    forces: FloatArray,
    turning: FloatArray,
    work: Any,
) -> int:
    """Fill `forces` (n,) on the legs and `turning` (n,) of the motors; return a code."""
    twist, legs, state = ahead[7:], machine.legs, platform_state(ahead[:7], ahead[7:])
    if not inverse_dynamics(
        machine.body, legs, state, machine.no_deflection, acceleration, machine.no_wrench,
        forces, work,
    ):  # fmt: skip
        return SINGULAR
    for i in range(legs.rows.shape[0]):
        linear, angular = actuation_rate(legs, i, state)
        total = 0.0
        for k in range(3):
            total += work.jacobian[i, k] * acceleration[k]
            total += work.jacobian[i, 3 + k] * acceleration[3 + k]
            total += linear[k] * twist[k] + angular[k] * twist[3 + k]
        turning[i] = machine.inertia[i] * total
    return FOUND
