"""Table of a verdict: margins, the smallest first, then the limits that are missing."""

from __future__ import annotations

from collections.abc import Sequence

from twin.analysis.feasibility.course import TIGHT_FRACTION, Margin, amount, share_text
from twin.analysis.feasibility.feasibility import Feasibility, feasibility
from twin.cli.console import line, paragraph, table
from twin.model.machine_model import MachineModel
from twin.motion import Motion


def print_feasibility(found: Feasibility) -> None:
    """Print the verdict, its margins, remedies, assumptions and limits that are not given."""
    columns = ("quantity", "needed", "limit", "unit", "used", "leg", "where", "verdict")
    table(columns, [_row(margin) for margin in found.margins], found.summary)
    _print_remedies(found)
    for note in found.notes:
        paragraph(f"Note: {note}.")
    if found.not_given:
        paragraph(f"Not given, so not judged: {'; '.join(found.not_given)}.")


def print_verdicts(verdicts: Sequence[Feasibility]) -> None:
    """Print one line per verdict, and the missing limits; `twin feasible` shows all margins."""
    columns = ("task", "verdict", "closest limit", "used", "leg", "where")
    rows = []
    for verdict in verdicts:
        quantity, *_, share_used, leg, instant_text, result = _row(verdict.margins[0])
        rows.append((verdict.task, result, quantity, share_used, leg, instant_text))
    table(columns, rows, "feasibility")
    for verdict in verdicts:
        _print_remedies(verdict)
    missing_limits = dict.fromkeys(name for verdict in verdicts for name in verdict.not_given)
    if missing_limits:
        paragraph(f"Not given, so not judged: {'; '.join(missing_limits)}.")


def print_banner(platform: MachineModel, motion: Motion | None) -> None:
    """Print the limits that a motion violates, or rest at home; nothing for a feasible one."""
    verdict = feasibility(platform, motion)
    if not verdict.feasible:
        line(verdict.summary, bold=True)
        _print_remedies(verdict)


def _print_remedies(found: Feasibility) -> None:
    for remedy in found.remedies:
        paragraph(remedy, "- ")


def _row(margin: Margin) -> tuple[str, ...]:
    """Return the row of a margin."""
    sign = ">= " if margin.at_least else ""
    result = "fail" if not margin.holds else "tight" if margin.share > TIGHT_FRACTION else "pass"
    return (
        margin.quantity,
        amount(margin.required),
        sign + amount(margin.limit),
        margin.unit,
        share_text(margin.share),
        ", ".join(map(str, margin.legs)),
        margin.place,
        result,
    )
