"""Figures of panels one above the other with a common x axis: the one builder all plots share."""

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
from twin.charts.style import CONFIG, TITLE_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError

STEPS = (5.0, 2.0, 1.0)

LABEL_ROUNDING = 1e-9
"""Relative: a number so close below a round one is that one."""

LARGEST_POINTS = 2000
"""Points drawn per curve: more than a screen has columns."""

PANEL_HEIGHT = 200
"""[pixels] of one panel among others."""

ALONE_HEIGHT = 320
"""[pixels] of a panel that is the only one."""

HEAD = 28
"""[pixels] above the first legend, for the title."""

GAP = 54
"""[pixels] above each panel: room for the ticks of the one above and two rows of its legend."""

FOOT = 66
"""[pixels] for tick labels, axis title and margins below the last panel."""

DECADES_SHOWN = 2.5
"""Axes that span fewer decades get ticks at 1, 2 and 5 instead of at powers of ten."""

FEW_PLACES = 6
"""So few places of an x axis in decades are its ticks: a time step is read at its point."""

EQUAL = 1e-6
"""Values that span fewer decades are equal: on an axis in decades they get one of them."""

LOG_TICKS = 5
"""About so many ticks at powers of ten."""

CURVE_ROUNDING = 1e-11
"""Spread per size, or in units below size one, that is rounding and no motion: some hundred steps
of an engine leave 1e-15 to 1e-13, the smallest motion shown on purpose is 1e-7."""

FLAT_RANGE = 1e-3
"""Half the range drawn around values that are equal, per size."""

LOG_STEPS = ((1.0, 2.0, 5.0), np.arange(1.0, 10.0), np.arange(1.0, 10.0, 0.1))
"""Ticks of a decade: the first of these of which two are seen."""

LOG_TICK_SIZE = 11
"""Plotly enlarges the base of a power."""

MOST = 400
"""Points drawn of a curve."""


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
    digit = next(step for step in STEPS if step * scale <= value * (1.0 + LABEL_ROUNDING))
    return float(f"{digit:g}e{power}")


class Line(NamedTuple):
    """One curve: `x` and `y` `(k,)`, as a `twin.validation.results.Curve`, or as "steps"."""

    name: str
    x: FloatArray
    y: FloatArray
    style: str = "line"


class Axes(NamedTuple):
    """Curves against one y axis."""

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
    `LARGEST_POINTS`.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    figures = optional("plotly.graph_objects")
    size = ALONE_HEIGHT if len(panels) == 1 else PANEL_HEIGHT
    inner = len(panels) * (size + GAP) - GAP
    top = GAP + (HEAD if title else 0)
    figure = figures.Figure(layout=layout(inner + top + FOOT, top))
    if title:
        text = {"text": html.escape(title), "font": {"size": TITLE_SIZE}}
        figure.layout.title = {**text, "x": 0.01, "y": 0.99, "yanchor": "top"}
    colors: dict[str, str] = {}
    last = len(panels) - 1
    for k, panel in enumerate(panels):
        number = "" if k == 0 else str(k + 1)
        high = 1.0 - k * (size + GAP) / inner
        low = max(0.0, high - size / inner)
        x_axis = axis(html.escape(x_label) if k == last else "") | _scale(panel, 1, log_x)
        y_axis = axis(html.escape(panel.y_label)) | _scale(panel, 2, panel.log_y)
        if k != last:
            x_axis |= {"showticklabels": False, "matches": f"x{last + 1}"}
        figure.layout[f"xaxis{number}"] = x_axis | {"anchor": f"y{number}"}
        figure.layout[f"yaxis{number}"] = y_axis | {"anchor": f"x{number}", "domain": [low, high]}
        figure.layout[f"legend{number}"] = legend(high + 3 / inner)
        complete = any(line.name not in colors for line in panel.lines)
        named: set[str] = set()
        for line in panel.lines:
            if line.name not in colors:
                colors[line.name] = _next_color(panel, colors)
            trace = _trace(line, colors[line.name], complete and line.name not in named)
            named.add(line.name)
            place = {"xaxis": f"x{number}", "yaxis": f"y{number}", "legend": f"legend{number}"}
            figure.add_trace(figures.Scatter(**trace, **place))
    return figure


def write_figure(figure: Any, path: str | Path) -> Path:
    """Write a figure as one HTML page that loads nothing, atomically; returns the path.

    Raises:
        InputError: the place cannot be written to.
    """
    # Plotly takes entries out of the settings it is given.
    return write_text(path, figure.to_html(include_plotlyjs=True, config=dict(CONFIG)))


