"""Ranges of heave, roll and pitch, alone and together.

A plate given by its center length and two slopes (`twin.papers.driving_simulator.kinematics`) is
within the stroke s where |center_length - home_length| + half_width |roll_slope| + half_length
|pitch_slope| <= s / 2. What each freedom takes of the stroke adds up: superposition, exact in these
numbers and to first order in heave, roll and pitch.

Reference: driving simulator paper, section "Motion ranges".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.kinematics import PlateKinematics, checked_coordinates
from twin.papers.driving_simulator.plate import PlateModel


class MotionRanges(NamedTuple):
    """Largest displacement from home, the same to both sides, the other dof at home."""

    heave: float
    """[m]"""
    roll: float
    """[rad]"""
    pitch: float
    """[rad]"""


def small_angle_ranges(plate: PlateModel) -> MotionRanges:
    """Return the ranges of the small-angle model: half the stroke over the arm."""
    reach = 0.5 * plate.stroke
    return MotionRanges(reach, reach / plate.half_width, reach / plate.half_length)


def exact_ranges(plate: PlateModel) -> MotionRanges:
    """Return the exact ranges with the centre held at its home height.

    The longest pillar ends them: home_length / cos(a) + arm tan(a) = maximum_length.
    """
    longest = plate.maximum_length

    def angle(arm: float) -> float:
        reach = np.hypot(longest, arm)
        return float(np.arccos(plate.home_length / reach) - np.arctan2(arm, longest))

    return MotionRanges(0.5 * plate.stroke, angle(plate.half_width), angle(plate.half_length))


def exact_ranges_at_best_heave(plate: PlateModel) -> MotionRanges:
    """Return the exact ranges where heave follows so that both ends of the stroke are used."""
    small = small_angle_ranges(plate)
    return MotionRanges(small.heave, float(np.arctan(small.roll)), float(np.arctan(small.pitch)))


def stroke_shares(kinematics: PlateKinematics, coordinates: Any) -> FloatArray:
    """Return the parts `(..., 3)` of half the stroke that heave, roll and pitch take.

    Their sum is at most one where all pillars are within their stroke.

    Args:
        kinematics: small-angle or exact.
        coordinates: `(..., 3)` heave [m], roll, pitch [rad].

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    plate = kinematics.plate
    columns = np.moveaxis(checked_coordinates(coordinates), -1, 0)
    center, roll, pitch = kinematics.slopes(*columns)
    taken = [center - plate.home_length, roll * plate.half_width, pitch * plate.half_length]
    return np.asarray(np.abs(np.stack(taken, axis=-1)) / (0.5 * plate.stroke))
