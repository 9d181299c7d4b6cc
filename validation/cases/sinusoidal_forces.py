"""Motion under sinusoidal actuator forces, engines against reference."""

from __future__ import annotations

import numpy as np

from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import TIMESTEP, trajectory_comparison
from twin.validation.durations import duration_for
from twin.validation.excitation import sinusoidal_forces
from twin.validation.results import CaseResult, Curve, Panel, Plot

CASE = Case(
    key="sinusoidal_forces",
    title="Motion under sinusoidal actuator forces",
    description=(
        "From rest at home, each actuator adds a sine of its own frequency, 3 to 8 Hz, to its "
        "holding force, for 0.5 s (less in machines with legs shorter than 0.9 m). Forces are "
        "sampled at the start of each step and held over it, in the reference as in the engines, "
        "so that the errors are those of the engines alone."
    ),
)

DURATION = 0.5
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    duration = duration_for(platform, DURATION)
    forces = sinusoidal_forces(platform, duration, TIMESTEP)
    measures, plots = trajectory_comparison(platform, duration, "Sinusoidal forces", forces)
    time = np.arange(float(len(forces))) * TIMESTEP
    curves = (Curve(f"leg {i + 1}", time, column) for i, column in enumerate(forces.T))
    plots.append(Plot("Applied forces", "time [s]", (Panel("force [N]", tuple(curves)),)))
    return CASE.result(platform, measures, plots)
