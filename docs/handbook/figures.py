"""Figures of written pages, compared with those of the validation report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from handbook.docstrings import cells
from handbook.report import machine_report

FIGURE = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")

ERROR = re.compile(r"\d+(?:\.\d+)?e-\d+")
"""A figure of a text that is small enough for an exponent."""

ACCURACY = "| machine | forces of the engines"
"""Begins the table of accuracy."""

SOURCES = (
    ("projection", ("MuJoCo: largest relative error", "Bullet: largest relative error")),
    ("free_fall", ("MuJoCo: largest position error",)),
    ("free_fall", ("Bullet: largest position error",)),
    ("constraint_settings", ("MuJoCo, defaults: largest loop gap",)),
    ("constraint_settings", ("MuJoCo, tuned: largest loop gap",)),
    ("free_fall", ("reference: energy drift",)),
)
"""Case and beginnings of names for each figure of a machine; of several the largest counts."""

ROUNDING = 1e-10
"""Figures below it that have no unit come from rounding: other processors round otherwise."""

LENGTH_ROUNDING = 1e-13
"""[m] The same of lengths of some metres."""


def wrong_figures(report: Mapping[str, Any], accuracy: str, readme: str) -> list[str]:
    """Return what is printed otherwise than the report has it; a case that is missing is left out.

    Args:
        report: content of report.json.
        accuracy: the page with a row for each machine.
        readme: the page whose section of accuracy has the figures of `stewart`.
    """
    found = [f"README, {text}" for text in _wrong(report, "stewart", readme_figures(readme))]
    for name, figures in machine_figures(accuracy).items():
        found += [f"{name}, {text}" for text in _wrong(report, name, figures)]
    return found


def machine_figures(page: str) -> dict[str, list[str]]:
    """Return the figures of a page's table of accuracy by machine, in the order of `SOURCES`."""
    rows = page[page.index(ACCURACY) :].splitlines()[2:]
    split = [cells(row) for row in takewhile(lambda row: row.startswith("| `"), rows)]
    return {row[0].split("`")[1]: FIGURE.findall(" ".join(row[1:])) for row in split}


def readme_figures(page: str) -> list[str]:
    """Return the errors of README's section of accuracy, in the order of `SOURCES`."""
    return ERROR.findall(page.partition("## How accurate")[2].partition("\n## ")[0])


def agree(printed: str, value: float, *, rounding: bool) -> bool:
    """Return whether a figure is a value, rounded; errors of rounding may differ five times."""
    if rounding:
        return 0.2 <= value / float(printed) <= 5.0
    mantissa, _, exponent = printed.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(printed) - value) <= 0.55 * unit


def _wrong(report: Mapping[str, Any], name: str, figures: list[str]) -> Iterator[str]:
    if len(figures) != len(SOURCES):
        yield f"{len(figures)} figures in place of {len(SOURCES)}"
        return
    cases = {case["case"]: case for case in machine_report(dict(report), name)["cases"]}
    for printed, (case, beginnings) in zip(figures, SOURCES, strict=True):
        entries = cases.get(case, {"measures": [], "quantities": []})
        own = [
            entry
            for entry in (*entries["measures"], *entries["quantities"])
            if entry["name"].startswith(beginnings)
        ]
        if own:
            largest = max(own, key=lambda entry: entry["value"])
            value, plain = largest["value"], largest["unit"] in ("1", "")
            rounding = value < (ROUNDING if plain else LENGTH_ROUNDING)
            if not agree(printed, value, rounding=rounding):
                yield f"{largest['name']}: {printed} is printed, the report has {value:.3g}"
