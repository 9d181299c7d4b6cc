"""Table of a verdict: margins, the worst first, then what is missing."""

from __future__ import annotations

import numpy as np

from twin.analysis.feasibility.margin import TIGHT, Margin, amount
from twin.analysis.feasibility.verdict import Feasibility
from twin.cli.console import Column, paragraph, table


def print_feasibility(found: Feasibility) -> None:
    """Print the verdict, its margins, remedies, assumptions and limits that are not given."""
    columns = (
        Column("quantity"),
        Column("needed", True),
        Column("limit", True),
        Column("unit"),
        Column("used", True),
        Column("leg"),
        Column("where"),
        Column("verdict"),
    )
    table(columns, [_row(margin) for margin in found.margins], found.summary)
    for remedy in found.remedies:
        paragraph(remedy, "- ")
    for note in found.notes:
        paragraph(f"Note: {note}.")
    if found.not_given:
        paragraph(f"Not given, so not judged: {'; '.join(found.not_given)}.")


def _row(margin: Margin) -> tuple[str, ...]:
    sign = ">= " if margin.at_least else ""
    word = "fail" if not margin.holds else "tight" if margin.share > TIGHT else "pass"
    used = f"{100.0 * margin.share:.3g} %" if np.isfinite(margin.share) else "beyond"
    return (
        margin.quantity,
        amount(margin.required),
        sign + amount(margin.limit),
        margin.unit,
        used,
        ", ".join(map(str, margin.legs)),
        margin.place,
        word,
    )
