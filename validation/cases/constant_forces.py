"""Motion under constant actuator forces, engines against reference."""

from __future__ import annotations

from twin.simulation.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import trajectory_comparison
from twin.validation.durations import duration_for
from twin.validation.equilibrium import rest
from twin.validation.excitation import constant_forces
from twin.validation.results import CaseResult

CASE = Case(
    key="constant_forces",
    title="Motion under constant actuator forces",
    description=(
        "From rest at home, each actuator keeps its holding force plus a constant offset of its "
        "own, up to a tenth of the mean holding force (of what yields a hundredth of the stroke, "
        "where legs have stiff springs), for 0.3 s (less in small machines and in stiff ones). "
        "The platform moves in all its degrees of freedom."
    ),
    cost=0.4,
)

DURATION = 0.3
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    forces = constant_forces(platform)
    duration = duration_for(platform, DURATION)
    deflection = rest(platform).deflection
    measures, plots = trajectory_comparison(
        platform, duration, "Constant forces", forces, deflection=deflection
    )
    return CASE.result(platform, measures, plots)
