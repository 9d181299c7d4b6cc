"""Arrays of pose tracking that its kernels read and write."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class Tables(NamedTuple):
    """What the rows follow, and sums of what they missed."""

    pose: FloatArray
    """`(N, k, 7)`"""
    coordinates: FloatArray
    """`(N, k, n)`"""
    rates: FloatArray
    """`(N, k, n)`"""
    accumulated: FloatArray
    """`(N, n)` error of coordinates, summed with forgetting [m s, rad s]"""
    middle: FloatArray
    """`(n,)` of the travel"""
    work_pose: FloatArray
    """`(7,)`"""
    work_state: FloatArray
    """`(13,)`"""


class Signals(NamedTuple):
    """What `info` shows, in physical units."""

    position_error: FloatArray
    """`(N, 3)` reference less platform [m], base axes"""
    orientation_error: FloatArray
    """`(N, 3)` rotation vector from platform to reference [rad], base axes"""
    coordinate_error: FloatArray
    """`(N, n)` reference less measured coordinate [m, rad]"""
    reference_pose: FloatArray
    """`(N, 7)`"""
