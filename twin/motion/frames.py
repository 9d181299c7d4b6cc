"""Angles with their rates and accelerations, turned into rotational motion in base axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.motion.quaternions import cross, quaternion_product, rotated
from twin.motion.rodrigues import rodrigues_kinematics
from twin.motion.rotation_vector import rotation_vector_kinematics
from twin.rotations import convention


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
    count = len(angles)
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    velocity = np.zeros((count, 3))
    acceleration = np.zeros((count, 3))
    columns = range(len(sequence))
    # Rotations about fixed axes are those about moving axes in the opposite order.
    for i in columns if sequence.isupper() else reversed(columns):
        local = np.zeros((count, 3))
        local[:, "xyz".index(sequence[i].lower())] = 1.0
        axis = rotated(quaternion, local)
        rate = rates[:, i : i + 1]
        # The axis is carried by the rotations before it, hence velocity x axis.
        acceleration += accelerations[:, i : i + 1] * axis + rate * cross(velocity, axis)
        velocity += rate * axis
        half = 0.5 * angles[:, i : i + 1]
        quaternion = quaternion_product(quaternion, np.hstack([np.cos(half), np.sin(half) * local]))
    return RotationSample(quaternion, velocity, acceleration)


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
        Siciliano et al., Robotics: Modelling, Planning and Control, section 3.6; the other two:
        see `rodrigues` and `rotation_vector`.
    """
    chosen = convention(name)
    size = len(chosen.angles)
    shape, flat = flatten_batch(
        angles=as_floats(angles, "angles", size),
        rates=as_floats(rates, "rates", size),
        accelerations=as_floats(accelerations, "accelerations", size),
    )
    if name == "rodrigues":
        result = RotationSample(*rodrigues_kinematics(*flat))
    elif chosen.sequence:
        result = _euler_kinematics(chosen.sequence, *flat)
    else:
        result = RotationSample(*rotation_vector_kinematics(*flat))
    return RotationSample(*(part.reshape(shape + part.shape[1:]) for part in result))
