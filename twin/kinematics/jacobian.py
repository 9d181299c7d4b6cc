"""Jacobian from platform twist to leg rates, and its time derivative."""

from __future__ import annotations

from twin.compiled.jit import compiled, device
from twin.compiled.vectors import rotation
from twin.kinematics.legs import jacobian_row, leg_line, leg_row_derivative


@device
def fill_row(matrix, i, linear, angular):
    """Write a row (linear, angular) of a Jacobian."""
    for k in range(3):
        matrix[i, k] = linear[k]
        matrix[i, k + 3] = angular[k]


@device
def jacobian(legs, pose, out):
    """Fill `out` (n, 6): rows (Z_i, r_i x Z_i), so that leg rates = J twist."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    for i in range(legs.shape[0]):
        arm, direction, _ = leg_line(legs, i, position, matrix)
        fill_row(out, i, direction, jacobian_row(arm, direction))


@compiled
def jacobian_batch(legs, poses, out):
    """Fill `out` (batch, n, 6); returns -1."""
    for k in range(poses.shape[0]):
        jacobian(legs, poses[k], out[k])
    return -1


@compiled
def jacobian_derivative_batch(legs, poses, twists, out):
    """Fill `out` (batch, n, 6) with dJ/dt, so that leg accelerations = J a + dJ/dt twist."""
    for k in range(poses.shape[0]):
        pose, twist = poses[k], twists[k]
        matrix = rotation(pose[3], pose[4], pose[5], pose[6])
        position = (pose[0], pose[1], pose[2])
        velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
        for i in range(legs.shape[0]):
            arm, direction, length = leg_line(legs, i, position, matrix)
            turning, moment = leg_row_derivative(arm, direction, length, velocity, omega)
            fill_row(out[k], i, turning, moment)
    return -1
