"""Pose test, conventions and sag of the positioning hexapod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from twin.analysis.feasibility.course import PoseBox
from twin.analysis.feasibility.joint_angles import RequiredStroke, required_stroke
from twin.analysis.platform import Platform
from twin.analysis.stiffness import (
    Sag,
    characteristic_scale,
    commanded_coordinates,
    rest_length_forces,
    sag_over_gravity,
    static_pose,
    with_gravity,
)
from twin.basics.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.motion import StepMotion
from twin.rotations import (
    angle_between,
    angles_from_quaternion,
    displacement,
    pose_from_angles,
    quaternion_from_angles,
)
from twin.simulation.simulate import Trajectory
from twin.validation.case import (
    CaseResult,
    Entry,
    Measure,
    Statement,
    validation_case,
)
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import largest, rotation_of
from twin.validation.published.printed import HEXAPOD_PAPER

TEST_POSITION = (0.01, 0.02, 0.03)
"""[m] Paper, Matlab implementation: AP."""

TEST_ANGLES = (0.1, 0.2, 0.05)
"""[rad] Paper, Matlab implementation: tx, ty, tz."""

PRINTED_ERRORS = 1.611e-10, 6.2183e-10
"""[m] Position error and [1] largest entry of R - ARB that the paper prints for the end of its
simulation."""

PRINTED_DIGITS = 5e-4
"""Half a unit of the last digit of the printed position error, relative to the error."""

ENTRY_ROUNDING = 1e-15
"""Rounding of a rotation matrix' entries: sums of products of three numbers up to one."""

FAR_DISTANCE = 10.0
"""[m] Largest coordinate of the random positions in the search for lengths that are not real."""

FAR_POSES = 1000
"""Number of random positions in the search for lengths that are not real."""

STOP_TIME = 0.5
"""[s] Stop time of the paper's simulation."""

RISE_TIME = 0.1
"""[s] Time in which the rest lengths are commanded."""

SETTLING_TIME = 1.0
"""[s] Time after which the machine has settled: the slowest mode has decayed to exp(-21)."""

ENGINE_STEP = 2e-4
"""[s] Time step of the engines: twelve steps in a period of the fastest mode, 417 Hz, less than a
third of the longest stable step. Where they settle depends on neither step nor fidelity, so the
faster fidelity and twice the suitable step will do."""

SAMPLE_COUNT = 500
"""Number of samples that a simulation records."""


POSE_REASON = "the paper prints 1.6e-10 m and 6.2e-10 in an entry of R"

GRAVITY_FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Multiples of standard gravity at which the sag is computed."""

MOTION_RANGES = dict.fromkeys("xyz", (-0.01, 0.01)) | {
    f"angle_{axis}": (-0.05, 0.05) for axis in "xyz"
}
"""[m], [rad] Ranges of motion about home. Engineering choice."""


def settle(floating: Platform, engine: str = "analytic") -> Trajectory:
    """Return the simulation that commands the pose by rest lengths, within `RISE_TIME` from home.

    Raises:
        MissingDependencyError: the engine's library is not installed.
    """
    command = StepMotion(
        floating.home,
        displacement=[*TEST_POSITION, *TEST_ANGLES],
        rise=RISE_TIME,
        duration=SETTLING_TIME,
        convention="fixed_xyz",
    )
    fidelity, timestep = ("accurate", 1e-3) if engine == "analytic" else ("fast", ENGINE_STEP)
    steps = round(SETTLING_TIME / timestep)
    rest_lengths = floating.inverse_kinematics(command(np.linspace(0.0, SETTLING_TIME, steps)).pose)
    return floating.simulate(
        SETTLING_TIME,
        forces=rest_length_forces(floating, rest_lengths),
        engine=engine,
        timestep=timestep,
        fidelity=fidelity,
        every=steps // SAMPLE_COUNT,
        progress=False,
    )


def settle_in_all_engines(floating: Platform) -> tuple[dict[str, Trajectory], list[Entry]]:
    """Return the simulations by name, and notes of engines that are not installed."""
    trajectories = {"reference": settle(floating)}
    notes: list[Entry] = []
    for engine, label in ENGINE_LABELS.items():
        try:
            trajectories[label] = settle(floating, engine)
        except MissingDependencyError as error:
            notes.append(missing(label, error))
    return trajectories, notes


def solver_residual(floating: Platform, target: FloatArray) -> FloatArray:
    """Return the displacement `(6,)` [m, rad] in a simulation that begins in the commanded pose.

    The machine starts in equilibrium, so that only errors of the solver move it.
    """
    lengths = floating.inverse_kinematics(target)
    command = rest_length_forces(floating, np.tile(lengths, (round(STOP_TIME / 1e-3), 1)))
    trajectory = floating.simulate(STOP_TIME, pose=target, forces=command, progress=False)
    return displacement(trajectory.pose[-1], target)


def printed_matrices() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Rx, Ry, Rz `(3, 3)` as the paper lists them for the angles of its test."""
    tx, ty, tz = TEST_ANGLES
    sin, cos = np.sin, np.cos
    about_x = np.array([[1, 0, 0], [0, cos(tx), -sin(tx)], [0, sin(tx), cos(tx)]])
    about_y = np.array([[cos(ty), 0, sin(ty)], [0, 1, 0], [-sin(ty), 0, cos(ty)]])
    about_z = np.array([[cos(tz), -sin(tz), 0], [sin(tz), cos(tz), 0], [0, 0, 1]])
    return about_x, about_y, about_z


