"""The driver's head of the driving simulator paper: printed vectors, exact motion, 0.8 g.

The printed vectors are typed here and evaluated along the paper's sines. The exact motion is
compared with differences of the head's path, which scipy's rotations make.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.motion import SineMotion
from twin.motion.cueing import ALGORITHMS, Manoeuvre, workspace_use
from twin.motion.cueing.run import outcome
from twin.papers.driving_simulator.inputs import sinusoidal_inputs
from twin.papers.driving_simulator.plate import PlateModel
from twin.papers.driving_simulator.studies.foot_friction import driven_motion
from twin.papers.driving_simulator.studies.head import (
    HeadMotion,
    exact_head_motion,
    small_angle_head_motion,
)
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import SIMULATOR
from twin.validation.results import Entry, Measure, Quantity, Statement

HEAD = (0.0, 0.0, 1.1)
"""[m] Head in the platform frame; adopted, the paper leaves xp, yp, zp open."""

HEAD_TO_ONE_SIDE = (0.3, -0.2, 1.1)
"""[m] Head for which every term of the printed vectors counts."""

SINES_TIME = 10.0
"""[s] Length of the paper's sines that is looked at."""

STEP = 1e-2
"""[s] Distance of the samples of which differences are taken."""

OFFSETS = np.arange(-3, 4)
"""Samples of a difference, in steps."""

FIRST_DIFFERENCE = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * STEP)
"""[1/s] Weights of the samples for a first derivative of sixth order."""

SECOND_DIFFERENCE = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / (180.0 * STEP**2)
"""[1/s2] Weights of the samples for a second derivative of sixth order."""

HEAVE_FREQUENCY = 3.0
"""[Hz] of a heave of 1 g: 27.6 mm and 0.52 m/s are within the actuators' stroke and speed."""

UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s2",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s2",
}
"""Vectors of section "Pilot" and their units."""

DIFFERENCES = "differences over 10 ms: rounding of lengths below 2 m over the square of the step"
"""Reason of the tolerances."""

TOLERANCE = 2e-10
"""[SI] Some hundred roundings of 2e-16 m over the square of 10 ms, which come to 2e-10."""


def pilot_measures(plate: PlateModel) -> Iterator[Entry]:
    """Yield the driver's head against the printed vectors and against differences of its path."""
    time = np.linspace(0.0, SINES_TIME, 201)
    ours = small_angle_motion(plate, HEAD_TO_ONE_SIDE, time)
    for name, printed in printed_vectors(plate.home_length, time).items():
        yield Measure(
            f"head, {name.replace('_', ' ')}: small-angle model against the printed vector",
            largest(getattr(ours, name) - printed),
            TOLERANCE,
            f"x and y of the plate by {DIFFERENCES}",
            unit=UNITS[name],
        )
    exact = exact_motion(plate, HEAD_TO_ONE_SIDE, time)
    for name, found in motion_by_differences(plate, time).items():
        yield Measure(
            f"head, {name.replace('_', ' ')}: exact model against differences of its path",
            largest(getattr(exact, name) - found),
            TOLERANCE,
            DIFFERENCES,
            unit=UNITS[name],
        )
    exact, small = (model(plate, HEAD, time) for model in (exact_motion, small_angle_motion))
    yield Quantity(
        "acceleration of the driver's head along the paper's sines, small-angle less exact",
        largest(small.acceleration - exact.acceleration),
        note=f"of {np.abs(exact.acceleration).max():.3g} m/s2; head {HEAD[2]:g} m above it",
        unit="m/s2",
    )
    still = exact_head_motion(plate, HEAD, [plate.home_length, 0.0, 0.0], [0.0] * 3, [0.0] * 3)
    yield Measure(
        "specific force on the head at rest, off + g upwards by",
        largest(still.specific_force - [0.0, 0.0, plate.gravity]),
        1e-12,
        "rounding; printed with the other sign",
        unit="m/s2",
    )


