"""The largest payload that a machine holds at rest, and what it shakes at given positions.

At rest: the static forces of a body that keeps its geometry are affine in its mass, so one pass
over a grid of actuator positions covers all masses.

Shaking: the criterion is sines on all axes at once, over a range of frequencies. A machine under a
criterion has its largest masses at positions, one frequency at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import (
    FORCE_SENSES,
    AffineForces,
    ScaledPayload,
    first_lowest,
    mass_steps,
)
from twin.basics.arrays import (
    FloatArray,
    as_floats,
    one_of,
    positive,
    quaternion_product,
    whole_number,
)
from twin.errors import InputError
from twin.kernels.dynamics.assembly import BODY_GRAVITY, BODY_MASS, BODY_TENSOR
from twin.kernels.dynamics.forward import Limits, Motion, largest_payloads
from twin.kernels.kinematics import forward_kinematics_batch
from twin.model.batch import run_batch
from twin.model.forward_kinematics import found_poses
from twin.model.machine_base import ZERO_VECTOR, null_space, run
from twin.model.machine_model import MachineModel, as_model
from twin.motion import SineMotion
from twin.motion.motion import MotionSample, axis_names, axis_values
from twin.plant.drives import actuator_limit

MAX_GRID_SIZE = 2_000_000
"""Maximum number of positions; more take minutes and gigabytes."""

STROKE_TOLERANCE = 1e-9
"""Excess over an actuator's ends, relative to its stroke, that counts as rounding."""

RANK_TOLERANCE = 1e-9
"""Relative residual of a row after projection on the other rows, below which it is dependent."""

ANGLE_CONVENTION = "yaw_pitch_roll"
"""Convention of the angles of a criterion."""

LEVEL_POSE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""Pose at the origin without rotation."""

ACCELERATION_ROWS = {"x": 0, "y": 1, "z": 2, "roll": 3, "pitch": 4, "yaw": 5}
"""Rows of an acceleration `(6,)` in base axes that the axes of a small motion move."""

INVERSE_SIGNS = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""Signs that turn a pose's rotation into its inverse."""

THESIS_MACHINE = "stewart"
"""Machine of the thesis, whose rotations run backwards in print."""

PERIOD_SAMPLES = 24
"""Times in a period: a peak between two is missed by at most 0.9 percent of what moves."""

SPEED_SAMPLES = 720
"""Times in a period at which speeds of actuators are looked at."""

INFINITE_MASS = 1e299
"""Mass above which a limit counts as infinite: compiled code has no infinity."""


GRID_POSITIONS = 4
"""Positions per actuator; Stewart thesis, section 4.2.1: thirds of the stroke."""


class Positions(NamedTuple):
    """Positions in search order; those that the machine cannot take are left out."""

    extensions: FloatArray
    """`(k, n)` distances [m] or [rad] from the lower ends of the actuators"""
    poses: FloatArray
    """poses `(k, 7)` at these positions"""
    skipped: int
    """positions left out: no pose, or an actuator that follows the others beyond its ends"""


def grid_positions(platform: MachineModel, shares: Any) -> Positions:
    """Return all combinations of positions, the last actuator's changing fastest.

    Where there are more actuators than degrees of freedom, the last ones follow the others.

    Args:
        platform: the machine.
        shares: `(grid,)` positions of every actuator relative to its stroke, 0 to 1.

    Raises:
        InputError: not a machine, shares outside 0 to 1, too many, or none that the machine can
            take.
    """
    stroke = as_model(platform).stroke
    stroke_fractions = as_floats(shares, "shares")
    is_list = stroke_fractions.ndim == 1 and stroke_fractions.size
    if not is_list or stroke_fractions.min() < 0.0 or stroke_fractions.max() > 1.0:
        raise InputError("shares", "must be numbers from 0 to 1, one after the other")
    actuators = DependentActuators.of(platform)
    count = len(actuators.leading)
    if len(stroke_fractions) ** count > MAX_GRID_SIZE:
        raise InputError(
            "shares", f"{len(stroke_fractions)}^{count} positions; use fewer per actuator"
        )
    leading_fractions = np.array(list(itertools.product(stroke_fractions, repeat=count)))
    extensions, poses = actuators.positions(leading_fractions * stroke[actuators.leading])
    # Written so that a position without a pose is not inside.
    is_in_range = (
        (extensions >= -STROKE_TOLERANCE * stroke)
        & (extensions <= (1.0 + STROKE_TOLERANCE) * stroke)
    ).all(1)
    is_in_range &= np.isfinite(poses).all(axis=1)
    if not is_in_range.any():
        raise InputError("shares", f"{platform.name} can take none of these positions")
    kept_extensions = np.clip(extensions[is_in_range], 0.0, stroke)
    return Positions(
        kept_extensions, poses[is_in_range], len(leading_fractions) - len(kept_extensions)
    )


