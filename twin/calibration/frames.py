"""Frames of a measurement: the machine's base in the tracker, the target on the platform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross_matrix, quaternion_product, rotated, rotation_matrix
from twin.rotations import quaternion_from_angles

FRAMES = ("both", "tracker", "target", "known")
"""Which frames are unknown."""

HERE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])

WORDS = tuple(
    f"{motion} of the {frame} {axis}"
    for frame in ("tracker", "target")
    for motion, axis in (*(("place", axis) for axis in "xyz"), *(("turn", axis) for axis in "xyz"))
)
"""Names of the twelve unknowns of both frames."""


class Frames(NamedTuple):
    """Measured pose = tracker * pose of the platform * target."""

    tracker: FloatArray = HERE
    """`(7,)` pose of the machine's base in the frame of the tracker"""
    target: FloatArray = HERE
    """`(7,)` pose of the target in the frame of the platform"""

    def moved(self, errors: FloatArray) -> Frames:
        """Return the frames with `errors` `(12,)` on top of both: places [m], then turns.

        A turn is twice the axis times the tangent of half the angle, the angle [rad] if small.
        """
        return Frames(_moved(self.tracker, errors[:6]), _moved(self.target, errors[6:]))

    def measured(self, poses: FloatArray) -> FloatArray:
        """Return what the tracker measures of platform poses `(m, 7)`."""
        return product(product(self.tracker, poses), self.target)

    def platform(self, measured: FloatArray) -> FloatArray:
        """Return the platform poses `(m, 7)` of measured ones."""
        return product(product(inverse(self.tracker), measured), inverse(self.target))


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the product of poses `(m, 7)` or `(7,)`: the frame `right`, given in `left`."""
    left, right = np.broadcast_arrays(np.atleast_2d(left), np.atleast_2d(right))
    place = left[:, :3] + rotated(left[:, 3:], right[:, :3])
    return np.hstack([place, quaternion_product(left[:, 3:], right[:, 3:])])


def inverse(pose: FloatArray) -> FloatArray:
    """Return the inverse `(m, 7)` of poses `(m, 7)` or `(7,)`."""
    pose = np.atleast_2d(pose)
    back = pose[:, 3:] * CONJUGATE
    return np.hstack([-rotated(back, pose[:, :3]), back])


def by_frames(frames: Frames, errors: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 6, 12)` of measured poses by the errors of the frames.

    Args:
        frames: with their errors.
        errors: `(12,)` as of `Frames.moved`.
        measured: poses `(m, 7)` in the frame of the tracker.

    Returns:
        Displacements [m] and rotation vectors [rad], axes of the tracker.
    """
    slopes = np.zeros((len(measured), 6, 12))
    turn = _rates(errors[3:6])
    slopes[:, :3, :3], slopes[:, 3:, 3:6] = np.eye(3), turn
    slopes[:, :3, 3:6] = -cross_matrix(measured[:, :3] - frames.tracker[:3]) @ turn
    platform = rotation_matrix(product(measured, inverse(frames.target))[:, 3:])
    slopes[:, :3, 6:9], slopes[:, 3:, 9:] = platform, platform @ _rates(errors[9:])
    return slopes


def _moved(pose: FloatArray, errors: FloatArray) -> FloatArray:
    turn = quaternion_from_angles(0.5 * errors[3:], "rodrigues")
    return np.concatenate(
        [pose[:3] + errors[:3], quaternion_product(turn[None], pose[None, 3:])[0]]
    )


def _rates(turn: FloatArray) -> FloatArray:
    """Return the derivative `(3, 3)` of a rotation vector on top by a turn."""
    half = 0.5 * turn
    rates: FloatArray = (np.eye(3) + cross_matrix(half)) / (1.0 + half @ half)
    return rates


def quaternion_of(matrix: FloatArray) -> FloatArray:
    """Return the unit quaternion `(4,)` of a rotation `(3, 3)`."""
    from scipy.spatial.transform import Rotation

    quaternion: FloatArray = Rotation.from_matrix(matrix).as_quat(scalar_first=True)
    return quaternion
