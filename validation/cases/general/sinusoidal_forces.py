"""Motion under sinusoidal actuator forces."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.validation.case import validation_case
from twin.validation.measures.comparison import force_name, leg_curves, trajectory_comparison
from twin.validation.measures.equilibrium import (
    compared_step,
    duration_for,
    followed_duration,
    offset_force,
    rest,
)
from twin.validation.results import CaseResult, Panel, Plot

MAX_DURATION = 0.5
"""[s] Longest duration of the run."""

FREQUENCY_RANGE = (3.0, 8.0)
"""[Hz] Frequencies of the first and the last actuator's sine at steps of 1 ms; the others are
evenly spaced between them."""


@validation_case(cost=0.6)
def check_sinusoidal_forces(platform: Platform) -> CaseResult:
    """Motion under sinusoidal actuator forces.

    From rest at home, each actuator adds a sine of its own frequency to its holding force.
    Frequencies are 3 to 8 Hz; in stiff machines they rise as the time step falls. The run takes 0.5
    s, less in small machines and in those that topple. Forces are sampled at the start of each step
    and held over it, in the reference as in the engines, so that the errors are those of the
    engines alone.
    """
    duration = followed_sines(platform, MAX_DURATION)
    step = compared_step(platform)
    forces = sinusoidal_forces(platform, duration, step)
    measures, plots = trajectory_comparison(
        platform, duration, "Sinusoidal forces", forces, deflection=rest(platform).deflection
    )
    time = np.arange(float(len(forces))) * step
    curves = leg_curves(time, forces)
    label = f"{force_name(platform)} [{platform.force_unit}]"
    plots.append(Plot(f"Applied {force_name(platform)}s", "time [s]", Panel(label, *curves)))
    return check_sinusoidal_forces.result(platform, measures, plots)


def followed_sines(platform: Platform, longest: float) -> float:
    """Return the duration [s], at most `longest`, for which a machine follows the forces."""
    duration = duration_for(platform, longest)
    forces = sinusoidal_forces(platform, duration, compared_step(platform))
    return followed_duration(platform, duration, forces)


def sinusoidal_forces(platform: Platform, duration: float, timestep: float) -> FloatArray:
    """Return holding forces plus sines, sampled at the start of each step, `(steps, n)` [N, N m].

    Amplitudes are equal, frequencies and phases differ from actuator to actuator.
    """
    time = np.arange(round(duration / timestep))[:, None] * timestep
    legs = np.arange(platform.n_actuators)
    frequency = np.linspace(*FREQUENCY_RANGE, platform.n_actuators) * (
        1e-3 / compared_step(platform)
    )
    sines = np.sin(2.0 * np.pi * frequency * time + 1.3 * legs)
    return np.asarray(rest(platform).forces + offset_force(platform) * sines)
