"""Numbers that the thesis prints about the Stewart machine, found again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from twin.arrays import FloatArray
from twin.engines.mujoco_tree import open_tree
from twin.motion import SineMotion
from twin.parameters.machine import MachineParameters
from twin.platform import REST, Platform
from twin.validation.case import Case
from twin.validation.published import (
    STEWART_BASE_JOINTS,
    STEWART_FREEDOMS,
    STEWART_PLATFORM_JOINTS,
    STEWART_RETRACTED_HEIGHT,
    STEWART_RETRACTED_LENGTH,
    STEWART_SPEED_CHECK,
    STEWART_STATIC_PAYLOAD,
    THESIS,
)
from twin.validation.results import CaseResult, Measure, Statement

CASE = Case(
    key="published",
    title="Printed numbers of the Stewart thesis",
    description=(
        "What the thesis prints as numbers is computed from platform.toml: joint positions and leg "
        "lengths, the count of freedoms, the largest static payload with the very position at "
        "which its search stops, and the actuator speed of its performance criterion."
    ),
    machines=("stewart",),
    because="the thesis gives these numbers for its own machine, stewart",
    cost=0.5,
)

PRINTED_DIGIT = "half a unit of the last printed digit"

INVERTED = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""Turns a pose's rotation into its inverse."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    payload_measures, payload = _static_payload(platform)
    speed_measures, speed = _speed_check(platform)
    measures = (*_geometry(platform), _freedoms(platform), *payload_measures, *speed_measures)
    return CASE.result(platform, measures, (), (_mobility(platform), payload, speed))


def loaded(parameters: MachineParameters, mass: float) -> Platform:
    """Return the machine with a platform of that mass [kg], its tensor scaled along."""
    content = parameters.model_dump()
    body = content["platform"]["body"]
    body["inertia"] = (np.array(body["inertia"]) * mass / body["mass"]).tolist()
    body["mass"] = mass
    return Platform(MachineParameters.model_validate(content))


def payload_positions(platform: Platform) -> FloatArray:
    """Return the thesis's leg extensions `(grid^6, 6)` [m], the last leg varying fastest."""
    stroke = platform.parameters.leg.actuator.stroke
    steps = np.linspace(0.0, stroke, STEWART_STATIC_PAYLOAD.grid)
    return np.array(list(itertools.product(steps, repeat=platform.n_actuators)))


def largest_speed(platform: Platform, *, inverted: bool) -> float:
    """Return the largest actuator speed [m/s] of the thesis's sines.

    With `inverted` the platform turns as equations (2.2), (2.3) and appendix A.2 have it.
    """
    check = STEWART_SPEED_CHECK
    omega = 2.0 * np.pi * check.frequency
    motion = SineMotion(
        platform.home,
        amplitude={axis: value / omega**2 for axis, value in check.accelerations.items()},
        frequency=check.frequency,
        duration=1.0 / check.frequency,
    )
    time = np.linspace(0.0, motion.duration, 1001)
    sample = motion(time)
    pose, twist = sample.pose, sample.twist
    if inverted:
        pose = pose * INVERTED
        # The inverse rotation turns with minus the velocity, seen in its own frame.
        twist = np.hstack([twist[:, :3], -_turned(pose[:, 3:], twist[:, 3:])])
    rates = np.einsum("kij,kj->ki", platform.jacobian(pose), twist)
    return float(np.abs(rates).max())


def _turned(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).apply(vector))


def _geometry(platform: Platform) -> Iterator[Measure]:
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
        error = np.abs(value - np.array(printed)).max()
        yield Measure(f"{name} against print", float(error), "m", 5e-5, PRINTED_DIGIT)


def _rank(platform: Platform) -> tuple[int, int]:
    """Return joint coordinates, and rank of the loop closure, of the MuJoCo tree at home."""
    closure = open_tree(platform, platform.home, REST, REST).closure
    return closure.shape[1], int(np.linalg.matrix_rank(closure))


