"""Unit quaternions, scalar first: increments by rotation vectors, rates, normalisation."""

from __future__ import annotations

from math import cos, sin, sqrt

from twin.kernels.jit import device
from twin.kernels.vectors import Quaternion


@device
def turned(w: float, x: float, y: float, z: float, a: float, b: float, c: float) -> Quaternion:
    """Return the quaternion turned by the rotation vector (a, b, c) [rad] of the base frame."""
    angle = sqrt(a * a + b * b + c * c)
    half = 0.5 * angle
    factor = sin(half) / angle if angle > 1e-12 else 0.5
    ew, ex, ey, ez = cos(half), factor * a, factor * b, factor * c
    rw = ew * w - ex * x - ey * y - ez * z
    rx = ew * x + ex * w + ey * z - ez * y
    ry = ew * y - ex * z + ey * w + ez * x
    rz = ew * z + ex * y - ey * x + ez * w
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
