"""Exact dynamics of a plate on pillars: virtual power of all bodies, from closed kinematics.

The closed forms of `ExactKinematics` give velocities and accelerations of the plate's centre, the
pillars' upper ends and the feet. With their derivatives by the rates of heave, roll and pitch, the
generalised forces of a motion are

    Q_j = sum m (a - g) . dv / dq_j' + (I alpha + omega x I omega) . d omega / dq_j'

over the plate and the point masses of the pillars: Newton and Euler, without any energy.

The lengths of three pillars are prescribed as functions of time, with two exact derivatives. The
paper drives its model with two sets. The sines are printed as lengths about 0.3549 m, the home
length. The sigmoids are printed without such a constant and start near zero, shorter than any
pillar. They are taken as strokes from the retracted length: all four pillars then stay within their
stroke, and about the home length three of them would leave it. In the small-angle model the choice
changes heave by a constant and nothing else.

Reference: driving simulator paper, section "System Response Analysis".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.errors import InputError, SingularPoseError
from twin.papers.driving_simulator.kinematics import (
    CORNERS,
    ConfigurationMotion,
    ExactKinematics,
    PlateModel,
)

SINE_INPUTS = ((1 / 40, 1.0), (1 / 1000, 11 / 10), (3 / 100, 1.0))
"""Amplitude [m] and angular frequency [rad/s] of f_1, f_2, f_3."""

SIGMOID_RISES = (17 / 200, 1 / 20, 1243 / 20000)
"""[m] Rise of f_1, f_2, f_3."""

SIGMOID_STEEPNESS = 5.0
"""[1/s] Steepness of all three sigmoids."""

SIGMOID_MIDDLE = 1.0
"""[s] Time at which half of the rise is done."""


class InputSample(NamedTuple):
    """Lengths [m] at given times with rates [m/s] and accelerations [m/s2]."""

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray


@dataclass(frozen=True)
class SineInput:
    """mean + amplitude sin(angular_frequency t)."""

    mean: float
    """[m] mean length"""
    amplitude: float
    """[m] amplitude of the sine"""
    angular_frequency: float
    """[rad/s] angular frequency of the sine"""

    def scaled(self, factor: float) -> SineInput:
        """Return the input scaled by a factor in its amplitude."""
        return replace(self, amplitude=factor * self.amplitude)

    def sample(self, time: Any) -> InputSample:
        """Return the length and its derivatives, `(...)` each, at times `(...)` [s]."""
        omega = self.angular_frequency
        angle = omega * np.asarray(time)
        sine, cosine = self.amplitude * np.sin(angle), self.amplitude * np.cos(angle)
        return InputSample(self.mean + sine, omega * cosine, -(omega**2) * sine)


@dataclass(frozen=True)
class SigmoidInput:
    """start + rise / (1 + exp(-steepness (t - middle))): a smooth step, never at rest exactly."""

    start: float
    """[m] long before the step"""
    rise: float
    """[m] height of the smooth step"""
    steepness: float
    """[1/s] steepness of the smooth step"""
    middle: float
    """[s] when half the step is done"""

    def scaled(self, factor: float) -> SigmoidInput:
        """Return the input scaled by a factor in its rise."""
        return replace(self, rise=factor * self.rise)

    def sample(self, time: Any) -> InputSample:
        """Return the length and its derivatives, `(...)` each, at times `(...)` [s]."""
        half_exponent = 0.5 * self.steepness * (np.asarray(time) - self.middle)
        tangent = np.tanh(half_exponent)
        slope = 0.25 * self.steepness * (1.0 - tangent**2)
        return InputSample(
            self.start + 0.5 * self.rise * (1.0 + tangent),
            self.rise * slope,
            -self.rise * self.steepness * tangent * slope,
        )


LengthInput = SineInput | SigmoidInput
"""One prescribed length."""


class DrivenLengths(NamedTuple):
    """The three lengths that are functions of time: f_1, f_2, f_3 of the paper."""

    front_right: LengthInput
    rear_left: LengthInput
    front_left: LengthInput

    def scaled(self, factor: float) -> DrivenLengths:
        """Return the inputs scaled by a factor in their displacements."""
        return DrivenLengths(*(pillar.scaled(factor) for pillar in self))

    def sample(self, time: Any) -> InputSample:
        """Return the lengths and their derivatives, `(..., 3)` each, at times `(...)` [s]."""
        levels = zip(*(pillar.sample(time) for pillar in self), strict=True)
        return InputSample(*(np.stack(level, axis=-1) for level in levels))


def sinusoidal_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sines about the home length of a plate."""
    return DrivenLengths(*(SineInput(plate.home_length, *sine) for sine in SINE_INPUTS))


