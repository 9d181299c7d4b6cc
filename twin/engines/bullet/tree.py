"""PyBullet's open tree of a machine: its own inverse dynamics and Jacobians, no constraints.

Bullet offers these on fixed-base trees of one-dof joints only, which is why `robot_urdf` hangs
a free platform on three slides and three hinges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.bullet.world import Client, bullet, load
from twin.engines.mechanism import JointForces, JointMotion, Mechanism, make_mechanism
from twin.engines.projection import OpenTree
from twin.engines.urdf import CARRIER_JOINTS, robot_urdf
from twin.errors import SingularPoseError
from twin.machine.mechanism import PLATFORM_NAME, Mass
from twin.model.machine_model import MachineModel

LARGEST_MOMENT = 0.1
"""[kg m2] Engineering choice: largest moment of a body in Bullet's tree, in its unit of mass."""

SMALLEST_COSINE = 1e-6
"""Smallest cosine of the second hinge's angle; below it the first and the third hinge turn about
the same axis."""


def open_tree(
    platform: MachineModel,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    joints: JointMotion,
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    `joints` is the motion of all joints that goes with it.

    Raises:
        InputError: Bullet refuses the machine.
        SingularPoseError: a free platform has turned by 90 deg about the y axis from home, where
            the tree's hinges are singular.
    """
    tree = _tree(platform)
    if not tree.machine.floats:
        return OpenTree(tree.torques(*joints), tree.closure(joints.values))
    platform_motion = _platform_motion(platform, pose, twist, acceleration)
    tree_motion = [np.concatenate(pair) for pair in zip(platform_motion[:3], joints, strict=True)]
    torques, closure = tree.torques(*tree_motion), tree.closure(tree_motion[0])
    from_twist = np.linalg.inv(platform_motion.to_twist)
    torques[:6] = from_twist.T @ torques[:6]
    closure[:, :6] = closure[:, :6] @ from_twist
    return OpenTree(torques, closure)


class _PlatformMotion(NamedTuple):
    """Coordinates `(6,)` of the joints that carry the platform, and two time derivatives."""

    places: FloatArray
    rates: FloatArray
    seconds: FloatArray
    to_twist: FloatArray
    """`(6, 6)`: twist = to_twist @ rates"""


def _platform_motion(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> _PlatformMotion:
    home = platform.parameters.home_rotation
    # home to platform = Rx(a) Ry(b) Rz(c): angles about moving axes
    relative_rotation = home.T @ _matrix(pose[3:])
    a, b = (
        np.arctan2(-relative_rotation[1, 2], relative_rotation[2, 2]),
        np.arctan2(relative_rotation[0, 2], np.hypot(*relative_rotation[0, :2])),
    )
    c = np.arctan2(-relative_rotation[0, 1], relative_rotation[0, 0])
    if np.cos(b) < SMALLEST_COSINE:
        raise SingularPoseError(
            "the platform has turned by 90 deg about the y axis from home, where the hinges of "
            "Bullet's tree are singular; choose another pose",
            {"pose": pose.copy()},
        )
    first_axis = np.array([1.0, 0.0, 0.0])
    second_axis = np.array([0.0, np.cos(a), np.sin(a)])
    third_axis = np.array([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)])
    axes = home @ np.column_stack([first_axis, second_axis, third_axis])
    angle_rates = np.linalg.solve(axes, twist[3:])
    first_spin = first_axis * angle_rates[0]
    axis_rates = (
        np.cross(first_spin, second_axis),
        np.cross(first_spin + second_axis * angle_rates[1], third_axis),
    )
    bias_acceleration = home @ (axis_rates[0] * angle_rates[1] + axis_rates[1] * angle_rates[2])
    to_twist = np.eye(6)
    to_twist[3:, 3:] = axes
    return _PlatformMotion(
        np.array([*pose[:3] - platform.home[:3], a, b, c]),
        np.concatenate([twist[:3], angle_rates]),
        np.concatenate(
            [acceleration[:3], np.linalg.solve(axes, acceleration[3:] - bias_acceleration)]
        ),
        to_twist,
    )


def mass_unit(machine: Mechanism) -> float:
    """Return a power of two [kg] in which no moment of a body is above `LARGEST_MOMENT`.

    Bullet refuses a tensor whose opposite entries differ by more than 1e-15 kg m2, which is
    rounding from some 4 kg m2 on. Forces are proportional to masses, and powers of two are exact.
    """
    moments = [
        float(np.abs(body.mass.tensor).max()) + body.mass.mass * machine.reach**2
        for body in machine.bodies
    ]
    return float(2.0 ** np.ceil(np.log2(max(moments) / LARGEST_MOMENT)))


def in_mass_unit(machine: Mechanism, unit: float) -> Mechanism:
    """Return a machine with masses and moments in a unit [kg]."""
    bodies = tuple(
        body._replace(mass=Mass(body.mass.mass / unit, body.mass.center, body.mass.tensor / unit))
        for body in machine.bodies
    )
    return replace(machine, bodies=bodies)


class _Tree:
    """The tree in a physics client; vectors are those of the platform's joints, then all others."""

    def __init__(self, platform: MachineModel) -> None:
        self.machine = make_mechanism(platform.parameters)
        self._client = Client()
        self._client.setGravity(0.0, 0.0, -self.machine.gravity)
        self._unit = mass_unit(self.machine)
        scaled = in_mass_unit(self.machine, self._unit)
        self._body = load(robot_urdf(platform, scaled), self._client, fixed=True)
        n_joints = self._client.getNumJoints(self._body)
        joints = [self._client.getJointInfo(self._body, i) for i in range(n_joints)]
        self._links = {joint[12].decode(): i for i, joint in enumerate(joints)}
        names = [joint[1].decode() for joint in joints if joint[2] != bullet.JOINT_FIXED]
        carrier_joints = CARRIER_JOINTS if self.machine.floats else ()
        ordered_names = [f"{PLATFORM_NAME}_{freedom}" for freedom in carrier_joints] + [
            *self.machine.joint_names
        ]
        self._from_bullet = [names.index(name) for name in ordered_names]
        self._to_bullet = np.argsort(self._from_bullet)
        self._own = JointForces(self.machine)
        self._own_places = len(carrier_joints) + self._own.joints

    def torques(self, *motion: FloatArray) -> FloatArray:
        """Return the joints' forces for values, rates and accelerations, gravity included.

        Springs, dampers, friction and extra weights are no part of Bullet's tree.
        """
        sorted_motion = [values[self._to_bullet].tolist() for values in motion]
        torque_values = self._client.calculateInverseDynamics(self._body, *sorted_motion)
        torques = self._unit * np.array(torque_values)[self._from_bullet]
        own_indices = self._own_places
        torques[own_indices] -= self._own(motion[0][own_indices], motion[1][own_indices])
        for body in self.machine.bodies:
            if body.extra_weight:
                lift = self._jacobian(body.name, motion[0])[2]
                torques += self.machine.gravity * body.extra_weight * lift
        return torques

    def closure(self, values: FloatArray) -> FloatArray:
        """Return `(3 loops, joints)` velocities of first against second points, base axes."""
        openings = [
            self._jacobian(first_point.name, values) - self._jacobian(second_point.name, values)
            for first_point, second_point in self.machine.loop_points()
        ]
        return np.concatenate(openings)

    def _jacobian(self, link: str, values: FloatArray) -> FloatArray:
        """Return `(3, joints)` velocities of a link's origin per joint rates, base axes."""
        sorted_values = values[self._to_bullet].tolist()
        zero_rates = [0.0] * len(sorted_values)
        linear, _ = self._client.calculateJacobian(
            self._body, self._links[link], (0.0, 0.0, 0.0), sorted_values, zero_rates, zero_rates
        )
        return np.array(linear)[:, self._from_bullet]


@lru_cache(maxsize=8)
def _tree(platform: MachineModel) -> _Tree:
    return _Tree(platform)


def _matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix `(3, 3)` of a quaternion, scalar first."""
    w, x, y, z = quaternion
    return np.array(bullet.getMatrixFromQuaternion((x, y, z, w))).reshape(3, 3)
