"""Closeness to singular poses: condition number of the Jacobian with lengths scaled."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray


def characteristic_length(platform_joints: FloatArray) -> float:
    """Return the mean distance [m] of the platform joints from the reference point.

    Dividing the moment columns of the Jacobian by it makes all entries lengths per length, so
    that the condition number does not depend on the unit of length.
    """
    return float(np.linalg.norm(platform_joints, axis=1).mean())


def condition_number(jacobian: FloatArray, constraints: FloatArray, length: float) -> FloatArray:
    """Return the condition numbers `(...)` of Jacobians `(..., n, 6)`, moments scaled by `length`.

    Conditions `(..., c, 6)` restrict the twists. 1 is the best a machine can have; infinite at a
    singular pose.
    """
    units = np.array([1.0, 1.0, 1.0, length, length, length])
    scaled = jacobian / units
    if constraints.shape[-2]:
        scaled = scaled @ null_space(constraints / units)
    singular = np.linalg.svd(scaled, compute_uv=False)
    largest, smallest = singular[..., 0], singular[..., -1]
    return np.divide(largest, smallest, out=np.full_like(largest, np.inf), where=smallest > 0.0)


def null_space(constraints: FloatArray) -> FloatArray:
    """Return orthonormal vectors `(..., 6, 6 - c)` that meet the constraints `(..., c, 6)`."""
    count = constraints.shape[-2]
    return np.swapaxes(np.linalg.svd(constraints)[2][..., count:, :], -1, -2)
