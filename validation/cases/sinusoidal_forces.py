"""Motion under sinusoidal actuator forces, engines against reference."""

from __future__ import annotations

import numpy as np

from twin.simulation.platform import Platform
from twin.validation.actuators import force_name, leg_curves
from twin.validation.case import Case
from twin.validation.comparison import trajectory_comparison
from twin.validation.durations import compared_step, duration_for
from twin.validation.equilibrium import rest
from twin.validation.excitation import sinusoidal_forces
from twin.validation.results import CaseResult, Panel, Plot

CASE = Case(
    key="sinusoidal_forces",
    title="Motion under sinusoidal actuator forces",
    description=(
        "From rest at home, each actuator adds a sine of its own frequency, 3 to 8 Hz, to its "
        "holding force, for 0.5 s (less in small machines; in stiff ones frequencies rise as the "
        "time step falls). Forces are sampled at the start of each step and held over it, in the "
        "reference as in the engines, so that the errors are those of the engines alone."
    ),
    cost=0.6,
)

DURATION = 0.5
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    duration = duration_for(platform, DURATION)
    step = compared_step(platform)
    forces = sinusoidal_forces(platform, duration, step)
    measures, plots = trajectory_comparison(
        platform, duration, "Sinusoidal forces", forces, deflection=rest(platform).deflection
    )
    time = np.arange(float(len(forces))) * step
    curves = leg_curves(time, forces)
    label = f"{force_name(platform)} [{platform.force_unit}]"
    plots.append(Plot("Applied forces", "time [s]", (Panel(label, curves),)))
    return CASE.result(platform, measures, plots)
