"""The driver's head in the driving simulator's paper: printed vectors and exact motion.

The printed vectors are typed here and evaluated along the paper's sinusoidal inputs. The exact
motion is compared with differences of the head's path, which follows from scipy's rotations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.motion import SineMotion
from twin.motion.cueing import ALGORITHMS, Manoeuvre, workspace_use
from twin.motion.cueing.run import outcome
from twin.papers.driving_simulator.exact import HeadMotion, exact_head_motion, sinusoidal_inputs
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.driving_simulator.studies import (
    driven_motion,
    small_angle_head_motion,
)
from twin.validation.case import Entry, Measure, Statement
from twin.validation.cases.driving_simulator.engines import printed_places
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import SIMULATOR_PAPER

HEAD_POSITION = (0.0, 0.0, 1.1)
"""[m] Head in the platform frame. Engineering choice: the paper leaves xp, yp, zp open."""

OFFSET_HEAD_POSITION = (0.3, -0.2, 1.1)
"""[m] A head to one side, so that no term of the printed vectors is zero."""

MOTION_TIME = 10.0
"""[s] Compared part of the paper's sinusoidal inputs."""

DIFFERENCE_STEP = 1e-2
"""[s] Time between the samples of a difference."""

SAMPLE_OFFSETS = np.arange(-3, 4)
"""Times of the samples of a difference, in steps."""

FIRST_DIFFERENCE = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * DIFFERENCE_STEP)
"""[1/s] Weights of the samples for a first derivative of sixth order."""

SECOND_DIFFERENCE = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / (
    180.0 * DIFFERENCE_STEP**2
)
"""[1/s2] Weights of the samples for a second derivative of sixth order."""

HEAVE_FREQUENCY = 3.0
"""[Hz] A heave of 1 g with 27.6 mm and 0.52 m/s keeps the actuators' stroke and speed."""

VECTOR_UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s2",
    "specific_force": "m/s2",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s2",
}
"""Vectors of section "Pilot" and their units."""

ROUNDING_REASON = "differences over 10 ms: rounding of lengths below 2 m by the square of the step"
"""Reason of the tolerances."""

VECTOR_TOLERANCE = 2e-10
"""[SI] Bound for all vectors: a hundred roundings of 2e-16 m, divided by the square of 10 ms."""


def pilot_measures(plate: PlateModel) -> Iterator[Entry]:
    """Yield errors of the head's motion against the printed vectors and differences of its path."""
    time = np.linspace(0.0, MOTION_TIME, 201)
    small_angle_result = small_angle_motion(plate, time)
    vectors = printed_vectors(plate.home_length, time)
    # The paper prints -g; the errata show that a head at rest feels +g.
    vectors["specific_force"] = vectors["acceleration"] + [0.0, 0.0, plate.gravity]
    for name, printed in vectors.items():
        yield Measure(
            f"head, {name.replace('_', ' ')}: small-angle model against the printed vector",
            largest(getattr(small_angle_result, name) - printed),
            VECTOR_TOLERANCE,
            f"derivatives of x and y of the plate by {ROUNDING_REASON}",
            VECTOR_UNITS[name],
        )
    states = [part.coordinates for part in driven_motion(plate, sinusoidal_inputs(plate), time)]
    exact = exact_head_motion(plate, OFFSET_HEAD_POSITION, *states)
    for name, difference in motion_by_differences(plate, time).items():
        yield Measure(
            f"head, {name.replace('_', ' ')}: exact model against differences of its path",
            largest(getattr(exact, name) - difference),
            VECTOR_TOLERANCE,
            ROUNDING_REASON,
            VECTOR_UNITS[name],
        )
    rest_motion = exact_head_motion(
        plate, HEAD_POSITION, [plate.home_length, 0.0, 0.0], [0.0] * 3, [0.0] * 3
    )
    yield Measure(
        "specific force on the head at rest against g upwards",
        largest(rest_motion.specific_force - [0.0, 0.0, plate.gravity]),
        1e-12,
        "rounding; the paper prints the opposite sign",
        "m/s2",
    )


