"""Computed torque in task space: one sample of readings to actuator forces, compiled."""

from __future__ import annotations

from twin.kernels.control.task_state import find_pose, find_twist, moved, pose_error
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.jit import compiled
from twin.kernels.legs.kinematics import drive_rate
from twin.kernels.vectors import rotation

FOUND, NO_POSE, SINGULAR = 0, 1, 2
"""What one sample ends with."""


@compiled
def task_state(legs, coordinates, rates, y, work):
    """Fill the state `y` (13,) of readings, from that of the sample before; return a code."""
    if not find_pose(legs, coordinates, y, work):
        return NO_POSE
    return FOUND if find_twist(legs, rates, y, work) else SINGULAR


@compiled
def predict(y, spans, accelerations, ahead):
    """Fill `ahead` (13,) with `y` (13,) after `spans` (d,) [s] under `accelerations` (d, 6)."""
    for k in range(13):
        ahead[k] = y[k]
    for k in range(spans.shape[0]):
        moved(ahead, accelerations[k], spans[k])


@compiled
def wanted_acceleration(ahead, pose, twist, acceleration, gains, integral, error, out):
    """Fill `error` (6,) of the pose and `out` (6,): a_ref + Kd e' + Kp e + integral.

    Args:
        ahead: `(13,)` state.
        pose: `(7,)` wanted.
        twist: `(6,)` wanted.
        acceleration: `(6,)` wanted.
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
    body, legs, ahead, deflection, acceleration, wrench, inertia, forces, turning, work
):
    """Fill `forces` (n,) on the legs and `turning` (n,) of the motors' own inertia; return a code.

    `deflection` and `wrench` are zeros: machines with springs inside their legs are refused before.
    """
    pose, twist = ahead[:7], ahead[7:]
    if not inverse_dynamics(
        body, legs, pose, twist, deflection, acceleration, wrench, forces, work
    ):
        return SINGULAR
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    for i in range(legs.rows.shape[0]):
        linear, angular = drive_rate(legs, i, position, matrix, velocity, omega)
        total = 0.0
        for k in range(3):
            total += work.jacobian[i, k] * acceleration[k]
            total += work.jacobian[i, 3 + k] * acceleration[3 + k]
            total += linear[k] * twist[k] + angular[k] * omega[k]
        turning[i] = inertia[i] * total
    return FOUND
