"""Viscoelastic legs: geometry of a UPS leg whose length is shared by actuator and spring."""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.legs.ups import kinematics as ups
from twin.kernels.legs.ups.kinematics import drive_rate, leg_line

__all__ = ["drive", "drive_rate", "joints"]

drive = leg_line


@device
def joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out):
    """Fill `out` (4, 3) with (first angle, second angle, spring, actuator); see `leg_joints`.

    The spring's row is zero and the actuator's that of the whole leg: the spring moves apart from
    the platform, and whoever knows its state moves it from one row to the other.
    """
    regular = ups.joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out)
    for k in range(3):
        out[3, k] = out[2, k]
        out[2, k] = 0.0
    return regular
