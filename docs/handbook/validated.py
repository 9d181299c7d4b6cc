"""Validation of a machine, from the report."""

from __future__ import annotations

import html
from typing import Any

from handbook.markdown import folded, plain, table
from twin.charts.panels import number
from twin.validation.report.page import margin_text

MEASURES = ("Measure", "Value", "Tolerance", "Unit", "Verdict")
QUANTITIES = ("Quantity", "Value", "Note")

LONGEST = 25
"""Rows of a table on a page; longer ones are left to the report."""

SIGNS = {"at most": "≤", "at least": "≥"}


def validated(machine: dict[str, Any]) -> str:
    """Return the section on the cases of a machine, each with its measures."""
    counts = machine["counts"]["measures"]
    judged = counts["pass"] + counts["fail"]
    lines = [
        f"{counts['pass']} of {judged} judged measures in {len(machine['cases'])} cases keep their "
        "tolerance. The margin of a case is the factor by which its tightest measure keeps its "
        "tolerance. Every case opens on a click; the report gives the reason of each tolerance.\n",
    ]
    if machine["tightest"]:
        near = machine["tightest"]
        lines.append(
            f"Closest to its tolerance: {plain(near['measure'])} (`{near['case']}`, "
            f"{_margin(near)}).\n"
        )
    lines += [_case(case) for case in machine["cases"]]
    if machine["left_out"]:
        rows = [(plain(case["title"]), plain(case["reason"])) for case in machine["left_out"]]
        inside = table(("Case", "Reason"), rows)
        lines.append(folded(f"Cases that do not apply: {len(rows)}", inside))
    return "\n".join(lines)


def _case(case: dict[str, Any]) -> str:
    counts = case["counts"]["measures"]
    judged = counts["pass"] + counts["fail"]
    result = f"{counts['pass']} of {judged} pass" if judged else "informs only"
    if case["tightest"]:
        result += f", margin {_margin(case['tightest'])}"
    title = f"<strong>{html.escape(case['title'])}</strong> <code>{case['case']}</code>: {result}"
    inside = plain(case["description"]) + "\n\n"
    inside += table(MEASURES, [_measure(measure) for measure in case["measures"]])
    if case["quantities"]:
        rows = [tuple(map(plain, quantity_cells(one))) for one in case["quantities"]]
        inside += f"\n**For scale.**\n\n{table(QUANTITIES, rows)}"
    for part in case["tables"]:
        inside += f"\n**{plain(part['title'])}.** {plain(part['caption'])}\n\n"
        rows = [tuple(map(plain, row)) for row in part["rows"]]
        long = f"The report has its {len(rows)} rows.\n"
        inside += table(part["columns"], rows) if len(rows) <= LONGEST else long
    return folded(title, inside)


def _margin(tightest: dict[str, Any]) -> str:
    return margin_text(tightest["margin"]).replace(" ", "\N{NO-BREAK SPACE}")


def quantity_cells(quantity: dict[str, Any]) -> tuple[str, ...]:
    """Return name, value with unit, and note of a quantity."""
    unit = "" if quantity["unit"] == "1" else f" {quantity['unit']}"
    return quantity["name"], f"{number(quantity['value'], 4)}{unit}", quantity["note"]


def _measure(measure: dict[str, Any]) -> tuple[str, ...]:
    tolerance = f"{SIGNS[measure['bound']]} {number(measure['tolerance'], 4)}"
    unit = "" if measure["unit"] == "1" else measure["unit"]
    return (
        plain(measure["name"]),
        number(measure["value"], 4),
        tolerance,
        plain(unit),
        measure["verdict"],
    )


def published(machine: dict[str, Any]) -> str:
    """Return the section that compares our values with those of papers."""
    rows = [
        (
            plain(statement["source"]),
            plain(statement["printed"]),
            plain(statement["ours"]),
            ": ".join(filter(None, (f"**{statement['agreement']}**", plain(statement["why"])))),
        )
        for case in machine["cases"]
        for statement in case["statements"]
    ]
    if not rows:
        return "The papers print no value of this machine that could be compared.\n"
    counts = machine["counts"]["statements"]
    result = (
        f"{counts['reproduced']} reproduced, {counts['differs']} differ, {counts['not_given']} "
        "not given. What differs is explained here and in the [errata](../errata.md).\n\n"
    )
    return result + table(("Source", "Printed", "Ours", "Agreement"), rows)
