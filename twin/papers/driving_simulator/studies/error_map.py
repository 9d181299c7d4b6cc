"""Errors of the small-angle assumption over the whole workspace."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.closed_forms import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.plate import PlateModel
from twin.papers.driving_simulator.studies.motion_ranges import (
    exact_ranges_at_best_heave,
    translational_envelope,
)


class SmallAngleErrors(NamedTuple):
    """Small-angle model minus exact model at poses `(...)`."""

    lengths: FloatArray
    """`(..., 4)` [m] of the pillars that inverse kinematics gives for the pose"""
    coordinates: FloatArray
    """`(..., 3)` heave [m], roll, pitch [rad] that direct kinematics gives for the lengths"""
    center: FloatArray
    """`(..., 2)` [m] x and y of the plate's centre for the pose"""
    feet: FloatArray
    """`(..., 4, 2)` [m] of the feet for the pose"""


class WorstErrors(NamedTuple):
    """Largest sizes of the errors over the workspace."""

    length: float
    """[m] of a pillar, for a given pose"""
    heave: float
    """[m] for given lengths"""
    roll: float
    """[rad] for given lengths"""
    pitch: float
    """[rad] for given lengths"""
    center: float
    """[m] horizontal distance of the plate's centre, for a given pose"""
    foot: float
    """[m] distance of a foot, for a given pose"""


class ErrorMap(NamedTuple):
    """Small-angle model minus exact model on a grid; NaN where a pillar leaves its stroke."""

    heave: FloatArray
    """`(a,)` [m]"""
    roll: FloatArray
    """`(b,)` [rad]"""
    pitch: FloatArray
    """`(c,)` [rad]"""
    lengths: FloatArray
    """`(a, b, c, 4)` [m] as in `SmallAngleErrors`"""
    coordinates: FloatArray
    """`(a, b, c, 3)` [m], [rad]"""
    center: FloatArray
    """`(a, b, c, 2)` [m]"""
    feet: FloatArray
    """`(a, b, c, 4, 2)` [m]"""
    worst: WorstErrors
    """Over the whole workspace, not only on the grid"""


def small_angle_errors_at(plate: PlateModel, coordinates: Any) -> SmallAngleErrors:
    """Return the errors of the small-angle model at coordinates `(..., 3)`.

    Args:
        plate: the machine.
        coordinates: heave [m], roll, pitch [rad]; limits are not checked.

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    small, exact = SmallAngleKinematics(plate), ExactKinematics(plate)
    true, approximate = exact.inverse(coordinates), small.inverse(coordinates)
    _, front_left, rear_left, rear_right = np.moveaxis(true.lengths, -1, 0)
    reached = small.direct(rear_right, rear_left, front_left)
    return SmallAngleErrors(
        approximate.lengths - true.lengths,
        reached.coordinates - true.coordinates,
        (approximate.center - true.center)[..., :2],
        approximate.feet - true.feet,
    )


def small_angle_errors(plate: PlateModel, count: int = 41) -> ErrorMap:
    """Return the errors of the small-angle model over heave, roll and pitch.

    Args:
        plate: the machine.
        count: points along each axis; an odd number includes home.
    """
    axes = [np.linspace(-reach, reach, count) for reach in exact_ranges_at_best_heave(plate)]
    axes[0] = axes[0] + plate.home_length
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    outside = ~ExactKinematics(plate).within_stroke(grid)
    errors = small_angle_errors_at(plate, grid)
    for part in errors:
        part[outside] = np.nan
    heave, roll, pitch = axes
    return ErrorMap(heave, roll, pitch, *errors, worst_small_angle_errors(plate))


def worst_small_angle_errors(plate: PlateModel, divisions: int = 40) -> WorstErrors:
    """Return the largest errors of the small-angle model over the workspace.

    Errors grow with the angles and are largest on the surface of the workspace.

    Args:
        plate: the machine.
        divisions: see `translational_envelope`, whose points are taken.
    """
    surface = translational_envelope(ExactKinematics(plate), divisions).coordinates
    errors = small_angle_errors_at(plate, surface)
    heave, roll, pitch = np.abs(errors.coordinates).max(axis=0).tolist()
    return WorstErrors(
        float(np.abs(errors.lengths).max()),
        heave,
        roll,
        pitch,
        float(np.linalg.norm(errors.center, axis=-1).max()),
        float(np.linalg.norm(errors.feet, axis=-1).max()),
    )
