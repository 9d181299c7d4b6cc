"""First guess of unknown frames, and their fit to a machine without errors."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import rotation_matrix
from twin.calibration.frames import Frames, quaternion_of
from twin.calibration.measured import MeasuredPoses

FEWEST = 3
"""Poses from which frames can be guessed."""


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
    if turned.sum() >= FEWEST:
        mine, theirs = (rotation_matrix(each[turned, 3:]) for each in (platform, poses.poses))
        tracker, target = _turns(mine, theirs, free)
    elif places.sum() >= FEWEST and free[0]:
        mine, theirs = (
            a[places, :3] - a[places, :3].mean(axis=0) for a in (platform, poses.values)
        )
        tracker = _nearest(theirs.T @ mine)
    origins: FloatArray = np.zeros(6)
    if places.sum() >= FEWEST:
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
