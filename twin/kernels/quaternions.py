"""Unit quaternions, scalar first: products, increments by rotation vectors, rates."""

from __future__ import annotations

from math import cos, sin, sqrt

from twin.kernels.jit import device
from twin.kernels.vectors import Quaternion


@device
def quaternion_product(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the quaternion of rotation q, then p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@device
def turned(w: float, x: float, y: float, z: float, a: float, b: float, c: float) -> Quaternion:
    """Return the quaternion turned by the rotation vector (a, b, c) [rad] of the base frame."""
    angle = sqrt(a * a + b * b + c * c)
    half = 0.5 * angle
    factor = sin(half) / angle if angle > 1e-12 else 0.5
    turn = (cos(half), factor * a, factor * b, factor * c)
    rw, rx, ry, rz = quaternion_product(turn, (w, x, y, z))
    inverse = 1.0 / sqrt(rw * rw + rx * rx + ry * ry + rz * rz)
    return rw * inverse, rx * inverse, ry * inverse, rz * inverse


@device
def quaternion_rate(
    w: float, x: float, y: float, z: float, a: float, b: float, c: float
) -> Quaternion:
    """Return dq/dt = (0, omega) q / 2 for the angular velocity (a, b, c) in the base frame."""
    return (
        -0.5 * (a * x + b * y + c * z),
        0.5 * (a * w + b * z - c * y),
        0.5 * (b * w + c * x - a * z),
        0.5 * (c * w + a * y - b * x),
    )
