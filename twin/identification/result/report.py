"""The page of an identification from its template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.files import write_text
from twin.basics.optional import optional
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results_page import results_page
from twin.charts.style import BACKGROUND_COLOR, CURVE_COLORS, layout
from twin.identification.result.identification import Errors, Identification
from twin.identification.result.predictions import base_rows, mapping_lines
from twin.identification.result.statistics import Whiteness

WHITENESS_LEVEL = 0.05
"""Probability below which the report says that errors are not white."""


ROW_HEIGHT = 22
"""[pixels] Height of a row of the matrix of correlations."""

MIN_HEIGHT = 260
"""[pixels] Smallest height of this matrix."""

LABEL_HEIGHT = 60
"""[pixels] Height of the labels above and below the matrix."""


def charts_of(found: Identification) -> list[tuple[str, str, Any]]:
    """Return title, explanation and plotly figure of each chart."""
    matrix = (
        "Correlation of the estimates",
        "Near 1 or -1 two parameters can hardly be told apart. Stages count as independent.",
        _matrix(found),
    )
    if found.errors is None or found.whiteness is None:
        return [matrix]
    return [*_of_predictions(found, found.errors, found.whiteness), matrix]


def _of_predictions(
    found: Identification, errors: Errors, white: Whiteness
) -> list[tuple[str, str, Any]]:
    """Return the charts of prediction errors."""
    unit = found.platform.coordinate_unit
    holdout = found.fits[-1].windows
    over_time = Axes(
        f"error, rms of a window [µ{unit}]",
        [
            Line("file", errors.time, 1e6 * errors.before, "markers"),
            Line("identified", errors.time, 1e6 * errors.after, "markers"),
        ],
        log_y=True,
    )
    over_frequency = Axes(
        f"density [µ{unit}/sqrt(Hz)]",
        [Line("identified", errors.frequency, 1e6 * errors.density)],
        log_y=True,
    )
    lags = np.arange(1.0, len(white.correlation) + 1.0)
    correlation = Axes(
        "correlation of errors",
        [
            Line("errors", lags, white.correlation, "line+markers"),
            Line("95 % of white noise", lags, np.full(len(lags), white.bound), "dash"),
            Line("95 % of white noise", lags, np.full(len(lags), -white.bound), "dash"),
        ],
    )
    return [
        (
            "Prediction errors over time",
            "Each point is a window: the model predicts each sample, from those before it, of what "
            f"the encoders read. The last {holdout} windows were kept apart.",
            panels_figure([over_time], "time [s]"),
        ),
        (
            "Prediction errors over frequency",
            "White noise is flat; a peak says that the model misses something there.",
            panels_figure([over_frequency], "frequency [Hz]", log_x=True),
        ),
        (
            "Correlation of errors with earlier ones",
            "Errors of white noise stay between the dashed lines. The intervals allow for errors "
            "that do not.",
            panels_figure([correlation], "samples between the errors"),
        ),
    ]


def _matrix(found: Identification) -> Any:
    plotly_graphs = optional("plotly.graph_objects")
    names = [parameter.path for parameter in found.parameters]
    height = max(MIN_HEIGHT, LABEL_HEIGHT + ROW_HEIGHT * len(names))
    figure = plotly_graphs.Figure(layout=layout(height, 12))
    color_scale = [(0.0, CURVE_COLORS[1]), (0.5, BACKGROUND_COLOR), (1.0, CURVE_COLORS[0])]
    figure.add_trace(
        plotly_graphs.Heatmap(
            z=np.round(found.correlation, 3),
            x=[str(k + 1) for k in range(len(names))],
            y=[f"{name}  {k + 1}" for k, name in enumerate(names)],
            zmin=-1.0,
            zmax=1.0,
            colorscale=color_scale,
            hovertemplate="%{y} with %{x}: %{z}<extra></extra>",
        )
    )
    figure.layout.yaxis = {"autorange": "reversed", "automargin": True}
    figure.layout.xaxis = {"type": "category", "automargin": True}
    return figure


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
        Path(__file__).with_name("report.html"),
        f"Identification of {found.platform.name}",
        found.date,
        charts_of(found),
        found=found,
        rows=_rows(found),
        digits=_digits,
        scale=found.unit[0],
        unit=found.unit[1],
        force_unit=found.platform.force_unit,
        white=found.whiteness and found.whiteness.probability >= WHITENESS_LEVEL,
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
