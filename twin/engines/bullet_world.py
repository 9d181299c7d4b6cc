"""One Bullet world: the leg tree and the free platform, closed by point-to-point constraints."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path

import numpy as np

from twin.arrays import FloatArray
from twin.engines.bullet_library import bullet, connect, disconnect, load, quiet
from twin.engines.gaps import largest_gap
from twin.engines.urdf import legs_urdf, platform_urdf
from twin.engines.urdf_elements import principal_frame
from twin.parameters.derived import leg_bodies
from twin.platform import REST, LegCoordinates, Platform

ITERATIONS = 50
"""Of the Dantzig solver; ten already give the same result."""

CORRECTION = 0.8
"""Part of a loop gap that Bullet removes in one step."""

UNBOUNDED = 1e10
"""Joint velocity [m/s, rad/s] and constraint force [N] that no machine reaches."""

BASE = -1
"""Bullet's number for the base link of a body."""


class World:
    """A physics client with one machine, stepped by `timestep` [s]."""

    def __init__(self, platform: Platform, timestep: float, *, engine_defaults: bool) -> None:
        """Load the machine; with `engine_defaults` solver, damping and limits stay Bullet's own."""
        self._platform = platform
        self._client = connect()
        self.close = weakref.finalize(self, disconnect, self._client)
        body = platform.parameters.platform.body
        axes = principal_frame(body.inertia_tensor)
        self._center = body.center_of_mass_vector
        self._from_inertial = _multiply_by_conjugate(_quaternion(axes))
        self._reference = -self._center @ axes
        self._sockets = (platform.platform_joints - self._center) @ axes
        bodies = leg_bodies(platform.parameters)
        self._lengths = slice(13, 13 + platform.n_actuators)
        self._tips = np.stack(
            [
                -center @ principal_frame(tensor)
                for center, tensor in zip(bodies.rod_center, bodies.rod_inertia, strict=True)
            ]
        )
        with quiet():
            self._build(timestep, engine_defaults=engine_defaults)
        # The first step fills in bookkeeping; after it, equal states have equal records.
        self.place(platform.home, REST, platform.leg_coordinates(platform.home, REST))
        bullet.stepSimulation(physicsClientId=self._client)

    def place(self, pose: FloatArray, twist: FloatArray, legs: LegCoordinates) -> None:
        """Put the machine at a pose `(7,)` with a twist `(6,)` and the legs that go with them."""
        client = {"physicsClientId": self._client}
        extensions = legs.lengths - self._platform.home_lengths
        places = np.column_stack([legs.angles, extensions]).ravel()
        rates = np.column_stack([legs.angle_rates, legs.length_rates]).ravel()
        for joint, (place, rate) in enumerate(zip(places.tolist(), rates.tolist(), strict=True)):
            bullet.resetJointState(self._legs, joint, place, rate, **client)
        # Bullet's own frame of a body is its inertial frame: centre of mass, principal axes.
        turn = self._from_inertial.T @ pose[3:]
        arm = _matrix(turn) @ -self._reference
        center, velocity = pose[:3] + arm, twist[:3] + np.cross(twist[3:], arm)
        bullet.resetBasePositionAndOrientation(self._body, center.tolist(), turn.tolist(), **client)
        bullet.resetBaseVelocity(self._body, velocity.tolist(), twist[3:].tolist(), **client)

    def advance(self, forces: list[float], load: list[float] | None) -> None:
        """Step once under actuator forces [N] and a wrench about the reference point, base axes."""
        client = self._client
        bullet.setJointMotorControlArray(
            self._legs,
            self._actuators,
            bullet.TORQUE_CONTROL,
            forces=forces,
            physicsClientId=client,
        )
        if load is not None:
            center, turn = bullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
            point = (np.array(center) + _matrix(turn) @ self._reference).tolist()
            options = {"flags": bullet.WORLD_FRAME, "physicsClientId": client}
            bullet.applyExternalForce(self._body, BASE, load[:3], point, **options)
            bullet.applyExternalTorque(self._body, BASE, load[3:], **options)
        bullet.stepSimulation(physicsClientId=client)

    def read(self, reading: FloatArray) -> float:
        """Read Bullet's bodies and joints.

        Args:
            reading: `(13 + 2 n,)` filled with pose, twist, lengths and rates.

        Returns:
            The largest distance [m] between a rod's tip and its joint on the platform.
        """
        client = self._client
        center, turn = bullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        velocity, spin = bullet.getBaseVelocity(self._body, physicsClientId=client)
        joints = bullet.getJointStates(self._legs, self._actuators, physicsClientId=client)
        reading[:] = (
            *(*center, *turn, *velocity, *spin),
            *[joint[0] for joint in joints],
            *[joint[1] for joint in joints],
        )
        # Only the centre-of-mass frames of links are exact; their own frames have 32 bits.
        rods = bullet.getLinkStates(
            self._legs, self._actuators, computeForwardKinematics=1, physicsClientId=client
        )
        frames = np.array([rod[0] + rod[1] for rod in rods])
        gap = largest_gap(reading, frames, self._sockets, self._tips)
        arm = _matrix(turn) @ self._reference
        (x, y, z), (a, b, c) = arm.tolist(), spin
        reading[:3] += arm
        reading[3:7] = self._from_inertial @ reading[3:7]
        reading[7:10] += (b * z - c * y, c * x - a * z, a * y - b * x)
        reading[self._lengths] += self._platform.home_lengths
        return float(gap)

    def save(self) -> bytes:
        """Return Bullet's own record of the world: only it holds every bit of the state."""
        with tempfile.TemporaryDirectory(prefix="twin_") as folder:
            path = Path(folder) / "world.bullet"
            bullet.saveBullet(str(path), physicsClientId=self._client)
            return path.read_bytes()

    def restore(self, saved: bytes) -> None:
        """Return to a record that `save` made of this machine."""
        with tempfile.TemporaryDirectory(prefix="twin_") as folder:
            path = Path(folder) / "world.bullet"
            path.write_bytes(saved)
            bullet.restoreState(fileName=str(path), physicsClientId=self._client)

    def _build(self, timestep: float, *, engine_defaults: bool) -> None:
        client = {"physicsClientId": self._client}
        bullet.setTimeStep(timestep, **client)
        bullet.setGravity(0.0, 0.0, -self._platform.parameters.gravity, **client)
        if not engine_defaults:
            bullet.setPhysicsEngineParameter(
                constraintSolverType=bullet.CONSTRAINT_SOLVER_LCP_DANTZIG,
                numSolverIterations=ITERATIONS,
                solverResidualThreshold=0.0,
                erp=CORRECTION,
                contactERP=CORRECTION,
                frictionERP=CORRECTION,
                numSubSteps=0,
                **client,
            )
        self._legs = load(legs_urdf(self._platform), self._client, fixed=True)
        self._body = load(platform_urdf(self._platform), self._client, fixed=False)
        joints = range(bullet.getNumJoints(self._legs, **client))
        self._actuators = list(joints[2::3])
        if not engine_defaults:
            for body, link in [(self._body, BASE), *((self._legs, k) for k in [BASE, *joints])]:
                bullet.changeDynamics(
                    body,
                    link,
                    linearDamping=0.0,
                    angularDamping=0.0,
                    jointDamping=0.0,
                    maxJointVelocity=UNBOUNDED,
                    activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
                    **client,
                )
        idle = [0.0] * len(joints)
        bullet.setJointMotorControlArray(
            self._legs, joints, bullet.VELOCITY_CONTROL, forces=idle, **client
        )
        self._close_loops(engine_defaults=engine_defaults)

    def _close_loops(self, *, engine_defaults: bool) -> None:
        client = {"physicsClientId": self._client}
        for rod, socket, tip in zip(self._actuators, self._sockets, self._tips, strict=True):
            ends = (self._body, BASE, self._legs, rod)
            pivots = ((0.0, 0.0, 0.0), socket.tolist(), tip.tolist())
            loop = bullet.createConstraint(*ends, bullet.JOINT_POINT2POINT, *pivots, **client)
            if not engine_defaults:
                # Bullet turns the force into an impulse here, with the time step of this moment.
                bullet.changeConstraint(loop, maxForce=UNBOUNDED, **client)


def _matrix(turn: FloatArray | tuple[float, ...]) -> FloatArray:
    """Return the rotation matrix `(3, 3)` of a quaternion in Bullet's order (scalar last)."""
    return np.array(bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)


def _quaternion(matrix: FloatArray) -> FloatArray:
    """Return the quaternion (scalar first) of a rotation of less than 120 degrees."""
    w = 0.5 * np.sqrt(1.0 + np.trace(matrix))
    skew = (matrix - matrix.T) / (4.0 * w)
    return np.array([w, skew[2, 1], skew[0, 2], skew[1, 0]])


def _multiply_by_conjugate(quaternion: FloatArray) -> FloatArray:
    """Return the matrix that takes q (scalar last) to q times the conjugate (scalar first)."""
    w, x, y, z = quaternion
    return np.array([[x, y, z, w], [w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z]])
