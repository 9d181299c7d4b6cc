"""PyBullet's open tree of a machine: its own inverse dynamics and Jacobians, no constraints.

Bullet offers these on fixed-base trees of one-dof joints only, which is why `robot_urdf` hangs
the platform on three slides and three hinges.
"""

from __future__ import annotations

import weakref
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.engines.bullet_library import bullet, connect, disconnect, load
from twin.engines.projection import OpenTree
from twin.engines.urdf import FREEDOMS, LEG_JOINTS, robot_urdf
from twin.errors import SingularPoseError
from twin.platform import Platform

SMALLEST_COSINE = 1e-6
"""Of the second hinge's angle: beyond it the first and the third hinge turn about one axis."""


def open_tree(
    platform: Platform, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    Raises:
        InputError: Bullet refuses the machine.
        SingularPoseError: a leg lies along its first axis, or the platform has turned by 90 deg
            about the y axis from home, where the tree's hinges are singular.
    """
    tree = _tree(platform)
    legs = platform.leg_coordinates(pose, twist, acceleration)
    extensions = legs.lengths - platform.home_lengths
    free = _platform_motion(platform, pose, twist, acceleration)
    places, rates, seconds = (
        np.concatenate([np.column_stack([angles, lengths]).ravel(), own])
        for angles, lengths, own in (
            (legs.angles, extensions, free.places),
            (legs.angle_rates, legs.length_rates, free.rates),
            (legs.angle_accelerations, legs.length_accelerations, free.seconds),
        )
    )
    torques = tree.torques(places, rates, seconds)
    numbers = range(1, platform.n_actuators + 1)
    tips = np.stack([tree.jacobian(f"leg_{i}_rod", places) for i in numbers])
    sockets = np.stack([tree.jacobian(f"leg_{i}_platform_joint", places) for i in numbers])
    joints = np.arange(len(places) - len(FREEDOMS)).reshape(-1, len(LEG_JOINTS))
    from_twist = np.linalg.inv(free.to_twist)
    return OpenTree(
        platform_wrench=from_twist.T @ torques[joints.size :],
        leg_torques=torques[: joints.size].reshape(joints.shape),
        platform_jacobians=sockets[:, :, joints.size :] @ from_twist,
        leg_jacobians=np.stack([tip[:, own] for tip, own in zip(tips, joints, strict=True)]),
    )


class _PlatformMotion(NamedTuple):
    """Coordinates `(6,)` of the joints that carry the platform, and two time derivatives."""

    places: FloatArray
    rates: FloatArray
    seconds: FloatArray
    to_twist: FloatArray
    """`(6, 6)`: twist = to_twist @ rates"""


def _platform_motion(
    platform: Platform, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> _PlatformMotion:
    home = platform.parameters.home_rotation
    # home to platform = Rx(a) Ry(b) Rz(c): angles about moving axes
    turn = home.T @ _matrix(pose[3:])
    a, b = np.arctan2(-turn[1, 2], turn[2, 2]), np.arctan2(turn[0, 2], np.hypot(*turn[0, :2]))
    c = np.arctan2(-turn[0, 1], turn[0, 0])
    if np.cos(b) < SMALLEST_COSINE:
        raise SingularPoseError(
            "the platform has turned by 90 deg about the y axis from home, where the hinges of "
            "Bullet's tree are singular; choose another pose",
            {"pose": pose.copy()},
        )
    first = np.array([1.0, 0.0, 0.0])
    second = np.array([0.0, np.cos(a), np.sin(a)])
    third = np.array([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)])
    axes = home @ np.column_stack([first, second, third])
    angle_rates = np.linalg.solve(axes, twist[3:])
    spin = first * angle_rates[0]
    turning = np.cross(spin, second), np.cross(spin + second * angle_rates[1], third)
    drift = home @ (turning[0] * angle_rates[1] + turning[1] * angle_rates[2])
    to_twist = np.eye(6)
    to_twist[3:, 3:] = axes
    return _PlatformMotion(
        np.array([*pose[:3] - platform.home[:3], a, b, c]),
        np.concatenate([twist[:3], angle_rates]),
        np.concatenate([acceleration[:3], np.linalg.solve(axes, acceleration[3:] - drift)]),
        to_twist,
    )


class _Tree:
    """The tree in a physics client; vectors are sorted by leg and joint, the platform's last."""

    def __init__(self, platform: Platform) -> None:
        self._client = connect()
        weakref.finalize(self, disconnect, self._client)
        gravity = platform.parameters.gravity
        bullet.setGravity(0.0, 0.0, -gravity, physicsClientId=self._client)
        self._body = load(robot_urdf(platform), self._client, fixed=True)
        count = bullet.getNumJoints(self._body, physicsClientId=self._client)
        joints = [
            bullet.getJointInfo(self._body, i, physicsClientId=self._client) for i in range(count)
        ]
        self._links = {joint[12].decode(): i for i, joint in enumerate(joints)}
        names = [joint[1].decode() for joint in joints if joint[2] != bullet.JOINT_FIXED]
        legs = range(1, platform.n_actuators + 1)
        wanted = [f"leg_{leg}_{joint}" for leg in legs for joint in LEG_JOINTS]
        wanted += [f"platform_{freedom}" for freedom in FREEDOMS]
        self._from_bullet = [names.index(name) for name in wanted]
        self._to_bullet = np.argsort(self._from_bullet)

    def torques(self, *motion: FloatArray) -> FloatArray:
        """Return the joints' forces for places, rates and accelerations, gravity included."""
        sorted_motion = [values[self._to_bullet].tolist() for values in motion]
        torques = bullet.calculateInverseDynamics(
            self._body, *sorted_motion, physicsClientId=self._client
        )
        return np.array(torques)[self._from_bullet]

    def jacobian(self, link: str, places: FloatArray) -> FloatArray:
        """Return `(3, joints)` velocities of a link's origin per joint rates, base axes."""
        sorted_places = places[self._to_bullet].tolist()
        rest = [0.0] * len(sorted_places)
        linear, _ = bullet.calculateJacobian(
            self._body,
            self._links[link],
            (0.0, 0.0, 0.0),
            sorted_places,
            rest,
            rest,
            physicsClientId=self._client,
        )
        return np.array(linear)[:, self._from_bullet]


@lru_cache(maxsize=8)
def _tree(platform: Platform) -> _Tree:
    return _Tree(platform)


def _matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix `(3, 3)` of a quaternion, scalar first."""
    w, x, y, z = quaternion
    return np.array(bullet.getMatrixFromQuaternion((x, y, z, w))).reshape(3, 3)
