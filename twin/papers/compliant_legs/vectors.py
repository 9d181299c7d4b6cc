"""Vector and linear algebra over leading axes."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross_matrix


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return scalar products `(...)` of vectors `(..., 3)`."""
    return np.asarray((first * second).sum(axis=-1))


def outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return dyadic products `(..., 3, 3)` of vectors `(..., 3)`."""
    return np.asarray(first[..., :, None] * second[..., None, :])


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
