"""Inverse kinematics: poses to leg lengths, and the legs' joint coordinates."""

from __future__ import annotations

from math import atan2

from twin.compiled.jit import compiled, device
from twin.compiled.vectors import add, cross, dot, rotation, row
from twin.kinematics.legs import (
    FIRST_AXIS,
    leg_acceleration,
    leg_frame,
    leg_line,
    leg_rotation,
)


@device
def inverse_kinematics(legs, pose, lengths):
    """Fill `lengths` (n,) [m] of one pose (7,): |p + R b_i - a_i|.

    Reference: Stewart thesis, equations (2.3) to (2.5), with the rotation platform to base.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    for i in range(legs.shape[0]):
        lengths[i] = leg_line(legs, i, position, matrix)[2]


@compiled
def inverse_kinematics_batch(legs, poses, lengths):
    """Fill `lengths` (batch, n) of `poses` (batch, 7); returns -1."""
    for k in range(poses.shape[0]):
        inverse_kinematics(legs, poses[k], lengths[k])
    return -1


@device
def leg_coordinates(legs, frames, pose, twist, acceleration, out):
    """Fill `out` (n, 9): values, rates and accelerations of (first angle, second angle, length).

    `frames` (n, 9) are the home leg frames as rows of rotation matrices leg to base. Returns False
    where a leg lies along its first axis.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    linear = (acceleration[0], acceleration[1], acceleration[2])
    angular = (acceleration[3], acceleration[4], acceleration[5])
    for i in range(legs.shape[0]):
        arm, along, length = leg_line(legs, i, position, matrix)
        first = row(legs, i, FIRST_AXIS)
        x, y, tangent, cosine = leg_frame(first, along)
        if not (length > 0.0 and cosine > 1e-9):
            return False
        arm_rate = cross(omega, arm)
        tip_velocity = add(velocity, arm_rate)
        tip_acceleration = add(add(linear, cross(angular, arm)), cross(omega, arm_rate))
        in_frame = (
            dot(tip_acceleration, x),
            dot(tip_acceleration, y),
            dot(tip_acceleration, along),
        )
        turn, rate = leg_rotation(x, y, along, tangent, length, tip_velocity)
        turn_rate, second_rate = leg_acceleration(turn, rate, tangent, length, in_frame)

        home_x = (frames[i, 0], frames[i, 3], frames[i, 6])
        home_z = (frames[i, 2], frames[i, 5], frames[i, 8])
        out[i, 0] = atan2(dot(first, cross(home_x, x)), dot(home_x, x))
        home_y = cross(home_z, home_x)
        out[i, 1] = atan2(dot(first, home_z), dot(first, home_y)) - atan2(tangent, 1.0)
        out[i, 2] = length
        out[i, 3] = turn[1] / cosine
        out[i, 4] = turn[0]
        out[i, 5] = rate
        out[i, 6] = (turn_rate[1] - turn[0] * turn[2]) / cosine
        out[i, 7] = turn_rate[0]
        out[i, 8] = second_rate
    return True


@compiled
def leg_coordinates_batch(legs, frames, poses, twists, accelerations, out):
    """Fill `out` (batch, n, 9); returns the index of the first singular state or -1."""
    for k in range(poses.shape[0]):
        if not leg_coordinates(legs, frames, poses[k], twists[k], accelerations[k], out[k]):
            return k
    return -1


@compiled
def lengths_and_rates(legs, pose, twist, lengths, rates):
    """Fill `lengths` (n,) [m] and `rates` (n,) [m/s] of one state."""
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    velocity, omega = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    for i in range(legs.shape[0]):
        arm, along, length = leg_line(legs, i, position, matrix)
        lengths[i] = length
        rates[i] = dot(along, add(velocity, cross(omega, arm)))
