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

AMPLITUDE_FRACTION = 0.08
"""Amplitude of each of the six sines, as a fraction of the stroke."""

SPEED_FRACTION = 0.8
"""Largest speed of the motion, as a fraction of the actuators' speed."""

SINE_FREQUENCIES = {"x": 1.0, "y": 2.0, "z": 1.0, "yaw": 1.0, "pitch": 2.0, "roll": 1.0}
"""[Hz] Frequency of each axis."""

SINE_PHASES = {"x": 0.0, "y": 0.5, "z": 1.0, "yaw": 1.5, "pitch": 2.0, "roll": 2.5}
"""[rad] Phase of each axis."""

MOTION_DURATION = 1.0
"""[s] Duration of the motion: the common period of its sines."""

MAX_SAMPLE_STEP = 2.5e-4
"""[s] Longest time between samples."""

SAMPLED_RATE = 0.1
"""Largest product of the fastest rate of springs in series with actuators and the time between
samples."""

MIN_SAMPLE_STEP = 5e-6
"""[s] Shortest time between samples."""

ENGINE_TIME = 0.3
"""[s] Longest time that the engines run."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    motion = sines(platform)
    count = round(MOTION_DURATION / sample_step(platform))
    course = driven(platform, motion, np.linspace(0.0, MOTION_DURATION, count + 1))
    title = "Sines in all degrees of freedom"
    engines, plots = engines_along(platform, motion, course, title, ENGINE_TIME)
    measures = [
        work_measure(platform, course, 1e-9),
        end_work_measure(platform, course, 1e-9),
        _remaining_stroke(platform, course),
        *actuator_measures(platform, course),
        *engines,
    ]
    return CASE.result(platform, measures, plots)


def sample_step(platform: Platform) -> float:
    """Return the time [s] between samples; springs in series swing in as fast as they can."""
    if not platform.n_deflections:
        return MAX_SAMPLE_STEP
    return max(min(MAX_SAMPLE_STEP, SAMPLED_RATE / fastest_rate(platform)), MIN_SAMPLE_STEP)


def sines(platform: Platform) -> SineMotion:
    """Return one period of sines about home, scaled to stroke and speed of the actuators."""
    drives = np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1).mean()
    shift = AMPLITUDE_FRACTION * stroke(platform) / float(drives)
    motion = followed_motion(platform, lambda size: _sines(platform, size), shift)
    speed = platform.parameters.leg.actuator.speed
    if speed is None:
        return motion
    pose, twist, _ = platform.constrain(*motion(np.linspace(0.0, MOTION_DURATION, MOTION_SAMPLES)))
    fastest = np.abs(np.einsum("kij,kj->ki", platform.jacobian(pose), twist)).max()
    return _sines(platform, motion.amplitude[2] * min(1.0, SPEED_FRACTION * speed / fastest))


def _sines(platform: Platform, shift: float) -> SineMotion:
    convention = "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"
    free = axis_names(convention) if platform.dof == 6 else ("z", "roll", "pitch")
    turn = shift / platform_radius(platform)
    return SineMotion(
        platform.home,
        amplitude={axis: shift if len(axis) == 1 else turn for axis in free},
        frequency={axis: SINE_FREQUENCIES[axis] for axis in free},
        phase={axis: SINE_PHASES[axis] for axis in free},
        duration=MOTION_DURATION,
        convention=convention,
    )


def _remaining_stroke(platform: Platform, course: DrivenMotion) -> Quantity:
    below = course.coordinates - platform.minimum_coordinates
    above = platform.maximum_coordinates - course.coordinates
    name = f"least room left for a {coordinate_name(platform)}"
    room, unit = np.minimum(below, above).min(), platform.coordinate_unit
    return Quantity(name, room, note="negative: beyond a limit", unit=unit)
