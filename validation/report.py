"""The validation report: one self-contained HTML page, and the same content as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twin.files import write_text
from twin.platform import Platform
from twin.validation.environment import Environment
from twin.validation.figures import figure_json
from twin.validation.markdown import markdown_html
from twin.validation.results import CaseResult
from twin.validation.summary import summary
from twin.viewer import style
from twin.viewer.extra import report_library
from twin.viewer.sketch import sketch_svg
from twin.viewer.text import number, value_text

HERE = Path(__file__).parent
ERRATA = HERE / "errata.md"
LIBRARIES = ("jinja2", "plotly", "markdown_it")
LARGEST_MARGIN = 1000.0
"""Margins above it are not told apart: how far below a sound tolerance says no more."""


def require_libraries() -> None:
    """Check that a page can be made, before hours of computing rather than after.

    Raises:
        MissingDependencyError: a library of the `report` extra is not installed.
    """
    for library in LIBRARIES:
        report_library(library, "The validation report")


def write_json(content: dict[str, Any], path: str | Path) -> Path:
    """Write the content of `summary` as JSON, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
    """
    return write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def write_html(
    results: Sequence[CaseResult],
    platforms: Sequence[Platform],
    origin: Environment,
    seconds: float,
    path: str | Path,
) -> Path:
    """Write the page, atomically; returns the path. Arguments as in `summary`.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: a library of the `report` extra is not installed.
    """
    return write_text(path, html_page(results, platforms, origin, seconds))


def html_page(
    results: Sequence[CaseResult],
    platforms: Sequence[Platform],
    origin: Environment,
    seconds: float,
) -> str:
    """Return the page; it loads nothing, and its content policy forbids it to.

    Raises:
        MissingDependencyError: a library of the `report` extra is not installed.
    """
    require_libraries()
    jinja2 = report_library("jinja2", "The validation report")
    markup = report_library("markupsafe", "The validation report").Markup
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {"number": number, "value": value_text, "margin": margin_text}
    content = summary(results, platforms, origin, seconds)
    for case, result in zip(content["cases"], results, strict=True):
        case["anchor"] = f"{result.machine}-{result.case}"
        case["plots"] = [
            {"title": plot.title, "caption": plot.caption, "figure": markup(figure_json(plot))}
            for plot in result.plots
        ]
    for machine, platform in zip(content["machines"], platforms, strict=True):
        machine["sketch"] = markup(sketch_svg(platform))
        machine["cases"] = [c for c in content["cases"] if c["machine"] == platform.name]
    errata = ERRATA.read_text(encoding="utf-8") if ERRATA.is_file() else ""
    plotly = report_library("plotly.offline", "The validation report").get_plotlyjs()
    page: str = templates.get_template("report.html").render(
        content,
        errata=markup(markdown_html(errata, lower=2)),
        plotly=markup(plotly),
        style=style,
    )
    return page


def margin_text(value: float | None) -> str:
    """Return how many times better than its tolerance a value is, to two digits."""
    if value is None:
        return ""
    return f"> {LARGEST_MARGIN:g} ×" if value > LARGEST_MARGIN else f"{number(value, 2)} ×"
