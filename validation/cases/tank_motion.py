"""Tank-track motion."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from twin.analysis.platform import Platform
from twin.motion import TankTrackMotion
from twin.motion.specification import fitted_tank_course
from twin.validation.case import validation_case
from twin.validation.measures.comparison import (
    DrivenMotion,
    driven,
    end_work_measure,
    engines_along,
    work_measure,
)
from twin.validation.published.printed import STEWART_THESIS
from twin.validation.results import CaseResult, Statement

TANK_DURATION = 8.0
"""[s] Duration of the tank motion."""

ENGINE_START = 4.0
"""[s] Time in the tank motion at which the engines start."""

ENGINE_TIME = 0.3
"""[s] Duration of the engines' runs."""

PITCH_FRACTION = 0.1
"""Fraction of the stroke that pitch alone may use."""


@validation_case(
    machines=("stewart",),
    because="the thesis tests its own machine, stewart; others make the driven motion about home",
    cost=1.5,
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
    driven_motion = driven(platform, motion)
    caption = "Thesis figures 2.4 and 3.5 show the like for the recorded track in pitch."
    engines, plots = engines_along(
        platform,
        motion,
        driven_motion,
        "Tank-track motion",
        ENGINE_TIME,
        begin=ENGINE_START,
        caption=caption,
    )
    measures = [
        work_measure(platform, driven_motion, 1e-7),
        end_work_measure(platform, driven_motion, 1e-8),
        *engines,
    ]
    return check_tank_motion.result(platform, measures, plots, _statements(driven_motion))


@lru_cache(maxsize=4)
def tank_motion(platform: Platform) -> TankTrackMotion:
    """Return the course about home, scaled to the machine's stroke and speed."""
    actuator = platform.parameters.leg.actuator
    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    return fitted_tank_course(platform, PITCH_FRACTION * actuator.stroke / radius, TANK_DURATION)


def _statements(course: DrivenMotion) -> tuple[Statement, ...]:
    thrust, speed = np.abs(course.forces).max(), np.abs(course.rates).max()
    return (
        STEWART_THESIS["tank_thrusts"].not_given(
            f"For a generated course: at most {speed:.3f} m/s and {thrust:.0f} N.",
            "the recorded track is not published, so that the curves cannot be computed again",
        ),
    )