class DependentActuators(NamedTuple):
    """Actuators that may be set freely (leading), and how the others depend on them."""

    platform: MachineModel
    leading: list[int]
    """indices of the leading actuators, from 0"""
    matrix: FloatArray
    """`(n, degrees of freedom)` coordinates of all actuators relative to home per those of the
    leading ones; with six degrees of freedom it holds at home only"""
    home: FloatArray
    """`(n,)` home coordinates beyond the lower ends"""

    @classmethod
    def of(cls, platform: MachineModel) -> DependentActuators:
        """Return the dependent actuators of a machine.

        Coordinates of pillars are linear in as many numbers as there are degrees of freedom
        (docs/reproductions.md), so what holds for rates at home holds everywhere.
        """
        home = platform.home_coordinates - platform.minimum_coordinates
        n = platform.n_actuators
        if platform.dof == n:
            return cls(platform, list(range(n)), np.eye(n), home)
        allowed_twists = null_space(platform.constraints(platform.home))
        rates = platform.jacobian(platform.home) @ allowed_twists
        leading_actuators: list[int] = []
        for i in range(n):
            chosen_rates = rates[[*leading_actuators, i]]
            if np.linalg.svd(chosen_rates)[1][-1] > RANK_TOLERANCE * np.linalg.norm(rates):
                leading_actuators.append(i)
            if len(leading_actuators) == platform.dof:
                break
        return cls(
            platform, leading_actuators, rates @ np.linalg.inv(rates[leading_actuators]), home
        )

    def positions(self, leading: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return extensions `(k, n)` and poses `(k, 7)`, NaN where there are none.

        Args:
            leading: `(k, dof)` extensions of the leading actuators.
        """
        platform = self.platform
        minimum = platform.minimum_coordinates
        if platform.dof == 6 < platform.n_actuators:
            poses = self._leading_poses(leading + minimum[self.leading])
            extensions = np.full((len(poses), platform.n_actuators), np.nan)
            is_found = np.isfinite(poses).all(axis=1)
            extensions[is_found] = platform.inverse_kinematics(poses[is_found]) - minimum
            return extensions, poses
        extensions = self.home + (leading - self.home[self.leading]) @ self.matrix.T
        extensions[:, self.leading] = leading
        guesses = np.tile(platform.home, (len(extensions), 1))
        solutions, failed = found_poses(platform, minimum + extensions, guesses)
        solutions[failed, :7] = np.nan
        return extensions, solutions[:, :7].copy()

    def _leading_poses(self, coordinates: FloatArray) -> FloatArray:
        """Return the poses `(k, 7)` of coordinates `(k, 6)` of the leading actuators; NaN: none.

        They are those of the machine without the other legs, on home's branch.
        """
        legs: Any = self.platform.constants.legs
        leading_legs = type(legs)(legs.rows[self.leading])
        solution = np.empty((len(coordinates), 9))
        guesses = np.tile(self.platform.home, (len(coordinates), 1))
        run(forward_kinematics_batch, (leading_legs,), (coordinates, guesses, solution))
        tolerance = STROKE_TOLERANCE * float(self.platform.stroke.max())
        solution[~(solution[:, 7] <= tolerance), :7] = np.nan
        return solution[:, :7].copy()


class Criterion(NamedTuple):
    """Peak accelerations of sines that all axes make at once, and their frequencies.

    Displacements are along the base axes from a centre pose; the angles (yaw, pitch, roll) turn
    about base axes on top of the centre's attitude. Without phases all axes are in phase.
    """

    accelerations: FloatArray
    """`(6,)` amplitudes [m/s2], [rad/s2] of x, y, z, yaw, pitch, roll"""
    frequencies: FloatArray
    """frequencies at which all axes shake `(f,)` [Hz]"""
    phases: FloatArray
    """phases of the axes `(6,)` [rad]"""
    reversed_rotation: bool = False
    """whether every rotation runs backwards, as in the Stewart thesis' (2.3) and A.2"""

    @classmethod
    def of(
        cls,
        accelerations: Mapping[str, float],
        frequencies: Any,
        phases: Any = 0.0,
    ) -> Criterion:
        """Return a checked criterion.

        Args:
            accelerations: axis name -> peak [m/s2], [rad/s2]; axes left out rest.
            frequencies: `(f,)` [Hz].
            phases: [rad], one for all axes, by axis name, or `(6,)`.

        Raises:
            InputError: unknown axis, not finite, nothing that moves, or frequencies not above zero.
        """
        peaks = axis_values(accelerations, "accelerations", ANGLE_CONVENTION)
        line_frequencies = np.atleast_1d(as_floats(frequencies, "frequencies"))
        is_list = line_frequencies.ndim == 1 and line_frequencies.size
        if not is_list or not (line_frequencies > 0.0).all():
            raise InputError("frequencies", "must be numbers above zero, in Hz")
        if not peaks.any():
            raise InputError("accelerations", "at least one axis must move")
        checked_phases = axis_values(phases, "phases", ANGLE_CONVENTION, one_for_all=True)
        return cls(peaks, line_frequencies, checked_phases)

    def backwards(self) -> Criterion:
        """Return the criterion with reversed rotations."""
        return self._replace(reversed_rotation=True)

    def samples(self, frequency: Any, count: int) -> MotionSample:
        """Return one period about a level pose at the origin, at `count` times.

        Raises:
            InputError: a frequency that is no number above zero.
        """
        hertz = positive(frequency, "frequency")
        motion = SineMotion(
            LEVEL_POSE,
            amplitude=self.accelerations / (2.0 * np.pi * hertz) ** 2,
            frequency=hertz,
            duration=1.0 / hertz,
            phase=self.phases,
        )
        sample = motion(np.arange(count) / count * motion.duration)
        return _backwards(sample) if self.reversed_rotation else sample

    def unit_accelerations(self) -> FloatArray:
        """Return `(6, 6)`: a row per axis with what its peak adds to the acceleration at rest."""
        columns = [ACCELERATION_ROWS[axis] for axis in axis_names(ANGLE_CONVENTION)]
        rows = np.zeros((6, 6))
        rows[range(6), columns] = self.accelerations
        if self.reversed_rotation:
            rows[:, 3:] *= -1.0
        return rows

    def actuator_speeds(self, platform: MachineModel, pose: Any, frequency: Any) -> FloatArray:
        """Return the largest speed of every actuator `(n,)` about a centre pose `(7,)`.

        Raises:
            InputError: not a pose, or a frequency that is no number above zero.
            UnreachablePoseError: the motion leads out of reach.
        """
        sample = self.samples(frequency, SPEED_SAMPLES)
        center = np.broadcast_to(as_floats(pose, "pose", 7), sample.pose.shape)
        poses = np.hstack(
            [
                center[:, :3] + sample.pose[:, :3],
                quaternion_product(sample.pose[:, 3:], center[:, 3:]),
            ]
        )
        rates = np.einsum("kij,kj->ki", platform.jacobian(poses), sample.twist)
        return np.asarray(np.abs(rates).max(axis=0))


THESIS_CRITERION = Criterion.of(
    {"x": 2.0, "y": 2.0, "z": 2.5, "yaw": 1.0, "pitch": 3.0, "roll": 0.5},
    np.arange(2.0, 70.0, 10.0),
)
"""Stewart thesis, section 4.2.2: 2 to 70 Hz in steps of 10 Hz, the last at 62 Hz."""


def _backwards(sample: MotionSample) -> MotionSample:
    """Return a motion with the inverse rotation, which turns the other way in its own axes."""
    from scipy.spatial.transform import Rotation

    inverse_rotation = Rotation.from_quat(sample.pose[:, [4, 5, 6, 3]]).inv()
    rotated_vectors = [
        np.hstack([vectors[:, :3], -inverse_rotation.apply(vectors[:, 3:])])
        for vectors in (sample.twist, sample.acceleration)
    ]
    return MotionSample(sample.pose * INVERSE_SIGNS, *rotated_vectors)


class Runs(NamedTuple):
    """Runs of positions at one frequency."""

    mass: FloatArray
    """`(k,)` [kg]; infinite where left out"""
    leg: FloatArray
    """`(k,)` number of the leg that reaches its limit, from 1; 0: none"""
    outcome: FloatArray
    """`(k,)` 0: done; left out, 1: beyond an actuator's ends, 2: beyond its largest speed"""


class VibrationTest:
    """A machine, the limits of its actuators, and the sense of its forces.

    Attributes:
        payload: the machine with its body scaled.
        sense: "magnitude" or "signed".
    """

    def __init__(
        self,
        platform: MachineModel,
        limit: Any = None,
        sense: str = "magnitude",
        *,
        checked: bool = True,
    ) -> None:
        """Prepare the machine.

        Args:
            platform: with six actuators and degrees of freedom.
            limit: largest force [N] or torque [N m], default what the file gives.
            sense: "magnitude" or "signed".
            checked: whether runs beyond the actuators' ends or speeds are left out.

        Raises:
            InputError: another machine, legs that give way, no limit known.
        """
        self.payload = ScaledPayload(platform, limit)
        self.sense = one_of(sense, "sense", FORCE_SENSES)
        if platform.dof != 6:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.dof} degrees of freedom; the criterion moves six "
                "axes. The static search works for it",
            )
        if platform.n_actuators != 6:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.n_actuators} actuators: under shaking, machines "
                "with six are searched. The static search works for it",
            )
        speeds = actuator_limit(platform, "speed")
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        limits = np.array([low, high, speeds, self.payload.limits])
        self._limits = Limits(limits, self.sense == "signed", checked)
        body = platform.constants.body
        self._unit = body.copy()
        self._unit[BODY_TENSOR : BODY_TENSOR + 6] /= body[BODY_MASS]
        self._unit[BODY_MASS] = 1.0
        self._empty = np.zeros_like(body)
        self._empty[BODY_GRAVITY:] = body[BODY_GRAVITY:]

    def run(
        self,
        criterion: Criterion,
        frequency: float,
        centers: FloatArray,
        samples: int = PERIOD_SAMPLES,
    ) -> Runs:
        """Return the largest masses at centre poses `(k, 7)` for one frequency [Hz]."""
        motion = Motion(*map(np.ascontiguousarray, criterion.samples(frequency, samples)))
        legs = self.payload.platform.constants.legs
        constants: tuple[Any, ...] = (self._unit, self._empty, legs, motion, self._limits)
        results = np.empty((len(centers), 3))
        run_batch(largest_payloads, constants, (np.ascontiguousarray(centers), results))
        # Columns of the results: mass, leg, outcome, as the fields of `Runs`.
        mass = np.where(results[:, 0] < INFINITE_MASS, results[:, 0], np.inf)
        return Runs(mass, results[:, 1], results[:, 2])


