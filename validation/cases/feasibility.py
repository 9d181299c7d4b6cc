"""Feasibility at rest.

The machine rests at home, and half way to both ends of each range that `twin info` prints. It has
to keep the limits that its file gives: force or torque, angles of joints, distances of legs,
singular poses. A machine that simulates well but cannot hold itself fails here. Limits that the
file does not give are listed and not judged. The ends themselves are shown and not judged: the
stroke alone may let legs turn the platform beyond a singular pose.
"""

from __future__ import annotations

from twin.analysis.feasibility.course import amount, share_text
from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
from twin.analysis.feasibility.verdict import Feasibility
from twin.analysis.machine_summary import axis_ranges
from twin.analysis.platform import Platform
from twin.model.machine_base import without_compiling
from twin.validation.case import Case
from twin.validation.results import CaseResult, Measure, Table

CASE = Case("feasibility", __doc__, cost=0.5)

MAX_LIMIT_FRACTION = 1.0 + 1e-9
"""Largest fraction of a limit that may be used: all of it, and rounding."""

RANGE_FRACTION = 0.5
"""Fraction of each range, from home to its ends, within which the machine is judged."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    with without_compiling():
        ranges = axis_ranges(platform)
    judged_results = (
        feasibility(platform),
        range_feasibility(platform, ranges=ranges, part=RANGE_FRACTION),
    )
    all_results = (*judged_results, range_feasibility(platform, ranges=ranges))
    measures = [measure for result in judged_results for measure in _measures(result)]
    tables = [_table(result) for result in all_results]
    missing_limits = dict.fromkeys(name for result in all_results for name in result.not_given)
    if missing_limits:
        tables.append(
            Table("Limits not given", ("limit",), tuple((name,) for name in missing_limits))
        )
    return CASE.result(platform, measures, tables=tables)


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


def _table(found: Feasibility) -> Table:
    rows = []
    for margin in found.margins:
        values = (amount(margin.required, margin.unit), amount(margin.limit, margin.unit))
        share_used = f"{share_text(margin.share)}{'' if margin.holds else ' (violated)'}"
        legs = ", ".join(map(str, margin.legs))
        rows.append((margin.quantity, *values, share_used, legs, margin.place))
    columns = ("quantity", "value", "limit", "used", "leg", "where")
    return Table(found.task.capitalize(), columns, tuple(rows))
