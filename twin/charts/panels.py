"""Figures of panels one above the other with a common x axis; all plots are built here."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.files import write_text
from twin.basics.optional import optional
from twin.charts.style import PLOTLY_CONFIG, TITLE_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError

LEADING_DIGITS = (5.0, 2.0, 1.0)
"""First digits of round numbers, largest first."""

LABEL_ROUNDING = 1e-9
"""Relative distance below a round number at which a number is rounded up to it."""

MAX_POINTS = 2000
"""Maximum number of points drawn per curve: more than a screen has columns."""

PANEL_HEIGHT = 200
"""[pixels] Height of one panel among others."""

SINGLE_PANEL_HEIGHT = 320
"""[pixels] Height of a panel that is the only one."""

TITLE_HEIGHT = 28
"""[pixels] Space above the first legend, for the title."""

PANEL_GAP = 54
"""[pixels] Space above each panel: for the ticks of the one above and two rows of its legend."""

FOOTER_HEIGHT = 66
"""[pixels] Space below the last panel, for tick labels, axis title and margins."""

FEW_DECADES = 2.5
"""Number of decades below which an axis gets ticks at 1, 2 and 5 instead of at powers of ten."""

MAX_PLACE_TICKS = 6
"""Maximum number of different x values for which each gets its own tick on a logarithmic axis: a
time step is read at its point."""

MIN_DECADES = 1e-6
"""Number of decades below which values count as equal: on a logarithmic axis they get one whole
decade."""

LOG_TICKS = 5
"""Approximate number of ticks at powers of ten."""

CURVE_ROUNDING = 1e-11
"""Variation relative to the values' size (absolute below one) that counts as rounding: some hundred
steps of an engine leave 1e-15 to 1e-13, the smallest motion shown on purpose is 1e-7."""

FLAT_HALF_RANGE = 1e-3
"""Half the range drawn around equal values, relative to their size (absolute below one)."""

LOG_STEPS = ((1.0, 2.0, 5.0), np.arange(1.0, 10.0), np.arange(1.0, 10.0, 0.1))
"""Multiples of a power of ten with ticks: the first of these sets of which two ticks are
visible."""

LOG_TICK_SIZE = 11
"""Font size of ticks at powers of ten: Plotly enlarges the base of a power."""


def number(value: float | None, digits: int = 6) -> str:
    """Return a number with at most `digits` significant digits; None and NaN as "not finite"."""
    if value is None or not math.isfinite(value):
        return "not finite"
    return f"{value + 0.0:.{digits}g}"


def value_text(value: Any, unit: str = "", digits: int = 6) -> str:
    """Return a number, text, list or list of lists as one line; angles in degrees too.

    Lists whose entries are the same text are shortened to one entry and their number.
    """
    if isinstance(value, (list, tuple)):
        entries = [value_text(entry, "", digits) for entry in value]
        if len(entries) > 3 and len(set(entries)) == 1:
            return f"{entries[0]} ({len(entries)} times)"
        if value and isinstance(value[0], (list, tuple)):
            return "; ".join(entries)
        return ", ".join(entries)
    if isinstance(value, float):
        degrees = f" ({number(math.degrees(value), digits)} deg)" if unit == "rad" and value else ""
        return number(value, digits) + degrees
    return str(value)


def round_below(value: float) -> float:
    """Return the largest of 1, 2 and 5 times powers of ten that is not above `value`.

    Raises:
        InputError: not above zero, or not finite.
    """
    if not (math.isfinite(value) and value > 0.0):
        raise InputError("value", f"must be above zero and finite, got {value!r}")
    power = math.floor(math.log10(value * (1.0 + LABEL_ROUNDING)))
    scale = float(f"1e{power}")
    digit = next(step for step in LEADING_DIGITS if step * scale <= value * (1.0 + LABEL_ROUNDING))
    return float(f"{digit:g}e{power}")


class Line(NamedTuple):
    """One curve; `x` and `y` are `(k,)`."""

    name: str
    x: FloatArray
    y: FloatArray
    style: str = "line"
    """line, dash, dot, markers, line+markers or steps"""


class Axes(NamedTuple):
    """The curves of one panel, against one y axis."""

    y_label: str
    lines: Sequence[Line]
    log_y: bool = False


def columns(
    x: FloatArray, values: FloatArray, names: Sequence[str], style: str = "line"
) -> list[Line]:
    """Return a line for every column of `values` `(m, n)` over `x` `(m,)`."""
    return [Line(name, x, column, style) for name, column in zip(names, values.T, strict=True)]


def legs(count: int) -> list[str]:
    """Return the names of the legs as in all charts: leg 1 and so on."""
    return [f"leg {number + 1}" for number in range(count)]


def panels_figure(
    panels: Sequence[Axes], x_label: str, *, log_x: bool = False, title: str = ""
) -> Any:
    """Return a plotly figure of panels above each other.

    Lines of one name have one colour, and a legend entry above the panel where the name comes
    first and above those that add other names. Values are stored as float32 and thinned out to
    `MAX_POINTS`.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    panel_height = SINGLE_PANEL_HEIGHT if len(panels) == 1 else PANEL_HEIGHT
    plot_height = len(panels) * (panel_height + PANEL_GAP) - PANEL_GAP
    top_margin = PANEL_GAP + (TITLE_HEIGHT if title else 0)
    figure = figures.Figure(layout=layout(plot_height + top_margin + FOOTER_HEIGHT, top_margin))
    if title:
        title_text = {"text": html.escape(title), "font": {"size": TITLE_SIZE}}
        figure.layout.title = {**title_text, "x": 0.01, "y": 0.99, "yanchor": "top"}
    colors: dict[str, str] = {}
    last_panel = len(panels) - 1
    for k, panel in enumerate(panels):
        axis_suffix = "" if k == 0 else str(k + 1)
        panel_top = 1.0 - k * (panel_height + PANEL_GAP) / plot_height
        panel_bottom = max(0.0, panel_top - panel_height / plot_height)
        x_axis = axis(html.escape(x_label) if k == last_panel else "") | _scale(panel, 1, log_x)
        y_axis = axis(html.escape(panel.y_label)) | _scale(panel, 2, panel.log_y)
        if k != last_panel:
            x_axis |= {"showticklabels": False, "matches": f"x{last_panel + 1}"}
        figure.layout[f"xaxis{axis_suffix}"] = x_axis | {"anchor": f"y{axis_suffix}"}
        figure.layout[f"yaxis{axis_suffix}"] = y_axis | {
            "anchor": f"x{axis_suffix}",
            "domain": [panel_bottom, panel_top],
        }
        figure.layout[f"legend{axis_suffix}"] = legend(panel_top + 3 / plot_height)
        adds_names = any(line.name not in colors for line in panel.lines)
        shown_names: set[str] = set()
        for line in panel.lines:
            if line.name not in colors:
                colors[line.name] = _next_color(panel, colors)
            trace = _trace(line, colors[line.name], adds_names and line.name not in shown_names)
            shown_names.add(line.name)
            axis_names = {
                "xaxis": f"x{axis_suffix}",
                "yaxis": f"y{axis_suffix}",
                "legend": f"legend{axis_suffix}",
            }
            figure.add_trace(figures.Scatter(**trace, **axis_names))
    return figure


