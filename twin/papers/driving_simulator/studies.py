"""Studies of the driving simulator: what its paper calculates, and what its assumptions cost.

Reference: driving simulator paper; derivations in docs/reproductions.md.

`small_angle_head_motion`: motion of the driver's head.

The head is a point fixed to the plate. The small-angle expressions are those the paper prints; the
exact ones come from rigid-body kinematics with R = Rx(roll) Ry(pitch).

Reference: driving simulator paper, section "Pilot".

`exact_ranges`, `stroke_fractions`, `workspace_surface`: ranges of heave, roll and pitch, alone and
together.

A plate given by its center length and two slopes (`twin.papers.driving_simulator.kinematics`) is
within the stroke s where |center_length - home_length| + half_width |roll_slope| + half_length
|pitch_slope| <= s / 2. The fractions of the stroke that the degrees of freedom use add up:
superposition is exact in these numbers and to first order in heave, roll and pitch.

In center length and slopes the workspace is an octahedron whose six corners are the motion ranges.
Its surface, moved to where the centre is, is the paper's translational envelope.

Reference: driving simulator paper, sections "Motion ranges" and "Platform Workspace -
Translational Envelope".

`internal_forces`: internal force of four actuators for three degrees of freedom.

In a plane rectangle the lengths are linear in center length and slopes, so that at every pose

    h_front_right - h_front_left + h_rear_left - h_rear_right = 0

and forces in the pattern (1, -1, 1, -1) do no work in any motion: the plate is twisted, not moved.
Forces that are a gradient of the coordinates have no part of this pattern; among all forces for one
motion they are the smallest.

`released`: motion of the exact model and of the paper's models under the same actuator forces.

The forces are those that the exact model needs to drive three lengths along given inputs. The exact
model then reproduces the inputs; another model deviates because of the missing energy terms.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, read_only
from twin.papers.driving_simulator.dae.integration import ForcedRun, integrate_forced
from twin.papers.driving_simulator.dae.lagrange import DRIVEN_INDICES, home_inertia
from twin.papers.driving_simulator.exact import DrivenLengths, ExactModel, HeadMotion
from twin.papers.driving_simulator.kinematics import (
    CORNER_SIGNS,
    CORNERS,
    ConfigurationMotion,
    ExactKinematics,
    Jet,
    PlateKinematics,
    PlateModel,
    SmallAngleKinematics,
    checked_coordinates,
)

INTERNAL_FORCE_DIRECTION = read_only(0.5 * CORNER_SIGNS[:, 0] * -CORNER_SIGNS[:, 1])
"""Unit vector `(4,)` of the internal force, which moves nothing: (1, -1, 1, -1) / 2."""

SURFACE_DIVISIONS = 40
"""Parts of an edge of the workspace, on whose surface the worst errors are looked for."""

KNOT_SPACING = 5e-3
"""[s] Spacing of the knots of the force splines; their relative interpolation error is 1e-9"""


def driven_motion(
    plate: PlateModel, inputs: DrivenLengths, time: FloatArray
) -> ConfigurationMotion:
    """Return the exact motion of a plate while its three driven lengths follow the inputs.

    Args:
        plate: the machine.
        inputs: the driven lengths.
        time: `(k,)` [s].
    """
    sample = inputs.sample(time)
    # The kinematics takes rear right, rear left, front left; rear right = fr + rl - fl.
    length_map = np.array([[1.0, 1.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return ExactKinematics(plate).direct_motion(*(values @ length_map.T for values in sample))


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
    position_jets = (
        center[0] + pitch * zp + xp,
        center[1] - roll * zp + roll * pitch * xp + yp,
        center[2] + roll * yp - pitch * xp + zp,
    )
    position, velocity, acceleration = (
        np.stack([getattr(jet, name) for jet in position_jets], axis=-1)
        for name in ("value", "rate", "acceleration")
    )
    return HeadMotion(
        position,
        velocity,
        acceleration,
        acceleration + np.array([0.0, 0.0, plate.gravity]),
        *_printed_turning(roll, pitch),
    )


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


class MotionRanges(NamedTuple):
    """Largest displacement from home, the same to both sides, the other dof at home."""

    heave: float
    """[m] largest heave from home"""
    roll: float
    """[rad] largest roll from home"""
    pitch: float
    """[rad] largest pitch from home"""


def small_angle_ranges(plate: PlateModel) -> MotionRanges:
    """Return the ranges of the small-angle model: half the stroke over the arm."""
    half_stroke = 0.5 * plate.stroke
    return MotionRanges(
        half_stroke, half_stroke / plate.half_width, half_stroke / plate.half_length
    )


def exact_ranges(plate: PlateModel) -> MotionRanges:
    """Return the exact ranges with the centre held at its home height.

    The longest pillar ends them: home_length / cos(a) + arm tan(a) = maximum_length.
    """
    longest_length = plate.maximum_length

    def angle(arm: float) -> float:
        longest_reach = np.hypot(longest_length, arm)
        return float(np.arccos(plate.home_length / longest_reach) - np.arctan2(arm, longest_length))

    return MotionRanges(0.5 * plate.stroke, angle(plate.half_width), angle(plate.half_length))


def stroke_fractions(kinematics: PlateKinematics, coordinates: Any) -> FloatArray:
    """Return the parts `(..., 3)` of half the stroke that heave, roll and pitch take.

    Their sum is at most one where all pillars are within their stroke.

    Args:
        kinematics: small-angle or exact.
        coordinates: `(..., 3)` heave [m], roll, pitch [rad].

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    plate = kinematics.plate
    columns = np.moveaxis(checked_coordinates(coordinates), -1, 0)
    center, roll, pitch = kinematics.slopes(*columns)
    length_shares = [center - plate.home_length, roll * plate.half_width, pitch * plate.half_length]
    return np.asarray(np.abs(np.stack(length_shares, axis=-1)) / (0.5 * plate.stroke))


