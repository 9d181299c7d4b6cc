"""The page of an identification from its template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.files import write_text
from twin.charts.results_page import results_page
from twin.identification.result.forces import base_rows, mapping_lines
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
    return results_page(
        Path(__file__).with_name("page.html"),
        f"Identification of {found.platform.name}",
        found.date,
        charts_of(found),
        found=found,
        rows=_rows(found),
        digits=_digits,
        scale=found.unit[0],
        unit=found.unit[1],
        force_unit=found.platform.force_unit,
        white=found.whiteness and found.whiteness.probability >= WHITE,
        base=[] if found.forces is None else base_rows(found.forces.base),
        mapping=[] if found.forces is None else mapping_lines(found.platform, found.forces),
    )


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


def _digits(value: float, error: float) -> int:
    """Return the significant digits of a value of which two are uncertain, two at least."""
    if not (value and 0.0 < error < np.inf):
        return 6
    return max(2, int(np.floor(np.log10(abs(value) / error))) + 2)