def write_figure(figure: Any, path: str | Path) -> Path:
    """Write a figure as one HTML page that loads nothing, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
    """
    # Plotly takes entries out of the settings it is given.
    return write_text(path, figure.to_html(include_plotlyjs=True, config=dict(PLOTLY_CONFIG)))


def thin_out(x: FloatArray, y: FloatArray, count: int = MAX_POINTS) -> Any:
    """Return the indices of at most `count` points that keep the ends and every visible peak.

    The curve is cut into equal segments; the smallest and the largest y of each stay.
    """
    size = len(x)
    if size <= count:
        return np.arange(size)
    edges = np.linspace(1, size - 1, (count - 2) // 2 + 1).astype(int)
    finite = np.isfinite(y)
    finite_values = np.where(finite, y, np.median(y[finite]) if finite.any() else 0.0)
    indices = [0, size - 1]
    for start, stop in pairwise(edges):
        segment = finite_values[start:stop]
        indices += [start + int(segment.argmin()), start + int(segment.argmax())]
    return np.unique(indices)


def _next_color(panel: Axes, colors: dict[str, str]) -> str:
    """Return the first colour that no line of this panel has yet."""
    used_colors = {colors[line.name] for line in panel.lines if line.name in colors}
    for k in range(len(panel.lines)):
        if curve_color(k) not in used_colors:
            return curve_color(k)
    return curve_color(len(used_colors))


def _scale(panel: Axes, column: int, log: bool) -> dict[str, Any]:
    """Return the settings of a linear axis, or of a logarithmic one with readable ticks.

    Values that span too little for two ticks of a decade get a linear axis too.
    """
    values = np.concatenate([np.ravel(line[column]) for line in panel.lines] or [np.ones(1)])
    values = values[np.isfinite(values)]
    if not log:
        return _flat(values) if values.size else {}
    values = values[values > 0.0]
    low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
    settings: dict[str, Any] = {"type": "log", "tickfont": {"size": LOG_TICK_SIZE}}
    distinct = np.unique(values)
    if column == 1 and 2 < distinct.size <= MAX_PLACE_TICKS:
        return settings | _ticks(distinct)
    decades = np.log10(high) - np.log10(low)
    if decades >= FEW_DECADES:
        return settings | {"dtick": max(1, round(decades / LOG_TICKS))}
    if decades < MIN_DECADES:
        middle_power = float(np.log10(low))
        return settings | {"range": [middle_power - 0.5, middle_power + 0.5]}
    powers = 10.0 ** np.arange(np.floor(np.log10(low)) - 1, np.ceil(np.log10(high)) + 1)
    for steps in LOG_STEPS:
        ticks = [float(f"{step * power:.2g}") for power in powers for step in steps]
        if sum(low <= tick <= high for tick in ticks) > 1:
            return settings | _ticks(ticks)
    return {}


def _ticks(places: Iterable[float]) -> dict[str, Any]:
    return {"tickvals": [*map(float, places)], "ticktext": [f"{place:.3g}" for place in places]}


def _flat(values: FloatArray) -> dict[str, Any]:
    """Return the axis range of values that differ by rounding only, so that they look equal."""
    minimum, maximum = float(values.min()), float(values.max())
    magnitude = max(1.0, abs(minimum), abs(maximum))
    if maximum - minimum > CURVE_ROUNDING * magnitude:
        return {}
    center, half_range = 0.5 * (minimum + maximum), FLAT_HALF_RANGE * magnitude
    return {"range": [center - half_range, center + half_range]}


def _trace(line: Line, color: str, in_legend: bool) -> dict[str, Any]:
    shown = thin_out(line.x, line.y)
    modes = {"markers": "markers", "line+markers": "lines+markers"}
    dashes = {"dash": "dash", "dot": "dot"}
    return {
        "x": np.asarray(line.x, dtype=np.float32)[shown],
        "y": np.asarray(line.y, dtype=np.float32)[shown],
        "name": html.escape(line.name),
        "legendgroup": line.name,
        "showlegend": in_legend,
        "mode": modes.get(line.style, "lines"),
        "line": {
            "color": color,
            "width": 1.8,
            "dash": dashes.get(line.style, "solid"),
            "shape": "hv" if line.style == "steps" else "linear",
            "simplify": False,
        },
        "marker": {"color": color, "size": 7},
        "hovertemplate": "%{y:.6~g}",
    }
