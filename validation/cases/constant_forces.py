"""Motion under constant actuator forces, engines against reference."""

from __future__ import annotations

from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import trajectory_comparison
from twin.validation.durations import duration_for
from twin.validation.excitation import constant_forces
from twin.validation.results import CaseResult

CASE = Case(
    key="constant_forces",
    title="Motion under constant actuator forces",
    description=(
        "From rest at home, each actuator keeps its holding force plus a constant offset of its "
        "own, up to a tenth of the mean holding force, for 0.3 s (less in machines with legs "
        "shorter than 0.9 m). The platform moves in all six freedoms."
    ),
)

DURATION = 0.3
"""[s] at most"""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    forces = constant_forces(platform)
    duration = duration_for(platform, DURATION)
    return CASE.result(
        platform, *trajectory_comparison(platform, duration, "Constant forces", forces)
    )
