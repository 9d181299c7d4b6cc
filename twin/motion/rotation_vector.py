"""Rotation vectors (axis times angle) with their derivatives, as rotational motion."""

from __future__ import annotations

from math import factorial

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.quaternions import cross

SERIES_BELOW = 1.0
"""Squared angle [rad2] below which series are used; the closed forms lose digits near zero."""

SERIES_TERMS = 11
"""At a squared angle of 1 the next term is 1/24!, far below rounding."""


def _coefficients(square: FloatArray, angle: FloatArray) -> tuple[FloatArray, ...]:
    """Return b = (1 - cos a) / a^2, c = (a - sin a) / a^3 and their derivatives by a^2."""
    small = np.minimum(square, SERIES_BELOW)
    a = np.where(square < SERIES_BELOW, 1.0, angle)
    sine, cosine = np.sin(a), np.cos(a)
    closed = (
        (1.0 - cosine) / a**2,
        (a - sine) / a**3,
        (a * sine - 2.0 * (1.0 - cosine)) / (2.0 * a**4),
        (3.0 * sine - a * cosine - 2.0 * a) / (2.0 * a**5),
    )
    b = np.polynomial.Polynomial([(-1) ** k / factorial(2 * k + 2) for k in range(SERIES_TERMS)])
    c = np.polynomial.Polynomial([(-1) ** k / factorial(2 * k + 3) for k in range(SERIES_TERMS)])
    series = (b(small), c(small), b.deriv()(small), c.deriv()(small))
    return tuple(np.where(square < SERIES_BELOW, s, e) for s, e in zip(series, closed, strict=True))


def rotation_vector_kinematics(
    vector: FloatArray, rate: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = r' + b r x r' + c r x (r x r') for the rotation vector r; acceleration is its
    derivative.

    Args:
        vector: `(m, 3)` rotation vectors [rad].
        rate: `(m, 3)` their first time derivatives [rad/s].
        acceleration: `(m, 3)` their second time derivatives [rad/s2].

    Reference:
        Barfoot, State Estimation for Robotics, section 7.1: left Jacobian of SO(3).
    """
    square = np.sum(vector**2, axis=1, keepdims=True)
    angle = np.sqrt(square)
    half = 0.5 * angle
    quaternion = np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector])

    b, c, b_slope, c_slope = _coefficients(square, angle)
    square_rate = 2.0 * np.sum(vector * rate, axis=1, keepdims=True)
    first = cross(vector, rate)
    second = cross(vector, first)
    velocity = rate + b * first + c * second
    first_rate = cross(vector, acceleration)
    second_rate = cross(rate, first) + cross(vector, first_rate)
    result = (
        acceleration
        + b * first_rate
        + c * second_rate
        + square_rate * (b_slope * first + c_slope * second)
    )
    return quaternion, velocity, result
