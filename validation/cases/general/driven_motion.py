"""Sines in all degrees of freedom about home.

The platform is carried through sines in all its degrees of freedom at once. They have 1 and 2 Hz
and some 8 % of the stroke each, less where actuators would be too slow or cranks would line up with
their rods. The work of the actuators' forces has to be the gain of energy and the loss in
dampers and friction. Each engine's own inverse dynamics has to give the forces along the motion.
Then both engines are driven by the forces, held over each step, for 0.3 s (less in small machines
and in stiff ones).
"""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.motion import SineMotion, axis_names
from twin.validation.case import Case
from twin.validation.measures.comparison import (
    DrivenMotion,
    actuator_measures,
    coordinate_name,
    driven,
    end_work_measure,
    engines_along,
    work_measure,
)
from twin.validation.measures.equilibrium import fastest_rate
from twin.validation.measures.sampling import (
    MOTION_SAMPLES,
    followed_motion,
    platform_radius,
    stroke,
)
from twin.validation.results import CaseResult, Quantity

CASE = Case("driven_motion", __doc__, cost=1.5)

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
"""[s] between samples, at most"""

SAMPLED_RATE = 0.1
"""Fastest rate of springs in series with actuators per step between samples, at most."""

LEAST_STEP = 5e-6
"""[s] between samples, at least."""

ENGINE_TIME = 0.3
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    motion = sines(platform)
    count = round(DURATION / sample_step(platform))
    course = driven(platform, motion, np.linspace(0.0, DURATION, count + 1))
    title = "Sines in all degrees of freedom"
    engines, plots = engines_along(platform, motion, course, title, ENGINE_TIME)
    measures = [
        work_measure(platform, course, 1e-9),
        end_work_measure(platform, course, 1e-9),
        _room(platform, course),
        *actuator_measures(platform, course),
        *engines,
    ]
    return CASE.result(platform, measures, plots)


def sample_step(platform: Platform) -> float:
    """Return the time [s] between samples; springs in series swing in as fast as they can."""
    if not platform.n_deflections:
        return STEP
    return max(min(STEP, SAMPLED_RATE / fastest_rate(platform)), LEAST_STEP)


def sines(platform: Platform) -> SineMotion:
    """Return one period of sines about home, scaled to stroke and speed of the actuators."""
    drives = np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1).mean()
    shift = SHARE * stroke(platform) / float(drives)
    motion = followed_motion(platform, lambda size: _sines(platform, size), shift)
    speed = platform.parameters.leg.actuator.speed
    if speed is None:
        return motion
    pose, twist, _ = platform.constrain(*motion(np.linspace(0.0, DURATION, MOTION_SAMPLES)))
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


def _room(platform: Platform, course: DrivenMotion) -> Quantity:
    below = course.coordinates - platform.minimum_coordinates
    above = platform.maximum_coordinates - course.coordinates
    name = f"least room left for a {coordinate_name(platform)}"
    room, unit = np.minimum(below, above).min(), platform.coordinate_unit
    return Quantity(name, room, note="negative: beyond a limit", unit=unit)
