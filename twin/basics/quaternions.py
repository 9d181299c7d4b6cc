"""Quaternions, rotation matrices and cross products as arrays, without checks.

Quaternions are scalar first. Leading axes of two arguments are the same, and broadcast in `cross`.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray


def cross(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the cross products `(..., 3)`; less overhead than `np.cross` for a few."""
    a, b, c = left[..., 0], left[..., 1], left[..., 2]
    x, y, z = right[..., 0], right[..., 1], right[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def cross_matrix(vector: FloatArray) -> FloatArray:
    """Return the matrices `(..., 3, 3)` that multiply as cross products with vectors `(..., 3)`."""
    matrix = np.zeros((*vector.shape, 3))
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -z, y, -x
    matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1] = z, -y, x
    return matrix


def quaternion_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products `(..., 4)` of quaternions: rotation by `right`, then by `left`."""
    w, x, y, z = left.T
    a, b, c, d = right.T
    return np.array(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ]
    ).T


def quaternion_from_vector(vector: FloatArray) -> FloatArray:
    """Return the unit quaternions `(..., 4)` of rotation vectors `(..., 3)` [rad]."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector], axis=-1)


def rotated(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    """Return vectors `(..., 3)` rotated by unit quaternions `(..., 4)`."""
    turn = 2.0 * cross(quaternion[..., 1:], vector)
    return vector + quaternion[..., :1] * turn + cross(quaternion[..., 1:], turn)


def rotation_matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrices `(..., 3, 3)` of unit quaternions `(..., 4)`."""
    w, x, y, z = quaternion.T
    columns = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(columns).T


def turned(pose: FloatArray, step: FloatArray) -> FloatArray:
    """Return poses `(..., 7)` moved by translations and rotation vectors `(..., 6)`, base axes."""
    attitude = quaternion_product(quaternion_from_vector(step[..., 3:]), pose[..., 3:])
    return np.concatenate([pose[..., :3] + step[..., :3], attitude], axis=-1)
