"""One Bullet world: the multibodies of a machine, closed by point-to-point constraints."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.bullet.ball import BulletBall
from twin.engines.bullet.bodies import Bodies, Link, by_multibody, reader_of
from twin.engines.bullet.frames import PlatformFrame, inertial_frame
from twin.engines.bullet.library import bullet, connect, disconnect, quiet, temporary_file
from twin.engines.mechanism.joints import JointForces, JointMotion
from twin.engines.mechanism.mechanism import Mechanism
from twin.kernels.loop_gaps import largest_gap
from twin.machine.mechanism.parts import PLATFORM
from twin.model.motions import REST

ITERATIONS = 50
"""Of the Dantzig solver; ten already give the same result."""

CORRECTION = 0.8
"""Part of a loop gap that Bullet removes in one step."""

UNBOUNDED = 1e100
"""Joint velocity [m/s, rad/s] and constraint force [N] that no machine reaches."""


class World:
    """A physics client with one machine, stepped by `timestep` [s]."""

    def __init__(
        self,
        machine: Mechanism,
        texts: tuple[str, str],
        timestep: float,
        *,
        engine_defaults: bool,
    ) -> None:
        """Load the machine; with `engine_defaults` solver, damping and limits stay Bullet's own.

        Args:
            machine: what moves.
            texts: its legs and its platform as URDF.
            timestep: step [s].
            engine_defaults: change no settings.
        """
        self._machine = machine
        self._client = connect()
        self._options = {"physicsClientId": self._client}
        self.close = weakref.finalize(self, disconnect, self._client)
        with quiet():
            self._set_up(timestep, engine_defaults=engine_defaults)
            self._bodies = Bodies(machine, texts, self._client)
            self._let_go(engine_defaults=engine_defaults)
            self._close_loops(engine_defaults=engine_defaults)
            self._add_ball()
        self._place = PlatformFrame(machine.body(PLATFORM))
        self._platform = self._bodies.links[PLATFORM]
        self._own = JointForces(machine)
        self._driven = machine.indices(tuple(actuator.joint for actuator in machine.actuators))
        self._pushed = self._groups({*self._driven.tolist(), *self._own.joints.tolist()})
        self._sensed = self._groups(self._own.joints.tolist())
        self._reader = reader_of(machine)
        self._states = np.zeros((2, len(machine.joint_names)))
        self._values, self._rates = self._states
        read = self._reader.any(axis=0).reshape(self._states.shape).any(axis=0)
        self._read_joints = self._groups(np.flatnonzero(read).tolist())
        self._heavy = [
            (self._bodies.links[body.name], body.extra_weight)
            for body in machine.bodies
            if body.extra_weight
        ]
        self._take_loops()
        # The first step fills in bookkeeping; after it, equal states have equal records.
        rest = np.zeros(len(machine.joint_names))
        self.place(machine.home, REST, JointMotion(rest, rest, rest))
        bullet.stepSimulation(**self._options)

    def place(self, pose: FloatArray, twist: FloatArray, joints: JointMotion) -> None:
        """Put the machine at a pose `(7,)` with a twist `(6,)` and the joints that go with them."""
        names = self._machine.joint_names
        for name, value, rate in zip(names, *map(np.ndarray.tolist, joints[:2]), strict=True):
            bullet.resetJointState(*self._bodies.joints[name], value, rate, **self._options)
        if self._machine.floats:
            center, turn, velocity = self._place.to_inertial(pose, twist)
            body, client = self._platform.multibody, self._options
            bullet.resetBasePositionAndOrientation(body, center.tolist(), turn.tolist(), **client)
            bullet.resetBaseVelocity(body, velocity.tolist(), twist[3:].tolist(), **client)

    def feel(self, field: FloatArray) -> None:
        """Let every body feel `field` `(3,)` [m/s2] instead of gravity, until changed."""
        self._field: list[float] = field.tolist()
        bullet.setGravity(*self._field, **self._options)

    def place_ball(self, place: FloatArray) -> None:
        """Put the ball of a machine that has one at a pose with a twist `(13,)`."""
        self._balls[0].place(place)

    def read_ball(self) -> FloatArray:
        """Return pose and twist `(13,)` of the ball of a machine that has one."""
        return self._balls[0].read()

    def advance(self, forces: FloatArray, load: list[float] | None) -> None:
        """Step once under actuator forces `(n,)` and a wrench about the reference point."""
        pushes = np.zeros(len(self._values))
        pushes[self._driven] = forces
        if len(self._own.joints):
            self._sense(self._sensed)
            joints = self._own.joints
            pushes[joints] += self._own(self._values[joints], self._rates[joints])
        for multibody, numbers, places in self._pushed:
            push = pushes[places].tolist()
            bullet.setJointMotorControlArray(
                multibody, numbers, bullet.TORQUE_CONTROL, forces=push, **self._options
            )
        for link, mass in self._heavy:
            center = bullet.getLinkState(*link, computeForwardKinematics=1, **self._options)[0]
            self._push(link, [mass * pull for pull in self._field], center)
        for ball in self._balls:
            _, turn, _, spin = self._platform_state()
            ball.resist(self._place.normal(turn), spin, self._machine.gravity)
        if load is not None:
            center, turn = self._platform_state()[:2]
            self._push(self._platform, load[:3], self._place.reference(center, turn).tolist())
            options = {"flags": bullet.WORLD_FRAME, **self._options}
            bullet.applyExternalTorque(*self._platform, load[3:], **options)
        bullet.stepSimulation(**self._options)

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
        center, turn, velocity, spin = self._platform_state()
        reading[:13] = (*center, *turn, *velocity, *spin)
        reading[13:] = self._reader @ self._states.ravel()
        self._frames[0] = reading[:7]
        for multibody, numbers, places in self._looped:
            links = bullet.getLinkStates(
                multibody, numbers, computeForwardKinematics=1, **self._options
            )
            self._frames[places] = [link[0] + link[1] for link in links]
        gap = largest_gap(self._frames, *self._loops)
        self._place.from_inertial(reading)
        return float(gap)

    def save(self) -> bytes:
        """Return Bullet's own record of the world: only it holds every bit of the state."""
        with temporary_file(".bullet") as path:
            bullet.saveBullet(str(path), **self._options)
            return path.read_bytes()

    def restore(self, saved: bytes) -> None:
        """Return to a record that `save` made of this machine."""
        with temporary_file(".bullet", saved) as path:
            bullet.restoreState(fileName=str(path), **self._options)

    def _add_ball(self) -> None:
        ball, platform = self._machine.ball, self._bodies.links[PLATFORM]
        self._balls = [] if ball is None else [BulletBall(ball, platform, self._options)]

    def _platform_state(self) -> tuple[tuple[float, ...], ...]:
        """Return the platform's inertial frame: centre, quaternion (scalar last), velocities."""
        if self._machine.floats:
            body, options = self._platform.multibody, self._options
            place = bullet.getBasePositionAndOrientation(body, **options)
            return (*place, *bullet.getBaseVelocity(body, **options))
        options = {"computeLinkVelocity": 1, "computeForwardKinematics": 1, **self._options}
        state = bullet.getLinkState(*self._platform, **options)
        return state[0], state[1], state[6], state[7]

    def _sense(self, groups: list[tuple[int, list[int], IndexArray]]) -> None:
        for multibody, numbers, places in groups:
            joints = bullet.getJointStates(multibody, numbers, **self._options)
            self._values[places] = [joint[0] for joint in joints]
            self._rates[places] = [joint[1] for joint in joints]

    def _push(self, link: Link, force: Iterable[float], point: Iterable[float]) -> None:
        options = {"flags": bullet.WORLD_FRAME, **self._options}
        bullet.applyExternalForce(*link, force, point, **options)

    def _groups(self, places: Iterable[int]) -> list[tuple[int, list[int], IndexArray]]:
        """Return joints by multibody: their numbers in it, and their places in the mechanism."""
        ordered = sorted(places)
        links = [self._bodies.joints[self._machine.joint_names[k]] for k in ordered]
        return by_multibody(links, ordered)

    def _take_loops(self) -> None:
        pairs = list(self._machine.loop_points())
        names = sorted({point.body for pair in pairs for point in pair} - {PLATFORM})
        numbers = {PLATFORM: 0, **{name: k for k, name in enumerate(names, start=1)}}
        links = [self._bodies.links[name] for name in names]
        self._looped = by_multibody(links, list(range(1, 1 + len(links))))
        self._frames = np.zeros((1 + len(names), 7))
        bodies = {body.name: inertial_frame(body) for body in self._machine.bodies}
        self._loops = tuple(
            np.array([numbers[pair[end].body] for pair in pairs]) for end in (0, 1)
        ) + tuple(
            np.array([bodies[pair[end].body].place(pair[end]) for pair in pairs]) for end in (0, 1)
        )

    def _set_up(self, timestep: float, *, engine_defaults: bool) -> None:
        bullet.setTimeStep(timestep, **self._options)
        self.feel(np.array([0.0, 0.0, -self._machine.gravity]))
        if not engine_defaults:
            bullet.setPhysicsEngineParameter(
                constraintSolverType=bullet.CONSTRAINT_SOLVER_LCP_DANTZIG,
                numSolverIterations=ITERATIONS,
                solverResidualThreshold=0.0,
                erp=CORRECTION,
                contactERP=CORRECTION,
                frictionERP=CORRECTION,
                numSubSteps=0,
                **self._options,
            )

    def _let_go(self, *, engine_defaults: bool) -> None:
        """Take damping, limits and motors off all links."""
        if not engine_defaults:
            for link in self._bodies.all():
                bullet.changeDynamics(
                    *link,
                    linearDamping=0.0,
                    angularDamping=0.0,
                    jointDamping=0.0,
                    maxJointVelocity=UNBOUNDED,
                    activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
                    **self._options,
                )
        for multibody, numbers, _ in self._groups(range(len(self._machine.joint_names))):
            idle = [0.0] * len(numbers)
            bullet.setJointMotorControlArray(
                multibody, numbers, bullet.VELOCITY_CONTROL, forces=idle, **self._options
            )

    def _close_loops(self, *, engine_defaults: bool) -> None:
        links = self._bodies.links
        frames = {body.name: inertial_frame(body) for body in self._machine.bodies}
        for first, second in self._machine.loop_points():
            ends = (*links[second.body], *links[first.body])
            pivots = [frames[point.body].place(point).tolist() for point in (second, first)]
            loop = bullet.createConstraint(
                *ends, bullet.JOINT_POINT2POINT, (0.0, 0.0, 0.0), *pivots, **self._options
            )
            if not engine_defaults:
                # Bullet turns the force into an impulse here, with the time step of this moment.
                bullet.changeConstraint(loop, maxForce=UNBOUNDED, **self._options)
