"""Small displacements of a pose: translation and rotation vector in base axes."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.motion.quaternions import quaternion_product
from twin.rotations import quaternion_from_angles


def displaced(pose: FloatArray, displacement: FloatArray) -> FloatArray:
    """Return poses `(m, 7)`: one pose `(7,)` moved by displacements `(m, 6)` [m], [rad].

    The last three entries are a rotation vector, applied on top of the pose's attitude.

    Raises:
        InputError: not finite.
    """
    turn = quaternion_from_angles(displacement[:, 3:], "rotation_vector")
    attitude = np.broadcast_to(pose[3:], turn.shape)
    return np.hstack([pose[:3] + displacement[:, :3], quaternion_product(turn, attitude)])
