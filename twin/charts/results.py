"""The results of an analysis: what the console prints, and a page that loads nothing shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from twin.basics.files import write_text
from twin.basics.optional import optional

TEMPLATE_FILE = Path(__file__).with_name("results_page.html")
"""Template of all pages of results."""

NUMBER_PATTERN = re.compile(r"(>= |\+- )?[+-]?[\d.]+(e[+-]?\d+)?( %| \+- .*)?")
"""Numbers as tables show them: also bounds, parts of a hundred, and deviations."""

Cell = str | int | float
"""A text, or a number: a fraction is shown with four significant digits, "-" if not finite."""


class Table(NamedTuple):
    """A table with the units of its numbers in their columns' names, or in a column of units."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


class Figure(NamedTuple):
    """A figure that is drawn when a page is written."""

    title: str
    explanation: str
    draw: Callable[[], Any]
    """returns the plotly figure"""


class Results(NamedTuple):
    """The results of an analysis."""

    title: str
    findings: Sequence[str]
    """Sentences on what was found, with warnings"""
    tables: Sequence[Table]
    figures: Sequence[Figure] = ()


def cell_text(cell: Cell) -> str:
    """Return a cell as text."""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell + 0.0:.4g}" if isfinite(cell) else "-"


def is_number_column(texts: Iterable[str]) -> bool:
    """Return whether every text with a digit is a number, and some text has one."""
    with_digits = [text for text in texts if any(map(str.isdecimal, text))]
    return bool(with_digits) and all(map(NUMBER_PATTERN.fullmatch, with_digits))


def write_page(results: Results, path: str | Path) -> Path:
    """Write results as one HTML page that loads nothing, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    from twin.charts import style

    jinja2, offline = optional("jinja2"), optional("plotly.offline")
    options = {"full_html": False, "include_plotlyjs": False, "config": style.PLOTLY_CONFIG}
    tables = []
    for table in results.tables:
        rows = [[cell_text(cell) for cell in row] for row in table.rows]
        classes = ["num" if is_number_column(texts) else "" for texts in zip(*rows, strict=True)]
        tables.append((table.title, table.columns, rows, classes or [""] * len(table.columns)))
    template = jinja2.Template(TEMPLATE_FILE.read_text(encoding="utf-8"), autoescape=True)
    page = template.render(
        results=results,
        tables=tables,
        figures=[
            (figure.title, figure.explanation, figure.draw().to_html(**options))
            for figure in results.figures
        ],
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=style,
        plotly=offline.get_plotlyjs(),
    )
    return write_text(path, page)