def printed_rotation(pose: FloatArray) -> FloatArray:
    """Return R - ARB `(3, 3)` of a pose, with ARB = Rz Ry Rx of the listed matrices."""
    about_x, about_y, about_z = printed_matrices()
    return np.asarray(rotation_of(pose).as_matrix() - about_z @ about_y @ about_x)


def rotation_measures(target: FloatArray, moving: FloatArray) -> Iterator[Measure]:
    """Yield errors of the rotations of poses `(7,)` by the test's angles, fixed and moving axes."""
    about_x, about_y, about_z = printed_matrices()
    moving_difference = rotation_of(moving).as_matrix() - about_x @ about_y @ about_z
    for name, difference in (
        ("fixed axes: entries of R against the listed Rz Ry Rx", printed_rotation(target)),
        ("moving axes: entries of R against Rx Ry Rz", moving_difference),
    ):
        yield Measure(
            name,
            largest(difference),
            ENTRY_ROUNDING,
            "rounding of products of three numbers up to one",
        )


def printed_lengths(platform: Platform, pose: FloatArray) -> FloatArray:
    """Return leg lengths `(n,)` [m] by the paper's last equation, all products written out."""
    rotated_joints = np.array(platform.platform_joints) @ rotation_of(pose).as_matrix().T
    a, b, p = platform.base_joints, platform.platform_joints, pose[:3]
    squares = p @ p + (b * b).sum(axis=1) + (a * a).sum(axis=1)
    squares += -2.0 * a @ p + 2.0 * rotated_joints @ p - 2.0 * (rotated_joints * a).sum(axis=1)
    return np.asarray(np.sqrt(squares))


def far_lengths_are_not_real(platform: Platform) -> bool:
    """Return whether the equation gives a length that is no real number at any pose tried."""
    rng = np.random.default_rng(1)
    positions = rng.uniform(-FAR_DISTANCE, FAR_DISTANCE, size=(FAR_POSES, 3))
    quaternions = rng.normal(size=(FAR_POSES, 4))
    poses = np.hstack([positions, quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)])
    with np.errstate(invalid="ignore"):
        return any(np.isnan(printed_lengths(platform, pose)).any() for pose in poses)


