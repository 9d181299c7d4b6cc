"""Pitch sine of the Stewart thesis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.motion import SineMotion
from twin.validation.case import validation_case
from twin.validation.measures.comparison import (
    DrivenMotion,
    driven,
    end_work_measure,
    engines_along,
    work_measure,
)
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import STEWART_PITCH_SINE, STEWART_THESIS
from twin.validation.results import CaseResult, Entry, Measure, Statement

MOTION_PERIOD = 1.0 / STEWART_PITCH_SINE.frequency
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
    driven_motion = driven(platform, motion)
    caption = "Thesis figures 2.6 and 3.6. Positive pitch turns the platform's x axis down."
    engines, plots = engines_along(
        platform, motion, driven_motion, "Pitch sine", ENGINE_TIME, caption=caption
    )
    measures = [
        _kinematics(platform, motion, driven_motion),
        *_thrusts(platform, driven_motion),
        *engines,
    ]
    statements = _statements(platform, motion, driven_motion)
    return check_thesis_motion.result(platform, measures, plots, statements)


def pitch_sine() -> SineMotion:
    """Return one period of the pitch sine about the thesis' reference point."""
    return SineMotion(
        STEWART_PITCH_SINE.position,
        amplitude={"pitch": STEWART_PITCH_SINE.amplitude},
        frequency=STEWART_PITCH_SINE.frequency,
        duration=MOTION_PERIOD,
    )


def centred(parameters: MachineParameters) -> MachineParameters:
    """Return the machine with the legs' centres of mass on their axes, all else as it is."""
    content = parameters.model_dump()
    for body in (content["leg"]["housing"], content["leg"]["rod"]):
        if "center_of_mass" in body:
            body["center_of_mass"] = (0.0, 0.0, body["center_of_mass"][2])
    return MachineParameters.model_validate(content)


def closed_form(platform: Platform, motion: SineMotion, time: FloatArray) -> FloatArray:
    """Return leg lengths `(k, n)` of a pitch about y, written out; no attitude at the centre."""
    angle = motion.amplitude[motion.axis_names.index("pitch")] * np.sin(
        2.0 * np.pi * STEWART_PITCH_SINE.frequency * time
    )
    sine, cosine = np.sin(angle)[:, None], np.cos(angle)[:, None]
    x, y, z = platform.platform_joints.T
    ax, ay, az = platform.base_joints.T
    px, py, pz = motion.center[:3]
    along_x = px + x * cosine + z * sine - ax
    along_z = pz - x * sine + z * cosine - az
    return np.asarray(np.sqrt(along_x**2 + (py + y - ay) ** 2 + along_z**2))


def _kinematics(platform: Platform, motion: SineMotion, course: DrivenMotion) -> Measure:
    return Measure(
        "leg lengths against their closed form",
        largest(course.coordinates - closed_form(platform, motion, course.time)),
        1e-14,
        "rounding",
        unit="m",
    )


def _thrusts(platform: Platform, course: DrivenMotion) -> Iterator[Entry]:
    scale = np.abs(course.forces).max()
    first_half = course.forces[: len(course.time) // 2 + 1]
    asymmetry = np.abs(first_half - first_half[::-1]).max() / scale
    yield Measure(
        "thrusts where the platform passes the same pose in the other direction",
        asymmetry,
        1e-12,
        "rounding; without friction the velocities enter by their squares and products alone",
    )
    yield work_measure(platform, course, 1e-10)
    yield end_work_measure(platform, course, 1e-12)


def _statements(
    platform: Platform, motion: SineMotion, course: DrivenMotion
) -> tuple[Statement, ...]:
    centred_motion = driven(Platform(centred(platform.parameters)), motion)
    difference = centred_motion.forces - course.forces
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
