"""Style of a chart on the page: colours, axes and curves in the form of viser's uPlot.

Curves as they are sent to the page: samples of a time span, thinned out and rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.simulation.live.machine_charts import Chart

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

UNSEEN = "twin-unseen"
"""CSS class of entries of a legend that are not shown."""

NARROWEST = 0.02
"""Least height of a chart, over the distance of its limits, or over twice its largest value."""

LEGEND = (
    "display: flex; flex-wrap: wrap; gap: 0.1em 0.9em; padding: 0 0.9em 0.5em; font-size: 12px; "
    "font-variant-numeric: tabular-nums"
)

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
    # Two points, unseen, that the height of a chart always includes.
    for end in ("low", "high"):
        drawn.append({"label": end, "class": UNSEEN, "width": 0, "auto": fitted, "points": points})
    return tuple(drawn)


def span_ends(chart: Chart, values: FloatArray) -> tuple[float, float]:
    """Return two numbers that the height of a chart includes, so that noise does not fill it.

    Args:
        chart: to draw.
        values: `(k, c)` of its curves, as shown.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return SMALLEST, SMALLEST
    low, high = float(finite.min()), float(finite.max())
    if chart.logarithmic or chart.least > 0.0:
        return low, high
    bounds = chart.scale * np.array(chart.limits)
    whole = float(np.ptp(bounds)) if bounds.size > 1 else 2.0 * max(-low, high)
    middle, half = 0.5 * (low + high), 0.5 * NARROWEST * whole
    # Rounded, so that they keep their place while the curves do.
    digits = 0 if half <= 0.0 else int(1 - np.floor(np.log10(half)))
    return round(middle - half, digits), round(middle + half, digits)


def legend_text(chart: Chart, values: FloatArray) -> str:
    """Return the legend of a chart as HTML: the last value of every curve that has one.

    Args:
        chart: to draw.
        values: `(c,)` last values, as shown.
    """
    entries = []
    for name, colour, value in zip(chart.series, curve_colours(chart), values, strict=True):
        if np.isfinite(value):
            line = "dashed" if name in chart.setpoint else "solid"
            entries.append(
                f'<span style="white-space: nowrap"><span style="display: inline-block; '
                f'width: 1.3em; border-top: 2px {line} {colour}; vertical-align: middle">'
                f"</span> {escape(name)} <b>{value + 0.0:.4g}</b></span>"
            )
    unit = f"<span>{escape(chart.unit)}</span>" if chart.unit and entries else ""
    return f'<div class="twin-legend" style="{LEGEND}">{"".join(entries)}{unit}</div>'


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


RESOLUTION = 2000.0
"""Steps to which the range of a chart is rounded; charts are lower than that in pixels."""

FINEST = 1e-6
"""Finest step of a chart as a share of its greatest value."""


def span(
    time: FloatArray, values: FloatArray, start: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Return the samples `(k,)`, `(k, c)` between two times [s], both inclusive."""
    first, last = np.searchsorted(time, (start, end + 1e-9))
    return time[first:last], values[first:last]


def thinned(time: FloatArray, values: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return about `points` samples at most; the curves keep all their peaks.

    Each of equally long spells becomes two samples: the least and the greatest value of every
    curve, in the order in which the curve runs. The spells are fixed in time, so that a scrolling
    curve does not flicker.

    Args:
        time: `(k,)` [s], rising.
        values: `(k, c)`, NaN where there is none.
        points: largest number of samples, but for two more where spells are cut at the ends.
    """
    if len(time) <= points:
        return time, values
    # A power of two, so that a little more or less of time does not move all spells.
    length = 2.0 ** np.ceil(np.log2(2.0 * (time[-1] - time[0]) / points))
    spell = np.floor(time / length)
    begin = np.flatnonzero(np.diff(spell, prepend=-np.inf))
    low, high = np.fmin.reduceat(values, begin), np.fmax.reduceat(values, begin)
    last = np.append(begin[1:], len(time)) - 1
    falls = values[last] < values[begin]
    kept = np.empty((2 * len(begin), values.shape[1]))
    kept[0::2], kept[1::2] = np.where(falls, high, low), np.where(falls, low, high)
    middles = np.concatenate([time[begin], time[last]]).reshape(2, -1).T.ravel()
    return middles, kept


def since_last_gap(values: FloatArray) -> int:
    """Return the index after which no curve begins any more in values `(k, c)`.

    The page's charts join curves over gaps, which would show a motion that never was, and find no
    range if the first number is NaN. Curves without any number do not count.
    """
    there = np.isfinite(values)
    begins = there.copy()
    begins[1:] &= ~there[:-1]
    return int(np.flatnonzero(begins.any(axis=1)).max(initial=0))


def rounded(values: FloatArray, least: float = 0.0) -> FloatArray:
    """Return numbers `(k, c)` rounded to the resolution of a chart.

    Args:
        values: NaN where there is none.
        least: smallest range that matters.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return values
    low, high = float(finite.min()), float(finite.max())
    wide = max(high - low, FINEST * RESOLUTION * max(-low, high), least)
    if wide <= 0.0:
        return values
    return np.round(values, int(np.clip(np.ceil(np.log10(RESOLUTION / wide)), 0, 300)))