def workspace_surface(kinematics: PlateKinematics, divisions: int) -> FloatArray:
    """Return coordinates `(k, 3)` on the surface of the workspace: heave [m], roll, pitch [rad].

    Args:
        kinematics: small-angle or exact.
        divisions: parts of an edge of the octahedron.
    """
    plate = kinematics.plate
    i, j = np.indices((divisions + 1, divisions + 1)).reshape(2, -1)
    k = divisions - i - j
    face = np.stack([i, j, k], axis=-1)[k >= 0] / divisions
    faces = [face * signs for signs in product((1.0, -1.0), repeat=3)]
    points = np.unique(np.vstack(faces) + 0.0, axis=0)
    half_strokes = 0.5 * plate.stroke / np.array([1.0, plate.half_width, plate.half_length])
    slopes = points * half_strokes + [plate.home_length, 0.0, 0.0]
    return np.stack(kinematics.angles(*slopes.T), axis=-1)


class SmallAngleErrors(NamedTuple):
    """Small-angle model minus exact model at poses `(...)`."""

    lengths: FloatArray
    """`(..., 4)` [m] of the pillars that inverse kinematics gives for the pose"""
    coordinates: FloatArray
    """`(..., 3)` heave [m], roll, pitch [rad] that direct kinematics gives for the lengths"""
    center: FloatArray
    """`(..., 2)` [m] x and y of the plate's centre for the pose"""
    feet: FloatArray
    """`(..., 4, 2)` [m] of the feet for the pose"""


class WorstErrors(NamedTuple):
    """Largest sizes of the errors over the workspace."""

    length: float
    """[m] of a pillar, for a given pose"""
    heave: float
    """[m] for given lengths"""
    roll: float
    """[rad] for given lengths"""
    pitch: float
    """[rad] for given lengths"""
    center: float
    """[m] horizontal distance of the plate's centre, for a given pose"""
    foot: float
    """[m] distance of a foot, for a given pose"""