def printed_sines(home: float, time: FloatArray) -> FloatArray:
    """Return heave [m], roll and pitch [rad] with two derivatives `(3, 3, k)` in the paper's sines.

    The first axis is the derivative. The lengths are f_1 of the front right, f_2 of the rear left
    and f_3 of the front left pillar; the printed constraints are solved for the three coordinates.
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
    """Return the vectors that section "Pilot" prints, `(k, 3)` each, along the paper's sines.

    The acceleration is without its -981/100, which is a statement of its own.
    """
    xp, yp, zp = HEAD_TO_ONE_SIDE
    (z, phi, theta), (dz, dphi, dtheta), (ddz, ddphi, ddtheta) = printed_sines(home, time)
    places = []
    for offset in OFFSETS:
        heave, roll, pitch = printed_sines(home, time + offset * STEP)[0]
        x = pitch * (80 * pitch - 41 * roll + 100 * heave) / 100
        places.append((x, 41 * roll**2 / 100 - heave * roll))
    (x, y), (dx, dy), (ddx, ddy) = (
        np.einsum("k,kij->ij", weights, np.array(places))
        for weights in (OFFSETS == 0, FIRST_DIFFERENCE, SECOND_DIFFERENCE)
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


def small_angle_motion(
    plate: PlateModel, head: tuple[float, float, float], time: FloatArray
) -> HeadMotion:
    """Return the head's motion in the small-angle model along the paper's sines."""
    states = printed_sines(plate.home_length, time)
    return small_angle_head_motion(plate, head, *np.swapaxes(states, 1, 2))


def exact_motion(
    plate: PlateModel, head: tuple[float, float, float], time: FloatArray
) -> HeadMotion:
    """Return the head's exact motion along the paper's sines."""
    motion = driven_motion(plate, sinusoidal_inputs(plate), time)
    return exact_head_motion(plate, head, *(part.coordinates for part in motion))


def motion_by_differences(plate: PlateModel, time: FloatArray) -> dict[str, FloatArray]:
    """Return the exact motion of the head `(k, 3)` as differences of positions and rotations."""
    from scipy.spatial.transform import Rotation

    places, turns = [], []
    for offset in OFFSETS:
        state = driven_motion(plate, sinusoidal_inputs(plate), time + offset * STEP).value
        turn = Rotation.from_euler("XY", state.coordinates[:, 1:])
        places.append(state.center + turn.apply(HEAD_TO_ONE_SIDE))
        turns.append(turn.as_matrix())
    now = OFFSETS == 0
    place, velocity, acceleration = (
        np.einsum("k,kij->ij", weights, np.array(places))
        for weights in (now, FIRST_DIFFERENCE, SECOND_DIFFERENCE)
    )
    # R' R^T is the cross-product matrix of omega; R'' R^T has that of alpha as its odd part.
    omega, alpha = (
        np.einsum("k,knij,nlj->nil", weights, np.array(turns), turns[len(OFFSETS) // 2])
        for weights in (FIRST_DIFFERENCE, SECOND_DIFFERENCE)
    )
    return {
        "position": place,
        "velocity": velocity,
        "acceleration": acceleration,
        "angular_velocity": _vector_of(omega),
        "angular_acceleration": _vector_of(alpha),
    }


def _vector_of(matrices: FloatArray) -> FloatArray:
    """Return the vectors `(k, 3)` whose cross products the odd parts of matrices make."""
    odd = 0.5 * (matrices - np.swapaxes(matrices, 1, 2))
    return np.stack([odd[:, 2, 1], odd[:, 0, 2], odd[:, 1, 0]], axis=-1)


def pilot_statements(platform: Platform, plate: PlateModel) -> tuple[Statement, ...]:
    """Return the paper's statements about the pilot and about commands above 0.8 g."""
    time = np.linspace(0.0, SINES_TIME, 201)
    ours = small_angle_motion(plate, HEAD_TO_ONE_SIDE, time)
    vectors = printed_vectors(plate.home_length, time)
    off = max(largest(getattr(ours, name) - printed) for name, printed in vectors.items())
    before, after = (
        printed_vectors(plate.home_length, time + offset)["position"] for offset in (-STEP, STEP)
    )
    in_base = (after - before) / (2.0 * STEP)
    _, roll, pitch = printed_sines(plate.home_length, time)[0]
    one, zero = np.ones_like(roll), np.zeros_like(roll)
    to_base = [[one, zero, pitch], [roll * pitch, one, -roll], [-pitch, roll, one]]
    in_plate = np.einsum("jik,kj->ki", np.array(to_base), in_base)
    off_base, off_plate = (largest(vectors["velocity"] - rate) for rate in (in_base, in_plate))
    return (
        SIMULATOR["pilot_vectors"].judged(
            f"Our small-angle model gives all five to {off:.0e} m, m/s, m/s2, rad/s and rad/s2, "
            "without the -981/100, which is a statement of its own.",
            off < TOLERANCE,
        ),
        SIMULATOR["pilot_frame"].judged(
            f"Along the sines the printed velocity is {off_base:.0e} m/s off the derivative of the "
            f"printed position in the base, and {off_plate:.0e} m/s off its components in the "
            "plate's axes.",
            off_plate < off_base,
            "position, velocity and acceleration are derivatives of base coordinates; of the five "
            "vectors only the angular velocity has components along the plate; see the errata",
        ),
        _clipped_statement(platform),
    )


def _clipped_statement(platform: Platform) -> Statement:
    gravity = platform.parameters.gravity
    wanted = gravity / (2.0 * np.pi * HEAVE_FREQUENCY) ** 2
    motion = SineMotion(
        platform.home, amplitude={"z": wanted}, frequency=HEAVE_FREQUENCY, duration=1.0
    )
    needed = workspace_use(platform, motion)
    time = np.arange(0.0, 1.0 + 1e-9, 0.01)
    force = np.zeros((len(time), 3))
    force[:, 2] = gravity * (1.0 + np.sin(2.0 * np.pi * HEAVE_FREQUENCY * time))
    manoeuvre = Manoeuvre("heave of 1 g", time, force, np.zeros_like(force))
    outcomes = [outcome(platform, manoeuvre, name) for name in ALGORITHMS]
    given = max(one.use.acceleration for one in outcomes)
    lost = min(one.error.total for one in outcomes)
    return SIMULATOR["clipped_commands"].judged(
        f"A heave of 1 g at {HEAVE_FREQUENCY:g} Hz needs {needed.acceleration:.3g} times the "
        f"actuators' acceleration. All three algorithms of cueing ask for at most {given:.2f} "
        f"times, and the driver perceives at least {lost:.1f} thresholds of error.",
        needed.acceleration > 1.0 and given <= 1.0 and lost > 1.0,
    )
