"""One Bullet world: the multibodies of a machine, closed by point-to-point constraints."""

from __future__ import annotations

import ctypes
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.basics.canonical import principal_axes
from twin.basics.files import remove_leftovers, temporary_place
from twin.basics.optional import optional
from twin.engines.mechanism import JointForces, JointMotion, Mechanism
from twin.errors import InputError
from twin.kernels.ball import rolling_resistance
from twin.kernels.kinematics import largest_gap
from twin.machine.mechanism import PLATFORM_NAME, Body, Point
from twin.model.ball import Ball
from twin.model.machine_base import ZERO_VECTOR

SHARED_MEMORY_FOLDER = "/dev/shm"

TEMPORARY_FILE_PREFIX = "platform_twin_bullet_"
"""Beginning of the names of temporary files."""

_STREAMS_LOCK = RLock()
"""Held while standard output and error lead to the null device: two threads would mix them up."""

BASE_LINK = -1
"""Bullet's number for the base link of a multibody."""

FAR_AWAY_POSITION = (0.0, 0.0, 1e3)
"""[m] Place where a body touches nothing, so that Bullet forgets its contacts."""

SOLVER_ITERATIONS = 50
"""Iterations of the Dantzig solver; ten already give the same result."""

ERROR_REDUCTION = 0.8
"""Fraction of a loop gap that Bullet removes in one step."""

UNREACHABLE_LIMIT = 1e100
"""Joint velocity [m/s, rad/s] and constraint force [N] that no machine reaches."""


@contextmanager
def quiet() -> Iterator[None]:
    """Send what the process prints to the null device: PyBullet prints on import and set-up.

    Threads wait for each other here. What another thread prints meanwhile is lost.
    """
    with _STREAMS_LOCK:
        c_library = ctypes.CDLL(None if os.name == "posix" else "msvcrt")
        c_library.fflush(None)
        null = os.open(os.devnull, os.O_WRONLY)
        saved_streams = {stream: _duplicate(stream) for stream in (1, 2)}
        try:
            for stream in saved_streams:
                os.dup2(null, stream)
            yield
        finally:
            c_library.fflush(None)
            for stream, copy in saved_streams.items():
                if copy is None:
                    os.close(stream)
                else:
                    os.dup2(copy, stream)
                    os.close(copy)
            os.close(null)


def _duplicate(stream: int) -> int | None:
    try:
        return os.dup(stream)
    except OSError:  # a program without a terminal may have closed it
        return None


with quiet():
    bullet: Any = optional("pybullet")


@contextmanager
def temporary_file(ending: str, content: bytes = b"") -> Iterator[Path]:
    """Lend a file, in memory where there is a place for it: Bullet takes nothing but files."""
    with temporary_place(_folder(), TEMPORARY_FILE_PREFIX, ending) as path:
        path.write_bytes(content)
        yield path


@lru_cache(maxsize=1)
def _folder() -> str:
    """Return the folder of temporary files, once freed of those of killed processes."""
    folder = (
        SHARED_MEMORY_FOLDER if os.access(SHARED_MEMORY_FOLDER, os.W_OK) else tempfile.gettempdir()
    )
    remove_leftovers(folder, TEMPORARY_FILE_PREFIX)
    return folder


class Client:
    """PyBullet's functions in a physics client of their own, without a window.

    Attributes:
        number: of the client, which PyBullet takes as `physicsClientId`.
        close: frees the client; one that is already gone is left alone.
    """

    def __init__(self) -> None:
        """Open a client.

        Raises:
            InputError: too many engines are open in this process.
        """
        self.number = int(bullet.connect(bullet.DIRECT))
        if self.number < 0:
            raise InputError(
                "engine", "Bullet has no client left; close engines that are not needed"
            )
        self.close = weakref.finalize(self, _disconnect, self.number)

    def __getattr__(self, name: str) -> Any:
        """Return a function of PyBullet for this client, and keep it as an attribute."""
        function = partial(getattr(bullet, name), physicsClientId=self.number)
        setattr(self, name, function)
        return function


