"""Small displacements of a pose: translation and rotation vector in base axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, flatten_batch
from twin.rotations import angles_from_quaternion, quaternion_from_angles, quaternion_product


def displaced(pose: Any, displacement: Any) -> FloatArray:
    """Return poses `(..., 7)` moved by displacements `(..., 6)` [m], [rad], base axes.

    The last three entries are a rotation vector, applied on top of the pose's attitude.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    shape, (poses, steps) = flatten_batch(
        pose=as_pose(pose), displacement=as_floats(displacement, "displacement", 6)
    )
    turn = quaternion_from_angles(steps[:, 3:], "rotation_vector")
    moved = np.hstack([poses[:, :3] + steps[:, :3], quaternion_product(turn, poses[:, 3:])])
    return moved.reshape((*shape, 7))


def displacement(pose: Any, reference: Any) -> FloatArray:
    """Return the displacements `(..., 6)` [m], [rad] that lead from `reference` to `pose`.

    The inverse of `displaced`: `displaced(reference, displacement(pose, reference))` is `pose`.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    shape, (poses, origins) = flatten_batch(
        pose=as_pose(pose), reference=as_pose(reference, "reference")
    )
    turn = quaternion_product(poses[:, 3:], origins[:, 3:] * [1.0, -1.0, -1.0, -1.0])
    vector = angles_from_quaternion(turn, "rotation_vector")
    return np.hstack([poses[:, :3] - origins[:, :3], vector]).reshape((*shape, 6))
