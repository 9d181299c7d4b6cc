"""Order of convergence of each engine, from the report."""

from __future__ import annotations

from typing import Any

from handbook.markdown import plain, table

MARK = ": order of convergence"
"""Ends the names of the measures that are shown."""


def convergence_table(report: dict[str, Any]) -> str:
    """Return the table of the orders in the content of report.json."""
    rows = [
        (
            f"`{case['machine']}`",
            plain(measure["name"].removesuffix(MARK)),
            f"{measure['value']:.2f}",
        )
        for case in report["cases"]
        for measure in case["measures"]
        if measure["name"].endswith(MARK)
    ]
    return table(("Machine", "Engine", "Order"), rows)