def _disconnect(client: int) -> None:
    if bullet.isConnected(client):
        bullet.disconnect(physicsClientId=client)


def load(text: str, client: Client, *, fixed: bool) -> int:
    """Return the body of a URDF text in a physics client, its base `fixed` or free.

    Raises:
        InputError: Bullet refuses the machine.
    """
    # Bullet keeps files by name, so that a name used twice would bring back the first machine.
    client.setPhysicsEngineParameter(enableFileCaching=0)
    flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_IGNORE_VISUAL_SHAPES
    # Otherwise a cylinder becomes a prism, a millimetre larger on all sides.
    flags |= bullet.URDF_USE_IMPLICIT_CYLINDER
    with temporary_file(".urdf", text.encode()) as path:
        try:
            body = client.loadURDF(str(path), useFixedBase=fixed, flags=flags)
        except bullet.error as error:
            raise InputError("platform", f"Bullet refuses the machine: {error}") from None
    return int(body)


class InertialFrame(NamedTuple):
    """Bullet's inertial frame of a body, relative to the body's own frame."""

    center: FloatArray
    """`(3,)` [m] in the body's frame"""
    axes: FloatArray
    """`(3, 3)` inertial to body"""

    def locate(self, point: Point) -> FloatArray:
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
        inertial_quaternion = self._from_inertial.T @ pose[3:]
        reference_offset = matrix(inertial_quaternion) @ -self._reference
        return (
            pose[:3] + reference_offset,
            inertial_quaternion,
            twist[:3] + np.cross(twist[3:], reference_offset),
        )

    def reference(self, center: tuple[float, ...], quaternion: tuple[float, ...]) -> FloatArray:
        """Return the position `(3,)` [m] of the reference point in the base."""
        return np.asarray(center + matrix(quaternion) @ self._reference)

    def normal(self, quaternion: tuple[float, ...]) -> FloatArray:
        """Return the platform's z axis `(3,)` in the base for the inertial frame's quaternion."""
        return np.asarray(matrix(quaternion) @ self._upward)

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


def matrix(quaternion: FloatArray | tuple[float, ...]) -> FloatArray:
    """Return the rotation matrix `(3, 3)` of a quaternion in Bullet's order (scalar last)."""
    return np.array(bullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)


def _quaternion(rotation: FloatArray) -> FloatArray:
    """Return the quaternion (scalar first) of a rotation of less than 120 degrees."""
    w = 0.5 * np.sqrt(1.0 + np.trace(rotation))
    skew = (rotation - rotation.T) / (4.0 * w)
    return np.array([w, skew[2, 1], skew[0, 2], skew[1, 0]])


def _multiply_by_conjugate(quaternion: FloatArray) -> FloatArray:
    """Return the matrix that takes q (scalar last) to q times the conjugate (scalar first)."""
    w, x, y, z = quaternion
    return np.array([[x, y, z, w], [w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z]])


class Link(NamedTuple):
    """One link of a multibody; as a joint, the one that moves this link."""

    multibody: int
    number: int


class Bodies:
    """Places of bodies and joints in a physics client.

    Attributes:
        links: links by the names of their bodies.
        joints: links by the names of the joints that move them.
    """

    def __init__(self, machine: Mechanism, urdfs: tuple[str, str], client: Client) -> None:
        """Load the machine's multibodies from the URDF of its legs and of its platform.

        Raises:
            InputError: Bullet refuses the machine.
        """
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Link] = {}
        self._client = client
        legs_urdf, platform_urdf = urdfs
        self._collect(load(legs_urdf, client, fixed=True))
        # A platform that is no free body is carried by joints on a fixed base of its own tree.
        platform_body = load(platform_urdf, client, fixed=not machine.floats)
        self._collect(platform_body)
        if machine.floats:
            self.links[PLATFORM_NAME] = Link(platform_body, BASE_LINK)

    def all(self) -> list[Link]:
        """Return all links, bases included."""
        multibodies = {link.multibody for link in self.links.values()}
        return [Link(body, BASE_LINK) for body in sorted(multibodies)] + [
            link for link in self.links.values() if link.number != BASE_LINK
        ]

    def _collect(self, multibody: int) -> None:
        for k in range(self._client.getNumJoints(multibody)):
            info = self._client.getJointInfo(multibody, k)
            self.links[info[12].decode()] = Link(multibody, k)
            if info[2] != bullet.JOINT_FIXED:
                self.joints[info[1].decode()] = Link(multibody, k)


