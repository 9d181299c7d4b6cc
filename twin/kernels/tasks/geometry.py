"""Errors between poses, compiled."""

from __future__ import annotations

from math import atan2, sqrt

from twin.kernels.jit import device


@device
def distance(vector):
    """Return the length of a vector `(3,)`."""
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


@device
def pose_error(wanted, pose, position, rotation):
    """Fill `position` (3,) and `rotation` (3,), the rotation vector, that lead to `wanted` (7,).

    In base axes; the rotation is the shorter way round.
    """
    for k in range(3):
        position[k] = wanted[k] - pose[k]
    aw, ax, ay, az = wanted[3], wanted[4], wanted[5], wanted[6]
    bw, bx, by, bz = pose[3], -pose[4], -pose[5], -pose[6]
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = sqrt(x * x + y * y + z * z)
    factor = 2.0 * atan2(sine, w) / sine if sine > 1e-12 else 2.0
    rotation[0], rotation[1], rotation[2] = factor * x, factor * y, factor * z
