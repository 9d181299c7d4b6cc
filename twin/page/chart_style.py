"""How a chart looks on the page: colours, axes and curves as viser's uPlot takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twin.simulation.live.chart import Chart

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
"""Of Okabe and Ito, told apart by all eyes on light and dark ground; two more at the end."""

LIMIT = "#8A8A8A"

FONT = "11px system-ui, sans-serif"

SMALLEST = 1e-3
"""Smallest number that the page's charts write; what is less is drawn there where it is
logarithmic."""


def curve_colours(chart: Chart) -> tuple[str, ...]:
    """Return the colour of each curve; the k-th demanded one has that of the k-th measured."""
    measured = [name for name in chart.series if name not in chart.demanded]
    order = {name: k for k, name in enumerate(measured)}
    order |= {name: k for k, name in enumerate(chart.demanded)}
    return tuple(COLOURS[order[name] % len(COLOURS)] for name in chart.series)


def series(
    chart: Chart, *, fitted: bool = False, there: Sequence[bool] = ()
) -> tuple[dict[str, Any], ...]:
    """Return what uPlot draws: time, the curves, the limits.

    Args:
        chart: which.
        fitted: whether the chart's height fits its curves and not also the limits.
        there: which curves have any number; default all.
    """
    points = {"show": False}
    drawn: list[dict[str, Any]] = [{"label": "time [s]"}]
    shown = there or (True,) * len(chart.series)
    for name, colour, show in zip(chart.series, curve_colours(chart), shown, strict=True):
        curve = {"label": name, "stroke": colour, "show": show, "width": 1.6, "points": points}
        if name in chart.demanded:
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
    """Return how numbers become places in the chart."""
    height: dict[str, Any] = {}
    if chart.logarithmic:
        # Logarithmic but for a line about zero, and with gaps, which uPlot's own logarithm lacks.
        height = {"distr": 4, "asinh": SMALLEST}
    elif chart.least > 0.0:
        soft = chart.scale * chart.least
        ends = {"min": -soft, "max": soft}
        height = {"range": {end: {"pad": 0.1, "soft": at, "mode": 1} for end, at in ends.items()}}
    return {"x": {"time": False}, "y": height}


def axes(chart: Chart) -> tuple[dict[str, Any], ...]:
    """Return the axis of time and that of the values, with their units where they have any."""
    line = {"grid": {"width": 1}, "ticks": {"width": 1, "size": 4}, "gap": 3, "font": FONT}
    label = {"labelFont": FONT, "labelSize": 16, "labelGap": 0}
    unit = {**label, "label": chart.unit} if chart.unit else {}
    return (
        {**line, **label, "label": "time [s]", "size": 22},
        {**line, **unit, "size": 50},
    )
