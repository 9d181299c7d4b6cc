"""Pages of results: one HTML file that loads nothing, from a template and figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from twin.basics.optional import optional
from twin.charts import style
from twin.charts.panels import number

TEMPLATE_FOLDER = Path(__file__).parent
"""Folder of the base template that the templates of all results extend."""


def results_page(
    template: Path, title: str, date: str, charts: Iterable[tuple[str, str, Any]], **values: Any
) -> str:
    """Return a page of results.

    Args:
        template: template that extends `results_page.html`.
        title: title of the page.
        date: date in ISO 8601.
        charts: title, explanation and plotly figure of each.
        values: values of the template.

    Raises:
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    jinja2, offline = optional("jinja2"), optional("plotly.offline")
    markup = optional("markupsafe").Markup
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, TEMPLATE_FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["number"] = number
    options = {"full_html": False, "include_plotlyjs": False, "config": dict(style.PLOTLY_CONFIG)}
    rendered_charts = [
        (name, text, markup(figure.to_html(**options))) for name, text, figure in charts
    ]
    page: str = templates.get_template(template.name).render(
        title=title,
        date=date,
        charts=rendered_charts,
        style=style,
        plotly=markup(offline.get_plotlyjs()),
        **values,
    )
    return page