def hexapod_statements(
    platform: Platform, floating: Platform, target: FloatArray, settling: Trajectory, sag: Sag
) -> tuple[Statement, ...]:
    """Return the paper's statements with our values.

    Args:
        platform: the machine.
        floating: the same machine without gravity.
        target: pose of the test `(7,)`.
        settling: simulation of `floating` that commands this pose from home.
        sag: sag of `platform` at this pose.
    """
    from scipy.spatial.transform import Rotation

    sag_distance = float(np.linalg.norm(sag.exact[:3]))
    about_moving_axes = Rotation.from_euler("ZYX", TEST_ANGLES[::-1]).as_matrix()
    rotation_error = max(
        largest(printed_rotation(target)),
        largest(about_moving_axes - rotation_of(target).as_matrix()),
    )
    moving = quaternion_from_angles(TEST_ANGLES, "moving_xyz")
    attitude_difference = float(angle_between(target[3:], moving))
    length_error = largest(printed_lengths(platform, target) - platform.inverse_kinematics(target))
    return (
        *_pose_statements(floating, target, settling),
        HEXAPOD_PAPER["fixed_axes"].judged(
            "The pose's rotation matrix agrees with the listed Rz Ry Rx, and with the rotations "
            f"about moving axes, within {rotation_error:.1g}.",
            rotation_error < ENTRY_ROUNDING,
        ),
        _translation_statement(platform, target),
        HEXAPOD_PAPER["bushing_joint"].judged(
            f"With the angles of the test the two attitudes differ by {attitude_difference:.4f} "
            "rad.",
            attitude_difference > 1e-3,
        ),
        HEXAPOD_PAPER["leg_length"].judged(
            f"Agrees with |P + R b - a| to {length_error:.1g} m.", length_error < 1e-14
        ),
        HEXAPOD_PAPER["complex_lengths"].judged(
            f"Lengths are real at {FAR_POSES} poses up to {FAR_DISTANCE:g} m away.",
            far_lengths_are_not_real(platform),
            "what is under the root is the square of a distance; a pose of legs that slide is out "
            "of reach where a length is outside its actuator's range",
        ),
        HEXAPOD_PAPER["sag"].not_given(
            f"It sags by {1e6 * sag_distance:.2f} µm at the pose of the test.",
            "neither dimensions nor stiffness are in the paper; those here are adopted",
        ),
    )


def _pose_statements(
    floating: Platform, target: FloatArray, settling: Trajectory
) -> tuple[Statement, Statement]:
    """Return the statements about the pose at the end of the paper's simulation."""
    position, rotation = PRINTED_ERRORS
    paper_end = settling.pose[int(np.abs(settling.time - STOP_TIME).argmin())]
    (early_position_error, early_rotation_error), (final_position_error, final_rotation_error) = (
        (largest(pose[:3] - target[:3]), largest(printed_rotation(pose)))
        for pose in (paper_end, settling.pose[-1])
    )
    residual = largest(solver_residual(floating, target))
    deviations = early_position_error / position - 1.0, early_rotation_error / rotation - 1.0
    return (
        HEXAPOD_PAPER["pose_reached"].judged(
            f"After {SETTLING_TIME:g} s the pose differs by {final_position_error:.1e} m and "
            f"{final_rotation_error:.1e} in the entries of R.",
            final_position_error < position and final_rotation_error < rotation,
        ),
        HEXAPOD_PAPER["pose_errors"].judged(
            f"After {STOP_TIME:g} s, commanded from home, the pose differs by "
            f"{early_position_error:.1e} m and {early_rotation_error:.1e} in the entries of R.",
            largest(deviations) < PRINTED_DIGITS,
            f"at {STOP_TIME:g} s the machine's vibration has not yet decayed with the adopted "
            f"damping; it decays by a factor of {early_position_error / final_position_error:.0e} "
            f"until {SETTLING_TIME:g} s. A simulation that begins in the pose stays within "
            f"{residual:.0e} m and rad of it; this is the residual of the solver. The paper "
            "prints neither its damping nor its solver",
        ),
    )


def _translation_statement(platform: Platform, target: FloatArray) -> Statement:
    """Return the statement about the order of translations and rotations.

    Joints at P + R b are translated first, joints at R (P + b) are rotated first.
    """
    shift, home = np.array(TEST_POSITION), platform.home[:3]
    rotation = rotation_of(target).as_matrix()
    joints, base = platform.platform_joints, platform.base_joints
    leg_lengths = platform.inverse_kinematics(target)
    translated_first, rotated_first = (
        largest(np.linalg.norm(joint_positions - base, axis=1) - leg_lengths)
        for joint_positions in (
            home + shift + joints @ rotation.T,
            home + (shift + joints) @ rotation.T,
        )
    )
    return HEXAPOD_PAPER["translations_first"].judged(
        f"The leg lengths agree with joints at P + R b within {translated_first:.0e} m; with the "
        f"rotation first, R (P + b), they differ by up to {1e3 * rotated_first:.1f} mm.",
        translated_first < 10.0 * ENTRY_ROUNDING < rotated_first,
    )


