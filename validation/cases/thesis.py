"""Numbers and motions that the Stewart thesis prints for its own machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mujoco import MujocoEngine
from twin.motion import SineMotion, TankTrackMotion
from twin.motion.specification import fitted_tank_course
from twin.rotations import quaternion_from_angles
from twin.validation.case import CaseResult, Entry, Measure, Statement, validation_case
from twin.validation.measures.comparison import (
    ActuatedMotion,
    actuated_motion,
    end_work_measure,
    engines_along,
    work_measure,
)
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import (
    HALF_UNIT_REASON,
    STEWART_BASE_JOINTS,
    STEWART_DOF,
    STEWART_PITCH_AMPLITUDE,
    STEWART_PITCH_FREQUENCY,
    STEWART_PITCH_POSITION,
    STEWART_PLATFORM_JOINTS,
    STEWART_RETRACTED_HEIGHT,
    STEWART_RETRACTED_LENGTH,
    STEWART_THESIS,
)

YAW_PITCH_ROLL = (0.2, -0.1, 0.15)
"""[rad] Yaw psi, pitch theta and roll phi at which (2.2) is compared."""


@validation_case(
    machines=("stewart",),
    because="the thesis gives these numbers for its own machine, stewart",
    run_time=0.5,
)
def check_published(platform: Platform) -> CaseResult:
    """Printed numbers of the Stewart thesis.

    What the thesis prints as numbers is computed from platform.toml: joint positions and leg
    lengths, and the number of degrees of freedom. Its rotation matrix (2.2) is compared with our
    rotation by the same angles.
    """
    degrees, mobility = _degrees_of_freedom(platform)
    measures = (*_geometry(platform), _rotation(), degrees)
    return check_published.result(platform, measures, (), (mobility,))


def _geometry(platform: Platform) -> Iterator[Entry]:
    retracted = np.array([0.0, 0.0, STEWART_RETRACTED_HEIGHT, 1.0, 0.0, 0.0, 0.0])
    for name, value, printed in (
        ("base joints (A.2)", platform.base_joints.T, STEWART_BASE_JOINTS),
        ("platform joints (A.2)", platform.platform_joints.T, STEWART_PLATFORM_JOINTS),
        (
            "leg lengths at 0.740 m (A.1, A.2)",
            platform.inverse_kinematics(retracted),
            STEWART_RETRACTED_LENGTH,
        ),
    ):
        yield Measure(
            f"{name} against print", largest(value - np.array(printed)), 5e-5, HALF_UNIT_REASON, "m"
        )


def _rotation() -> Measure:
    """Return the error of our rotation, body to base, against (2.2), which is base to body."""
    from scipy.spatial.transform import Rotation

    psi, theta, phi = YAW_PITCH_ROLL
    sin, cos = np.sin, np.cos
    printed = [
        [cos(theta) * cos(psi), cos(theta) * sin(psi), -sin(theta)],
        [
            sin(phi) * sin(theta) * cos(psi) - cos(phi) * sin(psi),
            sin(phi) * sin(theta) * sin(psi) + cos(phi) * cos(psi),
            cos(theta) * sin(phi),
        ],
        [
            cos(phi) * sin(theta) * cos(psi) + sin(phi) * sin(psi),
            cos(phi) * sin(theta) * sin(psi) - sin(phi) * cos(psi),
            cos(theta) * cos(phi),
        ],
    ]
    computed = Rotation.from_quat(
        quaternion_from_angles(YAW_PITCH_ROLL), scalar_first=True
    ).as_matrix()
    return Measure(
        "rotation matrix of yaw, pitch, roll against (2.2) transposed",
        largest(computed - np.transpose(printed)),
        1e-15,
        "rounding of three products of numbers up to one",
    )


def _rank(platform: Platform) -> tuple[int, int]:
    """Return joint coordinates, and rank of the constraints, of the compiled MuJoCo model."""
    engine = MujocoEngine(platform)
    engine.reset()
    shape = engine.data.nefc, engine.model.nv
    rank = np.linalg.matrix_rank(np.reshape(engine.data.efc_J, shape))
    engine.close()
    return shape[1], int(rank)


def _degrees_of_freedom(platform: Platform) -> tuple[Measure, Statement]:
    coordinates, rank = _rank(platform)
    measure = Measure(
        "degrees of freedom of the closed MuJoCo model, off the printed 6 by",
        abs(coordinates - rank - STEWART_DOF),
        0.0,
        "a count",
    )
    legs = platform.n_actuators
    links, joints, joint_freedoms = 2 * legs + 2, 3 * legs, 6 * legs
    mobility = 6 * (links - joints - 1) + joint_freedoms
    statement = STEWART_THESIS["mobility"].judged(
        f"F = 6 ({links} - {joints} - 1) + {joint_freedoms} = {mobility}; the MuJoCo model has "
        f"{coordinates} joint coordinates and loop closures of rank {rank}: "
        f"{coordinates - rank} degrees of freedom.",
        mobility == STEWART_DOF == coordinates - rank,
    )
    return measure, statement


TANK_DURATION = 8.0
"""[s] Duration of the tank motion."""

ENGINE_START = 4.0
"""[s] Time in the tank motion at which the engines start."""

TANK_ENGINE_TIME = 0.3
"""[s] Duration of the engines' runs."""

