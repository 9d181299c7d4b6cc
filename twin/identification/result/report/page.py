"""The page of an identification from its template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twin.basics.files import write_text
from twin.basics.optional import optional
from twin.charts import style
from twin.charts.text import number
from twin.identification.result.identification import Identification
from twin.identification.result.report.charts import charts_of

WHITE = 0.05
"""Probability below which errors are said not to be white."""


def write_report(found: Identification, path: str | Path) -> Path:
    """Write the page of an identification; returns its path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    return write_text(path, page_of(found))


def page_of(found: Identification) -> str:
    """Return the page of an identification: HTML that loads nothing.

    Raises:
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    jinja2, offline = optional("jinja2"), optional("plotly.offline")
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["number"] = number
    config = dict(style.CONFIG)
    markup = optional("markupsafe").Markup
    charts = [
        (
            title,
            text,
            markup(figure.to_html(full_html=False, include_plotlyjs=False, config=config)),
        )
        for title, text, figure in charts_of(found)
    ]
    page: str = templates.get_template("page.html").render(
        found=found,
        rows=_rows(found),
        charts=charts,
        unit=f"u{found.platform.coordinate_unit}",
        white=found.whiteness.probability >= WHITE,
        style=style,
        plotly=markup(offline.get_plotlyjs()),
    )
    return page


def _rows(found: Identification) -> list[dict[str, Any]]:
    """Return a row per parameter: values old and new, interval, and its place in the prior."""
    rows = []
    for k, parameter in enumerate(found.parameters):
        error = float(found.standard_errors[k])
        rows.append(
            {
                "path": parameter.path,
                "words": parameter.words,
                "unit": parameter.unit,
                "before": parameter.nominal,
                "spread": parameter.spread,
                "after": float(found.values[k]),
                "error": error,
                "low": float(found.intervals[k, 0]),
                "high": float(found.intervals[k, 1]),
                "moved": (float(found.values[k]) - parameter.nominal) / parameter.spread,
                "left": error / parameter.spread,
            }
        )
    return rows
