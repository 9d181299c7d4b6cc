"""Sines in all dof about home: actuator forces, their work, and engines driven by them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.motion import SineMotion, axis_names
from twin.simulation.platform import Platform
from twin.validation.actuators import coordinate_name, force_name
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
from twin.validation.results import CaseResult, Measure
from twin.validation.sampling import platform_radius, stroke

CASE = Case(
    key="driven_motion",
    title="Sines in all degrees of freedom about home",
    description=(
        "The platform is carried through sines in all its dof at once, of 1 and 2 Hz and "
        "about half of the stroke together, less where actuators would be too slow. "
        "The work of the actuators' forces has to be the gain of energy and what dampers and "
        "friction take, each engine's own inverse dynamics has to give the forces along the "
        "motion; then both engines are driven by the forces, held over each step, for 0.3 s (less "
        "in small machines and in stiff ones)."
    ),
    cost=1.5,
)

SHARE = 0.08
"""Of the stroke, by each of the six sines."""

SPEED_SHARE = 0.8
"""Of the actuators' speed"""

FREQUENCY = {"x": 1.0, "y": 2.0, "z": 1.0, "yaw": 1.0, "pitch": 2.0, "roll": 1.0}
PHASE = {"x": 0.0, "y": 0.5, "z": 1.0, "yaw": 1.5, "pitch": 2.0, "roll": 2.5}
"""[Hz], [rad]"""

DURATION = 1.0
"""[s] the common period"""

STEP = 2.5e-4
"""[s] between samples"""

ENGINE_TIME = 0.3
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    motion = sines(platform)
    run = driven(platform, motion, np.arange(round(DURATION / STEP) + 1.0) * STEP)
    projected, curves = projection_along(platform, run)
    force = force_name(platform)
    followed, plots = follow(platform, motion, 0.0, ENGINE_TIME, f"Driven by the {force}s")
    measures = [
        work_measure(platform, run, 1e-9),
        end_work_measure(platform, run, 1e-9),
        *_actuators(platform, run),
        *projected,
        *followed,
    ]
    plots.insert(0, legs_plot(platform, run, "Sines in all degrees of freedom", curves, ""))
    return CASE.result(platform, measures, plots)


def sines(platform: Platform) -> SineMotion:
    """Return one period of sines about home, scaled to stroke and speed of the actuators."""
    drives = np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1).mean()
    motion = _sines(platform, SHARE * stroke(platform) / float(drives))
    speed = platform.parameters.leg.actuator.speed
    if speed is None:
        return motion
    pose, twist, _ = platform.constrain(*motion(np.linspace(0.0, DURATION, 401)))
    fastest = np.abs(np.einsum("kij,kj->ki", platform.jacobian(pose), twist)).max()
    return _sines(platform, motion.amplitude[2] * min(1.0, SPEED_SHARE * speed / fastest))


def _sines(platform: Platform, shift: float) -> SineMotion:
    convention = "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"
    free = axis_names(convention) if platform.dof == 6 else ("z", "roll", "pitch")
    turn = shift / platform_radius(platform)
    return SineMotion(
        platform.home,
        amplitude={axis: shift if len(axis) == 1 else turn for axis in free},
        frequency={axis: FREQUENCY[axis] for axis in free},
        phase={axis: PHASE[axis] for axis in free},
        duration=DURATION,
        convention=convention,
    )


def _actuators(platform: Platform, run: DrivenMotion) -> Iterator[Measure]:
    actuator, force = platform.parameters.leg.actuator, platform.force_unit
    limits = np.stack([platform.minimum_coordinates, platform.maximum_coordinates])
    room = np.minimum(run.coordinates - limits[0], limits[1] - run.coordinates).min()
    yield Measure(
        f"least room left for a {coordinate_name(platform)}",
        float(room),
        platform.coordinate_unit,
        reason="negative: beyond a limit",
    )
    for name, values, unit, limit in (
        ("speed of an actuator", run.rates, f"{platform.coordinate_unit}/s", actuator.speed),
        (
            f"{force_name(platform)} of an actuator",
            run.forces,
            force,
            actuator.effort,
        ),
    ):
        told = "the machine gives no limit" if limit is None else f"limit {limit:g} {unit}"
        yield Measure(f"largest {name}", float(np.abs(values).max()), unit, reason=told)