def small_angle_errors_at(plate: PlateModel, coordinates: Any) -> SmallAngleErrors:
    """Return the errors of the small-angle model at coordinates `(..., 3)`.

    Args:
        plate: the machine.
        coordinates: heave [m], roll, pitch [rad]; limits are not checked.

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    small_angle, exact_model = SmallAngleKinematics(plate), ExactKinematics(plate)
    true_lengths, approximate_lengths = (
        exact_model.inverse(coordinates),
        small_angle.inverse(coordinates),
    )
    _, front_left, rear_left, rear_right = np.moveaxis(true_lengths.lengths, -1, 0)
    reached_angles = small_angle.direct(rear_right, rear_left, front_left)
    return SmallAngleErrors(
        approximate_lengths.lengths - true_lengths.lengths,
        reached_angles.coordinates - true_lengths.coordinates,
        (approximate_lengths.center - true_lengths.center)[..., :2],
        approximate_lengths.feet - true_lengths.feet,
    )


def worst_small_angle_errors(plate: PlateModel) -> WorstErrors:
    """Return the largest errors of the small-angle model over the workspace.

    Errors grow with the angles and are largest on the surface of the workspace.
    """
    errors = small_angle_errors_at(
        plate, workspace_surface(ExactKinematics(plate), SURFACE_DIVISIONS)
    )
    heave, roll, pitch = np.abs(errors.coordinates).max(axis=0).tolist()
    return WorstErrors(
        float(np.abs(errors.lengths).max()),
        heave,
        roll,
        pitch,
        float(np.linalg.norm(errors.center, axis=-1).max()),
        float(np.linalg.norm(errors.feet, axis=-1).max()),
    )


def internal_forces(forces: Any) -> FloatArray:
    """Return the part of actuator forces `(..., 4)` [N] that twists the plate and moves nothing.

    Raises:
        InputError: wrong shape, not finite.
    """
    force_values = as_floats(forces, "forces", len(CORNERS))
    return (force_values @ INTERNAL_FORCE_DIRECTION)[..., None] * INTERNAL_FORCE_DIRECTION


class Released(NamedTuple):
    """Motions under the same forces from the same state: heave [m], roll and pitch [rad]."""

    time: FloatArray
    """`(k,)` [s]"""
    exact: FloatArray
    """`(k, 3)` motion of the exact model, from which the forces were computed"""
    printed: ForcedRun
    complete: ForcedRun
    """motion with the energies that the paper leaves out: m h^2 in the inertia, and m g h"""
    derived: FloatArray
    """`(k, 2)` [rad] error of the printed model in roll and pitch, derived to first order"""

    @property
    def printed_error(self) -> FloatArray:
        """Printed less exact motion `(k, 3)`."""
        return self.printed.plate - self.exact

    @property
    def complete_error(self) -> FloatArray:
        """Motion with the completed energies less the exact motion `(k, 3)`."""
        return self.complete.plate - self.exact


def exact_forces(plate: PlateModel, inputs: DrivenLengths, time: FloatArray) -> FloatArray:
    """Return the exact forces `(k, 4)` [N] that drive three lengths; the fourth follows freely."""
    states = [part.coordinates for part in driven_motion(plate, inputs, time)]
    return ExactModel(plate).forces(*states, pushing=DRIVEN_INDICES)


def released(plate: PlateModel, inputs: DrivenLengths, duration: float) -> Released:
    """Return the paper's two models under the forces that the exact one needs for the inputs."""
    from scipy.interpolate import CubicSpline

    knots: FloatArray = np.linspace(0.0, duration, round(duration / KNOT_SPACING) + 1)
    motion = driven_motion(plate, inputs, knots)
    forces: Any = CubicSpline(knots, exact_forces(plate, inputs, knots))
    initial_state = [part.coordinates[0] for part in (motion.value, motion.rate)]
    printed, complete = (
        integrate_forced(
            plate, forces, duration, *initial_state, complete=complete, samples=len(knots)
        )
        for complete in (False, True)
    )
    return Released(
        knots,
        motion.value.coordinates,
        printed,
        complete,
        missing_terms(plate, knots, motion.value.coordinates, motion.acceleration.coordinates),
    )


def missing_terms(
    plate: PlateModel, time: FloatArray, coordinates: FloatArray, accelerations: FloatArray
) -> FloatArray:
    """Return roll and pitch `(k, 2)` [rad] by which the printed model is off, to first order.

    The forces bring the generalised force I q'' - K q about each axis, with I = I_printed + m h^2
    and K = m g h. The printed model takes all of it for I_printed q'': it is off by
    (m h^2 q'' - m g h q) / I_printed, integrated twice.
    """
    from scipy.interpolate import CubicSpline

    height, mass = coordinates[0, 0], plate.lifted_mass
    missing_force = mass * height**2 * accelerations[:, 1:]
    missing_force -= mass * plate.gravity * height * coordinates[:, 1:]
    twice: Any = CubicSpline(time, missing_force / home_inertia(plate).printed[1:])
    return np.asarray(twice.antiderivative(2)(time))
