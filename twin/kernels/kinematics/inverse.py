"""Inverse kinematics: poses to actuator coordinates, and the legs' joint coordinates."""

from __future__ import annotations

from math import isfinite

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import actuation, fill_joints
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import Acceleration, platform_state, resting_state
from twin.kernels.vectors import add, cross, dot


@device
def inverse_kinematics(legs: Legs, pose: FloatArray, coordinates: FloatArray) -> bool:
    """Fill `coordinates` (n,) of one pose (7,): lengths [m] or crank angles [rad].

    Returns False where a leg cannot reach the pose; its coordinate is NaN then.

    Reference: Stewart thesis, equations (2.3) to (2.5), with the rotation platform to base.
    """
    at = resting_state(pose)
    within = True
    for i in range(legs.rows.shape[0]):
        coordinates[i] = actuation(legs, i, at.position, at.matrix)[2]
        within &= isfinite(coordinates[i])
    return within


@compiled
def inverse_kinematics_batch(legs: Legs, poses: FloatArray, coordinates: FloatArray) -> int:
    """Fill `coordinates` (batch, n) of `poses` (batch, 7); return the first out of reach or -1."""
    failed = -1
    for k in range(poses.shape[0]):
        if not inverse_kinematics(legs, poses[k], coordinates[k]) and failed < 0:
            failed = k
    return failed


@compiled
def leg_coordinates_batch(
    legs: Legs,
    home: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
    out: FloatArray,
) -> int:
    """Fill `out` (batch, n, joints, 3): values, rates and accelerations of all legs' joints.

    `home` (n, HOME_SIZE) holds the joints' zeros. Returns the index of the first state without
    such coordinates, or -1.
    """
    for k in range(poses.shape[0]):
        state, a = platform_state(poses[k], twists[k]), accelerations[k]
        acceleration = Acceleration((a[0], a[1], a[2]), (a[3], a[4], a[5]))
        for i in range(legs.rows.shape[0]):
            if not fill_joints(legs, home, i, state, acceleration, out[k, i]):
                return k
    return -1


@compiled
def coordinates_and_rates(
    legs: Legs,
    pose: FloatArray,
    twist: FloatArray,
    coordinates: FloatArray,
    rates: FloatArray,
) -> None:
    """Fill actuator `coordinates` (n,) and their `rates` (n,) of one state."""
    state = platform_state(pose, twist)
    for i in range(legs.rows.shape[0]):
        arm, w, coordinates[i] = actuation(legs, i, state.position, state.matrix)
        rates[i] = dot(w, add(state.velocity, cross(state.omega, arm)))
