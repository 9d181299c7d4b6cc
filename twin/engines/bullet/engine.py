"""PyBullet behind the engine protocol; loops closed by point-to-point constraints.

Fidelities: `fast` takes one Bullet step per time step (first order in the time step), `accurate`
runs three copies with steps of 1, 1/2 and 1/4 of the time step, each from its own state under the
same held forces, and extrapolates their trajectories to third order. The copies see forces that
were computed from the extrapolated state, not from their own; so that they cannot run away from it,
all start again from it now and then (`join_time`).

PyBullet's open tree of a machine has its own inverse dynamics and Jacobians, and no constraints.
Bullet offers these on fixed-base trees of one-dof joints only, which is why `robot_urdf` hangs
a free platform on three slides and three hinges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from importlib.metadata import version
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag
from twin.engines.base import LARGEST_GAP, BaseEngine, check_timestep
from twin.engines.bullet.world import Client, World, bullet, load, matrix
from twin.engines.mechanism import (
    JointForces,
    JointMotion,
    Mechanism,
    as_segments,
    check_masses,
    joint_motion,
    make_mechanism,
    plain,
)
from twin.engines.projection import OpenTree
from twin.engines.urdf import CARRIER_JOINTS, legs_urdf, platform_urdf, robot_urdf
from twin.errors import SingularPoseError
from twin.machine.mechanism import PLATFORM_NAME, Mass
from twin.model.ball import Ball, place_on_plate
from twin.model.engine import Fidelity, State
from twin.model.machine_base import LegCoordinates, constrained
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
    tree_motion = [
        np.concatenate(motion_parts)
        for motion_parts in zip(platform_motion[:3], joints, strict=True)
    ]
    torques, closure = tree.torques(*tree_motion), tree.closure(tree_motion[0])
    from_twist = np.linalg.inv(platform_motion.to_twist)
    torques[:6] = from_twist.T @ torques[:6]
    closure[:, :6] = closure[:, :6] @ from_twist
    return OpenTree(torques, closure)


class _PlatformMotion(NamedTuple):
    """Values, rates and accelerations `(6,)` of the joints that carry the platform."""

    values: FloatArray
    rates: FloatArray
    accelerations: FloatArray
    to_twist: FloatArray
    """`(6, 6)`: twist = to_twist @ rates"""


def _platform_motion(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> _PlatformMotion:
    home = platform.parameters.home_rotation
    # The platform's attitude in axes of home is Rx(a) Ry(b) Rz(c): angles about moving axes.
    relative_rotation = home.T @ matrix((*pose[4:], pose[3]))
    a = np.arctan2(-relative_rotation[1, 2], relative_rotation[2, 2])
    b = np.arctan2(relative_rotation[0, 2], np.hypot(*relative_rotation[0, :2]))
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
        self._joint_forces = JointForces(self.machine)
        self._own_indices = len(carrier_joints) + self._joint_forces.joints

    def torques(self, *motion: FloatArray) -> FloatArray:
        """Return the joints' forces for values, rates and accelerations, gravity included.

        Springs, dampers, friction and extra weights are no part of Bullet's tree.
        """
        sorted_motion = [values[self._to_bullet].tolist() for values in motion]
        torque_values = self._client.calculateInverseDynamics(self._body, *sorted_motion)
        torques = self._unit * np.array(torque_values)[self._from_bullet]
        own_indices = self._own_indices
        torques[own_indices] -= self._joint_forces(motion[0][own_indices], motion[1][own_indices])
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


RICHARDSON_WEIGHTS: dict[Fidelity, tuple[float, ...]] = {
    "fast": (1.0,),
    "accurate": (1.0 / 3.0, -2.0, 8.0 / 3.0),
}
"""Weights of the copies that take 1, 2 and 4 steps: (4 X2 - X1) / 3 with
X = 2 x(half step) - x(step), which removes the errors of first and second order in the time step
(Richardson extrapolation)."""

EARTH_GRAVITY = 9.81
"""[m/s2] Gravity that the default time step of every machine is derived from."""


def join_time(platform: MachineModel) -> float:
    """Return the time [s] after which copies start again from the extrapolated state.

    It is twice the time to fall over the mean distance between a leg's joints: errors of copies
    that run away have grown by less than a hundred times then, and a restart, whose own error is of
    third order, is rare.
    """
    return 2.0 * sqrt(float(platform.home_reaches.mean()) / EARTH_GRAVITY)


class BulletEngine(BaseEngine):
    """One machine in PyBullet."""

    name = "bullet"

    def __init__(
        self,
        platform: MachineModel,
        timestep: float = 1e-3,
        fidelity: Fidelity = "accurate",
        *,
        engine_defaults: bool = False,
        payload: Any = None,
        ball: Any = None,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Load the machine; call `reset` before `step`.

        Args:
            platform: the machine.
            timestep: step [s].
            fidelity: "accurate" or "fast".
            engine_defaults: keep Bullet's own solver, iterations, damping and limits, to see what
                they cost.
            payload: on the platform: an `Occupant`, or segments.
            ball: that rolls on the platform: a `Ball`, or True for one in proportion to the
                machine.
            largest_gap: loop gap [m] that stops the engine.

        Raises:
            InputError: an argument that cannot be used, a time step too long for the machine, or a
                machine Bullet refuses.
        """
        super().__init__(platform, timestep, fidelity, largest_gap, ball)
        check_timestep(platform, self.timestep, self.name, "explicit")
        segments = as_segments(payload, platform.parameters.gravity)
        options = {
            "engine_defaults": as_flag(engine_defaults, "engine_defaults"),
            "payload": plain(segments) or None,
        }
        self._identify(f"PyBullet {version('pybullet')}", options)
        self._machine = make_mechanism(platform.parameters, segments, self._ball)
        check_masses(self._machine, platform.parameters, self.name)
        sizes = [7, 6, platform.n_actuators, platform.n_actuators]
        sizes += [2 * platform.n_deflections, 2 * len(self._machine.carried)]
        ends = np.cumsum(sizes).tolist()
        self._parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._weights = np.array(RICHARDSON_WEIGHTS[fidelity])
        self._join_steps = max(1, round(join_time(platform) / self.timestep))
        self._readings = np.empty((len(self._weights), sum(sizes)))
        self._reading = np.empty(sum(sizes))
        texts = legs_urdf(self._machine), platform_urdf(self._machine)
        self._make = partial(World, self._machine, texts, engine_defaults=engine_defaults)
        self._worlds: list[World] = []
        self._open()

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        self._open()
        for world in self._worlds:
            world.place(pose, twist, joint_motion(self._machine, legs))
        self._combine(pose[3:])

    def _apply_field(self) -> None:
        for world in self._worlds:
            world.set_field(self._field)

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Step all copies; Bullet applies the wrench before each of its own steps."""
        if len(self._worlds) > 1 and self._steps and self._steps % self._join_steps == 0:
            self._join()
        wrench_values = wrench.tolist()
        for halvings, world in enumerate(self._worlds):
            for _ in range(2**halvings):
                world.advance(forces, wrench_values if any(wrench_values) else None)
        self._combine(self._reading[3:7])
        return max(self._gaps), ""

    def _read(self) -> State:
        """Return the state; lengths and rates are those of the actuated joints."""
        reading = self._reading.copy()
        pose, twist, lengths, rates, deflection, _ = (reading[part] for part in self._parts)
        lengths = self.platform.home_coordinates + lengths
        return State(self._steps * self.timestep, pose, twist, lengths, rates, deflection)

    def _gap(self) -> float:
        """Return the gap in the copy of smallest step."""
        return self._gaps[-1]

    def _content(self) -> bytes:
        """Return the records of all copies, with the quaternion, whose sign Bullet may change."""
        worlds = [world.save() for world in self._worlds]
        sizes = np.array([len(world) for world in worlds])
        return b"".join([self._reading[3:7].tobytes(), sizes.tobytes(), *worlds])

    def _load(self, content: bytes) -> None:
        self._open()
        quaternion = np.frombuffer(content, np.float64, 4)
        sizes = np.frombuffer(content, np.int64, len(self._worlds), quaternion.nbytes)
        offset = quaternion.nbytes + sizes.nbytes
        for world, size in zip(self._worlds, sizes.tolist(), strict=True):
            world.restore(content[offset : offset + size])
            offset += size
        self._apply_field()  # new worlds and Bullet's records know of gravity alone
        self._combine(quaternion)

    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        ball_motion = place_on_plate(ball, pose, twist, start)
        for world in self._worlds:
            world.place_ball(ball_motion)

    def _read_ball(self, ball: Ball) -> FloatArray:
        """Return the ball's extrapolated motion; all quaternions take the sign of the first."""
        ball_motions = np.stack([world.read_ball() for world in self._worlds])
        ball_motions[ball_motions[:, 3:7] @ ball_motions[0, 3:7] < 0.0, 3:7] *= -1.0
        extrapolated: FloatArray = self._weights @ ball_motions
        extrapolated[3:7] /= sqrt(extrapolated[3:7].dot(extrapolated[3:7]))
        return extrapolated

    def _join(self) -> None:
        """Put all copies at the extrapolated state, loops closed."""
        parts = (self._reading[part] for part in self._parts)
        pose, twist, _, _, deflection, carried_coordinates = parts
        legs = self.platform.leg_coordinates(pose, twist, deflection=deflection)
        ball_motion = None if self._ball is None else self._read_ball(self._ball)
        for world in self._worlds:
            world.place(pose, twist, joint_motion(self._machine, legs, carried_coordinates))
            if ball_motion is not None:
                world.place_ball(ball_motion)

    def _combine(self, quaternion: FloatArray) -> None:
        """Extrapolate the copies' states, all quaternions with the sign of the one given."""
        self._gaps = [
            world.read(reading) for world, reading in zip(self._worlds, self._readings, strict=True)
        ]
        for reading in self._readings:
            if reading[3:7].dot(quaternion) < 0.0:
                reading[3:7] *= -1.0
        self._reading = self._weights @ self._readings
        mean_quaternion = self._reading[3:7]
        mean_quaternion /= sqrt(mean_quaternion.dot(mean_quaternion))
        if self.platform.dof < 6 and np.isfinite(self._reading).all():
            # Sums of poses that meet the platform's constraints meet them to the order of the sum.
            # A state that no pose is near stays as it is: the guard stops on its loops.
            legs, pose, twist = self.platform.constants.legs, self._reading[:7], self._reading[7:13]
            poses, twists, _ = constrained(legs, pose[None], twist[None], np.zeros((1, 6)))
            self._reading[:7], self._reading[7:13] = poses[0], twists[0]

    def _open(self) -> None:
        if not self._worlds:
            halvings = range(len(self._weights))
            self._worlds = [self._make(timestep=self.timestep / 2**k) for k in halvings]

    def _free(self) -> None:
        """Close the copies, because Bullet's memory would keep their failed states."""
        for world in self._worlds:
            world.close()
        self._worlds = []
