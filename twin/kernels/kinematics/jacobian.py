"""Jacobian from platform twist to actuator rates, its time derivative, and the constraints."""

from __future__ import annotations

from twin.kernels.jit import compiled, device
from twin.kernels.legs.kinematics import drive, drive_rate, fill_constraints
from twin.kernels.vectors import cross, rotation


@device
def fill_row(matrix, i, linear, angular):
    """Write a row (linear, angular) of a Jacobian."""
    for k in range(3):
        matrix[i, k] = linear[k]
        matrix[i, k + 3] = angular[k]


@device
def jacobian(legs, pose, out):
    """Fill `out` (n, 6): rows (w_i, arm_i x w_i), so that actuator rates = J twist."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    for i in range(legs.rows.shape[0]):
        arm, direction, _ = drive(legs, i, position, matrix)
        fill_row(out, i, direction, cross(arm, direction))


@compiled
def jacobian_batch(legs, poses, out):
    """Fill `out` (batch, n, 6); returns -1."""
    for k in range(poses.shape[0]):
        jacobian(legs, poses[k], out[k])
    return -1


@compiled
def jacobian_derivative_batch(legs, poses, twists, out):
    """Fill `out` (batch, n, 6) with dJ/dt: actuator accelerations = J a + dJ/dt twist."""
    for k in range(poses.shape[0]):
        pose, twist = poses[k], twists[k]
        matrix = rotation(pose[3], pose[4], pose[5], pose[6])
        position = (pose[0], pose[1], pose[2])
        velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
        for i in range(legs.rows.shape[0]):
            turning, moment = drive_rate(legs, i, position, matrix, velocity, omega)
            fill_row(out[k], i, turning, moment)
    return -1


@compiled
def constraints_batch(legs, poses, twists, out):
    """Fill `out` (batch, constraints, 8): C (6 entries), drift, and how far off the pose is."""
    for k in range(poses.shape[0]):
        pose, twist = poses[k], twists[k]
        matrix = rotation(pose[3], pose[4], pose[5], pose[6])
        position = (pose[0], pose[1], pose[2])
        velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
        fill_constraints(legs, position, matrix, velocity, omega, out[k])
    return -1