def _freedoms(platform: Platform) -> Measure:
    coordinates, rank = _rank(platform)
    return Measure(
        "freedoms of the closed MuJoCo model, off the printed 6 by",
        float(abs(coordinates - rank - STEWART_FREEDOMS)),
        "1",
        0.0,
        "a count",
    )


def _mobility(platform: Platform) -> Statement:
    coordinates, rank = _rank(platform)
    legs = platform.n_actuators
    links, joints, freedoms = 2 * legs + 2, 3 * legs, 6 * legs
    mobility = 6 * (links - joints - 1) + freedoms
    same = mobility == STEWART_FREEDOMS == coordinates - rank
    return Statement.judged(
        f"{THESIS}, section 2.1, equation (2.1)",
        "14 links, 18 joints with 36 freedoms: F = 6 (14 - 18 - 1) + 36 = 6.",
        f"F = 6 ({links} - {joints} - 1) + {freedoms} = {mobility}; the MuJoCo model has "
        f"{coordinates} joint coordinates and loop closures of rank {rank}: "
        f"{coordinates - rank} freedoms.",
        same,
    )


def _static_payload(platform: Platform) -> tuple[tuple[Measure, ...], Statement]:
    printed = STEWART_STATIC_PAYLOAD
    extensions = payload_positions(platform)
    poses = platform.forward_kinematics(platform.minimum_coordinates + extensions)
    thrusts = {
        mass: loaded(platform.parameters, mass).inverse_dynamics(poses, REST, REST).max(axis=1)
        for mass in (printed.held, printed.refused)
    }
    over = thrusts[printed.refused] > printed.thrust
    first = int(over.argmax())
    off = float(np.abs(extensions[first] - printed.extensions).max())
    measures = (
        Measure(
            f"largest static thrust with {printed.held:g} kg, {len(extensions)} positions",
            float(thrusts[printed.held].max()),
            "N",
            printed.thrust,
            "printed as held: below the actuators' limit everywhere",
        ),
        Measure(
            f"first static thrust above the limit with {printed.refused:g} kg",
            float(thrusts[printed.refused][first]),
            "N",
            printed.thrust,
            "printed as refused",
            at_least=True,
        ),
        Measure(
            "extensions at which the search stops, against print", off, "m", 5e-5, PRINTED_DIGIT
        ),
    )
    held = thrusts[printed.held].max() <= printed.thrust
    found = ", ".join(f"{value:.4g}" for value in extensions[first])
    statement = Statement.judged(
        f"{THESIS}, section 4.2.1, appendix A.5",
        "With 750 kg the search stops at extensions (0, 0, 0.0767, 0, 0.23, 0.23) m; 700 kg is the "
        "largest static payload for 3073 N.",
        f"With 750 kg the first position above 3073 N is ({found}) m, at "
        f"{thrusts[printed.refused][first]:.0f} N; 700 kg needs at most "
        f"{thrusts[printed.held].max():.0f} N.",
        bool(held and off <= 5e-5),
    )
    return measures, statement


def _speed_check(platform: Platform) -> tuple[tuple[Measure, ...], Statement]:
    printed = STEWART_SPEED_CHECK.speed
    right = largest_speed(platform, inverted=False)
    inverted = largest_speed(platform, inverted=True)
    name = "largest actuator speed of the performance criterion"
    measures = (
        Measure(name, right, "m/s", reason=f"above the limit of {printed:g} m/s if larger"),
        Measure(f"{name}, rotation as printed", inverted, "m/s", reason="(2.2), (2.3) and A.2"),
    )
    statement = Statement(
        f"{THESIS}, section 4.2.2, figure 4.7",
        "Sines of 1, 3, 0.5 rad/s2 (yaw, pitch, roll) and 2, 2, 2.5 m/s2 (x, y, z) at 2 Hz bring "
        "one actuator close to its limit of 0.254 m/s.",
        f"{right:.3f} m/s",
        "differs",
        "with the rotation running backwards, as in (2.3) and A.2 (see the errata), it is "
        f"{inverted:.4f} m/s, which fits the printed figure",
    )
    return measures, statement
