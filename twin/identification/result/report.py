"""The results of an identification: estimates, fits, what the logs show, and figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from twin.basics.optional import optional
from twin.charts.panels import Axes, Line, number, panels_figure
from twin.charts.results import Cell, Figure, Results, Table
from twin.charts.style import BACKGROUND_COLOR, CURVE_COLORS, layout
from twin.identification.result.identification import Errors, Fit, ForceStage, Identification
from twin.identification.result.predictions import mapping_lines
from twin.identification.result.statistics import Whiteness

RATIO_POWERS = {"friction_torque": 1, "viscous_torque": 2, "armature_inertia": 2}
"""Parameters of a motor's rotation -> power of the transmission ratio in their value at the leg or
crank."""

ROW_HEIGHT = 22
"""[pixels] Height of a row of the matrix of correlations."""

MIN_HEIGHT = 260
"""[pixels] Smallest height of this matrix."""

LABEL_HEIGHT = 60
"""[pixels] Height of the labels above and below the matrix."""


def identification_results(result: Identification) -> Results:
    """Return estimates next to the values of the file, fits, and what the logs do not show."""
    tables = [] if result.forces is None else _force_tables(result, result.forces)
    tables += [_parameter_table(result), *_tables_at_legs(result)]
    if result.errors is not None:
        tables.append(_fit_table(result.fits, "windows", *result.unit, "prediction errors, rms"))
    sources = [(source.name or "log", source.duration, source.sha256) for source in result.sources]
    tables.append(Table("logs", ("log", "duration [s]", "SHA-256"), sources))
    findings = [f"{note[:1].upper()}{note[1:]}." for note in result.notes]
    if result.fixed:
        paths = ", ".join(parameter.path for parameter in result.fixed)
        findings.append(f"Held at the values of the file: {paths}.")
    if result.whiteness is not None:
        kind = "noise" if result.whiteness.is_white else "more than noise"
        findings.append(
            f"The errors that are left are {kind}: means of windows are "
            f"{result.whiteness.persistence:.2g} times those of noise, with probability "
            f"{result.whiteness.probability:.2g}."
        )
    title = f"Identification of {result.platform.name}"
    return Results(title, findings, tables, _figures(result))


def _parameter_table(result: Identification) -> Table:
    """Return values before and after, intervals, and the fraction of the prior's spread left."""
    errors = result.standard_errors
    columns = zip(result.parameters, result.values, result.margins * errors, errors, strict=True)
    rows = [
        (
            parameter.path,
            number(parameter.nominal, 5),
            number(value),
            _interval(half_width),
            parameter.unit,
            number(parameter.prior_std, 2),
            f"{100.0 * error / parameter.prior_std:.2g} %",
        )
        for parameter, value, half_width, error in columns
    ]
    titles = ("parameter", "file", "identified", "95 %", "unit", "spread", "left of it")
    return Table(result.summary, titles, rows)


def _interval(half_width: float) -> str:
    """Return half the width of an interval as text; an infinite one is withheld."""
    return f"+- {number(half_width, 2)}" if np.isfinite(half_width) else "withheld"


def _tables_at_legs(result: Identification) -> list[Table]:
    """Return friction and inertia of motors as legs or cranks see them."""
    legs, rows = result.platform.parameters.legs, []
    force_unit, coordinate_unit = result.platform.force_unit, result.platform.coordinate_unit
    units = {"friction_torque": force_unit, "viscous_torque": f"{force_unit} s/{coordinate_unit}"}
    half_widths = result.margins * result.standard_errors
    columns = zip(result.parameters, result.values, half_widths, strict=True)
    for parameter, value, half_width in columns:
        name = parameter.path.rpartition("drive.")[2]
        ratio = getattr(legs[parameter.leg or 0].drive, "ratio", None)
        if name not in RATIO_POWERS or ratio is None:
            continue
        scale = float(ratio) ** RATIO_POWERS[name]
        numbers = number(scale * parameter.nominal, 5), number(scale * value)
        leg_unit = units.get(name, "kg" if coordinate_unit == "m" else "kg m2")
        rows.append((parameter.path, *numbers, _interval(scale * half_width), leg_unit))
    leg_name = "leg" if coordinate_unit == "m" else "crank"
    titles = (f"at the {leg_name}", "file", "identified", "95 %", "unit")
    return [Table("", titles, rows)] if rows else []


def _force_tables(result: Identification, stage: ForceStage) -> list[Table]:
    """Return errors of the forces, and how to correct their signal."""
    force_unit = result.platform.force_unit
    return [
        _fit_table(stage.fits, "samples", 1.0, force_unit, "errors of the forces, rms"),
        Table(
            "",
            ("lines of a mapping file that correct the signal",),
            [(text,) for text in mapping_lines(result.platform, stage)],
        ),
    ]


def _fit_table(fits: Sequence[Fit], what: str, scale: float, unit: str, title: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (fit.part, fit.windows, scale * fit.before, scale * fit.after, unit) for fit in fits
    ]
    return Table(title, (what, "count", "file", "identified", "unit"), rows)


def _figures(result: Identification) -> list[Figure]:
    """Return the figures of a result."""
    matrix = Figure(
        "Correlation of the estimates",
        "Near 1 or -1 two parameters can hardly be told apart. Stages count as independent.",
        partial(_matrix, result),
    )
    if result.errors is None or result.whiteness is None:
        return [matrix]
    return [*_prediction_figures(result, result.errors, result.whiteness), matrix]


def _prediction_figures(result: Identification, errors: Errors, white: Whiteness) -> list[Figure]:
    """Return the figures of prediction errors: over time, frequency and lag."""
    unit = result.platform.coordinate_unit
    holdout = result.fits[-1].windows
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
        Figure(
            "Prediction errors over time",
            "Each point is a window: the model predicts each sample, from those before it, of what "
            f"the encoders read. The last {holdout} windows were kept apart.",
            lambda: panels_figure([over_time], "time [s]"),
        ),
        Figure(
            "Prediction errors over frequency",
            "White noise is flat; a peak says that the model misses something there.",
            lambda: panels_figure([over_frequency], "frequency [Hz]", log_x=True),
        ),
        Figure(
            "Correlation of errors with earlier ones",
            "Errors of white noise stay between the dashed lines. The intervals allow for errors "
            "that do not.",
            lambda: panels_figure([correlation], "samples between the errors"),
        ),
    ]


def _matrix(result: Identification) -> Any:
    """Return the figure of the correlations between estimates."""
    plotly_graphs = optional("plotly.graph_objects")
    names = [parameter.path for parameter in result.parameters]
    height = max(MIN_HEIGHT, LABEL_HEIGHT + ROW_HEIGHT * len(names))
    figure = plotly_graphs.Figure(layout=layout(height, 12))
    color_scale = [(0.0, CURVE_COLORS[1]), (0.5, BACKGROUND_COLOR), (1.0, CURVE_COLORS[0])]
    figure.add_trace(
        plotly_graphs.Heatmap(
            z=np.round(result.correlation, 3),
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
