"""Tank-track motion: leg displacements, thrusts and limits, engines driven along it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from twin.motion import TankTrackMotion
from twin.motion.specification import fitted_tank_course
from twin.simulation.platform import Platform
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
from twin.validation.published import THESIS
from twin.validation.results import CaseResult, Measure, Statement

CASE = Case(
    key="tank_motion",
    title="Tank-track motion",
    description=(
        "A tracked vehicle crosses barriers: pitch, heave and roll about home with content from "
        "0.5 to 70 Hz, as in thesis figures 2.4 and 3.5 (whose recorded track is not published; "
        "this one is generated, and scaled until pitch uses a tenth of the stroke or an actuator "
        "80 percent of its speed or of its range on one side of home). Leg displacements, speeds "
        "and thrusts are held against the actuators' limits, each engine's own inverse dynamics "
        "against the thrusts; then both engines are driven by the thrusts, held over each step, "
        "for 0.3 s in the middle of the run."
    ),
    machines=("stewart",),
    because="the thesis tests its own machine, stewart; others make the driven motion about home",
    cost=1.5,
)

DURATION = 8.0
BEGIN, ENGINE_TIME = 4.0, 0.3
"""[s]"""

PITCH_SHARE = 0.1
"""Of the stroke that pitch alone may use."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    motion = tank_motion(platform)
    run = driven(platform, motion)
    projected, curves = projection_along(platform, run)
    followed, plots = follow(platform, motion, BEGIN, ENGINE_TIME, "Driven by the thrusts")
    balance = [work_measure(platform, run, 1e-7), end_work_measure(platform, run, 1e-8)]
    measures = [*_limits(platform, run), *balance, *projected, *followed]
    caption = "Thesis figures 2.4 and 3.5 show the like for the recorded track in pitch."
    plots.insert(0, legs_plot(platform, run, "Tank-track motion", curves, caption))
    return CASE.result(platform, measures, plots, _statements(run))


@lru_cache(maxsize=4)
def tank_motion(platform: Platform) -> TankTrackMotion:
    """Return the course about home, scaled to the machine's stroke and speed."""
    actuator = platform.parameters.leg.actuator
    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    return fitted_tank_course(platform, PITCH_SHARE * actuator.stroke / radius, DURATION)


def _limits(platform: Platform, run: DrivenMotion) -> Iterator[Measure]:
    actuator = platform.parameters.leg.actuator
    for what, values, bound in (
        ("shortest", -run.coordinates, -actuator.minimum),
        ("longest", run.coordinates, actuator.maximum),
    ):
        yield Measure(
            f"{what} leg beyond its limit",
            float(values.max() - bound),
            "m",
            0.0,
            "limit of the actuator; negative: room left",
        )
    for name, values, unit, limit in (
        ("largest actuator speed", run.rates, "m/s", actuator.speed),
        ("largest thrust", run.forces, "N", actuator.effort),
    ):
        told = "limit of the actuator" if limit else "the machine gives no limit"
        yield Measure(name, float(np.abs(values).max()), unit, limit, told)


def _statements(run: DrivenMotion) -> tuple[Statement, ...]:
    thrust, speed = np.abs(run.forces).max(), np.abs(run.rates).max()
    return (
        Statement(
            f"{THESIS}, sections 2.3.1 and 3.1.2, figures 2.4 and 3.5",
            "Actuator displacements and thrusts for tank motion in pitch (curves; the recorded "
            "track and its numbers are not given).",
            f"For a generated run: at most {speed:.3f} m/s and {thrust:.0f} N.",
            "not given",
            "the recorded track is not published, so that the curves cannot be computed again",
        ),
    )