def thin_out(x: FloatArray, y: FloatArray, count: int = LARGEST_POINTS) -> Any:
    """Return the indices of at most `count` points that keep the ends and every visible peak.

    The curve is cut into equal stretches; the smallest and the largest y of each stay.
    """
    size = len(x)
    if size <= count:
        return np.arange(size)
    edges = np.linspace(1, size - 1, (count - 2) // 2 + 1).astype(int)
    finite = np.isfinite(y)
    known = np.where(finite, y, np.median(y[finite]) if finite.any() else 0.0)
    kept = [0, size - 1]
    for start, stop in pairwise(edges):
        stretch = known[start:stop]
        kept += [start + int(stretch.argmin()), start + int(stretch.argmax())]
    return np.unique(kept)


def _next_color(panel: Axes, colors: dict[str, str]) -> str:
    """Return the first colour that no line of this panel has yet."""
    taken = {colors[line.name] for line in panel.lines if line.name in colors}
    for k in range(len(panel.lines)):
        if curve_color(k) not in taken:
            return curve_color(k)
    return curve_color(len(taken))


def _scale(panel: Axes, column: int, log: bool) -> dict[str, Any]:
    """Return the settings of a linear axis, or of one in decades with readable ticks.

    Values that span too little for two ticks of a decade get a linear axis too.
    """
    values = np.concatenate([np.ravel(line[column]) for line in panel.lines] or [np.ones(1)])
    values = values[np.isfinite(values)]
    if not log:
        return _flat(values) if values.size else {}
    values = values[values > 0.0]
    low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
    settings: dict[str, Any] = {"type": "log", "tickfont": {"size": LOG_TICK_SIZE}}
    places = np.unique(values)
    if column == 1 and 2 < places.size <= FEW_PLACES:
        return settings | _ticks(places)
    decades = np.log10(high) - np.log10(low)
    if decades >= DECADES_SHOWN:
        return settings | {"dtick": max(1, round(decades / LOG_TICKS))}
    if decades < EQUAL:
        middle = float(np.log10(low))
        return settings | {"range": [middle - 0.5, middle + 0.5]}
    powers = 10.0 ** np.arange(np.floor(np.log10(low)) - 1, np.ceil(np.log10(high)) + 1)
    for steps in LOG_STEPS:
        ticks = [float(f"{step * power:.2g}") for power in powers for step in steps]
        if sum(low <= tick <= high for tick in ticks) > 1:
            return settings | _ticks(ticks)
    return _flat(values, 0.0)


def _ticks(places: Iterable[float]) -> dict[str, Any]:
    return {"tickvals": [*map(float, places)], "ticktext": [f"{place:.3g}" for place in places]}


def _flat(values: FloatArray, least: float = 1.0) -> dict[str, Any]:
    """Return the range of an axis whose values differ by rounding only, so that they look equal.

    Rounding is measured by the largest value, or by `least` where that is larger.
    """
    low, high = float(values.min()), float(values.max())
    size = max(least, abs(low), abs(high))
    if high - low > CURVE_ROUNDING * size:
        return {}
    middle, half = 0.5 * (low + high), FLAT_RANGE * size
    return {"range": [middle - half, middle + half]}


def _trace(line: Line, color: str, in_legend: bool) -> dict[str, Any]:
    kept = thin_out(line.x, line.y)
    modes = {"markers": "markers", "line+markers": "lines+markers"}
    dashes = {"dash": "dash", "dot": "dot"}
    return {
        "x": np.asarray(line.x, dtype=np.float32)[kept],
        "y": np.asarray(line.y, dtype=np.float32)[kept],
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


WIDTH, HEIGHT = 360, 130
LEFT, TOP, RIGHT, BOTTOM = 52, 18, 8, 30
"""[pixels] around the curves, for numbers and names."""


def small_chart(label: str, lines: Sequence[Line], x_label: str) -> str:
    """Return an SVG element with curves over a common axis, their ranges and names.

    Args:
        label: of the y axis, with its unit.
        lines: curves `(k,)` of finite numbers.
        x_label: of the x axis, with its unit.
    """
    x = _range(np.concatenate([line.x for line in lines]))
    y = _range(np.concatenate([line.y for line in lines]))
    text = '<text x="{}" y="{}" text-anchor="{}">{}</text>'
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
        'fill="none" stroke="#bbb"/>',
        text.format(LEFT, 12, "start", html.escape(label)),
        text.format(LEFT - 4, TOP + 9, "end", f"{y[1]:.3g}"),
        text.format(LEFT - 4, bottom, "end", f"{y[0]:.3g}"),
        text.format(LEFT, bottom + 12, "start", f"{x[0]:.3g}"),
        text.format(right, bottom + 12, "end", f"{x[1]:.3g}"),
        text.format((LEFT + right) // 2, HEIGHT - 6, "middle", html.escape(x_label)),
    ]
    for number, line in enumerate(lines):
        color = curve_color(number)
        rows = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), MOST)).astype(int))
        across = LEFT + (line.x[rows] - x[0]) / (x[1] - x[0]) * (right - LEFT)
        down = bottom - (line.y[rows] - y[0]) / (y[1] - y[0]) * (bottom - TOP)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}"/>')
        name = text.format(
            right - 40 * (len(lines) - 1 - number), 12, "end", html.escape(line.name)
        )
        parts.append(name.replace("<text", f'<text fill="{color}"'))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="10" '
        f'fill="#444" style="background:#fff">{"".join(parts)}</svg>'
    )


def _range(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis; of values that are equal to rounding, a little around them."""
    low, high = float(values.min()), float(values.max())
    room = max(1e-9, 1e-6 * max(abs(low), abs(high)))
    return (low, high) if high - low > room else (low - room, high + room)
