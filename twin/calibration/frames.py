"""Frames of a measurement: the machine's base in the tracker, the target on the platform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross_matrix, quaternion_product, rotated, rotation_matrix
from twin.calibration.measured import MeasuredPoses
from twin.rotations import quaternion_from_angles

FRAME_CHOICES = ("both", "tracker", "target", "known")
"""Which frames are unknown."""

IDENTITY_POSE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""Pose of a frame in itself."""

CONJUGATE_SIGNS = np.array([1.0, -1.0, -1.0, -1.0])
"""Signs that turn a unit quaternion into its inverse."""

FRAME_UNKNOWN_NAMES = tuple(
    f"{motion} of the {frame} {axis}"
    for frame in ("tracker", "target")
    for motion, axis in (*(("place", axis) for axis in "xyz"), *(("turn", axis) for axis in "xyz"))
)
"""Names of the twelve unknowns of both frames."""

MIN_POSES = 3
"""Poses from which frames can be guessed."""


class Frames(NamedTuple):
    """Measured pose = tracker * pose of the platform * target."""

    tracker: FloatArray = IDENTITY_POSE
    """`(7,)` pose of the machine's base in the frame of the tracker"""
    target: FloatArray = IDENTITY_POSE
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
    back = pose[:, 3:] * CONJUGATE_SIGNS
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


def aligned(platform: FloatArray, poses: MeasuredPoses, free: tuple[bool, bool]) -> Frames:
    """Return frames that lead from platform poses `(m, 7)` to about the measured ones.

    Turns follow from A R = Y B^T, linear in both, by the smallest singular vector; places from
    least squares. Without angles the tracker's turn is that between both clouds of points.
    """
    places = np.isfinite(poses.values[:, :3]).all(axis=1)
    turned = np.isfinite(poses.values[:, 3:]).all(axis=1)
    tracker: FloatArray = np.eye(3)
    target: FloatArray = np.eye(3)
    if not any(free):
        return Frames()
    if turned.sum() >= MIN_POSES:
        mine, theirs = (rotation_matrix(each[turned, 3:]) for each in (platform, poses.poses))
        tracker, target = _turns(mine, theirs, free)
    elif places.sum() >= MIN_POSES and free[0]:
        mine, theirs = (
            a[places, :3] - a[places, :3].mean(axis=0) for a in (platform, poses.values)
        )
        tracker = _nearest(theirs.T @ mine)
    origins: FloatArray = np.zeros(6)
    if places.sum() >= MIN_POSES:
        here, there = platform[places], poses.values[places, :3]
        rows = np.tile(np.eye(3, 6), (len(here), 1, 1)) * free[0]
        rows[:, :, 3:] = tracker @ rotation_matrix(here[:, 3:]) * free[1]
        left = there - here[:, :3] @ tracker.T
        origins = np.asarray(np.linalg.lstsq(rows.reshape(-1, 6), left.ravel(), rcond=1e-6)[0])
    return Frames(
        np.concatenate([origins[:3], quaternion_of(tracker)]),
        np.concatenate([origins[3:], quaternion_of(target)]),
    )


def _turns(
    mine: FloatArray, theirs: FloatArray, free: tuple[bool, bool]
) -> tuple[FloatArray, FloatArray]:
    """Return rotations of tracker and target that turn `mine` `(m, 3, 3)` into `theirs`."""
    if free == (True, False):
        return _nearest(np.einsum("mij,mkj->ik", theirs, mine)), np.eye(3)
    if free == (False, True):
        return np.eye(3), _nearest(np.einsum("mji,mjk->ik", mine, theirs))
    rows = [
        np.hstack([np.kron(np.eye(3), a.T), -np.kron(b, np.eye(3))])
        for a, b in zip(mine, theirs, strict=True)
    ]
    last = np.linalg.svd(np.concatenate(rows))[2][-1].reshape(2, 3, 3)
    sign = np.sign(np.linalg.det(last[0])) or 1.0
    return _nearest(sign * last[0]), _nearest(sign * last[1]).T


def _nearest(matrix: FloatArray) -> FloatArray:
    """Return the rotation nearest to a matrix `(3, 3)`."""
    left, _, right = np.linalg.svd(matrix)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    nearest: FloatArray = left @ flip @ right
    return nearest
