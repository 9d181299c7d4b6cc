"""Jacobian from platform twist to actuator rates, and its time derivative."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import actuation, actuation_rate
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import PlatformState, platform_state, resting_state
from twin.kernels.vectors import Vector, cross


@device
def fill_row(matrix: FloatArray, i: int, linear: Vector, angular: Vector) -> None:
    """Write a row (linear, angular) of a Jacobian."""
    for k in range(3):
        matrix[i, k] = linear[k]
        matrix[i, k + 3] = angular[k]


@device
def jacobian(legs: Legs, pose: FloatArray, out: FloatArray) -> None:
    """Fill `out` (n, 6): rows (w_i, arm_i x w_i), so that actuator rates = J twist."""
    at = resting_state(pose)
    for i in range(legs.rows.shape[0]):
        arm, w, _ = actuation(legs, i, at.position, at.matrix)
        fill_row(out, i, w, cross(arm, w))


@compiled
def jacobian_batch(legs: Legs, poses: FloatArray, out: FloatArray) -> int:
    """Fill `out` (batch, n, 6); returns -1."""
    for k in range(poses.shape[0]):
        jacobian(legs, poses[k], out[k])
    return -1


@device
def jacobian_derivative(legs: Legs, state: PlatformState, out: FloatArray) -> None:
    """Fill `out` (n, 6) with dJ/dt: actuator accelerations = J a + dJ/dt twist."""
    for i in range(legs.rows.shape[0]):
        linear, angular = actuation_rate(legs, i, state)
        fill_row(out, i, linear, angular)


@compiled
def jacobian_derivative_batch(
    legs: Legs, poses: FloatArray, twists: FloatArray, out: FloatArray
) -> int:
    """Fill `out` (batch, n, 6) with dJ/dt; returns -1."""
    for k in range(poses.shape[0]):
        jacobian_derivative(legs, platform_state(poses[k], twists[k]), out[k])
    return -1