def sigmoid_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sigmoids ("impulse") from the retracted length of a plate."""
    return DrivenLengths(
        *(
            SigmoidInput(plate.minimum_length, rise, SIGMOID_STEEPNESS, SIGMOID_MIDDLE)
            for rise in SIGMOID_RISES
        )
    )


LARGEST_CONDITION = 1e10
"""Largest condition number of the Jacobian rows of the pushing pillars; beyond it they are singular
within rounding."""

NO_RATES = np.zeros(3)


class HeadMotion(NamedTuple):
    """Motion of the head, `(..., 3)` each, in the base axes unless a function says otherwise."""

    position: FloatArray
    """[m] position of the head"""
    velocity: FloatArray
    """[m/s] velocity of the head"""
    acceleration: FloatArray
    """[m/s2] acceleration of the head"""
    specific_force: FloatArray
    """[m/s2] acceleration minus gravity: what is felt, and what an accelerometer shows"""
    angular_velocity: FloatArray
    """[rad/s] angular velocity of the plate"""
    angular_acceleration: FloatArray
    """[rad/s2] angular acceleration of the plate"""


def exact_head_motion(
    plate: PlateModel, head: Any, coordinates: Any, rates: Any, accelerations: Any
) -> HeadMotion:
    """Return the exact motion of the head, or another point of the plate, in base axes.

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
    head_arm = np.einsum("...ij,j->...i", attitude(motion.value.coordinates), point)
    omega, alpha = _turning(motion)
    head_velocity = np.cross(omega, head_arm)
    acceleration = (
        motion.acceleration.center + np.cross(alpha, head_arm) + np.cross(omega, head_velocity)
    )
    return HeadMotion(
        motion.value.center + head_arm,
        motion.rate.center + head_velocity,
        acceleration,
        acceleration + np.array([0.0, 0.0, plate.gravity]),
        omega,
        alpha,
    )


def attitude(coordinates: FloatArray) -> FloatArray:
    """Return the rotation matrices `(..., 3, 3)` platform to base of coordinates `(..., 3)`."""
    roll, pitch = coordinates[..., 1], coordinates[..., 2]
    a, b, c, d = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    zero = np.zeros_like(a)
    matrix_rows = ((d, zero, c), (a * c, b, -a * d), (-b * c, a, b * d))
    return np.stack([np.stack(row, axis=-1) for row in matrix_rows], axis=-2)


def _turning(motion: ConfigurationMotion) -> tuple[FloatArray, FloatArray]:
    """Return angular velocity and acceleration: roll about x, pitch about the rolled y."""
    roll = motion.value.coordinates[..., 1]
    (roll_rate, pitch_rate), (roll_acceleration, pitch_acceleration) = (
        np.moveaxis(part.coordinates[..., 1:], -1, 0) for part in (motion.rate, motion.acceleration)
    )
    sine, cosine = np.sin(roll), np.cos(roll)
    omega = [roll_rate, pitch_rate * cosine, pitch_rate * sine]
    alpha = [
        roll_acceleration,
        pitch_acceleration * cosine - roll_rate * pitch_rate * sine,
        pitch_acceleration * sine + roll_rate * pitch_rate * cosine,
    ]
    return np.stack(omega, axis=-1), np.stack(alpha, axis=-1)


@dataclass(frozen=True)
class SlidingFriction:
    """Force on a foot: -(viscous + coulomb / sqrt(v^2 + transition_speed^2)) v.

    The second part is dry friction, made smooth: below the transition speed it is viscous with
    coulomb / transition_speed. It does not depend on the load of the foot.
    """

    viscous: float
    """[N s/m] viscous friction of a foot"""
    coulomb: float = 0.0
    """[N] dry friction of a foot"""
    transition_speed: float = 1e-3
    """[m/s] speed over which dry friction builds up"""

    @classmethod
    def from_legs(cls, legs: Any) -> SlidingFriction | None:
        """Return the friction that legs of kind "pillar" have, None if they have none.

        Raises:
            InputError: not the same friction under all feet.
        """
        tables = [leg.friction for leg in legs]
        if tables.count(tables[0]) != len(tables):
            raise InputError("leg.friction", "must be the same under all feet")
        table = tables[0]
        return table and cls(table.viscous, table.coulomb, table.transition_speed)

    def force(self, velocity: FloatArray) -> FloatArray:
        """Return the force `(..., 2)` [N] on feet that slide with `velocity` `(..., 2)` [m/s]."""
        speed = np.hypot(velocity[..., 0], velocity[..., 1])
        drag = self.viscous + self.coulomb / np.hypot(speed, self.transition_speed)
        return -drag[..., None] * velocity


