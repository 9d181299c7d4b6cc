"""Feasibility at rest."""

from __future__ import annotations

from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
from twin.analysis.feasibility.verdict import Feasibility
from twin.analysis.machine_summary import axis_ranges
from twin.analysis.platform import Platform
from twin.model.machine_base import without_compiling
from twin.validation.case import validation_case
from twin.validation.results import CaseResult, Measure

MAX_LIMIT_FRACTION = 1.0 + 1e-9
"""Largest fraction of a limit that may be used: all of it, and rounding."""

RANGE_FRACTION = 0.5
"""Fraction of each range, from home to its ends, within which the machine is judged."""


@validation_case(cost=0.5)
def check_feasibility(platform: Platform) -> CaseResult:
    """Feasibility at rest.

    The machine rests at home, and half way to both ends of each range that `twin info` prints. It
    has to keep the limits that its file gives: force or torque, angles of joints, distances of
    legs, singular poses. A machine that simulates well but cannot hold itself fails here. Limits
    that the file does not give are not judged, nor are the ends themselves: the stroke alone may
    let legs turn the platform beyond a singular pose.
    """
    with without_compiling():
        ranges = axis_ranges(platform)
    results = (
        feasibility(platform),
        range_feasibility(platform, ranges=ranges, part=RANGE_FRACTION),
    )
    measures = [measure for result in results for measure in _measures(result)]
    return check_feasibility.result(platform, measures)


def _measures(found: Feasibility) -> list[Measure]:
    return [
        Measure(
            f"{found.task}: {margin.quantity}, share of its limit",
            margin.share,
            MAX_LIMIT_FRACTION,
            margin.remedy or "the limit itself",
        )
        for margin in found.margins
    ]
