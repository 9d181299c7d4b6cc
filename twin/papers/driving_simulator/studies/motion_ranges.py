"""Ranges of heave, roll and pitch, alone and together, and the space that the centre sweeps.

A plate given by its center length and two slopes (`twin.papers.driving_simulator.kinematics`) is
within the stroke s where |center_length - home_length| + half_width |roll_slope| + half_length
|pitch_slope| <= s / 2. What each freedom takes of the stroke adds up: superposition, exact in these
numbers and to first order in heave, roll and pitch.

In center length and slopes the workspace is an octahedron whose six corners are the motion ranges.
Its surface, moved to where the centre is, is the surface of the envelope.

Reference: driving simulator paper, sections "Motion ranges" and "Platform Workspace -
Translational Envelope".
"""

from __future__ import annotations

from itertools import product
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


class Envelope(NamedTuple):
    """Surface of the translational envelope: `k` points, `m` triangles between them."""

    coordinates: FloatArray
    """`(k, 3)` heave [m], roll, pitch [rad]"""
    center: FloatArray
    """`(k, 3)` [m] the plate's centre in the base"""
    triangles: Any
    """`(m, 3)` integers, points of each triangle"""

    @property
    def extent(self) -> FloatArray:
        """Smallest and largest x, y and z `(2, 3)` [m]."""
        return np.stack([self.center.min(axis=0), self.center.max(axis=0)])


def translational_envelope(kinematics: PlateKinematics, divisions: int = 20) -> Envelope:
    """Return the surface that bounds the places of the plate's centre.

    Args:
        kinematics: small-angle or exact.
        divisions: triangles along an edge of the octahedron.
    """
    plate = kinematics.plate
    arms = np.array([1.0, plate.half_width, plate.half_length])
    points, triangles = _octahedron(divisions)
    slopes = points * (0.5 * plate.stroke / arms) + [plate.home_length, 0.0, 0.0]
    coordinates = np.stack(kinematics.angles(*slopes.T), axis=-1)
    return Envelope(coordinates, kinematics.inverse(coordinates).center, triangles)


def _octahedron(divisions: int) -> tuple[FloatArray, Any]:
    """Return points `(k, 3)` of the octahedron |x| + |y| + |z| = 1 and its triangles `(m, 3)`."""
    rows = [(i, j) for i in range(divisions + 1) for j in range(divisions + 1 - i)]
    number = {row: k for k, row in enumerate(rows)}
    upward = [((i, j), (i + 1, j), (i, j + 1)) for i, j in rows if i + j < divisions]
    downward = [((i + 1, j), (i + 1, j + 1), (i, j + 1)) for i, j in rows if i + j < divisions - 1]
    face = np.array([[number[row] for row in triangle] for triangle in upward + downward])
    corner = np.array([[i, j, divisions - i - j] for i, j in rows]) / divisions
    faces = [corner * signs for signs in product((1.0, -1.0), repeat=3)]
    points, merged = np.unique(np.vstack(faces) + 0.0, axis=0, return_inverse=True)
    triangles = np.vstack([face + k * len(rows) for k in range(len(faces))])
    return points, merged.ravel()[triangles]