class _Bodies(NamedTuple):
    """Motion of the plate's centre, the pillars' four upper ends and the four feet."""

    points: FloatArray
    """`(..., 9, 3)` [m]"""
    velocity: FloatArray
    """`(..., 9, 3)` [m/s]"""
    acceleration: FloatArray
    """`(..., 9, 3)` [m/s2]"""
    omega: FloatArray
    """`(..., 3)` [rad/s] of the plate"""
    alpha: FloatArray
    """`(..., 3)` [rad/s2] of the plate"""


@dataclass(frozen=True)
class ExactModel:
    """Dynamics of a plate on four pillars; arguments take leading batch axes.

    Coordinates, rates and accelerations `(..., 3)` are those of heave, roll and pitch; forces
    `(..., 4)` [N] of the actuators push foot and plate apart.

    Raises:
        InputError: from every method: wrong shapes, not finite, angles of a right angle and more.
    """

    plate: PlateModel
    friction: SlidingFriction | None = None

    @classmethod
    def from_parameters(cls, parameters: Any) -> ExactModel:
        """Return the model of a machine with legs of kind "pillar", with their friction.

        Raises:
            InputError: another machine than `PlateModel` describes, or unequal friction.
        """
        friction = SlidingFriction.from_legs(parameters.legs)
        return cls(PlateModel.from_parameters(parameters), friction)

    @property
    def _masses(self) -> FloatArray:
        plate = self.plate
        return np.array([plate.plate_mass, *[plate.upper_mass] * 4, *[plate.foot_mass] * 4])

    def _inertia(self, coordinates: FloatArray) -> FloatArray:
        """Return the plate's tensors `(..., 3, 3)` in base axes."""
        rotation, plate = attitude(coordinates), self.plate
        moments = np.array([plate.roll_inertia, plate.pitch_inertia, plate.yaw_inertia])
        return np.asarray((rotation * moments) @ np.swapaxes(rotation, -1, -2))

    def _bodies(self, coordinates: Any, rates: Any, accelerations: Any = NO_RATES) -> _Bodies:
        """Return the motion of plate, corners and feet."""
        state = coordinates, rates, accelerations
        corners = np.hstack([self.plate.corners, np.zeros((len(CORNERS), 1))])
        motions = [exact_head_motion(self.plate, point, *state) for point in (NO_RATES, *corners)]
        motion = ExactKinematics(self.plate).inverse_motion(*state)
        levels = []
        for name, part in zip(("position", "velocity", "acceleration"), motion, strict=True):
            points = np.stack(
                [getattr(motion_of_point, name) for motion_of_point in motions], axis=-2
            )
            feet = np.concatenate([part.feet, np.zeros((*part.feet.shape[:-1], 1))], axis=-1)
            levels.append(np.concatenate([points, feet], axis=-2))
        position, velocity, acceleration = levels
        center = motions[0]
        turning = center.angular_velocity, center.angular_acceleration
        return _Bodies(position, velocity, acceleration, *turning)

    def _virtual(self, coordinates: Any) -> _Bodies:
        """Return the motions `(..., 3, 9, 3)` at unit rates of heave, roll and pitch."""
        return self._bodies(as_floats(coordinates, "coordinates", 3)[..., None, :], np.eye(3))

    def acceleration(self, coordinates: Any, rates: Any, accelerations: Any) -> FloatArray:
        """Return the time derivatives `(..., 6)` of the plate's twists."""
        center = exact_head_motion(self.plate, NO_RATES, coordinates, rates, accelerations)
        return np.concatenate([center.acceleration, center.angular_acceleration], axis=-1)

    def length_jacobian(self, coordinates: Any) -> FloatArray:
        """Return the derivatives `(..., 4, 3)` of the lengths by the coordinates."""
        states = as_floats(coordinates, "coordinates", 3)[..., None, :]
        motion = ExactKinematics(self.plate).inverse_motion(states, np.eye(3), NO_RATES)
        return np.swapaxes(motion.rate.lengths, -1, -2)

    def mass_matrix(self, coordinates: Any) -> FloatArray:
        """Return the mass matrices `(..., 3, 3)`."""
        virtual = self._virtual(coordinates)
        inertia = self._inertia(as_floats(coordinates, "coordinates", 3))
        points = np.einsum(
            "...jbi,b,...kbi->...jk", virtual.velocity, self._masses, virtual.velocity
        )
        return np.asarray(points + virtual.omega @ inertia @ np.swapaxes(virtual.omega, -1, -2))

    def energy(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energies `(...)` [J], the latter zero at z = 0."""
        bodies = self._bodies(coordinates, rates)
        inertia = self._inertia(as_floats(coordinates, "coordinates", 3))
        twice = np.einsum("...bi,b,...bi->...", bodies.velocity, self._masses, bodies.velocity)
        twice += np.einsum("...i,...ij,...j->...", bodies.omega, inertia, bodies.omega)
        return 0.5 * twice, self.plate.gravity * bodies.points[..., 2] @ self._masses

    def feet(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return velocities [m/s] of the feet and the floor's friction [N], `(..., 4, 2)` each."""
        velocity = (
            ExactKinematics(self.plate).inverse_motion(coordinates, rates, NO_RATES).rate.feet
        )
        drag = self.friction.force(velocity) if self.friction else np.zeros_like(velocity)
        return velocity, drag

    def required(self, coordinates: Any, rates: Any, accelerations: Any) -> FloatArray:
        """Return the generalised forces `(..., 3)` that the actuators must bring for a motion."""
        bodies, virtual = (
            self._bodies(coordinates, rates, accelerations),
            self._virtual(coordinates),
        )
        inertia = self._inertia(as_floats(coordinates, "coordinates", 3))
        forces = bodies.acceleration + np.array([0.0, 0.0, self.plate.gravity])
        forces *= self._masses[:, None]
        forces[..., -len(CORNERS) :, :2] -= self.feet(coordinates, rates)[1]
        momentum = np.einsum("...ij,...j->...i", inertia, bodies.omega)
        moment = np.einsum("...ij,...j->...i", inertia, bodies.alpha)
        moment += np.cross(bodies.omega, momentum)
        power = np.einsum("...jbi,...bi->...j", virtual.velocity, forces)
        return np.asarray(power + np.einsum("...ji,...i->...j", virtual.omega, moment))

    def accelerations(self, coordinates: Any, rates: Any, forces: Any) -> FloatArray:
        """Return the accelerations `(..., 3)` of heave, roll and pitch: forward dynamics."""
        pushes = as_floats(forces, "forces", len(CORNERS))
        driving = np.einsum("...ni,...n->...i", self.length_jacobian(coordinates), pushes)
        driving = driving - self.required(coordinates, rates, NO_RATES)
        return np.linalg.solve(self.mass_matrix(coordinates), driving[..., None])[..., 0]

    def forces(
        self,
        coordinates: Any,
        rates: Any,
        accelerations: Any,
        *,
        pushing: Sequence[int] | None = None,
    ) -> FloatArray:
        """Return the smallest actuator forces `(..., 4)` [N] for a motion: inverse dynamics.

        Args:
            coordinates: `(..., 3)` heave, roll, pitch.
            rates: `(..., 3)`.
            accelerations: `(..., 3)`.
            pushing: numbers from 0 of the actuators that bring a force, default all.

        Raises:
            InputError: see the class.
            SingularPoseError: the actuators that push do not hold the plate; `data` holds the
                coordinates.
        """
        required_forces = self.required(coordinates, rates, accelerations)
        pushing_pillars = list(range(len(CORNERS)) if pushing is None else pushing)
        rows = self.length_jacobian(coordinates)[..., pushing_pillars, :]
        if rows.size and np.linalg.cond(rows).max() > LARGEST_CONDITION:
            raise SingularPoseError(
                "the actuators that push do not hold heave, roll and pitch; let others push",
                {"coordinates": np.asarray(coordinates)},
            )
        # The pseudo-inverse of the transpose gives the smallest f with J^T f = required_forces.
        force_distribution = np.linalg.pinv(np.swapaxes(rows, -1, -2))
        forces = np.zeros((*required_forces.shape[:-1], len(CORNERS)))
        forces[..., pushing_pillars] = np.einsum(
            "...ij,...j->...i", force_distribution, required_forces
        )
        return forces