def reader_of(machine: Mechanism) -> FloatArray:
    """Return the matrix from values and rates of all joints to the joints' part of a reading."""
    identity = np.eye(len(machine.joint_names))
    deflection = identity[machine.indices(machine.deflection)]
    carried_rows = identity[machine.indices(machine.carried)]
    gains = machine.measured_gains[:, :, None]
    parts = ((gains * identity[machine.measured]).sum(axis=0), deflection, carried_rows)
    return np.concatenate([np.kron(np.eye(2), part) for part in parts])


def by_multibody(links: list[Link], indices: list[int]) -> list[tuple[int, list[int], IndexArray]]:
    """Return for each multibody its link numbers, and their indices in the mechanism."""
    groups = []
    for multibody in sorted({link.multibody for link in links}):
        multibody_links = [
            (link.number, k)
            for link, k in zip(links, indices, strict=True)
            if link.multibody == multibody
        ]
        link_numbers, mechanism_indices = zip(*multibody_links, strict=True)
        groups.append((multibody, list(link_numbers), np.array(mechanism_indices, dtype=np.int64)))
    return groups


class BulletBall:
    """The ball of one physics client.

    Rolling resistance is applied as a moment, held over each step: Bullet's direct solver leaves
    its own rolling friction out.
    """

    def __init__(self, ball: Ball, platform: tuple[int, int], client: Client) -> None:
        """Add the ball to a client.

        Args:
            ball: its numbers.
            platform: multibody and link that carry the plate.
            client: with the platform.
        """
        self._client, self._platform = client, platform
        self._constants, self._rolls = ball.constants, ball.rolling_resistance > 0.0
        self._moment = np.empty(3)
        collision_shape = self._client.createCollisionShape(bullet.GEOM_SPHERE, radius=ball.radius)
        self._body = self._client.createMultiBody(ball.mass, collision_shape)
        self._client.changeDynamics(
            self._body,
            -1,
            localInertiaDiagonal=[ball.inertia] * 3,
            linearDamping=0.0,
            angularDamping=0.0,
            maxJointVelocity=1e100,
            activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            restitution=0.0,
            lateralFriction=1.0,
            rollingFriction=0.0,
            spinningFriction=0.0,
        )
        self._client.changeDynamics(
            *platform,
            restitution=0.0,
            lateralFriction=ball.friction,
            rollingFriction=0.0,
            spinningFriction=0.0,
        )

    def place(self, motion: FloatArray) -> None:
        """Put the ball at a pose with a twist `(13,)`; earlier contacts are forgotten."""
        w, x, y, z = motion[3:7].tolist()
        for position in (FAR_AWAY_POSITION, motion[:3].tolist()):
            self._client.resetBasePositionAndOrientation(self._body, position, (x, y, z, w))
            if position is FAR_AWAY_POSITION:
                self._client.performCollisionDetection()
        self._client.resetBaseVelocity(self._body, motion[7:10].tolist(), motion[10:].tolist())

    def resist(self, normal: FloatArray, spin: Sequence[float], gravity: float) -> None:
        """Apply rolling resistance to ball and platform over the next step, if they touch.

        Args:
            normal: of the plate, base axes.
            spin: angular velocity of the platform [rad/s], base axes.
            gravity: [m/s2] along -z of the base.
        """
        if not self._rolls or not self._client.getContactPoints(bodyA=self._body):
            return
        angular_velocity = np.array(self._client.getBaseVelocity(self._body)[1])
        angular_velocity -= np.asarray(spin)
        gravity_vector = np.array([0.0, 0.0, -gravity])
        rolling_resistance(self._constants, gravity_vector, normal, angular_velocity, self._moment)
        self._client.applyExternalTorque(
            self._body, -1, self._moment.tolist(), flags=bullet.WORLD_FRAME
        )
        self._client.applyExternalTorque(
            *self._platform, (-self._moment).tolist(), flags=bullet.WORLD_FRAME
        )

    def read(self) -> FloatArray:
        """Return pose and twist `(13,)`."""
        position, (x, y, z, w) = self._client.getBasePositionAndOrientation(self._body)
        velocity, angular_velocity = self._client.getBaseVelocity(self._body)
        return np.array([*position, w, x, y, z, *velocity, *angular_velocity])


