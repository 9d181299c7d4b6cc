"""Angles with their rates and accelerations, turned into rotational motion in base axes."""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.basics.quaternions import cross
from twin.rotations import convention, times_unit

SERIES_BELOW = 1.0
"""Squared angle [rad2] below which series are used; the closed forms lose digits near zero."""

SERIES_TERMS = 11
"""At a squared angle of 1 the next term is 1/24!, far below rounding."""


class RotationSample(NamedTuple):
    """Attitude of the platform and its derivatives."""

    quaternion: FloatArray
    """`(..., 4)` platform to base, scalar first, unit norm; continuous in the angles"""
    velocity: FloatArray
    """`(..., 3)` angular velocity [rad/s], base axes"""
    acceleration: FloatArray
    """`(..., 3)` angular acceleration [rad/s2], base axes: derivative of `velocity`"""


def _euler_kinematics(
    sequence: str, angles: FloatArray, rates: FloatArray, accelerations: FloatArray
) -> RotationSample:
    # Rotations about fixed axes are those about moving axes in the opposite order.
    columns = range(len(sequence)) if sequence.isupper() else reversed(range(len(sequence)))
    quaternion = np.zeros((4, len(angles)))
    quaternion[0] = 1.0
    velocity, acceleration = np.zeros((2, 3, len(angles)))
    for i in columns:
        turned = times_unit(quaternion, sequence[i].upper())
        # The vector of turned * conjugate of quaternion: the axis in the base.
        axis = quaternion[0] * turned[1:] - turned[0] * quaternion[1:]
        axis += cross(quaternion[1:].T, turned[1:].T).T
        # It is carried by the rotations before it, hence velocity x axis.
        acceleration += accelerations[:, i] * axis + rates[:, i] * cross(velocity.T, axis.T).T
        velocity += rates[:, i] * axis
        half = 0.5 * angles[:, i]
        quaternion = np.cos(half) * quaternion + np.sin(half) * turned
    return RotationSample(quaternion.T, velocity.T, acceleration.T)


def rodrigues_kinematics(
    parameters: FloatArray, rate: FloatArray, acceleration: FloatArray
) -> RotationSample:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = 2 (c' + c x c') / (1 + c.c) for the parameters c; acceleration is its derivative.

    Args:
        parameters: `(m, 3)` Rodrigues parameters.
        rate: `(m, 3)` their first time derivatives [1/s].
        acceleration: `(m, 3)` their second time derivatives [1/s2].

    Reference:
        Shuster, A survey of attitude representations, J. Astronautical Sciences 41 (1993),
        section on the Rodrigues vector.
    """
    size = 1.0 + np.sum(parameters**2, axis=1, keepdims=True)
    quaternion = np.hstack([np.ones_like(size), parameters]) / np.sqrt(size)
    turning = rate + cross(parameters, rate)
    velocity = 2.0 * turning / size
    growth = 2.0 * np.sum(parameters * rate, axis=1, keepdims=True)
    change = acceleration + cross(parameters, acceleration)
    result = 2.0 * change / size - velocity * growth / size
    return RotationSample(quaternion, velocity, result)


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
) -> RotationSample:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = r' + b r x r' + c r x (r x r') for the rotation vector r of length a, with
    b = (1 - cos a) / a^2 and c = (a - sin a) / a^3; acceleration is its derivative.

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
    return RotationSample(quaternion, velocity, result)


def rotational_motion(
    angles: Any, rates: Any, accelerations: Any, name: str = "yaw_pitch_roll"
) -> RotationSample:
    """Return attitude, angular velocity and angular acceleration of angles of a convention.

    With the axes u_i of the elementary rotations in base axes, velocity = sum q_i' u_i and
    acceleration = sum q_i'' u_i + q_i' (omega_i x u_i), omega_i the velocity due to the rotations
    before the i-th. Exact for every angle, also where the convention cannot be inverted.

    Args:
        angles: `(..., k)` [rad], in the order of the convention's `angles`.
        rates: `(..., k)` [rad/s].
        accelerations: `(..., k)` [rad/s2].
        name: a key of `twin.rotations.CONVENTIONS`.

    Raises:
        InputError: wrong shapes, not finite, unknown convention.

    Reference:
        Siciliano et al., Robotics: Modelling, Planning and Control, section 3.6. See also
        `rodrigues_kinematics` and `rotation_vector_kinematics`.
    """
    chosen = convention(name)
    size = len(chosen.angles)
    shape, flat = flatten_batch(
        angles=as_floats(angles, "angles", size),
        rates=as_floats(rates, "rates", size),
        accelerations=as_floats(accelerations, "accelerations", size),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "rodrigues":
            result = rodrigues_kinematics(*flat)
        elif chosen.sequence:
            result = _euler_kinematics(chosen.sequence, *flat)
        else:
            result = rotation_vector_kinematics(*flat)
    sound = (as_floats(part, "angles, rates, accelerations") for part in result)
    return RotationSample(*(part.reshape(shape + part.shape[1:]) for part in sound))
