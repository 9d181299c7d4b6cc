"""Vector and linear algebra over leading axes."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return scalar products `(...)` of vectors `(..., 3)`."""
    return np.asarray((first * second).sum(axis=-1))


def outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return dyadic products `(..., 3, 3)` of vectors `(..., 3)`."""
    return np.asarray(first[..., :, None] * second[..., None, :])


def cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return vector products `(..., 3)` of vectors `(..., 3)`; numpy's takes longer for a few."""
    a, b, c = first[..., 0], first[..., 1], first[..., 2]
    x, y, z = second[..., 0], second[..., 1], second[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def cross_matrix(vector: FloatArray) -> FloatArray:
    """Return matrices `(..., 3, 3)` that multiply as the cross product with vectors `(..., 3)`."""
    matrix = np.zeros((*vector.shape, 3))
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -z, y, -x
    matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1] = z, -y, x
    return matrix


def rotation_matrix(pose: FloatArray) -> FloatArray:
    """Return rotations `(..., 3, 3)` platform to base of poses `(..., 7)`."""
    scalar, vector = pose[..., 3, None, None], pose[..., 4:]
    turn = cross_matrix(vector)
    return np.asarray(np.eye(3) + 2.0 * (scalar * turn + turn @ turn))


def tip_matrices(arm: FloatArray) -> FloatArray:
    """Return `(..., 3, 6)`: tip velocity = matrix @ twist, for arms `(..., 3)`.

    Reference: compliant-leg paper, equation (51), in velocities instead of angle rates.
    """
    matrix = np.empty((*arm.shape, 6))
    matrix[..., :3] = np.eye(3)
    matrix[..., 3:] = -cross_matrix(arm)
    return matrix


def solved(matrix: FloatArray, right_side: FloatArray) -> FloatArray:
    """Return solutions `(..., size)` of systems `(..., size, size)` and `(..., size)`."""
    found = np.linalg.solve(matrix, right_side[..., None])
    return np.asarray(found[..., 0], dtype=np.float64)


def least_squares(matrix: FloatArray, right_side: FloatArray) -> FloatArray:
    """Return the smallest least-squares solution `(columns,)` of one system."""
    return np.asarray(np.linalg.lstsq(matrix, right_side, rcond=None)[0], dtype=np.float64)
