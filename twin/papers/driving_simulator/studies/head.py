"""Motion of the driver's head: position, velocity, acceleration and angular motion.

The head is a point fixed to the plate. The small-angle expressions are those the paper prints; the
exact ones come from rigid-body kinematics with R = Rx(roll) Ry(pitch).

Reference: driving simulator paper, section "Pilot".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.papers.driving_simulator.closed_forms import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.kinematics import ConfigurationMotion, Jet, checked_coordinates
from twin.papers.driving_simulator.plate import PlateModel


class HeadMotion(NamedTuple):
    """Motion of the head, `(..., 3)` each, in the base axes unless a function says otherwise."""

    position: FloatArray
    """[m]"""
    velocity: FloatArray
    """[m/s]"""
    acceleration: FloatArray
    """[m/s2]"""
    specific_force: FloatArray
    """[m/s2] acceleration minus gravity: what is felt, and what an accelerometer shows"""
    angular_velocity: FloatArray
    """[rad/s]"""
    angular_acceleration: FloatArray
    """[rad/s2]"""


def exact_head_motion(
    plate: PlateModel, head: Any, coordinates: Any, rates: Any, accelerations: Any
) -> HeadMotion:
    """Return the exact motion of the head, base axes.

    Args:
        plate: the machine.
        head: `(3,)` [m] in the platform frame.
        coordinates: `(..., 3)` heave [m], roll, pitch [rad].
        rates: `(..., 3)`.
        accelerations: `(..., 3)`.

    Raises:
        InputError: wrong shapes, not finite, angles of a right angle and more.
    """
    point = as_vector(head, "head", 3)
    motion = ExactKinematics(plate).inverse_motion(coordinates, rates, accelerations)
    arm = np.einsum("...ij,j->...i", attitude(motion.value.coordinates), point)
    omega, alpha = _turning(motion)
    swept = np.cross(omega, arm)
    acceleration = motion.acceleration.center + np.cross(alpha, arm) + np.cross(omega, swept)
    return HeadMotion(
        motion.value.center + arm,
        motion.rate.center + swept,
        acceleration,
        acceleration + np.array([0.0, 0.0, plate.gravity]),
        omega,
        alpha,
    )


def in_plate_axes(motion: HeadMotion, coordinates: Any) -> HeadMotion:
    """Return a motion given in base axes in the axes of the plate, as an inertial sensor shows it.

    Components are turned; derivatives stay those of the motion against the base.

    Args:
        motion: in base axes.
        coordinates: `(..., 3)` heave [m], roll, pitch [rad] of the same states.

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    to_plate = np.swapaxes(attitude(checked_coordinates(coordinates)), -1, -2)
    return HeadMotion(*(np.einsum("...ij,...j->...i", to_plate, part) for part in motion))


def small_angle_head_motion(
    plate: PlateModel, head: Any, coordinates: Any, rates: Any, accelerations: Any
) -> HeadMotion:
    """Return the motion of the head in the small-angle model, as the paper prints it.

    Two things differ from the print: `acceleration` has no gravity, which is in `specific_force`
    with the sign that makes a head at rest feel +g (printed: -981/100). As printed, the angular
    velocity is in plate axes (R^T dR/dt of the small-angle R) and the angular acceleration is the
    derivative of its components in base axes.

    Args:
        plate: the machine.
        head: `(3,)` [m] in the platform frame: xp, yp, zp.
        coordinates: `(..., 3)` heave [m], roll, pitch [rad].
        rates: `(..., 3)`.
        accelerations: `(..., 3)`.

    Raises:
        InputError: wrong shapes, not finite, angles of a right angle and more.
    """
    xp, yp, zp = as_vector(head, "head", 3).tolist()
    motion = SmallAngleKinematics(plate).inverse_motion(coordinates, rates, accelerations)
    center, angles = ([_jet(motion, part, k) for k in range(3)] for part in (2, 0))
    _, roll, pitch = angles
    place = (
        center[0] + pitch * zp + xp,
        center[1] - roll * zp + roll * pitch * xp + yp,
        center[2] + roll * yp - pitch * xp + zp,
    )
    position, velocity, acceleration = (
        np.stack([getattr(jet, name) for jet in place], axis=-1)
        for name in ("value", "rate", "acceleration")
    )
    return HeadMotion(
        position,
        velocity,
        acceleration,
        acceleration + np.array([0.0, 0.0, plate.gravity]),
        *_printed_turning(roll, pitch),
    )


def attitude(coordinates: FloatArray) -> FloatArray:
    """Return the rotation matrices `(..., 3, 3)` platform to base of coordinates `(..., 3)`."""
    roll, pitch = coordinates[..., 1], coordinates[..., 2]
    a, b, c, d = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    zero = np.zeros_like(a)
    rows = ((d, zero, c), (a * c, b, -a * d), (-b * c, a, b * d))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _turning(motion: ConfigurationMotion) -> tuple[FloatArray, FloatArray]:
    """Return angular velocity and acceleration: roll about x, pitch about the rolled y."""
    roll = motion.value.coordinates[..., 1]
    (first, second), (first_rate, second_rate) = (
        np.moveaxis(part.coordinates[..., 1:], -1, 0) for part in (motion.rate, motion.acceleration)
    )
    sine, cosine = np.sin(roll), np.cos(roll)
    omega = [first, second * cosine, second * sine]
    alpha = [
        first_rate,
        second_rate * cosine - first * second * sine,
        second_rate * sine + first * second * cosine,
    ]
    return np.stack(omega, axis=-1), np.stack(alpha, axis=-1)


def _printed_turning(roll: Jet, pitch: Jet) -> tuple[FloatArray, FloatArray]:
    """Return the printed angular velocity (plate axes) and acceleration (base axes)."""
    phi, theta = roll.value, pitch.value
    phi_rate, theta_rate = roll.rate, pitch.rate
    phi_2, theta_2 = roll.acceleration, pitch.acceleration
    omega = [phi_rate, theta_rate - phi * theta * phi_rate, theta * phi_rate]
    both = theta_rate * phi_rate
    alpha = [
        theta**2 * phi_2 + phi_2 + 2 * theta * both,
        theta_2 - theta * phi_rate**2 - phi * theta * phi_2 - phi * both,
        -theta * phi**2 * phi_2
        + phi * theta_2
        - 2 * theta * phi * phi_rate**2
        - phi**2 * both
        + both,
    ]
    return np.stack(omega, axis=-1), np.stack(alpha, axis=-1)


def _jet(motion: ConfigurationMotion, part: int, column: int) -> Jet:
    return Jet(*(configuration[part][..., column] for configuration in motion))