class StaticPayload(NamedTuple):
    """Result of a static search; masses [kg] are of the whole body on the legs."""

    limits: FloatArray
    """`(n,)` limits of the actuators [N] or [N m]"""
    sense: str
    """"magnitude" or "signed" """
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """poses `(k, 7)` at these positions"""
    skipped: int
    """positions of the grid that the machine cannot take"""
    forces: AffineForces
    """forces at every position"""
    passes_kg: float | None
    """last mass that is held everywhere; None: not even the first one is"""
    fails_kg: float | None
    """next mass, which is not held everywhere"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that mass is not held"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps"""
    exact_position: FloatArray
    """`(n,)` position where that limit is reached"""
    exact_leg: int
    """number of the leg that reaches its limit there, from 1"""

    def largest_force(self, mass: Any) -> FloatArray:
        """Return the largest force or torque on the grid with bodies of masses `(m,)` [kg].

        Raises:
            InputError: not finite, or not `(m,)`.
        """
        masses = as_floats(mass, "mass")
        if masses.ndim != 1:
            raise InputError("mass", f"must have one axis, got shape {masses.shape}")
        forces = self.forces.of(masses[:, None, None])
        if self.sense == "magnitude":
            forces = np.abs(forces)
        return np.asarray(forces.max(axis=(1, 2)))