class World:
    """A physics client with one machine, stepped by `timestep` [s]."""

    def __init__(
        self,
        machine: Mechanism,
        urdfs: tuple[str, str],
        timestep: float,
        *,
        engine_defaults: bool,
    ) -> None:
        """Load the machine; with `engine_defaults` solver, damping and limits stay Bullet's own.

        Args:
            machine: what moves.
            urdfs: its legs and its platform as URDF.
            timestep: step [s].
            engine_defaults: change no settings.
        """
        self._machine = machine
        self.client = Client()
        self.close = self.client.close
        with quiet():
            self._set_up(timestep, engine_defaults=engine_defaults)
            self._bodies = Bodies(machine, urdfs, self.client)
            self._free_links(engine_defaults=engine_defaults)
            self._close_loops(engine_defaults=engine_defaults)
            self._add_ball()
        self._frame = PlatformFrame(machine.body(PLATFORM_NAME))
        self._platform = self._bodies.links[PLATFORM_NAME]
        self._joint_forces = JointForces(machine)
        driven_joints = np.flatnonzero(machine.force_map.any(axis=0))
        self._driven_groups = self._groups(
            {*driven_joints.tolist(), *self._joint_forces.joints.tolist()}
        )
        self._sprung_groups = self._groups(self._joint_forces.joints.tolist())
        self._reader = reader_of(machine)
        self._states = np.zeros((2, len(machine.joint_names)))
        self._values, self._rates = self._states
        is_read = self._reader.any(axis=0).reshape(self._states.shape).any(axis=0)
        self._read_joints = self._groups(np.flatnonzero(is_read).tolist())
        self._extra_weights = [
            (self._bodies.links[body.name], body.extra_weight)
            for body in machine.bodies
            if body.extra_weight
        ]
        self._collect_loops()
        # The first step fills in bookkeeping; after it, equal states have equal records.
        rest = JointMotion(*np.zeros((3, len(machine.joint_names))))
        self.place(machine.home, ZERO_VECTOR, rest)
        self.client.stepSimulation()

    def place(self, pose: FloatArray, twist: FloatArray, joints: JointMotion) -> None:
        """Put the machine at a pose `(7,)` with a twist `(6,)` and the joints that go with them."""
        names = self._machine.joint_names
        for name, value, rate in zip(names, *map(np.ndarray.tolist, joints[:2]), strict=True):
            self.client.resetJointState(*self._bodies.joints[name], value, rate)
        if self._machine.floats:
            center, inertial_quaternion, velocity = self._frame.to_inertial(pose, twist)
            body = self._platform.multibody
            self.client.resetBasePositionAndOrientation(
                body, center.tolist(), inertial_quaternion.tolist()
            )
            self.client.resetBaseVelocity(body, velocity.tolist(), twist[3:].tolist())

    def set_field(self, field: FloatArray) -> None:
        """Set the acceleration field `(3,)` [m/s2] of every body, in place of gravity."""
        self._field: list[float] = field.tolist()
        self.client.setGravity(*self._field)

    def place_ball(self, motion: FloatArray) -> None:
        """Put the ball of a machine that has one at a pose with a twist `(13,)`."""
        self._balls[0].place(motion)

    def read_ball(self) -> FloatArray:
        """Return pose and twist `(13,)` of the ball of a machine that has one."""
        return self._balls[0].read()

    def advance(self, forces: FloatArray, wrench: list[float] | None) -> None:
        """Step once under actuator forces `(n,)` and a wrench about the reference point."""
        joint_forces = forces @ self._machine.force_map
        if len(self._joint_forces.joints):
            self._sense(self._sprung_groups)
            joints = self._joint_forces.joints
            joint_forces[joints] += self._joint_forces(self._values[joints], self._rates[joints])
        for multibody, link_numbers, value_indices in self._driven_groups:
            link_forces = joint_forces[value_indices].tolist()
            self.client.setJointMotorControlArray(
                multibody, link_numbers, bullet.TORQUE_CONTROL, forces=link_forces
            )
        for link, mass in self._extra_weights:
            center = self.client.getLinkState(*link, computeForwardKinematics=1)[0]
            self._apply_force(
                link, [mass * field_component for field_component in self._field], center
            )
        for ball in self._balls:
            _, orientation, _, angular_velocity = self._platform_state()
            ball.resist(self._frame.normal(orientation), angular_velocity, self._machine.gravity)
        if wrench is not None:
            center, orientation = self._platform_state()[:2]
            self._apply_force(
                self._platform, wrench[:3], self._frame.reference(center, orientation).tolist()
            )
            self.client.applyExternalTorque(*self._platform, wrench[3:], flags=bullet.WORLD_FRAME)
        self.client.stepSimulation()

    def read(self, reading: FloatArray) -> float:
        """Read Bullet's bodies and joints.

        Args:
            reading: filled with pose, twist, `(n,)` actuator coordinates from home on, `(n,)`
                their rates, `(2k,)` internal coordinates and their rates, `(2c,)` coordinates and
                rates of joints that the platform carries.

        Returns:
            The largest distance [m] between the two points of a loop.
        """
        self._sense(self._read_joints)
        center, orientation, velocity, angular_velocity = self._platform_state()
        reading[:13] = (*center, *orientation, *velocity, *angular_velocity)
        reading[13:] = self._reader @ self._states.ravel()
        self._frames[0] = reading[:7]
        for multibody, link_numbers, frame_indices in self._loop_groups:
            links = self.client.getLinkStates(multibody, link_numbers, computeForwardKinematics=1)
            self._frames[frame_indices] = [link[0] + link[1] for link in links]
        loop_gap = largest_gap(self._frames, *self._loops)
        self._frame.from_inertial(reading)
        return float(loop_gap)

    def save(self) -> bytes:
        """Return Bullet's own record of the world: only it holds every bit of the state."""
        with temporary_file(".bullet") as path:
            self.client.saveBullet(str(path))
            return path.read_bytes()

    def restore(self, saved: bytes) -> None:
        """Return to a record that `save` made of this machine."""
        with temporary_file(".bullet", saved) as path:
            self.client.restoreState(fileName=str(path))

    def _add_ball(self) -> None:
        ball, platform = self._machine.ball, self._bodies.links[PLATFORM_NAME]
        self._balls = [] if ball is None else [BulletBall(ball, platform, self.client)]

    def _platform_state(self) -> tuple[tuple[float, ...], ...]:
        """Return the platform's inertial frame: centre, quaternion (scalar last), velocities."""
        if self._machine.floats:
            body = self._platform.multibody
            base_pose = self.client.getBasePositionAndOrientation(body)
            return (*base_pose, *self.client.getBaseVelocity(body))
        link_state = self.client.getLinkState(
            *self._platform, computeLinkVelocity=1, computeForwardKinematics=1
        )
        return link_state[0], link_state[1], link_state[6], link_state[7]

    def _sense(self, groups: list[tuple[int, list[int], IndexArray]]) -> None:
        for multibody, link_numbers, value_indices in groups:
            joints = self.client.getJointStates(multibody, link_numbers)
            self._values[value_indices] = [joint[0] for joint in joints]
            self._rates[value_indices] = [joint[1] for joint in joints]

    def _apply_force(self, link: Link, force: Iterable[float], point: Iterable[float]) -> None:
        self.client.applyExternalForce(*link, force, point, flags=bullet.WORLD_FRAME)

    def _groups(self, joint_indices: Iterable[int]) -> list[tuple[int, list[int], IndexArray]]:
        """Return joints by multibody: their link numbers, and their indices in the mechanism."""
        ordered = sorted(joint_indices)
        links = [self._bodies.joints[self._machine.joint_names[k]] for k in ordered]
        return by_multibody(links, ordered)

    def _collect_loops(self) -> None:
        names = sorted({body for ends in self._loop_ends for body, _ in ends} - {PLATFORM_NAME})
        multibody_numbers = {PLATFORM_NAME: 0, **{name: k for k, name in enumerate(names, start=1)}}
        links = [self._bodies.links[name] for name in names]
        self._loop_groups = by_multibody(links, list(range(1, 1 + len(links))))
        self._frames = np.zeros((1 + len(names), 7))
        bodies = np.array(
            [[multibody_numbers[body] for body, _ in ends] for ends in self._loop_ends]
        )
        places = np.array([[place for _, place in ends] for ends in self._loop_ends])
        self._loops = (*bodies.T.copy(), *places.swapaxes(0, 1).copy())

    def _set_up(self, timestep: float, *, engine_defaults: bool) -> None:
        self.client.setTimeStep(timestep)
        self.set_field(np.array([0.0, 0.0, -self._machine.gravity]))
        if not engine_defaults:
            self.client.setPhysicsEngineParameter(
                constraintSolverType=bullet.CONSTRAINT_SOLVER_LCP_DANTZIG,
                numSolverIterations=SOLVER_ITERATIONS,
                solverResidualThreshold=0.0,
                erp=ERROR_REDUCTION,
                contactERP=ERROR_REDUCTION,
                frictionERP=ERROR_REDUCTION,
                numSubSteps=0,
            )

    def _free_links(self, *, engine_defaults: bool) -> None:
        """Remove damping, limits and motors from all links."""
        if not engine_defaults:
            for link in self._bodies.all():
                self.client.changeDynamics(
                    *link,
                    linearDamping=0.0,
                    angularDamping=0.0,
                    jointDamping=0.0,
                    maxJointVelocity=UNREACHABLE_LIMIT,
                    activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
                )
        for multibody, link_numbers, _ in self._groups(range(len(self._machine.joint_names))):
            zero_forces = [0.0] * len(link_numbers)
            self.client.setJointMotorControlArray(
                multibody, link_numbers, bullet.VELOCITY_CONTROL, forces=zero_forces
            )

    def _close_loops(self, *, engine_defaults: bool) -> None:
        links = self._bodies.links
        frames = {body.name: inertial_frame(body) for body in self._machine.bodies}
        self._loop_ends = [
            [(point.body, frames[point.body].locate(point)) for point in points]
            for points in self._machine.loop_points()
        ]
        for (first_body, first_place), (second_body, second_place) in self._loop_ends:
            loop = self.client.createConstraint(
                *(*links[second_body], *links[first_body], bullet.JOINT_POINT2POINT),
                *((0.0, 0.0, 0.0), second_place.tolist(), first_place.tolist()),
            )
            if not engine_defaults:
                # Bullet turns the force into an impulse here, with the time step of this moment.
                self.client.changeConstraint(loop, maxForce=UNREACHABLE_LIMIT)