def printed_sines(home: float, time: FloatArray) -> FloatArray:
    """Return heave [m], roll and pitch [rad] of the paper's sinusoidal inputs `(3, 3, k)`.

    The first axis holds value, first and second derivative. The inputs are the lengths f_1 of the
    front right, f_2 of the rear left and f_3 of the front left pillar; the printed constraints are
    solved for the three coordinates.
    """
    lengths = []
    for amplitude, omega in ((1 / 40, 1.0), (1 / 1000, 11 / 10), (3 / 100, 1.0)):
        sine, cosine = amplitude * np.sin(omega * time), amplitude * np.cos(omega * time)
        lengths.append(np.stack([sine, omega * cosine, -(omega**2) * sine]))
    front_right, rear_left, front_left = lengths
    heave = (front_right + rear_left) / 2
    heave[0] += home
    roll = (front_left - front_right) / (2 * 41 / 100)
    pitch = (rear_left - front_left) / (2 * 4 / 5)
    return np.stack([heave, roll, pitch], axis=1)


def printed_vectors(home: float, time: FloatArray) -> dict[str, FloatArray]:
    """Return the vectors `(k, 3)` that section "Pilot" prints, in the paper's motion.

    The acceleration is given without its -981/100, which the errata list.
    """
    xp, yp, zp = OFFSET_HEAD_POSITION
    (z, phi, theta), (dz, dphi, dtheta), (ddz, ddphi, ddtheta) = printed_sines(home, time)
    positions = []
    for offset in SAMPLE_OFFSETS:
        coordinates = printed_sines(home, time + offset * DIFFERENCE_STEP)[0]
        positions.append(printed_places(*coordinates)["mp"])
    (x, y), (dx, dy), (ddx, ddy) = (
        np.einsum("k,kij->ij", weights, np.array(positions))
        for weights in (SAMPLE_OFFSETS == 0, FIRST_DIFFERENCE, SECOND_DIFFERENCE)
    )
    vectors = {
        "position": (
            xp + x + zp * theta,
            yp + y - zp * phi + xp * phi * theta,
            zp + z + yp * phi - xp * theta,
        ),
        "velocity": (
            zp * dtheta + dx,
            dy - zp * dphi + xp * phi * dtheta + xp * theta * dphi,
            yp * dphi - xp * dtheta + dz,
        ),
        "acceleration": (
            zp * ddtheta + ddx,
            ddy - zp * ddphi + 2 * xp * dtheta * dphi + xp * phi * ddtheta + xp * theta * ddphi,
            yp * ddphi - xp * ddtheta + ddz,
        ),
        "angular_velocity": (dphi, dtheta - phi * theta * dphi, theta * dphi),
        "angular_acceleration": (
            theta**2 * ddphi + ddphi + 2 * theta * dtheta * dphi,
            ddtheta - theta * dphi**2 - phi * theta * ddphi - phi * dtheta * dphi,
            -theta * phi**2 * ddphi
            + phi * ddtheta
            - 2 * theta * phi * dphi**2
            - dtheta * phi**2 * dphi
            + dtheta * dphi,
        ),
    }
    return {name: np.stack(vector, axis=-1) for name, vector in vectors.items()}


def small_angle_motion(plate: PlateModel, time: FloatArray) -> HeadMotion:
    """Return the head's motion by the small-angle model."""
    states = printed_sines(plate.home_length, time)
    return small_angle_head_motion(plate, OFFSET_HEAD_POSITION, *np.swapaxes(states, 1, 2))


def motion_by_differences(plate: PlateModel, time: FloatArray) -> dict[str, FloatArray]:
    """Return the head's motion `(k, 3)` from differences of its positions and rotations."""
    from scipy.spatial.transform import Rotation

    positions, rotations = [], []
    for offset in SAMPLE_OFFSETS:
        state = driven_motion(
            plate, sinusoidal_inputs(plate), time + offset * DIFFERENCE_STEP
        ).value
        # Coordinates are heave, roll and pitch; pitch rotates about the rolled y axis.
        rotation = Rotation.from_euler("XY", state.coordinates[:, 1:])
        positions.append(state.center + rotation.apply(OFFSET_HEAD_POSITION))
        rotations.append(rotation.as_matrix())
    present = SAMPLE_OFFSETS == 0
    position, velocity, acceleration = (
        np.einsum("k,kij->ij", weights, np.array(positions))
        for weights in (present, FIRST_DIFFERENCE, SECOND_DIFFERENCE)
    )
    # R' R^T is the cross-product matrix of omega; that of alpha is the skew part of R'' R^T.
    omega, alpha = (
        np.einsum(
            "k,knij,nlj->nil", weights, np.array(rotations), rotations[len(SAMPLE_OFFSETS) // 2]
        )
        for weights in (FIRST_DIFFERENCE, SECOND_DIFFERENCE)
    )
    return {
        "position": position,
        "velocity": velocity,
        "acceleration": acceleration,
        "specific_force": acceleration + np.array([0.0, 0.0, plate.gravity]),
        "angular_velocity": _vector_of(omega),
        "angular_acceleration": _vector_of(alpha),
    }


def _vector_of(matrices: FloatArray) -> FloatArray:
    """Return the vectors `(k, 3)` whose cross-product matrices are the skew parts of matrices."""
    skew = 0.5 * (matrices - np.swapaxes(matrices, 1, 2))
    return np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=-1)