PITCH_FRACTION = 0.1
"""Fraction of the stroke that pitch alone may use."""


@validation_case(
    machines=("stewart",),
    because="the thesis tests its own machine, stewart; others make the driven motion about home",
    run_time=1.5,
)
def check_tank_motion(platform: Platform) -> CaseResult:
    """Tank-track motion.

    A tracked vehicle crosses barriers: pitch, heave and roll about home with content from 0.5 to 70
    Hz, as in thesis figures 2.4 and 3.5. The recorded track of the thesis is not published; this
    one is generated. It is scaled until pitch uses a tenth of the stroke, or an actuator 80 percent
    of its speed or of its range on one side of home. Each engine's own inverse dynamics is compared
    with the thrusts. Then both engines are driven by the thrusts, held over each step, for 0.3 s in
    the middle of the course.
    """
    motion = tank_motion(platform)
    actuated = actuated_motion(platform, motion)
    engines, plots = engines_along(
        platform,
        motion,
        actuated,
        "Tank-track motion",
        TANK_ENGINE_TIME,
        begin=ENGINE_START,
        caption="Thesis figures 2.4 and 3.5 show the like for the recorded track in pitch.",
    )
    measures = [
        work_measure(platform, actuated, 1e-7),
        end_work_measure(platform, actuated, 1e-8),
        *engines,
    ]
    return check_tank_motion.result(platform, measures, plots, _tank_statements(actuated))


@lru_cache(maxsize=4)
def tank_motion(platform: Platform) -> TankTrackMotion:
    """Return the course about home, scaled to the machine's stroke and speed."""
    tilt = PITCH_FRACTION * platform.parameters.leg.actuator.stroke / platform.joint_radius
    return fitted_tank_course(platform, tilt, TANK_DURATION)


def _tank_statements(course: ActuatedMotion) -> tuple[Statement, ...]:
    return (
        STEWART_THESIS["tank_thrusts"].not_given(
            f"For a generated course: at most {largest(course.rates):.3f} m/s and "
            f"{largest(course.forces):.0f} N.",
            "the recorded track is not published, so that the curves cannot be computed again",
        ),
    )


MOTION_PERIOD = 1.0 / STEWART_PITCH_FREQUENCY
LENGTH_ROUNDING = 1e-14
"""[m] Rounding of a leg length."""

ENGINE_TIME = 0.3
"""[s] Duration of the engines' runs."""


