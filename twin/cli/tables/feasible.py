"""Table of a verdict: margins, the worst first, then what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from twin.analysis.feasibility.course import TIGHT_FRACTION, Margin, amount, share_text
from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.feasibility.verdict import Feasibility
from twin.cli.console import Column, line, paragraph, table
from twin.model.machine_model import MachineModel
from twin.motion import Motion


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
    _print_remedies(found)
    for note in found.notes:
        paragraph(f"Note: {note}.")
    if found.not_given:
        paragraph(f"Not given, so not judged: {'; '.join(found.not_given)}.")


def print_verdicts(verdicts: Sequence[Feasibility]) -> None:
    """Print one line per verdict, and what is missing; `twin feasible` shows all margins."""
    columns = [
        Column(name) for name in ("task", "verdict", "closest limit", "used", "leg", "where")
    ]
    rows = []
    for found in verdicts:
        quantity, *_, used, leg, place, word = _row(found.margins[0])
        rows.append((found.task, word, quantity, used, leg, place))
    table(columns, rows, "feasibility")
    for found in verdicts:
        _print_remedies(found)
    missing = dict.fromkeys(name for found in verdicts for name in found.not_given)
    if missing:
        paragraph(f"Not given, so not judged: {'; '.join(missing)}.")


def print_banner(platform: MachineModel, motion: Motion | None) -> None:
    """Print the limits that a motion violates, or rest at home; nothing for a feasible one."""
    found = feasibility(platform, motion)
    if not found.feasible:
        line(found.summary, bold=True)
        _print_remedies(found)


def _print_remedies(found: Feasibility) -> None:
    for remedy in found.remedies:
        paragraph(remedy, "- ")


def _row(margin: Margin) -> tuple[str, ...]:
    sign = ">= " if margin.at_least else ""
    word = "fail" if not margin.holds else "tight" if margin.share > TIGHT_FRACTION else "pass"
    return (
        margin.quantity,
        amount(margin.required),
        sign + amount(margin.limit),
        margin.unit,
        share_text(margin.share),
        ", ".join(map(str, margin.legs)),
        margin.place,
        word,
    )
