"""The positioning hexapod's pose test, and what its paper says beside what we find."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.stiffness.matrix import rest_length_forces
from twin.analysis.stiffness.sag import Sag
from twin.basics.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.motion import StepMotion
from twin.rotations import angle_between, quaternion_from_angles
from twin.simulation.trajectory import Trajectory
from twin.validation.measures.comparison import LABELS, missing
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import HEXAPOD
from twin.validation.results import Quantity, Statement

PAPER = "Kinematics of the station (micro-hexapod)"

POSITION, ANGLES = (0.01, 0.02, 0.03), (0.1, 0.2, 0.05)
"""[m], [rad] paper, Matlab implementation: AP; tx, ty, tz."""

PRINTED_ERRORS = 1.611e-10, 6.2183e-10
"""[m] and largest entry of R - ARB, paper: at the end of the simulation."""

ERROR_DIGITS = 5e-4
"""Half a unit of their last digit, relative."""

FAR, FAR_POSES = 10.0, 1000
"""[m] up to which positions are tried for lengths that are not real, and their number."""

RISE, SETTLED = 0.1, 1.0
"""[s] in which the rest lengths are commanded, and at which the machine has settled: the slowest
mode has died away to exp(-21)."""

ENGINE_STEP = 2e-4
"""[s] of the engines: twelve steps in a period of the fastest mode, 417 Hz, less than a third of
the longest stable step. Where they settle depends on neither step nor fidelity, so the faster
fidelity and twice the suitable step will do."""

SAMPLES = 500
"""Times kept of a simulation."""


def settle(floating: Platform, engine: str = "analytic") -> Trajectory:
    """Return the simulation that commands the pose by rest lengths, within `RISE` from home.

    Raises:
        MissingDependencyError: the engine's library is not installed.
    """
    command = StepMotion(
        floating.home,
        displacement=[*POSITION, *ANGLES],
        rise=RISE,
        duration=SETTLED,
        convention="fixed_xyz",
    )
    fidelity, timestep = ("accurate", 1e-3) if engine == "analytic" else ("fast", ENGINE_STEP)
    steps = round(SETTLED / timestep)
    path = floating.inverse_kinematics(command(np.linspace(0.0, SETTLED, steps)).pose)
    return floating.simulate(
        SETTLED,
        forces=rest_length_forces(floating, path),
        engine=engine,
        timestep=timestep,
        fidelity=fidelity,
        every=steps // SAMPLES,
        progress=False,
    )


def settle_everywhere(floating: Platform) -> tuple[dict[str, Trajectory], list[Quantity]]:
    """Return the simulations by name, and notes of engines that are not installed."""
    found, notes = {"reference": settle(floating)}, []
    for engine, label in LABELS.items():
        try:
            found[label] = settle(floating, engine)
        except MissingDependencyError as error:
            notes.append(missing(label, error))
    return found, notes


def printed_lengths(platform: Platform, pose: FloatArray) -> FloatArray:
    """Return leg lengths `(n,)` [m] by the paper's last equation, all products written out."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_quat(pose[[4, 5, 6, 3]]).apply(np.array(platform.platform_joints))
    a, b, p = platform.base_joints, platform.platform_joints, pose[:3]
    squares = p @ p + (b * b).sum(axis=1) + (a * a).sum(axis=1)
    squares += -2.0 * a @ p + 2.0 * turned @ p - 2.0 * (turned * a).sum(axis=1)
    return np.asarray(np.sqrt(squares))


def far_lengths_are_not_real(platform: Platform) -> bool:
    """Return whether the equation gives a length that is no real number at any pose tried."""
    random = np.random.default_rng(1)
    positions = random.uniform(-FAR, FAR, size=(FAR_POSES, 3))
    turns = random.normal(size=(FAR_POSES, 4))
    poses = np.hstack([positions, turns / np.linalg.norm(turns, axis=1, keepdims=True)])
    with np.errstate(invalid="ignore"):
        return any(np.isnan(printed_lengths(platform, pose)).any() for pose in poses)


def hexapod_statements(
    platform: Platform, target: FloatArray, settled: FloatArray, sag: Sag
) -> tuple[Statement, ...]:
    """Return the paper's statements beside our values.

    Args:
        platform: the machine.
        target: pose of the test `(7,)`.
        settled: displacement `(6,)` from it to where the simulation ends without gravity.
        sag: under gravity at that pose.
    """
    reached = largest(settled[:3]), largest(settled[3:])
    down = float(np.linalg.norm(sag.exact[:3]))
    x, y, z = ANGLES
    reversed_order = quaternion_from_angles([z, y, x], "yaw_pitch_roll")
    off = float(angle_between(target[3:], reversed_order))
    moving = quaternion_from_angles(ANGLES, "moving_xyz")
    apart = float(angle_between(target[3:], moving))
    length = largest(printed_lengths(platform, target) - platform.inverse_kinematics(target))

    def off_by_less(times: float) -> bool:
        return bool((np.array(reached) < times * np.array(PRINTED_ERRORS)).all())

    return (
        HEXAPOD["pose_reached"].judged(
            f"Off by {reached[0]:.1e} m and {reached[1]:.1e} rad.",
            off_by_less(1.0),
        ),
        HEXAPOD["pose_errors"].judged(
            f"{reached[0]:.1e} m and {reached[1]:.1e} rad.",
            off_by_less(1.0 + ERROR_DIGITS) and not off_by_less(1.0 - ERROR_DIGITS),
            "the residual is that of a solver and its tolerance, not of the machine",
        ),
        HEXAPOD["fixed_axes"].judged(f"The two attitudes differ by {off:.1g} rad.", off < 1e-15),
        HEXAPOD["bushing_joint"].judged(
            f"With the angles of the test the attitudes are {apart:.4f} rad apart.", apart > 1e-3
        ),
        HEXAPOD["leg_length"].judged(
            f"Agrees with |P + R b - a| to {length:.1g} m.", length < 1e-14
        ),
        HEXAPOD["complex_lengths"].judged(
            f"Lengths are real at {FAR_POSES} poses up to {FAR:g} m away.",
            far_lengths_are_not_real(platform),
            "what is under the root is the square of a distance; a pose of legs that slide is out "
            "of reach where a length is outside its actuator's range",
        ),
        HEXAPOD["sag"].not_given(
            f"It sags by {1e6 * down:.2f} µm at the pose of the test.",
            "neither dimensions nor stiffness are in the paper; those here are adopted",
        ),
    )