def pilot_statements(platform: Platform, plate: PlateModel) -> tuple[Statement, ...]:
    """Return the paper's statements about the pilot and about commands above 0.8 g."""
    time = np.linspace(0.0, MOTION_TIME, 201)
    motion = small_angle_motion(plate, time)
    vectors = printed_vectors(plate.home_length, time)
    largest_error = max(
        largest(getattr(motion, name) - printed) for name, printed in vectors.items()
    )
    position_before, position_after = (
        printed_vectors(plate.home_length, time + offset)["position"]
        for offset in (-DIFFERENCE_STEP, DIFFERENCE_STEP)
    )
    base_velocity = (position_after - position_before) / (2.0 * DIFFERENCE_STEP)
    _, roll, pitch = printed_sines(plate.home_length, time)[0]
    ones, zeros = np.ones_like(roll), np.zeros_like(roll)
    to_base = [[ones, zeros, pitch], [roll * pitch, ones, -roll], [-pitch, roll, ones]]
    plate_velocity = np.einsum("jik,kj->ki", np.array(to_base), base_velocity)
    base_error, plate_error = (
        largest(vectors["velocity"] - velocity) for velocity in (base_velocity, plate_velocity)
    )
    return (
        SIMULATOR_PAPER["pilot_vectors"].judged(
            f"Our small-angle model agrees with all five within {largest_error:.0e} (m, m/s, "
            "m/s2, rad/s, rad/s2). The -981/100 of the acceleration is left out; the errata list "
            "it.",
            largest_error < VECTOR_TOLERANCE,
        ),
        SIMULATOR_PAPER["pilot_frame"].judged(
            "In the paper's motion the printed velocity differs from the derivative of the printed "
            f"position by {base_error:.0e} m/s in base axes, by {plate_error:.0e} m/s in plate "
            "axes.",
            plate_error < base_error,
            "position, velocity and acceleration have components in base axes; of the five vectors "
            "only the angular velocity has components in plate axes, see the errata",
        ),
        _clipped_statement(platform),
    )


def _clipped_statement(platform: Platform) -> Statement:
    gravity = platform.parameters.gravity
    amplitude = gravity / (2.0 * np.pi * HEAVE_FREQUENCY) ** 2
    motion = SineMotion(
        platform.home, amplitude={"z": amplitude}, frequency=HEAVE_FREQUENCY, duration=1.0
    )
    required_use = workspace_use(platform, motion)
    time = np.arange(0.0, 1.0 + 1e-9, 0.01)
    force = np.zeros((len(time), 3))
    force[:, 2] = gravity * (1.0 + np.sin(2.0 * np.pi * HEAVE_FREQUENCY * time))
    manoeuvre = Manoeuvre("heave of 1 g", time, force, np.zeros_like(force))
    outcomes = [outcome(platform, manoeuvre, name) for name in ALGORITHMS]
    cued_use = max(result.use.acceleration for result in outcomes)
    perceived_error = min(result.error.total for result in outcomes)
    return SIMULATOR_PAPER["clipped_commands"].judged(
        f"A heave of 1 g at {HEAVE_FREQUENCY:g} Hz needs {required_use.acceleration:.3g} times the "
        f"actuators' largest acceleration. All three cueing algorithms need at most {cued_use:.2f} "
        f"times it, and their perceived error is at least {perceived_error:.1f} perception "
        "thresholds.",
        required_use.acceleration > 1.0 and cued_use <= 1.0 and perceived_error > 1.0,
    )
