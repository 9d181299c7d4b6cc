"""Arrays of pose tracking; first axis environments."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class Reference(NamedTuple):
    """Motions to follow, sampled at the k control instants of an episode."""

    pose: FloatArray
    """`(N, k, 7)`"""
    coordinates: FloatArray
    """`(N, k, n)`"""
    rates: FloatArray
    """`(N, k, n)`"""


class Increments(NamedTuple):
    """State of actions that are increments of the pose, with work arrays."""

    offset: FloatArray
    """`(N, 6)` displacement [m, rad]"""
    setpoint: FloatArray
    """`(N, n)` coordinates commanded for now"""
    home: FloatArray
    """`(7,)`"""
    home_coordinates: FloatArray
    """`(n,)`"""
    plain: FloatArray
    """`(n,)` work: coordinates without displacement"""
    displaced: FloatArray
    """`(n,)` work: coordinates with it"""
    state: FloatArray
    """`(13,)` work"""


class Limits(NamedTuple):
    """Numbers of observation, reward and termination."""

    period: float
    """of control [s]"""
    preview: int
    """control periods ahead that are observed"""
    leak: float
    """part of accumulated errors that is left after a period"""
    position_scale: float
    """[m]"""
    attitude_scale: float
    """[rad]"""
    largest_position: float
    """[m]"""
    largest_attitude: float
    """[rad]"""
    overtravel: float
    """share of the travel"""


class Signals(NamedTuple):
    """Errors in physical units, for `info` and the observation."""

    position_error: FloatArray
    """`(N, 3)` reference less platform [m], base axes"""
    orientation_error: FloatArray
    """`(N, 3)` rotation vector from platform to reference [rad], base axes"""
    coordinate_error: FloatArray
    """`(N, n)` reference less measured coordinate [m, rad]"""
    reference_pose: FloatArray
    """`(N, 7)`"""
    accumulated: FloatArray
    """`(N, n)` error of coordinates, summed with forgetting [m s, rad s]"""
