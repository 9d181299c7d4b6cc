"""Feasibility at rest.

The machine rests at home and at both ends of each range that `twin info` prints, as far as its file
gives limits: force or torque, angles of joints, distances of legs, singular poses. A machine that
simulates well but cannot hold itself fails here. Limits that the file does not give are listed in
the table and not judged.
"""

from __future__ import annotations

from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
from twin.analysis.feasibility.margin import amount
from twin.analysis.feasibility.verdict import Feasibility
from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.results import CaseResult, Measure, Table

CASE = Case("feasibility", __doc__, cost=0.5)

MOST = 1.0 + 1e-9
"""Share of a limit: all of it, and rounding."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    verdicts = [feasibility(platform), range_feasibility(platform)]
    measures = [measure for found in verdicts for measure in _measures(found)]
    missing = dict.fromkeys(name for found in verdicts for name in found.not_given)
    tables = [_table(found) for found in verdicts]
    if missing:
        tables.append(Table("Limits not given", ("limit",), tuple((name,) for name in missing)))
    return CASE.result(platform, measures, tables=tables)


def _measures(found: Feasibility) -> list[Measure]:
    return [
        Measure(
            f"{found.task}: {margin.quantity}, share of its limit",
            margin.share,
            MOST,
            margin.remedy or "the limit itself",
        )
        for margin in found.margins
    ]


def _table(found: Feasibility) -> Table:
    rows = []
    for margin in found.margins:
        values = (amount(margin.required, margin.unit), amount(margin.limit, margin.unit))
        legs = ", ".join(map(str, margin.legs))
        rows.append((margin.quantity, *values, legs, margin.place))
    columns = ("quantity", "required", "limit", "leg", "where")
    return Table(found.task.capitalize(), columns, tuple(rows))
