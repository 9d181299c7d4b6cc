"""Arrays of vibration isolation; first axis environments."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class Shaking(NamedTuple):
    """Motion of the bases and noise of the sensors over an episode of p control periods."""

    mean: FloatArray
    """`(N, p + 1, ratio, 3)` mean acceleration over each step; the last period is at rest"""
    displacement: FloatArray
    """`(N, p + 1, 3)` at the periods' ends [m]"""
    noise: FloatArray
    """`(N, p + 1, 9)` of platform accelerometers, gyroscopes, base accelerometers"""


class Memory(NamedTuple):
    """Quantities kept from one period to the next."""

    start: FloatArray
    """`(N, n)` measured coordinates at the reset"""
    pose: FloatArray
    """`(N, 7)` at the reset"""
    twist: FloatArray
    """`(N, 6)` at the end of the last period"""
    sensed: FloatArray
    """`(N, 18)` the observation's first six channels, in physical units"""
    squares: FloatArray
    """`(N, 2)` sums of squares of absolute and of base acceleration"""
    levels: FloatArray
    """`(N, 3)` of acceleration, displacement, angular rate in the reward"""


class Limits(NamedTuple):
    """Numbers of sensors and termination."""

    period: float
    """of control [s]"""
    forgetting: float
    """[s] over which sums of accelerations fade"""
    gravity: float
    """[m/s2]"""
    largest_attitude: float
    """[rad]"""
    overtravel: float
    """share of the travel"""


class Signals(NamedTuple):
    """Motion of base and platform in physical units, base axes, for `info`."""

    absolute_acceleration: FloatArray
    """`(N, 3)` of the reference point, mean over the last period [m/s2]"""
    base_acceleration: FloatArray
    """`(N, 3)` mean over the last period [m/s2]"""
    absolute_displacement: FloatArray
    """`(N, 3)` of the reference point since the reset [m]"""
    rotation: FloatArray
    """`(N, 3)` rotation vector since the reset [rad]"""
    transmissibility: FloatArray
    """`(N,)` RMS of absolute per RMS of base acceleration since the reset"""