@validation_case(
    machines=("micro_hexapod",),
    because="the paper states the test for its own machine, micro_hexapod",
    run_time=5.0,
)
def check_micro_hexapod(platform: Platform) -> CaseResult:
    """Pose test, conventions and sag of the positioning hexapod.

    The paper's pose test has no gravity. The lengths of the pose (10, 20, 30) mm and (0.1, 0.2,
    0.05) rad about fixed axes are commanded as rest lengths. Statics and simulations of the
    reference and of both engines have to settle there. With gravity on, the sag is compared with
    the prediction of the stiffness matrix. Fixed axes are compared with those of the bushing joint,
    and leg lengths with the printed equation. Natural frequencies are compared, too, and the stroke
    that a mobility of 10 mm and 0.05 rad requires.
    """
    target = pose_from_angles(platform.home[:3] + TEST_POSITION, TEST_ANGLES, "fixed_xyz")
    weightless = with_gravity(platform, 0.0)
    lengths = platform.inverse_kinematics(target)
    settling, notes = settle_in_all_engines(weightless)
    reached_poses = {"statics": static_pose(weightless, lengths, guess=platform.home)}
    reached_poses |= {
        f"{name} after {SETTLING_TIME:g} s": trajectory.pose[-1]
        for name, trajectory in settling.items()
    }
    sags = sag_over_gravity(platform, GRAVITY_FACTORS, target)
    nominal_sag = sags[GRAVITY_FACTORS.index(1.0)]
    stroke = required_stroke(platform, PoseBox.about(platform.home, MOTION_RANGES, "fixed_xyz"))
    measures = [
        *_reached_entries(reached_poses, target),
        *notes,
        *_sag(platform, sags, nominal_sag, target),
        *_conventions(target),
        _design(platform, stroke),
    ]
    statements = hexapod_statements(
        platform, weightless, target, settling["reference"], nominal_sag
    )
    return check_micro_hexapod.result(platform, measures, statements=statements)


def _reached_entries(
    reached_poses: Mapping[str, FloatArray], target: FloatArray
) -> Iterator[Entry]:
    for method, pose in reached_poses.items():
        error = np.abs(displacement(pose, target))
        name = f"commanded pose against the one reached, gravity off, {method}"
        yield Measure(f"{name}: position", error[:3].max(), 1e-10, POSE_REASON, "m")
        yield Measure(f"{name}: rotation", error[3:].max(), 1e-10, POSE_REASON, "rad")


def _sag(
    platform: Platform, sags: tuple[Sag, ...], nominal_sag: Sag, target: FloatArray
) -> Iterator[Entry]:
    scale = characteristic_scale(platform)
    sag_size, unpredicted_size = (
        np.linalg.norm(part / scale) for part in (nominal_sag.exact, nominal_sag.remainder)
    )
    yield Measure(
        "sag that the stiffness matrix does not predict, per sag",
        float(unpredicted_size / sag_size),
        1e-3,
        "of second order: about the sag per size of the machine, times ten for lever arms; a wrong "
        "entry of the matrix shows at 1e-1",
    )
    unpredicted = np.array([np.linalg.norm(sag.remainder / scale) for sag in sags])
    orders = np.log2(unpredicted[1:] / unpredicted[:-1])
    yield Measure(
        "order in the load of the sag that it does not predict, off 2 by",
        largest(orders - 2.0),
        0.02,
        "gravity doubled four times; third order enters with the sag per size, 1e-4",
    )
    pose_error = displacement(
        static_pose(platform, commanded_coordinates(platform, target)), target
    )
    yield Measure(
        "pose reached under gravity with rest lengths that make up for the sag",
        largest(pose_error),
        1e-10,
        "as without gravity",
        "m, rad",
    )


def _conventions(target: FloatArray) -> Iterator[Entry]:
    moving = pose_from_angles(target[:3], TEST_ANGLES, "moving_xyz")
    converted = angles_from_quaternion(target[3:], "moving_xyz")
    conversion_error = angle_between(quaternion_from_angles(converted, "moving_xyz"), target[3:])
    yield Measure(
        "angles converted for the bushing joint",
        float(conversion_error),
        1e-14,
        "rounding",
        "rad",
    )
    yield from rotation_measures(target, moving)


def _design(platform: Platform, stroke: RequiredStroke) -> Measure:
    return Measure(
        "stroke for 10 mm and 0.05 rad about every axis at once",
        stroke.stroke.max(),
        float(platform.stroke.min()),
        f"the actuators' range; legs from {1e3 * stroke.minimum.min():.1f} to "
        f"{1e3 * stroke.maximum.max():.1f} mm",
        "m",
    )
