"""Sines in all degrees of freedom about home."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.motion import SineMotion, axis_names
from twin.validation.case import validation_case
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

AMPLITUDE_FRACTION = 0.08
"""Amplitude of each of the six sines, as a fraction of the stroke."""

SPEED_FRACTION = 0.8
"""Largest actuator speed in the motion, as a fraction of the actuators' limit."""

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
"""[s] Longest duration of the engines' runs."""


@validation_case(cost=1.5)
def check_driven_motion(platform: Platform) -> CaseResult:
    """Sines in all degrees of freedom about home.

    The platform is carried through sines in all its degrees of freedom at once. They have 1 and 2
    Hz and some 8 % of the stroke each, less where actuators would be too slow or cranks would line
    up with their rods. The work of the actuators' forces has to be the gain of energy and the loss
    in dampers and friction. Each engine's own inverse dynamics has to give the forces along the
    motion. Then both engines are driven by the forces, held over each step, for 0.3 s (less in
    small machines and in stiff ones).
    """
    motion = sines(platform)
    count = round(MOTION_DURATION / sample_step(platform))
    driven_sines = driven(platform, motion, np.linspace(0.0, MOTION_DURATION, count + 1))
    title = "Sines in all degrees of freedom"
    engines, plots = engines_along(platform, motion, driven_sines, title, ENGINE_TIME)
    measures = [
        work_measure(platform, driven_sines, 1e-9),
        end_work_measure(platform, driven_sines, 1e-9),
        _remaining_stroke(platform, driven_sines),
        *actuator_measures(platform, driven_sines),
        *engines,
    ]
    return check_driven_motion.result(platform, measures, plots)


def sample_step(platform: Platform) -> float:
    """Return the time [s] between samples, short enough for the motion of springs in series."""
    if not platform.n_deflections:
        return MAX_SAMPLE_STEP
    return max(min(MAX_SAMPLE_STEP, SAMPLED_RATE / fastest_rate(platform)), MIN_SAMPLE_STEP)


def sines(platform: Platform) -> SineMotion:
    """Return one period of sines about home, scaled to stroke and speed of the actuators."""
    rate_per_speed = np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1).mean()
    amplitude = AMPLITUDE_FRACTION * stroke(platform) / float(rate_per_speed)
    motion = followed_motion(platform, lambda size: _sines(platform, size), amplitude)
    speed = platform.parameters.leg.actuator.speed
    if speed is None:
        return motion
    pose, twist, _ = platform.constrain(*motion(np.linspace(0.0, MOTION_DURATION, MOTION_SAMPLES)))
    max_speed = np.abs(np.einsum("kij,kj->ki", platform.jacobian(pose), twist)).max()
    return _sines(platform, motion.amplitude[2] * min(1.0, SPEED_FRACTION * speed / max_speed))


def _sines(platform: Platform, shift: float) -> SineMotion:
    convention = "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"
    axes = axis_names(convention) if platform.dof == 6 else ("z", "roll", "pitch")
    tilt_amplitude = shift / platform_radius(platform)
    return SineMotion(
        platform.home,
        amplitude={axis: shift if len(axis) == 1 else tilt_amplitude for axis in axes},
        frequency={axis: SINE_FREQUENCIES[axis] for axis in axes},
        phase={axis: SINE_PHASES[axis] for axis in axes},
        duration=MOTION_DURATION,
        convention=convention,
    )


def _remaining_stroke(platform: Platform, course: DrivenMotion) -> Quantity:
    to_minimum = course.coordinates - platform.minimum_coordinates
    to_maximum = platform.maximum_coordinates - course.coordinates
    name = f"least room left for a {coordinate_name(platform)}"
    remaining, unit = np.minimum(to_minimum, to_maximum).min(), platform.coordinate_unit
    return Quantity(name, remaining, note="negative: beyond a limit", unit=unit)
