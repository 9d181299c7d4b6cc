"""State of the platform as the kernels of legs read it: vectors and a rotation matrix."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.linear_algebra import Matrix, Vector, rotation


class PlatformState(NamedTuple):
    """Position and velocity of the platform, base axes."""

    position: Vector
    """position of the reference point [m]"""
    matrix: Matrix
    """rotation platform to base"""
    velocity: Vector
    """velocity of the reference point [m/s]"""
    omega: Vector
    """angular velocity [rad/s]"""


class Acceleration(NamedTuple):
    """Acceleration of the platform, base axes."""

    linear: Vector
    """acceleration of the reference point [m/s2]"""
    angular: Vector
    """angular acceleration [rad/s2]"""


@device
def platform_state(pose: FloatArray, twist: FloatArray) -> PlatformState:
    """Return the state of a pose `(7,)` and a twist `(6,)`."""
    return PlatformState(
        (pose[0], pose[1], pose[2]),
        rotation(pose[3], pose[4], pose[5], pose[6]),
        (twist[0], twist[1], twist[2]),
        (twist[3], twist[4], twist[5]),
    )


@device
def resting_state(pose: FloatArray) -> PlatformState:
    """Return the state of a pose `(7,)` at rest."""
    return PlatformState(
        (pose[0], pose[1], pose[2]),
        rotation(pose[3], pose[4], pose[5], pose[6]),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    )
