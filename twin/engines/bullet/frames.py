"""Bullet's own frames of bodies: centre of mass, principal axes; only these are exact in Bullet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.canonical import principal_axes
from twin.engines.bullet.library import bullet
from twin.machine.mechanism.parts import Body, Point


class InertialFrame(NamedTuple):
    """The frame in which Bullet keeps a body, against the body's own."""

    center: FloatArray
    """`(3,)` [m] in the body's frame"""
    axes: FloatArray
    """`(3, 3)` inertial to body"""

    def place(self, point: Point) -> FloatArray:
        """Return a point `(3,)` [m] of the body in the inertial frame."""
        return np.asarray((point.position - self.center) @ self.axes)


def inertial_frame(body: Body) -> InertialFrame:
    """Return the inertial frame of a body."""
    return InertialFrame(body.mass.center, principal_axes(body.mass.tensor))


class PlatformFrame:
    """Pose and twist of the platform, from and to those of its inertial frame."""

    def __init__(self, body: Body) -> None:
        """Take over the frame of the platform's body."""
        frame = inertial_frame(body)
        self._from_inertial = _multiply_by_conjugate(_quaternion(frame.axes))
        self._reference = -frame.center @ frame.axes
        self._upward = frame.axes[2]

    def to_inertial(
        self, pose: FloatArray, twist: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return centre `(3,)`, quaternion (scalar last) and velocity of the centre `(3,)`."""
        turn = self._from_inertial.T @ pose[3:]
        arm = matrix(turn) @ -self._reference
        return pose[:3] + arm, turn, twist[:3] + np.cross(twist[3:], arm)

    def reference(self, center: tuple[float, ...], turn: tuple[float, ...]) -> FloatArray:
        """Return the place `(3,)` of the reference point in the base."""
        return np.asarray(center + matrix(turn) @ self._reference)

    def normal(self, turn: tuple[float, ...]) -> FloatArray:
        """Return the platform's z axis `(3,)` in the base for the inertial frame's quaternion."""
        return np.asarray(matrix(turn) @ self._upward)

    def from_inertial(self, reading: FloatArray) -> None:
        """Turn a reading of the inertial frame into pose `(7,)` and twist `(6,)`, in place.

        Args:
            reading: its first 13 entries: centre, quaternion (scalar last), velocity of the
                centre, angular velocity.
        """
        (x, y, z) = (matrix(reading[3:7]) @ self._reference).tolist()
        (a, b, c) = reading[10:13].tolist()
        reading[:3] += (x, y, z)
        reading[3:7] = self._from_inertial @ reading[3:7]
        reading[7:10] += (b * z - c * y, c * x - a * z, a * y - b * x)


def matrix(turn: FloatArray | tuple[float, ...]) -> FloatArray:
    """Return the rotation matrix `(3, 3)` of a quaternion in Bullet's order (scalar last)."""
    return np.array(bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)


def _quaternion(rotation: FloatArray) -> FloatArray:
    """Return the quaternion (scalar first) of a rotation of less than 120 degrees."""
    w = 0.5 * np.sqrt(1.0 + np.trace(rotation))
    skew = (rotation - rotation.T) / (4.0 * w)
    return np.array([w, skew[2, 1], skew[0, 2], skew[1, 0]])


def _multiply_by_conjugate(quaternion: FloatArray) -> FloatArray:
    """Return the matrix that takes q (scalar last) to q times the conjugate (scalar first)."""
    w, x, y, z = quaternion
    return np.array([[x, y, z, w], [w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z]])
