"""The thesis's pitch sine: leg displacements, thrusts, and what centred legs change in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.motion import SineMotion
from twin.simulation.platform import Platform
from twin.validation.actuators import leg_curves
from twin.validation.case import Case
from twin.validation.driven import (
    DrivenMotion,
    driven,
    end_work_measure,
    follow,
    legs_plot,
    projection_along,
    work_measure,
)
from twin.validation.published import STEWART_PITCH_SINE, THESIS
from twin.validation.results import CaseResult, Measure, Panel, Plot, Statement

CASE = Case(
    key="thesis_motion",
    title="Pitch sine of the Stewart thesis",
    description=(
        "The motion (0, 3 deg sin(2 pi t), 0, 0, 0, 0.74 m) of thesis figures 2.6 and 3.6. Leg "
        "lengths are compared with their closed form, thrusts with each engine's own inverse "
        "dynamics along the motion; then both engines are driven by the thrusts, held over each "
        "step, for 0.3 s. 0.74 m is the fully retracted position: whatever shortens a leg there "
        "takes it below its minimum, as in the thesis."
    ),
    machines=("stewart",),
    because="the thesis moves its own machine, stewart; others make the driven motion about home",
    cost=1.0,
)

PERIOD = 1.0 / STEWART_PITCH_SINE.frequency
ENGINE_TIME = 0.3
"""[s]"""

SHORTER = 1e-4
"""[m] below the retracted length that counts: lengths are printed to this digit."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    motion = pitch_sine()
    run = driven(platform, motion)
    projected, curves = projection_along(platform, run)
    followed, plots = follow(platform, motion, 0.0, ENGINE_TIME, "Driven by the thrusts")
    measures = [
        *_kinematics(platform, motion, run),
        *_thrusts(platform, run),
        *projected,
        *followed,
    ]
    caption = "Thesis figures 2.6 and 3.6. Positive pitch turns the platform's x axis down."
    plots.insert(0, legs_plot(platform, run, "Pitch sine", curves, caption))
    measure, plot, statements = _centred_legs(platform, motion, run)
    measures.append(measure)
    plots.insert(1, plot)
    return CASE.result(platform, measures, plots, statements)


def pitch_sine() -> SineMotion:
    """Return one period of the pitch sine where the thesis has it."""
    return SineMotion(
        STEWART_PITCH_SINE.position,
        amplitude={"pitch": STEWART_PITCH_SINE.amplitude},
        frequency=STEWART_PITCH_SINE.frequency,
        duration=PERIOD,
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


def _kinematics(platform: Platform, motion: SineMotion, run: DrivenMotion) -> Iterator[Measure]:
    yield Measure(
        "leg lengths against their closed form",
        float(np.abs(run.coordinates - closed_form(platform, motion, run.time)).max()),
        "m",
        1e-14,
        "rounding",
    )
    short = platform.minimum_coordinates - run.coordinates
    at_once = int((short > SHORTER).sum(axis=1).max())
    yield Measure(
        "leg shorter than its retracted length by at most",
        float(short.max()),
        "m",
        reason=f"up to {at_once} of {platform.n_actuators} legs at a time; negative: room left",
    )


def _thrusts(platform: Platform, run: DrivenMotion) -> Iterator[Measure]:
    scale = np.abs(run.forces).max()
    half = run.forces[: len(run.time) // 2 + 1]
    mirrored = np.abs(half - half[::-1]).max() / scale
    yield Measure(
        "thrusts where the platform passes the same pose in the other direction",
        float(mirrored),
        "1",
        1e-12,
        "rounding; without friction the velocities enter by their squares and products alone",
    )
    yield work_measure(platform, run, 1e-10)
    yield end_work_measure(platform, run, 1e-12)
    actuator = platform.parameters.leg.actuator
    for name, values, unit, limit in (
        ("speed of an actuator", run.rates, "m/s", actuator.speed),
        ("thrust of an actuator", run.forces, "N", actuator.effort),
    ):
        told = "the machine gives no limit" if limit is None else f"limit {limit:g} {unit}"
        yield Measure(f"largest {name}", float(np.abs(values).max()), unit, reason=told)


def _centred_legs(
    platform: Platform, motion: SineMotion, run: DrivenMotion
) -> tuple[Measure, Plot, tuple[Statement, ...]]:
    simplified = driven(Platform(centred(platform.parameters)), motion)
    difference = simplified.forces - run.forces
    offset = float(np.abs(difference[0]).max())
    spread = float(np.ptp(difference, axis=0).max())
    relative = offset / float(np.abs(run.forces[0]).max())
    measure = Measure(
        "thrust offset at start-up between centred and actual legs",
        offset,
        "N",
        reason=f"{100.0 * relative:.1f} percent of the largest thrust at start-up; over the motion "
        f"the difference varies by {spread:.2g} N",
    )
    plot = Plot(
        "What centred legs change",
        "time [s]",
        (
            Panel("thrust with centred legs [N]", leg_curves(run.time, simplified.forces)),
            Panel("centred minus actual [N]", leg_curves(run.time, difference)),
        ),
        caption="Centres of mass of housings and rods moved onto the leg axes, as in the "
        "thesis's simplified ADAMS model; masses and tensors unchanged.",
    )
    exact = float(np.abs(run.coordinates - closed_form(platform, motion, run.time)).max())
    statements = (
        Statement(
            f"{THESIS}, section 2.3.2, figure 2.6",
            "Inverse kinematics of the models in ADAMS and MATLAB are consistent.",
            f"Inverse kinematics agrees with the closed form to {exact:.1e} m, and both engines, "
            "driven by the thrusts, move their own leg joints along (errors above).",
            "reproduced",
        ),
        Statement.judged(
            f"{THESIS}, section 3.2, figure 3.6",
            "Thrusts of ADAMS and SimMechanics differ mainly by an offset at start-up, which may "
            "come from legs made symmetric about their axes in the ADAMS model.",
            f"Centring the legs' masses, all else equal, offsets the thrusts by up to {offset:.1f} "
            f"N ({100.0 * relative:.1f} percent) at start-up; during the motion the difference "
            f"varies by {spread:.1f} N.",
            offset > spread,
        ),
    )
    return measure, plot, statements
