"""Inverse kinematics: poses to actuator coordinates, and the legs' joint coordinates."""

from __future__ import annotations

from math import isfinite

from twin.kernels.jit import compiled, device
from twin.kernels.legs.kinematics import drive, leg_joints
from twin.kernels.vectors import add, cross, dot, rotation


@device
def inverse_kinematics(legs, pose, coordinates):
    """Fill `coordinates` (n,) of one pose (7,): lengths [m] or crank angles [rad].

    Returns False where a leg cannot reach the pose; its coordinate is NaN then.

    Reference: Stewart thesis, equations (2.3) to (2.5), with the rotation platform to base.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    within = True
    for i in range(legs.rows.shape[0]):
        coordinates[i] = drive(legs, i, position, matrix)[2]
        within &= isfinite(coordinates[i])
    return within


@compiled
def inverse_kinematics_batch(legs, poses, coordinates):
    """Fill `coordinates` (batch, n) of `poses` (batch, 7); return the first out of reach or -1."""
    failed = -1
    for k in range(poses.shape[0]):
        if not inverse_kinematics(legs, poses[k], coordinates[k]) and failed < 0:
            failed = k
    return failed


@device
def leg_coordinates(legs, home, pose, twist, acceleration, out):
    """Fill `out` (n, joints, 3): values, rates and accelerations of all legs' joints.

    `home` (n, HOME_SIZE) holds what the joints are zero at. Returns False where they do not exist.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    linear = (acceleration[0], acceleration[1], acceleration[2])
    angular = (acceleration[3], acceleration[4], acceleration[5])
    regular = True
    for i in range(legs.rows.shape[0]):
        regular &= leg_joints(
            legs, home, i, position, matrix, velocity, omega, linear, angular, out[i]
        )
    return regular


@compiled
def leg_coordinates_batch(legs, home, poses, twists, accelerations, out):
    """Fill `out` (batch, n, joints, 3); returns the index of the first singular state or -1."""
    for k in range(poses.shape[0]):
        if not leg_coordinates(legs, home, poses[k], twists[k], accelerations[k], out[k]):
            return k
    return -1


@compiled
def coordinates_and_rates(legs, pose, twist, coordinates, rates):
    """Fill actuator `coordinates` (n,) and their `rates` (n,) of one state."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    for i in range(legs.rows.shape[0]):
        arm, direction, coordinates[i] = drive(legs, i, position, matrix)
        rates[i] = dot(direction, add(velocity, cross(omega, arm)))
