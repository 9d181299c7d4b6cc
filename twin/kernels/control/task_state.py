"""Pose and twist of the platform from its actuators: one sample, compiled."""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.kinematics.forward import newton_step, residual
from twin.kernels.legs.dispatch import constraint_count, project_onto_constraints
from twin.kernels.quaternions import turned
from twin.kernels.vectors import Vector

NEWTON_STEPS = 4
"""From the pose of the last sample two steps reach rounding error."""

CONVERGED = 1e-14
"""Newton step [m] or [rad] that is rounding error."""

SINGULAR = 1e-12
"""Ratio of the Jacobian's pivots below which no pose is found."""

FITTING = 1e-3
"""Residual in parts of the longest coordinate up to which readings belong to a pose: where there
are more actuators than degrees of freedom, encoder steps leave one."""


@device
def find_pose(legs: Any, coordinates: FloatArray, y: FloatArray, work: Any) -> bool:
    """Move the pose in `y` (13,) to that of `coordinates` (n,); return whether there is one.

    By Newton from the last pose, in the least-squares sense where readings are more than degrees of
    freedom.
    """
    size = 0.0
    for i in range(legs.rows.shape[0]):
        size = max(size, abs(coordinates[i]))
    step = work.step
    pose = y[:7]
    for _ in range(NEWTON_STEPS):
        residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
        if not abs(newton_step(work.matrix, work.right, work.step, work.normal)) > SINGULAR:
            return False
        largest = 0.0
        for k in range(6):
            largest = max(largest, abs(step[k]))
        if not largest < 1.0:
            return False
        for k in range(3):
            pose[k] += step[k]
        pose[3], pose[4], pose[5], pose[6] = turned(
            pose[3], pose[4], pose[5], pose[6], step[3], step[4], step[5]
        )
        if largest <= CONVERGED:
            break
    missed = residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
    return bool(missed <= FITTING * max(size, 1.0))


@device
def find_twist(legs: Any, rates: FloatArray, y: FloatArray, work: Any) -> bool:
    """Fill the twist in `y` (13,) from actuator `rates` (n,) at its pose.

    `work.matrix` holds the Jacobian there, as `find_pose` leaves it. Returns whether it is regular.
    """
    n = legs.rows.shape[0]
    for i in range(n):
        work.right[i] = rates[i]
    for i in range(constraint_count(legs)):
        work.right[n + i] = 0.0
    regular = abs(newton_step(work.matrix, work.right, work.step, work.normal)) > SINGULAR
    for k in range(6):
        y[7 + k] = work.step[k]
    project_onto_constraints(legs, y)
    return regular


@device
def moved(y: FloatArray, acceleration: FloatArray, span: float) -> None:
    """Move a state `y` (13,) on by `span` [s] under an acceleration (6,) that does not change."""
    half = 0.5 * span * span
    turn = (
        span * y[10] + half * acceleration[3],
        span * y[11] + half * acceleration[4],
        span * y[12] + half * acceleration[5],
    )
    for k in range(3):
        y[k] += span * y[7 + k] + half * acceleration[k]
    y[3], y[4], y[5], y[6] = turned(y[3], y[4], y[5], y[6], turn[0], turn[1], turn[2])
    for k in range(6):
        y[7 + k] += span * acceleration[k]


@device
def rotation_error(reference: FloatArray, pose: FloatArray) -> Vector:
    """Return the rotation vector [rad], base axes, from `pose` (7,) to `reference` (7,).

    It is the shorter way round.
    """
    # reference times the conjugate of pose
    w, x, y, z = pose[3], -pose[4], -pose[5], -pose[6]
    a, b, c, d = reference[3], reference[4], reference[5], reference[6]
    scalar = a * w - b * x - c * y - d * z
    turn = (
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    sign = -1.0 if scalar < 0.0 else 1.0
    sine = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    factor = 2.0 * atan2(sine, sign * scalar) / sine if sine > 1e-12 else 2.0
    return sign * factor * turn[0], sign * factor * turn[1], sign * factor * turn[2]


@device
def pose_error(reference: FloatArray, pose: FloatArray, error: FloatArray) -> None:
    """Fill `error` (6,) with displacement and rotation vector from `pose` to `reference` (7,).

    Both in base axes; turned by the rotation vector, the platform has the reference's attitude.
    """
    turn = rotation_error(reference, pose)
    for k in range(3):
        error[k] = reference[k] - pose[k]
        error[3 + k] = turn[k]