@validation_case(
    machines=("stewart",),
    because="the thesis moves its own machine, stewart; others make the driven motion about home",
)
def check_thesis_motion(platform: Platform) -> CaseResult:
    """Pitch sine of the Stewart thesis.

    The motion is (0, 3 deg sin(2 pi t), 0, 0, 0, 0.74 m) of thesis figures 2.6 and 3.6. Leg lengths
    are compared with their closed form, and thrusts with each engine's own inverse dynamics along
    the motion. Then both engines are driven by the thrusts, held over each step, for 0.3 s. 0.74 m
    is the fully retracted position: whatever shortens a leg there takes it below its minimum, as in
    the thesis.
    """
    motion = pitch_sine()
    actuated = actuated_motion(platform, motion)
    caption = "Thesis figures 2.6 and 3.6. Positive pitch turns the platform's x axis down."
    engines, plots = engines_along(
        platform, motion, actuated, "Pitch sine", ENGINE_TIME, caption=caption
    )
    measures = [*_thrusts(platform, actuated), *engines]
    return check_thesis_motion.result(
        platform, measures, plots, _statements(platform, motion, actuated)
    )


def pitch_sine() -> SineMotion:
    """Return one period of the pitch sine about the thesis' reference point."""
    return SineMotion(
        STEWART_PITCH_POSITION,
        amplitude={"pitch": STEWART_PITCH_AMPLITUDE},
        frequency=STEWART_PITCH_FREQUENCY,
        duration=MOTION_PERIOD,
    )


def centred(platform: Platform) -> Platform:
    """Return the machine with the legs' centres of mass on their axes, all else as it is."""
    paths = [f"leg.{part}.center_of_mass.{k}" for part in ("housing", "rod") for k in (0, 1)]
    return platform.with_(parameters=dict.fromkeys(paths, 0.0))


def closed_form(platform: Platform, motion: SineMotion, time: FloatArray) -> FloatArray:
    """Return leg lengths `(k, n)` of a pitch about y, written out; the centre is not turned."""
    angle = motion.amplitude[motion.axis_names.index("pitch")] * np.sin(
        2.0 * np.pi * STEWART_PITCH_FREQUENCY * time
    )
    sine, cosine = np.sin(angle)[:, None], np.cos(angle)[:, None]
    x, y, z = platform.platform_joints.T
    ax, ay, az = platform.base_joints.T
    px, py, pz = motion.center[:3]
    along_x = px + x * cosine + z * sine - ax
    along_z = pz - x * sine + z * cosine - az
    return np.asarray(np.sqrt(along_x**2 + (py + y - ay) ** 2 + along_z**2))


def _thrusts(platform: Platform, course: ActuatedMotion) -> Iterator[Entry]:
    first_half = course.forces[: len(course.time) // 2 + 1]
    yield Measure(
        "difference of the thrusts when the platform passes a pose in both directions",
        largest(first_half - first_half[::-1]) / largest(course.forces),
        1e-12,
        "rounding; without friction the velocities enter by their squares and products alone",
    )
    yield work_measure(platform, course, 1e-10)
    yield end_work_measure(platform, course, 1e-12)


def _statements(
    platform: Platform, motion: SineMotion, course: ActuatedMotion
) -> tuple[Statement, ...]:
    difference = actuated_motion(centred(platform), motion).forces - course.forces
    offset = largest(difference[0])
    variation = float(np.ptp(difference, axis=0).max())
    fraction = offset / largest(course.forces[0])
    length_error = largest(course.coordinates - closed_form(platform, motion, course.time))
    return (
        STEWART_THESIS["pitch_lengths"].judged(
            f"Inverse kinematics agrees with the closed form to {length_error:.1e} m, and both "
            "engines, driven by the thrusts, move their own leg joints along (errors above).",
            length_error < LENGTH_ROUNDING,
        ),
        STEWART_THESIS["centred_legs"].judged(
            f"Centring the legs' masses, all else equal, offsets the thrusts by up to {offset:.1f} "
            f"N ({100.0 * fraction:.1f} percent) at start-up; during the motion the "
            f"difference varies by {variation:.1f} N.",
            offset > variation,
        ),
    )
