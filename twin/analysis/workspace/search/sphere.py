"""Directions in space and their shares of the full solid angle."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray


def sphere(count: int) -> tuple[FloatArray, FloatArray]:
    """Return `(2 count^2, 3)` unit vectors and their weights, which add up to 4 pi.

    Gauss-Legendre nodes along the axis, even steps about it: exact for polynomials of degree
    2 count - 1. The first index is the height, from below to above.
    """
    heights, shares = np.polynomial.legendre.leggauss(count)
    angles = np.pi * np.arange(2 * count) / count
    radius = np.sqrt(1.0 - heights**2)
    vectors = np.stack(
        [
            radius[:, None] * np.cos(angles),
            radius[:, None] * np.sin(angles),
            np.broadcast_to(heights[:, None], (count, 2 * count)),
        ],
        axis=-1,
    )
    weights = np.repeat(shares * np.pi / count, 2 * count)
    return vectors.reshape(-1, 3), weights


def circle(count: int) -> FloatArray:
    """Return `(count, 2)` unit vectors at even steps."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)
