"""Style of a chart on the page: colours, axes and curves in the form of viser's uPlot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twin.simulation.live.history import Chart

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#7F7F7F",
)
"""Colours of Okabe and Ito, distinct also for the colour-blind, and two more at the end."""

LIMIT = "#8A8A8A"

FONT = "11px system-ui, sans-serif"

SMALLEST = 1e-3
"""Smallest number on the axes of the page's charts; logarithmic charts draw lesser values there."""


def curve_colours(chart: Chart) -> tuple[str, ...]:
    """Return the colour of each curve; the k-th reference has that of the k-th measurement."""
    measured = [name for name in chart.series if name not in chart.setpoint]
    order = {name: k for k, name in enumerate(measured)}
    order |= {name: k for k, name in enumerate(chart.setpoint)}
    return tuple(COLOURS[order[name] % len(COLOURS)] for name in chart.series)


def series(
    chart: Chart, *, fitted: bool = False, there: Sequence[bool] = ()
) -> tuple[dict[str, Any], ...]:
    """Return the series of uPlot: time, the curves, the limits.

    Args:
        chart: to draw.
        fitted: whether the chart's height fits its curves alone, without the limits.
        there: whether each curve has any number; default all.
    """
    points = {"show": False}
    drawn: list[dict[str, Any]] = [{"label": "time [s]"}]
    shown = there or (True,) * len(chart.series)
    for name, colour, show in zip(chart.series, curve_colours(chart), shown, strict=True):
        curve = {"label": name, "stroke": colour, "show": show, "width": 1.6, "points": points}
        if name in chart.setpoint:
            curve |= {"dash": (6, 4), "width": 1.2}
        drawn.append(curve)
    for limit in chart.limits:
        drawn.append(
            {
                "label": f"limit {chart.scale * limit:.4g}",
                "stroke": LIMIT,
                "width": 1.2,
                "dash": (10, 3, 2, 3),
                "auto": not fitted,
                "points": points,
            }
        )
    return tuple(drawn)


def scales(chart: Chart) -> dict[str, Any]:
    """Return the scales of the chart's axes."""
    height: dict[str, Any] = {}
    if chart.logarithmic:
        # Linear about zero and open to gaps, which uPlot's own logarithm is not.
        height = {"distr": 4, "asinh": SMALLEST}
    elif chart.least > 0.0:
        soft = chart.scale * chart.least
        ends = {"min": -soft, "max": soft}
        height = {"range": {end: {"pad": 0.1, "soft": at, "mode": 1} for end, at in ends.items()}}
    return {"x": {"time": False}, "y": height}


def axes(chart: Chart) -> tuple[dict[str, Any], ...]:
    """Return the axis of time and that of the values, with their units."""
    line = {"grid": {"width": 1}, "ticks": {"width": 1, "size": 4}, "gap": 3, "font": FONT}
    label = {"labelFont": FONT, "labelSize": 16, "labelGap": 0}
    unit = {**label, "label": chart.unit} if chart.unit else {}
    return (
        {**line, **label, "label": "time [s]", "size": 22},
        {**line, **unit, "size": 50},
    )
