"""What the small-angle assumption costs over the whole workspace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.driving_simulator.motion_ranges import exact_ranges_at_best_heave
from twin.arrays import FloatArray
from twin.dynamics.dae.exact_kinematics import ExactKinematics
from twin.dynamics.dae.plate import PlateModel
from twin.dynamics.dae.small_angle import SmallAngleKinematics
from twin.errors import InputError

FINEST = 201
"""Points along an axis: eight million in all."""


class WorstErrors(NamedTuple):
    """Largest sizes of the errors over the workspace."""

    length: float
    """[m] of a pillar, for a wanted pose"""
    heave: float
    """[m] for given lengths"""
    roll: float
    """[rad] for given lengths"""
    pitch: float
    """[rad] for given lengths"""
    center: float
    """[m] horizontal distance of the plate's centre, for a wanted pose"""
    foot: float
    """[m] distance of a foot, for a wanted pose"""


class ErrorMap(NamedTuple):
    """Small-angle model minus exact model on a grid; NaN where a pillar leaves its stroke."""

    heave: FloatArray
    """`(a,)` [m]"""
    roll: FloatArray
    """`(b,)` [rad]"""
    pitch: FloatArray
    """`(c,)` [rad]"""
    lengths: FloatArray
    """`(a, b, c, 4)` [m] of the pillars that inverse kinematics gives for the pose"""
    coordinates: FloatArray
    """`(a, b, c, 3)` heave [m], roll, pitch [rad] that direct kinematics gives for the lengths"""
    center: FloatArray
    """`(a, b, c, 2)` [m] x and y of the plate's centre for the pose"""
    feet: FloatArray
    """`(a, b, c, 4, 2)` [m] of the feet for the pose"""

    @property
    def worst(self) -> WorstErrors:
        """Largest errors on the grid."""
        heave, roll, pitch = np.nanmax(np.abs(self.coordinates), axis=(0, 1, 2)).tolist()
        return WorstErrors(
            float(np.nanmax(np.abs(self.lengths))),
            heave,
            roll,
            pitch,
            float(np.nanmax(np.linalg.norm(self.center, axis=-1))),
            float(np.nanmax(np.linalg.norm(self.feet, axis=-1))),
        )


def small_angle_errors(plate: PlateModel, count: int = 41) -> ErrorMap:
    """Return the errors of the small-angle model over heave, roll and pitch.

    Args:
        plate: the machine.
        count: points along each axis; an odd number includes home.

    Raises:
        InputError: a count that is no whole number from 2 to 201.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= FINEST:
        raise InputError("count", f"must be a whole number from 2 to {FINEST}")
    small, exact = SmallAngleKinematics(plate), ExactKinematics(plate)
    ranges = exact_ranges_at_best_heave(plate)
    axes = [np.linspace(-reach, reach, count) for reach in ranges]
    axes[0] = axes[0] + plate.home_length
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    true, approximate = exact.inverse(grid), small.inverse(grid)
    _, front_left, rear_left, rear_right = np.moveaxis(true.lengths, -1, 0)
    reached = small.direct(rear_right, rear_left, front_left)
    inside = exact.within_stroke(grid)[..., None]
    return ErrorMap(
        *axes,
        np.where(inside, approximate.lengths - true.lengths, np.nan),
        np.where(inside, reached.coordinates - grid, np.nan),
        np.where(inside, (approximate.center - true.center)[..., :2], np.nan),
        np.where(inside[..., None], approximate.feet - true.feet, np.nan),
    )