def static_payload(
    platform: MachineModel,
    *,
    limit: Any = None,
    grid: int = GRID_POSITIONS,
    start: float | None = None,
    step: float | None = None,
    sense: str = "magnitude",
) -> StaticPayload:
    """Return the largest payload a machine holds at rest.

    Args:
        platform: the machine.
        limit: largest force [N] or torque [N m] of the actuators, default what its file gives.
        grid: positions per actuator, evenly from end to end.
        start: first mass [kg] tried, default the step.
        step: what is added to it [kg], default about a thirtieth of what the machine holds at home.
        sense: "magnitude", or "signed" for pushing forces alone, as the thesis' code.

    Raises:
        InputError: legs that give way, no limit known, no gravity, or numbers out of range.
        SingularPoseError: a position of the grid is singular.

    Reference:
        Stewart thesis, section 4.2.1 and appendix A.5.
    """
    machine, force_sense = ScaledPayload(platform, limit), one_of(sense, "sense", FORCE_SENSES)
    if not platform.parameters.gravity > 0.0:
        raise InputError("platform", f"{platform.name} has no gravity: a payload weighs nothing")
    whole_number(grid, "grid", 2)
    positions = grid_positions(platform, np.linspace(0.0, 1.0, grid))
    forces = machine.forces(positions.poses, ZERO_VECTOR, ZERO_VECTOR)
    masses = forces.largest_mass(machine.limits, force_sense)
    limits = masses.min(axis=1)
    weakest_position, leg = first_lowest(masses)
    passes, fails = mass_steps(
        float(limits[weakest_position]), start, machine.step if step is None else step
    )
    first_failure = None if fails is None else positions.extensions[int((limits < fails).argmax())]
    return StaticPayload(
        limits=machine.limits,
        sense=force_sense,
        extensions=positions.extensions,
        poses=positions.poses,
        skipped=positions.skipped,
        forces=forces,
        passes_kg=passes,
        fails_kg=fails,
        first_failure=first_failure,
        exact_limit_kg=float(limits[weakest_position]),
        exact_position=positions.extensions[weakest_position],
        exact_leg=leg + 1,
    )
